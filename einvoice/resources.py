"""Location of the rule data, in a checkout and in an installed package."""

from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


@cache
def rules_folder() -> Path:
    """Return the folder of the rule data.

    A wheel has `rules/` inside the package, a checkout beside it.

    Raises:
        FileNotFoundError: the installation is incomplete.
    """
    candidates = (_PACKAGE / "rules", _PACKAGE.parent / "rules")
    for folder in candidates:
        if folder.is_dir():
            return folder
    expected = " or ".join(str(folder) for folder in candidates)
    raise FileNotFoundError(f"The rule data of einvoice is missing, expected at {expected}. Install the package again.")
