"""Catalog entries of syntax rules, whose texts are composed from their rows.

The rows are in the folder `syntax` of each rule set. In `rules/syntax`, `texts.toml` has the texts for each kind
of check, `elements.csv` and `places.csv` the names of elements.
"""

from __future__ import annotations

import csv
import re
import tomllib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from einvoice import cache
from einvoice.code_catalog.catalog_entry import CatalogEntry
from einvoice.code_catalog.naming import Name, Names, inflected
from einvoice.code_catalog.translations import Translation, read_translations
from einvoice.code_catalog.xpaths import xpath_of_row
from einvoice.codelists import holds
from einvoice.errors import RuleError
from einvoice.localization import Language
from einvoice.resources import RuleData
from einvoice.rulebook import sections
from einvoice.rulebook.files.keys import TEXTS
from einvoice.rulebook.files.situations import KEY, situation_of
from einvoice.rulebook.files.tables import FOLDER, tables
from einvoice.rulebook.rule import SYNTAXES

_PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")

_TECHNICAL: Final = "technical"
"""What an element has in the column "instead" if no content is lost with it, and the consequence of that."""


class _Row(NamedTuple):
    """A row with its rule set, syntax and table."""

    ruleset: str
    syntax: str
    table: Path
    cells: dict[str, str]


def syntax_rule_entries(data: RuleData, versions: Mapping[str, str]) -> Iterator[CatalogEntry]:
    """Yield one entry for each code of the tables of the rule sets.

    `versions` are the releases of the rule sets that define severities and locations. The entry of a rule with a file
    in the folder `texts` of its rule set has no texts.

    Raise `RuleError` for an element without a name.
    """
    if not (data.root / FOLDER / "texts.toml").exists():
        return
    composer = Composer(data, {code for path in data.files("texts/*.toml") for code in codes_of_text(path)})
    rows = _rows(data)
    in_release: dict[str, list[_Row]] = {}
    for row in rows:
        if holds(row.cells["since"], row.cells["until"], versions[row.ruleset]):
            in_release.setdefault(row.cells["code"], []).append(row)
    for code, entry in _entries(composer, rows).items():
        yield _in_release(composer, entry, in_release[code]) if code in in_release else entry._replace(current=False)


def codes_of_text(path: Path) -> tuple[str, ...]:
    """Return the codes that a file with texts without a rule is about, also by its name."""
    try:
        data = cache.toml(path)
    except ValueError:  # reported where the file is read
        return (path.stem,)
    return (path.stem, *data.get("variants", (data.get("code", path.stem),)))


def _entries(composer: Composer, rows: list[_Row]) -> dict[str, CatalogEntry]:
    """Return the entries by code, from the newest row of each."""
    entries: dict[str, CatalogEntry] = {}
    for row in rows:
        cells = row.cells
        known = entries.get(cells["code"]) or composer.entry(row)
        if cells["until"] and not known.until:  # older definitions are not shown
            if cells["until"] == known.since:
                entries[cells["code"]] = known._replace(since=cells["since"])
            continue
        entries[cells["code"]] = composer.located(known, row)
    return entries


def _in_release(composer: Composer, entry: CatalogEntry, rows: list[_Row]) -> CatalogEntry:
    """Return an entry with the severities and locations of a release, and the texts of the newest one."""
    located = entry._replace(severity=rows[0].cells["severity"], severities={}, xpaths={})
    for row in rows:
        located = composer.located(located, row)
    return located


def _rows(data: RuleData) -> list[_Row]:
    """Return all rows: first those of the newest releases, then older ones in reverse order."""
    rows = []
    for syntax in SYNTAXES:
        for name, folder in data.sets.items():
            for path in tables(folder, syntax):
                with path.open(encoding="utf-8", newline="") as file:
                    rows += [_Row(name, syntax, path, cells) for cells in csv.DictReader(file)]
    older = [row for row in rows if row.cells["until"]]
    return [*(row for row in rows if not row.cells["until"]), *reversed(older)]


class Composer:
    """Composes texts from rows and names; `with_texts` are the codes that have texts of their own."""

    def __init__(self, data: RuleData, with_texts: Collection[str] = ()) -> None:
        self._data, folder = data, data.root / FOLDER
        self._texts: dict[str, Any] = tomllib.loads((folder / "texts.toml").read_text("utf-8"))
        translations = read_translations(folder)
        for lang, translation in translations.items():
            add_texts(self._texts, lang, translation)
        self._nouns = Names(folder / "elements.csv", translations)
        self._places = Names(folder / "places.csv", translations)
        self._with_texts = with_texts

    def located(self, known: CatalogEntry, row: _Row) -> CatalogEntry:
        """Return the entry with the severity and the location of a row added to those of other rows."""
        syntax = row.syntax
        others = known.xpaths.get(syntax, "").split(" | ")
        found = xpath_of_row(row.cells, syntax, self._data).split(" | ")
        return known._replace(
            severities={**known.severities, syntax: row.cells["severity"]},
            xpaths={**known.xpaths, syntax: " | ".join(dict.fromkeys(filter(None, (*others, *found))))},
        )

    def entry(self, row: _Row) -> CatalogEntry:
        """Return the entry of a row."""
        cells, file = row.cells, f"{row.ruleset}/{FOLDER}/{row.table.name}"
        entry = CatalogEntry(
            cells["code"],
            cells["severity"],
            row.ruleset,
            "document",
            (),
            {},
            file,
            since=cells["since"],
            until=cells["until"],
        )
        return entry if cells["code"] in self._with_texts else self._with_composed_texts(entry, row)

    def _with_composed_texts(self, entry: CatalogEntry, row: _Row) -> CatalogEntry:
        cells, texts = row.cells, self._texts[self._kind(row.cells)]
        section, terms = entry.section, entry.terms
        if "-" in row.table.stem:  # tables of code lists; their texts name no element
            words = {lang: {"list": self._fragment("lists", cells["argument"], lang)} for lang in texts}
        else:
            noun, place = self._named(cells)
            terms = tuple((noun["term"] or place["term"]).split())
            section = sections.section(place["section"] or None, terms, entry.file)
            words = {
                lang: self._words(cells, noun, place, lang) for lang in texts if noun.get(lang) and place.get(lang)
            }
        examples: dict[str, tuple[str, ...]] = {
            lang: (fill(texts[lang]["example"], words[lang]),) for lang in words if "example" in texts[lang]
        }
        composed = {lang: {name: fill(texts[lang][name], words[lang]) for name in TEXTS} for lang in words}
        own = self._texts.get(cells["code"], texts).get(KEY, ())
        situations = composed_situations({KEY: own or texts.get(KEY, ())}, words)
        return entry._replace(section=section, terms=terms, texts=composed, examples=examples, situations=situations)

    def _kind(self, row: Mapping[str, str]) -> str:
        """Return the table of texts for the code or, if it has none but situations, for the kind."""
        code, kind, same = row["code"], row["check"], self._texts["as"]
        return code if {*self._texts.get(code, {})} - {KEY} else str(same.get(code, same.get(kind, kind)))

    def _named(self, row: Mapping[str, str]) -> tuple[Name, Name]:
        """Return the names of the element and of its parent."""
        context, path = row["context"], row["path"]
        full = path if path.startswith("//") else f"{context.rstrip('/')}/{path}".removesuffix("/.")
        above = full.replace(f"/{path}", "") if ", " in path else full.rpartition("/")[0]
        return self._nouns[full], self._places["/" if above in ("", "/") else above]

    def _words(self, row: Mapping[str, str], noun: Name, place: Name, language: Language) -> dict[str, str]:
        severity, argument = row["severity"], row["argument"]
        instead = noun["instead"] or place["instead"]
        is_lossless = severity == "warning" and instead == _TECHNICAL
        return {
            **inflected(noun, language, self._texts["forms"].get(language, {})),
            "place": place[language],
            "xml": row["path"].rpartition("/")[2].partition("[")[0].replace("|", ", "),
            "argument": argument,
            "only": self._fragment("only", argument, language),
            "instead": self._fragment("instead", instead, language),
            "consequence": self._fragment("consequence", _TECHNICAL if is_lossless else severity, language),
            "risk": self._fragment("risk", severity, language),
            "should": self._fragment("should", severity, language),
            "may": self._fragment("may", severity, language),
        }

    def _fragment(self, heading: str, word: str, language: Language) -> str:
        return str(self._texts[heading].get(word, {}).get(language, ""))


def composed_situations(
    texts: Mapping[str, Any], words: Mapping[Language, Mapping[str, str]]
) -> tuple[dict[str, Any], ...]:
    """Return the situations of a kind of check, with the words of a row by language; see `Situation.plain`."""
    return tuple(
        {
            **situation.plain(),
            "texts": {
                lang: {name: fill(text, words[lang]) for name, text in texts_of.items()}
                for lang, texts_of in situation.texts.items()
                if lang in words
            },
        }
        for situation in map(situation_of, texts.get(KEY, ()))
    )


def add_texts(texts: dict[str, Any], lang: Language, translation: Translation) -> None:
    """Add the texts of a translation to those of `texts.toml`.

    Raises:
        RuleError: the translation has a text that `texts.toml` does not have.
    """
    for kind, table in translation.table("texts").items():
        if kind not in texts:
            raise RuleError(f"unknown kind '{kind}'", file=translation.file, key=f"texts.{kind}")
        if own := {name: text for name, text in table.items() if name != KEY}:
            texts[kind][lang] = own
        situations = {it["name"]: it for it in texts[kind].get(KEY, ()) if "name" in it}
        for name, situation in table.get(KEY, {}).items():
            if name not in situations:
                raise RuleError(f"unknown situation '{name}'", file=translation.file, key=f"texts.{kind}.{KEY}")
            situations[name][lang] = situation
    for heading, fragments in translation.table("fragments").items():
        for word, text in fragments.items():
            if word not in texts.get(heading, {}):
                raise RuleError(f"unknown word '{word}'", file=translation.file, key=f"fragments.{heading}.{word}")
            texts[heading][word][lang] = text
    if translation.table("forms"):
        texts["forms"][lang] = translation.table("forms")


def fill(text: str, words: Mapping[str, str]) -> str:
    """Replace the placeholders of a text; those for values of a document are kept.

    >>> fill("{Place} ist {no} vorgesehen: {count}", {"place": "in der Anschrift", "no": "kein Postfach"})
    'In der Anschrift ist kein Postfach vorgesehen: {count}'
    """

    def word_for(match: re.Match[str]) -> str:
        name = match[1]
        word = words.get(name.lower(), match[0])
        return word[:1].upper() + word[1:] if name[0].isupper() else word

    return _PLACEHOLDER.sub(word_for, text).strip()
