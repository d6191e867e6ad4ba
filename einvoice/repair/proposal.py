"""A proposed change: its edits, what kind of change it is, and what it may do at most."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from einvoice.causes.applicability import QUESTION, Applicability
from einvoice.editing.edits import Edit
from einvoice.result import Finding


@dataclass(frozen=True, slots=True)
class SetValues:
    """Sets, adds or removes single values."""


@dataclass(frozen=True, slots=True)
class AddGroup:
    """Adds a business group as a whole, such as "BG-23"."""

    group: str


@dataclass(frozen=True, slots=True)
class Combine:
    """Makes one of several entries of a group; `count` is their number."""

    count: int


@dataclass(frozen=True, slots=True)
class Swap:
    """Exchanges the values of two terms."""


@dataclass(frozen=True, slots=True)
class MoveElement:
    """Moves the element at an XPath to its place in the schema."""

    xpath: str


@dataclass(frozen=True, slots=True)
class Withdraw:
    """Removes what must not be there.

    Attributes:
        refused: the finding that says so.
        is_stated_twice: whether another group has the same content, of a term that is single.
    """

    refused: Finding = field(compare=False)
    is_stated_twice: bool = False


Action: TypeAlias = SetValues | AddGroup | Combine | Swap | MoveElement | Withdraw
_SET_VALUES = SetValues()


@dataclass(frozen=True, slots=True)
class Proposal:
    """A change to try.

    Attributes:
        edits: of the document.
        applicability: what it may do at most; the equations around its numbers can forbid it, see `evidence`.
        terms: business terms that it changes, the leading one first.
        action: what kind of change it is, as texts describe it.
        order: proposals of a family with a lower order are tried first.
        family: position of its family in the order in which they are tried.
        alternative: whether it revises what the rest of the invoice does not decide; it is tried even if another
            proposal explains the findings.
        is_fallback: whether it is tried only if no other proposal resolves anything.
        is_total: whether it calculates amounts from the lines; it is not tried after a change that is a guess.
        beside: whether it is only made beside other proposals; alone, it would claim what the invoice leaves open.
        required: codes of which the change must resolve a finding; it is no repair if they remain.
        turned: terms whose values become those of another term, as the amount of an allowance that is a charge.
    """

    edits: tuple[Edit, ...]
    applicability: Applicability = QUESTION
    terms: tuple[str, ...] = ()
    action: Action = _SET_VALUES
    order: int = 0
    family: int = 0
    alternative: bool = False
    is_fallback: bool = False
    is_total: bool = False
    beside: bool = False
    required: tuple[str, ...] = ()
    turned: tuple[str, ...] = ()

    @property
    def rank(self) -> tuple[int, int]:
        """Its place in the order in which proposals are tried."""
        return self.family, self.order

    @property
    def refused(self) -> Finding | None:
        """The finding that says that what the edits remove must not be there; None for other changes."""
        return self.action.refused if isinstance(self.action, Withdraw) else None
