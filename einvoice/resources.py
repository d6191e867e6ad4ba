"""Where the rule data lies: the one place that knows whether this is a checkout or an installed package."""

from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


@cache
def rules_folder() -> Path:
    """Return the folder of the rule data, the same in a checkout and in an installed wheel.

    The wheel carries `rules/` inside the package, the checkout beside it.

    Raises:
        FileNotFoundError: neither is there, so the installation is incomplete.
    """
    candidates = (_PACKAGE / "rules", _PACKAGE.parent / "rules")
    for folder in candidates:
        if folder.is_dir():
            return folder
    places = " or ".join(str(folder) for folder in candidates)
    raise FileNotFoundError(f"The rule data of einvoice is missing, expected at {places}. Install the package again.")
