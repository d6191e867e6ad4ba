"""Tables of syntax rules: CSV files in the folder ``syntax`` of a rule set."""

from pathlib import Path
from typing import Final

FOLDER: Final = "syntax"


def tables(folder: Path, syntax: str) -> list[Path]:
    """Return the tables of a rule set for a syntax: ``ubl.csv``, ``ubl-codes.csv`` …; each is a Schematron pattern."""
    found = folder.glob(f"{FOLDER}/{syntax.lower()}*.csv")
    return sorted(found, key=lambda path: path.stem)
