"""The functions of the rule language, each equivalent to XPath that the official rules use.

Generated rules call them by name, with ``GLOBALS`` as globals. The doctests show results of Saxon; more are in
``tests/rulebook/functions``.
"""

from einvoice.rulebook.functions import identifiers, lookups, sequences, skonto  # noqa: F401 (they register functions)
from einvoice.rulebook.functions.arithmetic import EXACT
from einvoice.rulebook.functions.registry import CALLABLE, GLOBALS
from einvoice.rulebook.functions.strings import joined_codes

__all__ = ["CALLABLE", "EXACT", "GLOBALS", "joined_codes"]
