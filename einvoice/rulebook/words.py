"""Where the words of the rule language are kept; ``functions`` and its neighbours put them here."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

from einvoice.model.values import absent
from einvoice.rulebook.lowerings import Lowering

#: Globals of generated code: the words and what their lowerings use besides.
WORDS: Final[dict[str, Any]] = {"absent": absent, "len": len}
#: How a call of each word is checked and written; what is not here cannot be called by a rule.
LOWERINGS: Final[dict[str, Lowering]] = {}

W = TypeVar("W", bound=Callable[..., Any])


def word(lowering: Lowering, name: str = "") -> Callable[[W], W]:
    """Make a function a word of the language; ``name`` where Python has taken it."""

    def register(function: W) -> W:
        called = name or function.__name__
        WORDS[called] = function
        LOWERINGS[called] = lowering
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
