"""Tables of syntax rules: CSV files in the folder `syntax` of a rule set."""

from pathlib import Path
from typing import Final

from einvoice.cache import listed

FOLDER: Final = "syntax"
_NUMBERED: Final = "FX-SCH-A-"
"""How the codes begin that the sheet of each Factur-X profile numbers independently."""


def tables(folder: Path, syntax: str) -> list[Path]:
    """Return the tables of a rule set for a syntax: `ubl.csv`, `ubl-codes.csv` …; each is a Schematron pattern."""
    found = (Path(path) for path in listed(folder / FOLDER, ".csv"))
    return sorted((path for path in found if path.name.startswith(syntax.lower())), key=lambda path: path.stem)


def codes_by_profile(code: str, profiles: str) -> dict[str, str]:
    """Return the code of a row in each of its profiles; a profile may have a number of its own.

    >>> codes_by_profile("FX-SCH-A-000406", "minimum:000019 extended")
    {'minimum': 'FX-SCH-A-000019', 'extended': 'FX-SCH-A-000406'}
    """
    numbers = (it.partition(":") for it in profiles.split(" "))
    return {profile: f"{_NUMBERED}{number}" if number else code for profile, _, number in numbers}
