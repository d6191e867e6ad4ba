"""Tables of syntax rules: CSV files in the folder ``syntax`` of a rule set."""

from pathlib import Path
from typing import Final

from einvoice.cache import listed

FOLDER: Final = "syntax"


def tables(folder: Path, syntax: str) -> list[Path]:
    """Return the tables of a rule set for a syntax: ``ubl.csv``, ``ubl-codes.csv`` …; each is a Schematron pattern."""
    found = (Path(path) for path in listed(folder / FOLDER, ".csv"))
    return sorted((path for path in found if path.name.startswith(syntax.lower())), key=lambda path: path.stem)
