"""The registry of the functions of the rule language.

The annotations of a function say what it takes, and `language.calls` how a call is checked: `str` is the text
of the document, '' if it is absent; `Numeric` is an exact number, a double or `absent`.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from einvoice.model.values import absent

Numeric = Any
"""A `Decimal` (or `int`), a `float`, or `absent`. All operands and the result have the same type."""
Boolean = Any
"""True, False, or `absent`, which is neither."""

#: Globals of generated code: the functions, and names that `language.python` writes.
GLOBALS: Final[dict[str, Any]] = {"absent": absent, "add": operator.add, "reduce": functools.reduce}
#: The functions that a rule may call.
CALLABLE: Final[dict[str, Callable[..., Any]]] = {}

F = TypeVar("F", bound=Callable[..., Any])


def function(name: str = "") -> Callable[[F], F]:
    """Register a function of the language, by its own name or another one."""

    def register(function: F) -> F:
        GLOBALS[name or function.__name__] = CALLABLE[name or function.__name__] = function
        return function

    return register


def helper(function: F) -> F:
    """Register a function that only generated code calls."""
    GLOBALS[function.__name__] = function
    return function


@helper
def occurrences(x: Any) -> Sequence[Any]:
    """Return a single value or group as a sequence, with its further occurrences in the document."""
    return () if x is absent else (x, *x.more)
