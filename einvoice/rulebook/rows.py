"""Entries of the catalog for the rules about elements, whose texts are put together from their rows.

The rules are data of ``rules/syntax``: a row says where it looks and what it asks, ``texts.toml`` what each kind of
question says in German and English.
"""

from __future__ import annotations

import csv
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from einvoice.rulebook.catalog import CatalogEntry
from einvoice.rulebook.load import TEXTS

FOLDER: Final = "syntax"
_LAYERS: Final = {"national": "cius"}


def entries_of_rows(folder: Path) -> Iterator[CatalogEntry]:
    """One entry for each code of the tables in ``folder``; none where there are no tables."""
    if not (folder / "texts.toml").exists():
        return
    words = tomllib.loads((folder / "texts.toml").read_text("utf-8"))
    found: dict[str, CatalogEntry] = {}
    for path in sorted(folder.glob("*.csv")):
        syntax, _, table = path.stem.partition("-")
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                known = found.get(row["code"]) or _entry(row, words, _LAYERS.get(table, "en16931"), path)
                severities = {**known.severities, syntax.upper(): row["severity"]}
                found[row["code"]] = known._replace(severities=severities)
    yield from found.values()


def _entry(row: dict[str, str], words: dict[str, Any], layer: str, path: Path) -> CatalogEntry:
    kind = words["as"].get(row["kind"], row["kind"])
    texts = {
        language: {name: _filled(words[kind][language][name], row, words, language) for name in TEXTS}
        for language in ("de", "en")
    }
    return CatalogEntry(row["code"], row["severity"], layer, "document", (), texts, f"{FOLDER}/{path.name}")


def _filled(text: str, row: dict[str, str], words: dict[str, Any], language: str) -> str:
    filled = {
        "path": _short(row["path"]),
        "context": _place(row["context"], words["root"]["context"][language]),
        "into": _place(row["context"], words["root"]["into"][language]),
        "argument": row["argument"],
        "list": words["lists"].get(row["argument"], {}).get(language, ""),
    }
    for name, content in filled.items():
        text = text.replace(f"{{{name}}}", content)
    return text


def _place(context: str, root: str) -> str:
    """The element that the rule is about: the last step, or all ways to write it."""
    if context == "/":
        return root
    return _short(context.rpartition("/")[2].partition("[")[0])


def _short(path: str) -> str:
    """A path of a row as people read it, without the notation of conditions."""
    parts = [part.partition("[")[0] for part in path.lstrip("/").split("/")]
    return "/".join(parts).replace("|", " / ")
