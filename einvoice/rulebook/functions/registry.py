"""Where the words of the rule language are kept; ``functions`` and its neighbours put them here.

A word is a function. Its annotations say what it takes, and ``lowerings`` how a call is written: ``str`` is the text
of the document, '' where there is none; ``Numeric`` an exact or a binary number, or ``absent``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from einvoice.model.values import absent

Numeric = Any
"""A ``Decimal`` (or ``int``), a ``float``, or ``absent``; a word gets and gives them all of one sort."""
Truth = Any
"""True, False, or ``absent``, which is neither."""

#: Globals of generated code: the words and what is used besides.
WORDS: Final[dict[str, Any]] = {"absent": absent, "len": len}
#: The words that a rule may call.
CALLABLE: Final[dict[str, Callable[..., Any]]] = {}

W = TypeVar("W", bound=Callable[..., Any])


def word(name: str = "") -> Callable[[W], W]:
    """Make a function a word of the language, by its name or another one."""

    def register(function: W) -> W:
        WORDS[name or function.__name__] = CALLABLE[name or function.__name__] = function
        return function

    return register


def helper(function: W) -> W:
    """Make a function known to generated code that no rule can call."""
    WORDS[function.__name__] = function
    return function


@helper
def occurrences(x: Any) -> Sequence[Any]:
    """A single thing as a sequence, with what the document has more of it."""
    return () if x is absent else (x, *x.more)
