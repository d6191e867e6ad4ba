"""Entries of the catalog for the rules about elements, whose texts are put together from their rows.

The rules are data of ``rules/syntax``: a row says where it looks and what it asks, ``texts.toml`` what each kind of
question says in German and English, ``elements.csv`` and ``places.csv`` what people call what the row names.
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
from einvoice.rulebook.catalog import CatalogEntry
from einvoice.rulebook.catalog.naming import Names, Noun, Place
from einvoice.rulebook.catalog.xpaths import xpath_of_row
from einvoice.rulebook.files.load import TEXTS
from einvoice.rulebook.releases import CORE, NATIONAL
from einvoice.rulebook.rule import SYNTAXES

FOLDER: Final = "syntax"
_NATIONAL: Final = "national"
_BLANK: Final = re.compile(r"\{(\w+)\}")


def entries_of_rows(folder: Path, versions: Mapping[str, str]) -> Iterator[CatalogEntry]:
    """One entry for each code of the tables in ``folder``; none where there are no tables.

    ``versions`` are the releases of the rule sets whose severities and places are told, of the codes that they have.

    Raises ``RuleError`` where a row names what has no words.
    """
    if not (folder / "texts.toml").exists():
        return
    composer, rows = Composer(folder), _rows(folder)
    there: dict[str, list[tuple[str, dict[str, str]]]] = {}
    for syntax, path, row in rows:
        if holds(row["since"], row["until"], versions[NATIONAL if path.stem.endswith(_NATIONAL) else CORE]):
            there.setdefault(row["code"], []).append((syntax, row))
    for code, entry in _entries(composer, rows).items():
        yield _as_there(composer, entry, there[code]) if code in there else entry._replace(current=False)


def _entries(composer: Composer, rows: list[tuple[str, Path, dict[str, str]]]) -> dict[str, CatalogEntry]:
    """The entries by their codes, as the newest row of each puts it."""
    found: dict[str, CatalogEntry] = {}
    for syntax, path, row in rows:
        known = found.get(row["code"]) or composer.entry(row, path)
        if row["until"] and not known.until:  # how an older release put it is told by nobody
            if row["until"] == known.since:
                found[row["code"]] = known._replace(since=row["since"])
            continue
        found[row["code"]] = composer.located(known, syntax, row)
    return found


def _as_there(composer: Composer, entry: CatalogEntry, rows: list[tuple[str, dict[str, str]]]) -> CatalogEntry:
    """An entry with the severities and places that the rows of a release have; its texts are those of the newest."""
    read = entry._replace(severity=rows[0][1]["severity"], severities={}, xpaths={})
    for syntax, row in rows:
        read = composer.located(read, syntax, row)
    return read


def _rows(folder: Path) -> list[tuple[str, Path, dict[str, str]]]:
    """All rows with their syntax and their file, those of the newest release first, then backwards."""
    rows = []
    for syntax in SYNTAXES:
        for path in sorted(folder.glob(f"{syntax.lower()}*.csv")):
            with path.open(encoding="utf-8", newline="") as file:
                rows += [(syntax, path, row) for row in csv.DictReader(file)]
    earlier = [row for row in rows if row[2]["until"]]
    return [*(row for row in rows if not row[2]["until"]), *reversed(earlier)]


class Composer:
    """Puts texts together from rows and words."""

    def __init__(self, folder: Path) -> None:
        self._texts: dict[str, Any] = tomllib.loads((folder / "texts.toml").read_text("utf-8"))
        self._nouns = Names(folder / "elements.csv", Noun)
        self._places = Names(folder / "places.csv", Place)

    def located(self, known: CatalogEntry, syntax: str, row: Mapping[str, str]) -> CatalogEntry:
        """The entry with what a row says of it: where it points, besides where others of its code and syntax do."""
        before = known.xpaths.get(syntax)
        made = xpath_of_row(row, syntax, self._texts["conditions"][syntax])
        return known._replace(
            severities={**known.severities, syntax: row["severity"]},
            xpaths={**known.xpaths, syntax: f"{before} | {made}" if before else made},
        )

    def entry(self, row: Mapping[str, str], file: Path) -> CatalogEntry:
        """The entry of a row of ``file``."""
        table = file.stem.partition("-")[2]
        texts = self._texts[self._kind(row)]
        section, terms = "document", tuple[str, ...]()
        if table:  # the texts of these tables name nothing; nearly all codes have texts written by hand besides
            words = {language: {"list": self._said("lists", row["argument"], language)} for language in LANGUAGES}
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
            {lang: {name: filled(texts[lang][name], words[lang]) for name in TEXTS} for lang in LANGUAGES},
            f"{FOLDER}/{file.name}",
            since=row["since"],
            until=row["until"],
            examples={
                lang: (filled(texts[lang]["example"], words[lang]),) for lang in LANGUAGES if "example" in texts[lang]
            },
        )

    def _kind(self, row: Mapping[str, str]) -> str:
        """The heading of the texts: those for the code itself come first."""
        code, kind, same = row["code"], row["check"], self._texts["as"]
        return code if code in self._texts else str(same.get(code, same.get(kind, kind)))

    def _named(self, row: Mapping[str, str]) -> tuple[Noun, Place]:
        """What the row looks at, and where that stands."""
        context, path = row["context"], row["path"]
        whole = path if path.startswith("//") else f"{context.rstrip('/')}/{path}".removesuffix("/.")
        above = whole.replace(f"/{path}", "") if ", " in path else whole.rpartition("/")[0]
        return self._nouns[whole], self._places["/" if above in ("", "/") else above]

    def _words(self, row: Mapping[str, str], noun: Noun, place: Place, language: str) -> dict[str, str]:
        severity, argument = row["severity"], row["argument"]
        return {
            **noun.words(language),
            "place": place.de if language == "de" else place.en,
            "xml": row["path"].rpartition("/")[2].partition("[")[0].replace("|", ", "),
            "argument": argument,
            "only": self._said("only", argument, language),
            "instead": self._said("instead", noun.instead or place.instead, language),
            "consequence": self._said("consequence", severity, language),
            "risk": self._said("risk", severity, language),
            "should": self._texts["should"][severity],
            "may": self._texts["may"][severity],
        }

    def _said(self, heading: str, word: str, language: str) -> str:
        return str(self._texts[heading].get(word, {}).get(language, ""))


def filled(text: str, words: Mapping[str, str]) -> str:
    """The text with its words in the braces; what only a document can say stays open.

    >>> filled("{Place} ist {no} vorgesehen: {count}", {"place": "in der Anschrift", "no": "kein Postfach"})
    'In der Anschrift ist kein Postfach vorgesehen: {count}'
    """

    def said(found: re.Match[str]) -> str:
        name = found[1]
        word = words.get(name.lower(), found[0])
        return word[:1].upper() + word[1:] if name[0].isupper() else word

    return _BLANK.sub(said, text).strip()
