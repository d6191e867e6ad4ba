"""Print what pytest-benchmark measured (its JSON) as one table, with the ratio to the official stylesheet."""

from __future__ import annotations

import json
import sys
from pathlib import Path

OFFICIAL, OURS = "test_official_stylesheet", "test_validate"


def table(report: dict) -> str:
    """Rows are the parts, columns the invoices; medians in milliseconds."""
    medians: dict[str, dict[str, float]] = {}
    for entry in report["benchmarks"]:
        part = entry["name"].partition("[")[0]
        medians.setdefault(part, {})[entry["param"]] = entry["stats"]["median"] * 1000
    invoices = list(dict.fromkeys(invoice for cells in medians.values() for invoice in cells))
    rows = [["milliseconds, median", *invoices]]
    for part, cells in medians.items():
        rows.append([part.removeprefix("test_").replace("_", " "), *map(_milliseconds, map(cells.get, invoices))])
    if OFFICIAL in medians:
        ratios = (f"{medians[OFFICIAL][invoice] / medians[OURS][invoice]:.1f}" for invoice in invoices)
        rows.append(["official stylesheet / validate", *ratios])
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(_line(row, widths) for row in rows)


def _milliseconds(median: float | None) -> str:
    return "" if median is None else f"{median:.3f}"


def _line(row: list[str], widths: list[int]) -> str:
    name, *cells = row
    return "  ".join(
        [name.ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(cells, widths[1:], strict=True))]
    )


if __name__ == "__main__":
    print(table(json.loads(Path(sys.argv[1]).read_text())))
