"""Catalog entries of syntax rules, whose texts are composed from their rows.

``rules/syntax`` holds the rows. ``texts.toml`` has the texts for each kind of check, ``elements.csv`` and
``places.csv`` the names of elements.
"""

from __future__ import annotations

import csv
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from einvoice.codelists import holds
from einvoice.model.terms import LANGUAGES
from einvoice.rulebook import sections
from einvoice.rulebook.catalog.entry import CatalogEntry
from einvoice.rulebook.catalog.naming import Names, Noun, Place
from einvoice.rulebook.catalog.xpaths import xpath_of_row
from einvoice.rulebook.files.keys import TEXTS
from einvoice.rulebook.releases import CORE, NATIONAL
from einvoice.rulebook.rule import SYNTAXES

FOLDER: Final = "syntax"
_NATIONAL: Final = "national"
_PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")


def syntax_rule_entries(folder: Path, versions: Mapping[str, str]) -> Iterator[CatalogEntry]:
    """Yield one entry for each code of the tables in ``folder``, if there are any.

    ``versions`` are the releases of the rule sets that define severities and locations.

    Raise ``RuleError`` for an element without a name.
    """
    if not (folder / "texts.toml").exists():
        return
    composer, rows = Composer(folder), _rows(folder)
    in_release: dict[str, list[tuple[str, dict[str, str]]]] = {}
    for syntax, path, row in rows:
        if holds(row["since"], row["until"], versions[NATIONAL if path.stem.endswith(_NATIONAL) else CORE]):
            in_release.setdefault(row["code"], []).append((syntax, row))
    for code, entry in _entries(composer, rows).items():
        yield _in_release(composer, entry, in_release[code]) if code in in_release else entry._replace(current=False)


def _entries(composer: Composer, rows: list[tuple[str, Path, dict[str, str]]]) -> dict[str, CatalogEntry]:
    """Return the entries by code, from the newest row of each."""
    entries: dict[str, CatalogEntry] = {}
    for syntax, path, row in rows:
        known = entries.get(row["code"]) or composer.entry(row, path)
        if row["until"] and not known.until:  # older definitions are not shown
            if row["until"] == known.since:
                entries[row["code"]] = known._replace(since=row["since"])
            continue
        entries[row["code"]] = composer.located(known, syntax, row)
    return entries


def _in_release(composer: Composer, entry: CatalogEntry, rows: list[tuple[str, dict[str, str]]]) -> CatalogEntry:
    """Return an entry with the severities and locations of a release, and the texts of the newest one."""
    located = entry._replace(severity=rows[0][1]["severity"], severities={}, xpaths={})
    for syntax, row in rows:
        located = composer.located(located, syntax, row)
    return located


def _rows(folder: Path) -> list[tuple[str, Path, dict[str, str]]]:
    """Return all rows with syntax and file: first those of the newest release, then older ones in reverse order."""
    rows = []
    for syntax in SYNTAXES:
        for path in sorted(folder.glob(f"{syntax.lower()}*.csv")):
            with path.open(encoding="utf-8", newline="") as file:
                rows += [(syntax, path, row) for row in csv.DictReader(file)]
    older = [row for row in rows if row[2]["until"]]
    return [*(row for row in rows if not row[2]["until"]), *reversed(older)]


class Composer:
    """Composes texts from rows and names."""

    def __init__(self, folder: Path) -> None:
        self._texts: dict[str, Any] = tomllib.loads((folder / "texts.toml").read_text("utf-8"))
        self._nouns = Names(folder / "elements.csv", Noun)
        self._places = Names(folder / "places.csv", Place)

    def located(self, known: CatalogEntry, syntax: str, row: Mapping[str, str]) -> CatalogEntry:
        """Return the entry with the severity and the location of a row added to those of other rows."""
        others = known.xpaths.get(syntax)
        xpath = xpath_of_row(row, syntax, self._texts["conditions"][syntax])
        return known._replace(
            severities={**known.severities, syntax: row["severity"]},
            xpaths={**known.xpaths, syntax: f"{others} | {xpath}" if others else xpath},
        )

    def entry(self, row: Mapping[str, str], file: Path) -> CatalogEntry:
        """Return the entry of a row of ``file``."""
        table = file.stem.partition("-")[2]
        texts = self._texts[self._kind(row)]
        section, terms = "document", tuple[str, ...]()
        if table:  # these texts name no element; nearly all codes have their own texts
            words = {language: {"list": self._fragment("lists", row["argument"], language)} for language in LANGUAGES}
        else:
            noun, place = self._named(row)
            terms = tuple((noun.term or place.term).split())
            section = sections.section(place.section or None, terms, f"{FOLDER}/{file.name}")
            words = {language: self._words(row, noun, place, language) for language in LANGUAGES}
        return CatalogEntry(
            row["code"],
            row["severity"],
            "cius" if table == _NATIONAL else "en16931",
            section,
            terms,
            {lang: {name: fill(texts[lang][name], words[lang]) for name in TEXTS} for lang in LANGUAGES},
            f"{FOLDER}/{file.name}",
            since=row["since"],
            until=row["until"],
            examples={
                lang: (fill(texts[lang]["example"], words[lang]),) for lang in LANGUAGES if "example" in texts[lang]
            },
        )

    def _kind(self, row: Mapping[str, str]) -> str:
        """Return the table of texts for the code or, if there is none, for the kind."""
        code, kind, same = row["code"], row["check"], self._texts["as"]
        return code if code in self._texts else str(same.get(code, same.get(kind, kind)))

    def _named(self, row: Mapping[str, str]) -> tuple[Noun, Place]:
        """Return the names of the element and of its parent."""
        context, path = row["context"], row["path"]
        full = path if path.startswith("//") else f"{context.rstrip('/')}/{path}".removesuffix("/.")
        above = full.replace(f"/{path}", "") if ", " in path else full.rpartition("/")[0]
        return self._nouns[full], self._places["/" if above in ("", "/") else above]

    def _words(self, row: Mapping[str, str], noun: Noun, place: Place, language: str) -> dict[str, str]:
        severity, argument = row["severity"], row["argument"]
        return {
            **noun.words(language),
            "place": place.de if language == "de" else place.en,
            "xml": row["path"].rpartition("/")[2].partition("[")[0].replace("|", ", "),
            "argument": argument,
            "only": self._fragment("only", argument, language),
            "instead": self._fragment("instead", noun.instead or place.instead, language),
            "consequence": self._fragment("consequence", severity, language),
            "risk": self._fragment("risk", severity, language),
            "should": self._texts["should"][severity],
            "may": self._texts["may"][severity],
        }

    def _fragment(self, heading: str, word: str, language: str) -> str:
        return str(self._texts[heading].get(word, {}).get(language, ""))


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
