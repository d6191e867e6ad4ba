"""Entries of the catalog for the rules about elements of the levels of Factur-X.

The rules are rows of ``rules/levels/rows.csv``. Their texts are put together from ``texts.toml`` and from what people
call each step of a path (``words.csv``): the last step names the thing, the steps above say where it belongs.
"""

from __future__ import annotations

import csv
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from einvoice.errors import RuleError
from einvoice.model.terms import LANGUAGES
from einvoice.rulebook.catalog import CatalogEntry
from einvoice.rulebook.load import TEXTS
from einvoice.rulebook.naming import Names
from einvoice.rulebook.rows import filled
from einvoice.rulebook.sections import SECTIONS
from einvoice.rulebook.xpaths import xpath_of_row

FOLDER: Final = "levels"
_PREFIX: Final = re.compile(r"\w+:")
_SYNTAX: Final = "CII"


class Word(NamedTuple):
    """A row of ``words.csv``: ``genitive`` is with its article, and empty where the step says nothing."""

    element: str
    de: str
    genitive: str
    en: str
    section: str


def entries_of_levels(folder: Path) -> Iterator[CatalogEntry]:
    """One entry for each code of the rows in ``folder`` without texts written by hand; none where there are no rows.

    Raises ``RuleError`` where a row names what has no words.
    """
    if not (folder / "rows.csv").exists():
        return
    texts = tomllib.loads((folder / "texts.toml").read_text("utf-8"))
    words = Names(folder / "words.csv", Word)
    known: set[str] = set()
    with (folder / "rows.csv").open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["kind"] in texts and row["code"] not in known:  # a code may have a row for each level
                known.add(row["code"])
                yield _entry(row, texts, words)


def _entry(row: Mapping[str, str], data: Mapping[str, Any], words: Names[Word]) -> CatalogEntry:
    steps = [words[path] for path in _paths(row)]
    section = next((word.section for word in reversed(steps) if word.section), "document")
    if section not in SECTIONS:
        raise RuleError("is one of " + ", ".join(SECTIONS), file=f"{FOLDER}/words.csv", key=section)
    xml = row["path"].partition("[")[0]
    if xml == ".":
        xml = row["context"].rpartition("/")[2].partition("[")[0]
    told = {}
    for language in LANGUAGES:
        said = {"noun": _noun(steps, language), "xml": xml, "argument": row["argument"]}
        told[language] = {name: filled(text, said) for name, text in data[row["kind"]][language].items()}
    return CatalogEntry(
        row["code"],
        row["severity"],
        "profile",
        section,
        (),
        {language: {name: texts[name] for name in TEXTS} for language, texts in told.items()},
        f"{FOLDER}/rows.csv",
        severities={_SYNTAX: row["severity"]},
        xpaths={_SYNTAX: xpath_of_row(row, _SYNTAX, data["conditions"])},
        examples={language: (texts["example"],) for language, texts in told.items()},
    )


def _paths(row: Mapping[str, str]) -> Iterator[str]:
    """The path of each step on the way to what the row looks at."""
    whole = f"{row['context'].rstrip('/')}/{row['path']}".removesuffix("/.")
    steps = _PREFIX.sub("", whole).strip("/").split("/")
    return ("/".join(steps[: place + 1]) for place in range(len(steps)))


def _noun(steps: list[Word], language: str) -> str:
    """What the last step is called, and what it belongs to.

    >>> buyer = Word("", "Käufer", "des Käufers", "buyer", "buyer")
    >>> address = Word("", "Anschrift", "der Anschrift", "address", "")
    >>> country = Word("", "Ländercode", "", "country code", "")
    >>> _noun([buyer, address, country], "de"), _noun([buyer, address, country], "en")
    ('Ländercode der Anschrift des Käufers', 'country code of the address of the buyer')
    """
    *above, last = steps
    owners = [word for word in reversed(above) if word.genitive]
    if language == "de":
        return " ".join([last.de, *(word.genitive for word in owners)])
    return " of the ".join([last.en, *(word.en for word in owners)])
