"""Print what pytest-benchmark measured (its JSON) as one table, with the ratio to the official stylesheet, and with
how much longer ten times the lines take: 10 is linear. The exit status is 1 where a validation grows beyond `LIMIT`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

OFFICIAL, OURS = "test_official_stylesheet", "test_validate"
FEWER, MORE = "1000 lines", "10000 lines"
LIMIT = 12


Medians = dict[str, dict[str, float]]


def medians_of(report: dict) -> Medians:
    """The medians in milliseconds, by part and invoice."""
    medians: Medians = {}
    for entry in report["benchmarks"]:
        part = entry["name"].partition("[")[0]
        medians.setdefault(part, {})[entry["param"]] = entry["stats"]["median"] * 1000
    return medians


def growth(cells: dict[str, float]) -> float | None:
    """How many times longer ten times the lines take; None where not both were measured."""
    return cells[MORE] / cells[FEWER] if {FEWER, MORE} <= set(cells) else None


def table(medians: Medians) -> str:
    """Rows are the parts, columns the invoices and the growth."""
    invoices = list(dict.fromkeys(invoice for cells in medians.values() for invoice in cells))
    rows = [["milliseconds, median", *invoices, "10000 : 1000"]]
    for part, cells in medians.items():
        grown = growth(cells)
        times = (f"{cells[invoice]:.3f}" if invoice in cells else "" for invoice in invoices)
        rows.append([part.removeprefix("test_").replace("_", " "), *times, "" if grown is None else f"{grown:.1f}"])
    if OFFICIAL in medians:
        ratios = (f"{medians[OFFICIAL][invoice] / medians[OURS][invoice]:.1f}" for invoice in invoices)
        rows.append(["official stylesheet / validate", *ratios, ""])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(_line(row, widths) for row in rows)


def _line(row: list[str], widths: list[int]) -> str:
    name, *cells = row
    return "  ".join(
        [name.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True))]
    )


if __name__ == "__main__":
    measured = medians_of(json.loads(Path(sys.argv[1]).read_text()))
    print(table(measured))
    grown = growth(measured.get(OURS, {}))
    if grown is not None and grown >= LIMIT:
        sys.exit(f"Ten times the lines take {grown:.1f} times as long; less than {LIMIT} is wanted.")
