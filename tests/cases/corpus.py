"""Reads comparison cases: the generated ones, and those beside the checkout if available.

A case is an official result (a dict, see ``expected.jsonl``) with the bytes of its document. Its name, ``case``, begins
with a folder.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, TypeAlias

from tests.helpers.paths import SHARED

from .edits import edited

Case: TypeAlias = "tuple[dict[str, Any], bytes]"

BASES: Final = Path(__file__).parent / "bases"
EXPECTED: Final = Path(__file__).parent / "expected.jsonl"
SHARED: Final = SHARED
#: Folders of generated cases with a verdict of the EN 16931 rules.
UBL: Final = ("ubl-invoice", "ubl-credit-note")
#: Folders of generated cases with a verdict of the Factur-X rules, by profile.
FACTUR_X: Final = {name: f"factur-x-{name}" for name in ("minimum", "basicwl", "basic", "en16931", "extended")}
#: Folders of generated cases that the general schemas of UBL 2.1 and CII D16B describe as well.
GENERAL: Final = (*UBL, *(FACTUR_X[name] for name in FACTUR_X if name != "extended"))
GENERATED: Final = (*UBL, *FACTUR_X.values())
#: Folders beside the checkout with a verdict of EN 16931 and XRechnung.
BESIDE: Final = ("cen-files", "cen-unit", "grown", "grown-much", "kosit-rules", "mutants", "xrechnung-testsuite")
#: All folders with documents of any profile.
ALL: Final = (*GENERATED, *BESIDE)


def beside(collection: str = "cases") -> bool:
    """Return whether a collection of cases lies beside the checkout."""
    return (SHARED / collection / "expected.jsonl").exists()


def available(*names: str) -> list[str]:
    """Return those of the folders that there are, as parameters of a test."""
    return [name for name in names if name in GENERATED or beside()]


def cases(*names: str, every: int = 1) -> Iterator[Case]:
    """Yield the cases of folders, generated ones first.

    Args:
        names: the folders; those that are not available are ignored.
        every: yield one case in this number.
    """
    found = [it for it in generated() if _folder(it[0]) in names]
    yield from found[::every]
    if beside():
        rows = [row for row in _rows(SHARED / "cases" / "expected.jsonl") if _folder(row) in names]
        yield from ((row, _document("cases", row)) for row in rows[-len(found) % every :: every])


@functools.cache
def generated() -> tuple[Case, ...]:
    """Return the generated cases.

    Raises:
        ValueError: a document is not the one that was judged.
    """
    bases = {path.stem: path.read_bytes() for path in BASES.glob("*.xml")}
    return tuple(_generated(row, bases) for row in _rows(EXPECTED))


def _generated(row: dict[str, Any], bases: dict[str, bytes]) -> Case:
    document = edited(bases[row["base"]], row["edits"])
    if hashlib.sha256(document).hexdigest() != row["sha256"]:
        raise ValueError(f"{row['case']} is another document than the one judged: python -m tests.cases.generate")
    return row, document


def unedited() -> Iterator[Case]:
    """Yield the generated cases without an edit: valid documents."""
    yield from (it for it in generated() if not it[0]["edits"])


def read(collection: str, expected: str = "expected.jsonl") -> Iterator[Case]:
    """Yield the cases of a collection beside the checkout."""
    for row in _rows(SHARED / collection / expected):
        yield row, _document(collection, row)


def _document(collection: str, row: dict[str, Any]) -> bytes:
    return (SHARED / collection / str(row["case"])).read_bytes()


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _folder(row: dict[str, Any]) -> str:
    return str(row["case"]).partition("/")[0]
