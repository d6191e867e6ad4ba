"""Assigns items, such as invoice lines, to the VAT breakdowns whose taxable amounts they add up to."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from decimal import Decimal
from typing import Final, Generic, TypeVar

from einvoice.model.values import absent

_MAX_ITEMS: Final = 24
"""Maximum number of items with several possible breakdowns."""
_MAX_STEPS: Final = 5000
"""Maximum number of assignments that are tried; of 12 lines, two rates have 4,096."""

K = TypeVar("K", bound=Hashable)


class Assignment(Generic[K]):
    """A bounded search for the assignments with which all sums are right; it stops at the second one.

    Args:
        amounts: amounts of the items, those of allowances negative.
        sums: what the items of each key add up to.
        allows: whether the item at a position may belong to a key.

    Attributes:
        found: the first assignments, at most two: the key of each item.
        is_complete: whether all were tried that are needed to know whether there is only one.
    """

    def __init__(self, amounts: Sequence[Decimal], sums: Mapping[K, Decimal], allows: Callable[[int, K], bool]) -> None:
        self._amounts, self._left, self._allows = amounts, dict(sums), allows
        self._steps = 0
        self.found: list[tuple[K, ...]] = []
        if len(amounts) <= _MAX_ITEMS and all(it is not absent for it in (*amounts, *self._left.values())):
            self._run(0, ())
        self.is_complete = self._steps <= _MAX_STEPS

    def _run(self, number: int, chosen: tuple[K, ...]) -> None:
        self._steps += 1
        if self._steps > _MAX_STEPS or len(self.found) > 1:
            return
        if number == len(self._amounts):
            if not any(self._left.values()):
                self.found.append(chosen)
            return
        for key in self._left:
            if self._allows(number, key):
                self._left[key] -= self._amounts[number]
                self._run(number + 1, (*chosen, key))
                self._left[key] += self._amounts[number]
