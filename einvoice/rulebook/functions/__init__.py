"""The functions of the rule language: those equivalent to XPath that the official rules use, and `plausibility`.

Generated rules call them by name, with `GLOBALS` as globals. The doctests show results of Saxon; more are in
`tests/rulebook/functions`.
"""

from einvoice.rulebook.functions import (  # noqa: F401 (they register functions)
    identifiers,
    lookups,
    plausibility,
    sequences,
    skonto,
)
from einvoice.rulebook.functions.arithmetic import EXACT
from einvoice.rulebook.functions.registry import CALLABLE, GLOBALS
from einvoice.rulebook.functions.strings import joined_codes

__all__ = ["CALLABLE", "EXACT", "GLOBALS", "joined_codes"]
