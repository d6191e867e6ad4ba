"""What an expression is evaluated in: the context item, the variables, and the work that is left."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from einvoice.schematron.errors import LimitReached
from einvoice.schematron.tree import Document

_STEPS: Final = 3_000_000
_STEPS_PER_ELEMENT: Final = 500
"""Nodes and items that the expressions of a sheet may visit, each counted with the parts of what is evaluated for it:
a constant, and so many for each element of the document. A small document takes at most about three seconds; official
sheets need a tenth of that, and not more for each element of a large one."""
_MAX_KNOWN: Final = 500_000
"""Items that are kept for expressions that occur again."""
_LONG: Final = 200
_SIGNS_OF_STEP: Final = 50
"""Characters from which a text counts, and of a text that count for one step."""
_COST_OF_CALL: Final = 100
"""Steps that the call of a function counts for."""
_MAX_DEPTH: Final = 60
"""Depth of functions that call each other; deeper ones would exceed the stack of Python."""


class Run:
    """The evaluation of a sheet for one document.

    Attributes:
        document: the document.
        globals: the variables of the sheet, each evaluated when it is asked for first.
        steps: number of nodes and items that may still be visited.
        depth: number of functions that are being called.
        known: values of expressions that depend on the document only, by the expression.
        texts: sets of the texts of long sequences, by the identity of the sequence, which is kept beside it.
    """

    __slots__ = ("_allowed", "_room", "depth", "document", "globals", "known", "steps", "texts")

    def __init__(self, document: Document, globals_: Mapping[str, Callable[[Frame], Any]], steps: int = 0) -> None:
        self.document = document
        self._allowed = self.steps = steps or _STEPS + _STEPS_PER_ELEMENT * len(document.elements)
        self.depth = 0
        self.known: dict[Any, Any] = {}
        self._room = _MAX_KNOWN
        self.texts: dict[int, tuple[Any, frozenset[str] | None]] = {}
        frame = Frame(self, document.node, {})
        self.globals: dict[str, Lazy] = {name: Lazy(run, frame) for name, run in globals_.items()}

    def spend(self, steps: int) -> None:
        """Count visited nodes.

        Raises:
            LimitReached: there were too many.
        """
        self.steps -= steps
        if self.steps < 0:
            raise LimitReached(f"more than {self._allowed} steps")

    def write(self, text: str) -> str:
        """Count a text that was made, and return it.

        Raises:
            LimitReached: there were too many.
        """
        if len(text) > _LONG:
            self.spend(len(text) // _SIGNS_OF_STEP)
        return text

    def remember(self, expression: Any, value: Any) -> None:
        """Keep the value of an expression, unless the items that are kept are already too many."""
        self._room -= len(value) if isinstance(value, list) else 1
        if self._room >= 0:
            self.known[expression] = value

    def enter(self) -> None:
        """Count a call of a function.

        Raises:
            LimitReached: too many are open.
        """
        self.depth += 1
        self.spend(_COST_OF_CALL)
        if self.depth > _MAX_DEPTH:
            raise LimitReached(f"functions that call each other {_MAX_DEPTH} times")


class Frame:
    """The context of an expression.

    Attributes:
        run: the evaluation.
        item: the context item; None for none.
        position, size: place of the item in its sequence, and number of its items.
        current: the node that the rule judges (`current()`).
        variables: the local variables.
    """

    __slots__ = ("current", "item", "position", "run", "size", "variables")

    def __init__(self, run: Run, item: Any, variables: dict[str, Any]) -> None:
        self.run = run
        self.item = item
        self.current = item
        self.variables = variables
        self.position = self.size = 1


class Lazy:
    """A variable that is evaluated when it is asked for first, in the context in which it was declared."""

    __slots__ = ("_evaluate", "_frame", "_item", "_value")

    def __init__(self, evaluate: Callable[[Frame], Any], frame: Frame) -> None:
        self._evaluate: Callable[[Frame], Any] | None = evaluate
        self._frame, self._item, self._value = frame, frame.item, None

    def value(self) -> Any:
        """Return the value."""
        if self._evaluate is not None:
            frame = self._frame
            item, frame.item = frame.item, self._item
            try:
                self._value = self._evaluate(frame)
            finally:
                frame.item = item
            self._evaluate = None
        return self._value
