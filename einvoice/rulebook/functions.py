"""The words of the rule language. Generated rules call them by name, with ``WORDS`` as globals."""

from __future__ import annotations

from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, ROUND_HALF_EVEN, Context
from typing import Any, Final

#: Sums and products are exact: run generated rules inside ``decimal.localcontext(EXACT)``.
EXACT: Final = Context(prec=200, rounding=ROUND_HALF_EVEN, Emax=MAX_EMAX, Emin=MIN_EMIN)

WORDS: dict[str, Callable[..., Any]] = {}
