"""Catalog entries of the element rules of Factur-X profiles.

The rows are in ``rules/facturx/syntax/rows.csv``. Their texts are composed from ``texts.toml`` and the names of the
steps of a path (``elements.csv``): the last step names the element, the steps above its parents, in the genitive.
"""

from __future__ import annotations

import csv
import re
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from einvoice.errors import RuleError
from einvoice.localization import Language
from einvoice.rulebook.catalog.entry import CatalogEntry
from einvoice.rulebook.catalog.naming import Name, Names
from einvoice.rulebook.catalog.syntax_rules import add_texts, composed_situations, fill
from einvoice.rulebook.catalog.translations import read_translations
from einvoice.rulebook.catalog.xpaths import xpath_of_row
from einvoice.rulebook.files.keys import TEXTS
from einvoice.rulebook.sections import SECTIONS

_PREFIX: Final = re.compile(r"\w+:")
_SYNTAX: Final = "CII"
_NOT_USED: Final = "forbidden"  # all these rows share one code, which has its own texts


def profile_entries(folder: Path) -> Iterator[CatalogEntry]:
    """Yield one entry for each code of the tables in ``folder``, if there are any.

    Entries of ``rules.csv`` and ``copies.csv`` have no texts here: those are in their own files, or those of the rule
    that was copied. Raise ``RuleError`` for an element without a name.
    """
    if not (folder / "rows.csv").exists():
        return
    data = tomllib.loads((folder / "texts.toml").read_text("utf-8"))
    translations = read_translations(folder.parent)
    for lang, translation in translations.items():
        add_texts(data, lang, translation)
    element_names = Names(folder / "elements.csv", translations)
    known: set[str] = set()
    for row in (row for name in ("rows", "rules", "copies") for row in _rows(folder / f"{name}.csv")):
        if row["code"] not in known and row["check"] != _NOT_USED:  # a code may have a row for each profile
            known.add(row["code"])
            yield _entry(row, data, element_names if row["file"].endswith("/rows.csv") else None)


def _rows(file: Path) -> Iterator[dict[str, str]]:
    name = file.relative_to(file.parents[2]).as_posix()
    with file.open(encoding="utf-8", newline="") as lines:
        yield from ({**row, "file": name} for row in csv.DictReader(lines))


def _entry(row: Mapping[str, str], data: Mapping[str, Any], element_names: Names | None) -> CatalogEntry:
    """Return the entry of a row; ``data`` are the texts by check."""
    texts: dict[str, dict[str, str]] = {}
    words: dict[str, dict[str, str]] = {}
    texts_of = data.get(f"{row['check']} {row['path']}", data.get(row["check"], {}))
    section = "document"
    if element_names is not None:
        steps = [element_names[path] for path in _paths(row)]
        section = next((step["section"] for step in reversed(steps) if step["section"]), section)
        for language in (lang for lang in texts_of if all(lang in step for step in steps)):
            words[language] = {"noun": _noun(steps, language), "xml": _xml(row), "argument": row["argument"]}
            texts[language] = {name: fill(text, words[language]) for name, text in texts_of[language].items()}
    if section not in SECTIONS:
        raise RuleError("must be one of " + ", ".join(SECTIONS), file=row["file"], key=section)
    return CatalogEntry(
        row["code"],
        row["severity"],
        row["file"].partition("/")[0],
        section,
        (),
        {language: {name: by_name[name] for name in TEXTS} for language, by_name in texts.items()},
        row["file"],
        severities={_SYNTAX: row["severity"]},
        xpaths={_SYNTAX: xpath_of_row(row, _SYNTAX, data["conditions"])},
        examples={language: (by_name["example"],) for language, by_name in texts.items()},
        situations=composed_situations(texts_of, words),
    )


def _xml(row: Mapping[str, str]) -> str:
    """Return the XML name of the element."""
    path = row["context"].rpartition("/")[2] if row["path"] == "." else row["path"]
    return path.partition("[")[0]


def _paths(row: Mapping[str, str]) -> Iterator[str]:
    """Yield the path of each step to the element."""
    full = f"{row['context'].rstrip('/')}/{row['path']}".removesuffix("/.")
    steps = _PREFIX.sub("", full).strip("/").split("/")
    return ("/".join(steps[: index + 1]) for index in range(len(steps)))


def _noun(steps: list[Name], language: Language) -> str:
    """Return the name of the last step with its parents, unless the texts omit a parent.

    >>> buyer = {"de": "Käufer", "de_genitive": "des Käufers", "en": "buyer", "en_genitive": "of the buyer"}
    >>> country = {"de": "Ländercode", "en": "country code"}
    >>> _noun([buyer, country], "de"), _noun([buyer, country], "en")
    ('Ländercode des Käufers', 'country code of the buyer')
    """
    *parents, last = steps
    genitives = (step.get(f"{language}_genitive", "") for step in reversed(parents))
    return " ".join([last[language], *filter(None, genitives)])
