"""One value of two invoices, side by side."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from decimal import Decimal
from typing import Final, Literal, TypeAlias

from einvoice.comparison.content import Content, Entry

Status: TypeAlias = Literal["equal", "changed", "only_in_a", "only_in_b"]

STATUSES: Final[tuple[Status, ...]] = ("equal", "changed", "only_in_a", "only_in_b")


@dataclass(frozen=True, slots=True)
class ComparedTerm:
    """One value of two invoices.

    Attributes:
        status: "equal", "changed", "only_in_a" or "only_in_b".
        term: its business term, such as "BT-153"; "" for content without one.
        group: the business group that repeats and has the value, such as "BG-25"; "BG-0" for the invoice itself.
        invoice_line: number of the invoice line (BT-126) that has the value; "" outside lines.
        entry_a, entry_b: the values with content, scheme and place; None if the invoice does not have it. The content
            of a file is its SHA-256.
    """

    status: Status
    term: str
    group: str
    invoice_line: str
    entry_a: Entry | None
    entry_b: Entry | None

    @property
    def only_white_space(self) -> bool:
        """Whether two texts that differ have the same words: only their line breaks are not the same."""
        a, b = self.entry_a, self.entry_b
        if self.status != "changed" or a is None or b is None:
            return False
        texts = isinstance(a.content, str) and isinstance(b.content, str)
        return texts and a.scheme == b.scheme and str(a.content).split() == str(b.content).split()

    @property
    def a(self) -> Content | None:
        """The content in the first invoice; None if it is only in the second."""
        return None if self.entry_a is None else self.entry_a.content

    @property
    def b(self) -> Content | None:
        """The content in the second invoice; None if it is only in the first."""
        return None if self.entry_b is None else self.entry_b.content


def plain(content: Content) -> str:
    """Return a content as text for programs.

    >>> plain(Decimal("1.50")), plain(datetime.date(2026, 3, 1))
    ('1.50', '2026-03-01')
    """
    if isinstance(content, Decimal):
        return format(content, "f")
    return content.isoformat() if isinstance(content, datetime.date) else content
