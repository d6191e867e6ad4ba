"""The catalog as Markdown, as an HTML page without scripts, and as a notebook summary."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from html import escape
from typing import Final, TypeAlias

from einvoice.code_catalog import CatalogEntry
from einvoice.localization import Language, Messages
from einvoice.localization.formatting import with_colon
from einvoice.model.terms import name
from einvoice.render.html import page
from einvoice.render.text import LABELS
from einvoice.result.catalog import Catalog, notes
from einvoice.rulebook.sections import SECTIONS, title

_LABELS: Final = Messages("einvoice.render", "catalog")

# Contrast of text is at least 4.5:1 in light and dark mode (WCAG 2 AA).
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


def catalog_html(catalog: Catalog, lang: Language) -> str:
    """Return the catalog as a self-contained HTML page; see `Catalog.to_html`."""
    labels = _LABELS[lang]
    heading, about = labels["heading"], _about(catalog, lang)
    parts = [
        f'<!doctype html>\n<html lang="{lang}">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(heading)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f'<a class="skip" href="#content">{escape(labels["skip"])}</a>\n'
        f"<header><h1>{escape(heading)}</h1><p>{escape(about)}</p></header>\n",
        f'<nav aria-label="{escape(labels["contents"])}"><ul>\n',
    ]
    groups = _groups(catalog)
    for layer, sections in groups.items():
        below = "".join(
            f'<li><a href="#{layer}-{section}">{escape(title(section, lang))}</a> ({len(entries)})</li>'
            for section, entries in sections.items()
        )
        parts.append(f'<li><a href="#{layer}">{escape(_layer(catalog, layer, lang))}</a><ul>{below}</ul></li>\n')
    parts.append('</ul></nav>\n<main id="content">\n')
    for layer, sections in groups.items():
        parts.append(f'<h2 id="{layer}">{escape(_layer(catalog, layer, lang))}</h2>\n')
        for section, entries in sections.items():
            parts.append(f'<h3 id="{layer}-{section}">{escape(title(section, lang))}</h3>\n')
            parts += (
                _article(catalog, entry, lang) if entry.layers[0] == layer else _link(entry, lang) for entry in entries
            )
    return "".join((*parts, "</main>\n</body>\n</html>\n"))


def catalog_markdown(catalog: Catalog, lang: Language) -> str:
    """Return the catalog in Markdown (CommonMark), with an anchor before each code."""
    labels = _LABELS[lang]
    parts = [f"# {labels['heading']}\n\n{_escape_markdown(_about(catalog, lang))}\n"]
    for layer, sections in _groups(catalog).items():
        parts.append(f'\n<a id="{layer}"></a>\n\n## {_escape_markdown(_layer(catalog, layer, lang))}\n')
        for section, entries in sections.items():
            parts.append(f'\n<a id="{layer}-{section}"></a>\n\n### {_escape_markdown(title(section, lang))}\n')
            parts += (
                _paragraphs(catalog, entry, lang) if entry.layers[0] == layer else _markdown_link(entry, lang)
                for entry in entries
            )
    return "".join(parts)


def entry_html(entry: CatalogEntry, lang: Language) -> str:
    """Return an entry of the catalog as HTML; all content is escaped."""
    kind = ", ".join((entry.severity, entry.layer, *entry.terms))
    title = escape(with_colon(entry.code, lang, entry.title(lang)))
    head = f"<strong>{title}</strong> <small>{escape(kind)}</small>"
    details = "".join(f"<p>{escape(text)}</p>" for text in (entry.explanation(lang), f"→ {entry.fix(lang)}"))
    return f'<div class="einvoice" lang="{lang}"><p>{head}</p>{details}</div>'


def summary_html(catalog: Catalog, lang: Language) -> str:
    """Return the number of codes per layer."""
    labels = _LABELS[lang]
    counts = {layer: sum(map(len, sections.values())) for layer, sections in _groups(catalog).items()}
    rows = "".join(
        f'<tr><th scope="row">{escape(_layer(catalog, layer, lang))}</th><td class="number">{count}</td></tr>'
        for layer, count in counts.items()
    )
    head = (
        f'<tr><th scope="col">{escape(labels["layer"])}</th>'
        f'<th scope="col" class="number">{escape(labels["codes"])}</th></tr>'
    )
    caption = f"<caption>{escape(_about(catalog, lang))}</caption>"
    return page(lang, f'<table style="width:auto">{caption}<thead>{head}</thead><tbody>{rows}</tbody></table>')


def _about(catalog: Catalog, lang: Language) -> str:
    values = {"count": len(catalog), "version": catalog.version, "xrechnung": catalog.xrechnung_version}
    return _LABELS[lang]["about"].format(**values)


def _layer(catalog: Catalog, layer: str, lang: Language) -> str:
    """Return the name of a layer."""
    return _LABELS[lang].get(layer) or catalog.label(layer)


def _groups(catalog: Catalog) -> dict[str, dict[str, list[CatalogEntry]]]:
    """Return the entries by layer and section, both in display order; an entry is in all of its layers."""
    known = list(catalog.values())
    groups: dict[str, dict[str, list[CatalogEntry]]] = {}
    for layer in catalog.layers:
        for section in SECTIONS:
            members = [entry for entry in known if layer in entry.layers and entry.section == section]
            if members:
                groups.setdefault(layer, {})[section] = members
    return groups


def _link(entry: CatalogEntry, lang: Language) -> str:
    """Return a reference to a rule that another rule set describes."""
    return f'<p><a href="#{escape(entry.code)}">{escape(entry.code)}</a> {escape(entry.title(lang))}</p>\n'


def _markdown_link(entry: CatalogEntry, lang: Language) -> str:
    return f"\n[{_escape_markdown(entry.code)}](#{entry.code}): {_escape_markdown(entry.title(lang))}\n"


def _article(catalog: Catalog, entry: CatalogEntry, lang: Language) -> str:
    labels, code = _LABELS[lang], escape(entry.code)
    details = "".join(
        f"<dt>{escape(label)}</dt>" + "".join(f"<dd>{text}</dd>" for text in texts)
        for label, texts in _details(catalog, entry, lang, lambda path: f"<code>{escape(path)}</code>", escape)
    )
    return (
        f'<article id="{code}" class="{entry.severity}" aria-labelledby="{code}-title">'
        f'<h4 id="{code}-title"><a href="#{code}">{code}</a> {escape(entry.title(lang))}</h4>'
        f'<p class="kind">{escape(LABELS[lang][entry.severity])}</p>'
        f"<p>{escape(entry.explanation(lang))}</p>"
        f"<p><strong>{escape(with_colon(labels['fix'], lang))}</strong> {escape(entry.fix(lang))}</p>"
        f"<dl>{details}</dl></article>\n"
    )


def _paragraphs(catalog: Catalog, entry: CatalogEntry, lang: Language) -> str:
    labels = _LABELS[lang]
    details = "".join(
        f"\n- {with_colon(label, lang, text)}"
        for label, texts in _details(catalog, entry, lang, lambda path: f"`{path}`", _escape_markdown)
        for text in texts
    )
    return (
        f'\n<a id="{entry.code}"></a>\n\n#### {_escape_markdown(entry.code)}: {_escape_markdown(entry.title(lang))}\n\n'
        f"*{LABELS[lang][entry.severity]}*\n\n{_escape_markdown(entry.explanation(lang))}\n\n"
        f"**{with_colon(labels['fix'], lang)}** {_escape_markdown(entry.fix(lang))}\n{details}\n"
    )


def _details(
    catalog: Catalog, entry: CatalogEntry, lang: Language, code: _Write, text: _Write
) -> Iterator[tuple[str, list[str]]]:
    """Yield further details of an entry: label and texts."""
    labels = _LABELS[lang]
    details = {
        "terms": [text(f"{number} {name(number, lang)}") for number in entry.terms],
        "place": [f"{syntax} {code(path)}" for syntax, path in entry.xpaths.items()],
        "examples": [text(example) for example in entry.examples_in(lang)],
        "notes": [text(_note(note, lang)) for note in notes(entry, lang)],
        "never": [", ".join(entry.not_applicable)] if entry.not_applicable else [],
    }
    for label, texts in details.items():
        if texts:
            yield labels[label], texts
    yield from ((label, [text(it)]) for label, it in catalog.error_classes(entry.code, lang).items())


def _note(note: Mapping[str, str], lang: Language) -> str:
    syntax = f"{note['syntax']}: " if note["syntax"] else ""
    source = f" ({LABELS[lang]['see']} {note['source']})" if note["source"] else ""
    return f"{syntax}{note['text']}{source}"


def _escape_markdown(text: str) -> str:
    """Escape the characters with a meaning in Markdown or HTML."""
    return _SPECIAL.sub(r"\\\1", escape(text, quote=False))
