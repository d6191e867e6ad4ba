"""Print pytest-benchmark results (JSON) as a table, with ratios between steps and growth.

Growth is the time for ten times as many invoice lines; 10 is linear. Exits with 1 if validation grows beyond `LIMIT`.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

OFFICIAL, NATIVE = "test_official_stylesheet", "test_validate"
RATIOS = (
    ("official stylesheet / validate", OFFICIAL, NATIVE),
    ("official stylesheets / validate, Peppol", "test_official_peppol_stylesheets", "test_validate_peppol"),
    ("causes / validate faulty", "test_causes", "test_validate_faulty"),
)
FEWER, MORE = "1000 lines", "10000 lines"
LIMIT = 12


Medians = dict[str, dict[str, float]]


def medians_of(report: dict) -> Medians:
    """Return the medians in milliseconds by step and invoice."""
    medians: Medians = {}
    for entry in report["benchmarks"]:
        part = entry["name"].partition("[")[0]
        medians.setdefault(part, {})[entry["param"]] = entry["stats"]["median"] * 1000
    return medians


def growth(cells: dict[str, float]) -> float | None:
    """Return the growth for ten times as many lines; None unless both sizes were measured."""
    return cells[MORE] / cells[FEWER] if {FEWER, MORE} <= set(cells) else None


def table(medians: Medians) -> str:
    """Format a table: one row per step, one column per invoice and one for the growth."""
    invoices = list(dict.fromkeys(invoice for cells in medians.values() for invoice in cells))
    rows = [["milliseconds, median", *invoices, "10000 : 1000"]]
    for part, cells in medians.items():
        ratio = growth(cells)
        times = (f"{cells[invoice]:.3f}" if invoice in cells else "" for invoice in invoices)
        rows.append([part.removeprefix("test_").replace("_", " "), *times, "" if ratio is None else f"{ratio:.1f}"])
    for name, part, unit in RATIOS:
        if {part, unit} <= medians.keys():
            known = medians[part].keys() & medians[unit].keys()
            ratios = (f"{medians[part][it] / medians[unit][it]:.1f}" if it in known else "" for it in invoices)
            rows.append([name, *ratios, ""])
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
    ratio = growth(measured.get(NATIVE, {}))
    if ratio is not None and ratio >= LIMIT:
        sys.exit(f"Ten times as many lines take {ratio:.1f} times as long; the limit is {LIMIT}.")
