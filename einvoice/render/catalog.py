"""The catalog as a document: Markdown, and HTML without scripts for light and dark screens and for paper."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from html import escape
from typing import TYPE_CHECKING, Final, TypeAlias

from einvoice.model.terms import name
from einvoice.render.html import page
from einvoice.render.text import WORDS
from einvoice.result.languages import Language
from einvoice.rulebook.catalog import CatalogEntry
from einvoice.rulebook.sections import SECTIONS, title

if TYPE_CHECKING:
    from einvoice.result.catalog import Catalog

_WORDS: Final[Mapping[Language, Mapping[str, str]]] = {
    "de": {
        "heading": "Fehlerkatalog",
        "about": "{count} Codes, Katalog {version}, XRechnung {xrechnung}",
        "skip": "Zum Inhalt springen",
        "contents": "Inhalt",
        "fix": "Was zu tun ist",
        "examples": "Beispiele",
        "terms": "Betrifft",
        "place": "Stelle",
        "never": "Kann nicht verletzt werden",
        "notes": "Zu wissen",
        "layer": "Ebene",
        "codes": "Codes",
        "file": "Datei",
        "schema": "XML-Schema",
        "en16931": "EN 16931",
        "cius": "XRechnung",
        "extension": "XRechnung Extension",
        "profile": "Profil",
        "pdf": "PDF",
    },
    "en": {
        "heading": "Error catalog",
        "about": "{count} codes, catalog {version}, XRechnung {xrechnung}",
        "skip": "Skip to the content",
        "contents": "Contents",
        "fix": "What to do",
        "examples": "Examples",
        "terms": "About",
        "place": "Place",
        "never": "Cannot be broken",
        "notes": "Good to know",
        "layer": "Layer",
        "codes": "Codes",
        "file": "File",
        "schema": "XML schema",
        "en16931": "EN 16931",
        "cius": "XRechnung",
        "extension": "XRechnung Extension",
        "profile": "Profile",
        "pdf": "PDF",
    },
}

# Colours follow the reader's choice of light or dark; contrast is 4.5:1 or better for text in both.
_STYLE: Final = """
:root{color-scheme:light dark;--text:#1b1f24;--quiet:#57606a;--page:#fff;--edge:#d0d7de;--link:#0550ae}
@media (prefers-color-scheme:dark){:root{--text:#e6edf3;--quiet:#9aa4ae;--page:#0d1117;--edge:#30363d;--link:#6cb6ff}}
body{margin:0 auto;padding:1rem 1.25rem 4rem;max-width:56rem;color:var(--text);background:var(--page);
font:1rem/1.55 system-ui,sans-serif}
a{color:var(--link)}
.skip{position:absolute;left:-99rem}.skip:focus{left:1rem}
article{margin:1.5rem 0;padding:.1rem 1rem .6rem;border-left:.3rem solid var(--quiet)}
article.fatal{border-color:#d1383d}article.warning{border-color:#c98a00}
article:target{outline:.15rem solid var(--link);outline-offset:.3rem}
h4{margin:.5rem 0 .2rem;font-size:1.05rem}h4 a{color:inherit}
p,ul,dl{margin:.35rem 0}dt{font-weight:600}dd{margin:0 0 .35rem}
.kind{color:var(--quiet)}code{font-size:.9em;overflow-wrap:anywhere}
@media print{nav,.skip{display:none}body{max-width:none;padding:0}article{break-inside:avoid}
h2,h3,h4{break-after:avoid}}
""".replace("\n", "")

_Write: TypeAlias = Callable[[str], str]
_SPECIAL: Final = re.compile(r"([\\`*_\[\]#|~])")


def html(catalog: Catalog, lang: Language) -> str:
    """The whole catalog as a page; everything that comes from the rule files is escaped."""
    words = _WORDS[lang]
    heading, about = words["heading"], _about(catalog, lang)
    parts = [
        f'<!doctype html>\n<html lang="{lang}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(heading)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f'<a class="skip" href="#content">{escape(words["skip"])}</a>\n'
        f"<header><h1>{escape(heading)}</h1><p>{escape(about)}</p></header>\n",
        f'<nav aria-label="{escape(words["contents"])}"><ul>\n',
    ]
    groups = _groups(catalog.values())
    for layer, sections in groups.items():
        below = "".join(
            f'<li><a href="#{layer}-{section}">{escape(title(section, lang))}</a> ({len(found)})</li>'
            for section, found in sections.items()
        )
        parts.append(f'<li><a href="#{layer}">{escape(words[layer])}</a><ul>{below}</ul></li>\n')
    parts.append('</ul></nav>\n<main id="content">\n')
    for layer, sections in groups.items():
        parts.append(f'<h2 id="{layer}">{escape(words[layer])}</h2>\n')
        for section, found in sections.items():
            parts.append(f'<h3 id="{layer}-{section}">{escape(title(section, lang))}</h3>\n')
            parts += (_article(entry, lang) for entry in found)
    return "".join((*parts, "</main>\n</body>\n</html>\n"))


def markdown(catalog: Catalog, lang: Language) -> str:
    """The whole catalog in Markdown (CommonMark), with an anchor before each code."""
    words = _WORDS[lang]
    parts = [f"# {words['heading']}\n\n{_marked(_about(catalog, lang))}\n"]
    for layer, sections in _groups(catalog.values()).items():
        parts.append(f'\n<a id="{layer}"></a>\n\n## {_marked(words[layer])}\n')
        for section, found in sections.items():
            parts.append(f'\n<a id="{layer}-{section}"></a>\n\n### {_marked(title(section, lang))}\n')
            parts += (_paragraphs(entry, lang) for entry in found)
    return "".join(parts)


def short_html(catalog: Catalog, lang: Language) -> str:
    """The catalog in a few lines, for a notebook: how many codes each layer has."""
    words = _WORDS[lang]
    counts = {layer: sum(map(len, sections.values())) for layer, sections in _groups(catalog.values()).items()}
    rows = "".join(
        f'<tr><th scope="row">{escape(words[layer])}</th><td class="number">{count}</td></tr>'
        for layer, count in counts.items()
    )
    head = (
        f'<tr><th scope="col">{escape(words["layer"])}</th>'
        f'<th scope="col" class="number">{escape(words["codes"])}</th></tr>'
    )
    caption = f"<caption>{escape(_about(catalog, lang))}</caption>"
    return page(lang, f'<table style="width:auto">{caption}<thead>{head}</thead><tbody>{rows}</tbody></table>')


def _about(catalog: Catalog, lang: Language) -> str:
    values = {"count": len(catalog), "version": catalog.version, "xrechnung": catalog.xrechnung_version}
    return _WORDS[lang]["about"].format(**values)


def _groups(entries: Iterable[CatalogEntry]) -> dict[str, dict[str, list[CatalogEntry]]]:
    """The entries by layer and section, both in their order, those of a section as they come."""
    from einvoice.result.catalog import LAYERS

    known = list(entries)
    found: dict[str, dict[str, list[CatalogEntry]]] = {}
    for layer in LAYERS:
        for section in SECTIONS:
            here = [entry for entry in known if (entry.layer, entry.section) == (layer, section)]
            if here:
                found.setdefault(layer, {})[section] = here
    return found


def _article(entry: CatalogEntry, lang: Language) -> str:
    words, code = _WORDS[lang], escape(entry.code)
    details = "".join(
        f"<dt>{escape(label)}</dt>" + "".join(f"<dd>{text}</dd>" for text in texts)
        for label, texts in _details(entry, lang, lambda path: f"<code>{escape(path)}</code>", escape)
    )
    return (
        f'<article id="{code}" class="{entry.severity}" aria-labelledby="{code}-title">'
        f'<h4 id="{code}-title"><a href="#{code}">{code}</a> {escape(entry.title(lang))}</h4>'
        f'<p class="kind">{escape(WORDS[lang][entry.severity])}</p>'
        f"<p>{escape(entry.explanation(lang))}</p>"
        f"<p><strong>{escape(words['fix'])}:</strong> {escape(entry.fix(lang))}</p>"
        f"<dl>{details}</dl></article>\n"
    )


def _paragraphs(entry: CatalogEntry, lang: Language) -> str:
    words = _WORDS[lang]
    details = "".join(
        f"\n- {label}: {text}"
        for label, texts in _details(entry, lang, lambda path: f"`{path}`", _marked)
        for text in texts
    )
    return (
        f'\n<a id="{entry.code}"></a>\n\n#### {_marked(entry.code)}: {_marked(entry.title(lang))}\n\n'
        f"*{WORDS[lang][entry.severity]}*\n\n{_marked(entry.explanation(lang))}\n\n"
        f"**{words['fix']}:** {_marked(entry.fix(lang))}\n{details}\n"
    )


def _details(entry: CatalogEntry, lang: Language, code: _Write, text: _Write) -> Iterator[tuple[str, list[str]]]:
    """What else there is to say of an entry: labels, and what stands behind each."""
    from einvoice.result.catalog import notes

    words = _WORDS[lang]
    terms = [text(f"{number} {name(number, lang)}") for number in entry.terms]
    places = [f"{syntax} {code(path)}" for syntax, path in entry.xpaths.items()]
    examples = [text(example) for example in entry.examples.get(lang, ())]
    never = [", ".join(entry.not_applicable)] if entry.not_applicable else []
    known = [text(_told(note, lang)) for note in notes(entry, lang)]
    said = {"terms": terms, "place": places, "examples": examples, "notes": known, "never": never}
    for label, texts in said.items():
        if texts:
            yield words[label], texts


def _told(note: Mapping[str, str], lang: Language) -> str:
    before = f"{note['syntax']}: " if note["syntax"] else ""
    source = f" ({WORDS[lang]['see']} {note['source']})" if note["source"] else ""
    return f"{before}{note['text']}{source}"


def _marked(text: str) -> str:
    """A text in which nothing means anything to Markdown or to the HTML in it."""
    return _SPECIAL.sub(r"\\\1", escape(text, quote=False))
