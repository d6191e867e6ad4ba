"""Removes the exact copy of a line, an allowance, a charge or a VAT breakdown: a program wrote it twice."""

from __future__ import annotations

from collections.abc import Iterator

from einvoice.model.group import Group
from einvoice.model.invoice import Invoice
from einvoice.repair.applicability import QUESTION, UNSAFE
from einvoice.repair.case import Candidate, Case
from einvoice.repair.content import Content, content_of
from einvoice.repair.edits import Remove

_RANK = 23  # before the amounts that would include it twice


def candidates(case: Case) -> Iterator[Candidate]:
    """Yield a candidate for each copy."""
    known: set[Content] = set()
    for group, number in _groups(case.invoice):
        if group.node is None:
            continue
        content = content_of(group.node)
        if content in known:
            yield Candidate(
                (Remove(case.xpath(group.node)),), _RANK, UNSAFE if number == "BG-23" else QUESTION, (number,)
            )
        known.add(content)


def _groups(invoice: Invoice) -> Iterator[tuple[Group, str]]:
    """Yield the groups, each with its number."""
    yield from ((it, "BG-25") for it in invoice.lines)
    yield from ((it, "BG-21" if it.is_charge else "BG-20") for it in invoice.allowances_and_charges)
    yield from ((it, "BG-23") for it in invoice.vat_breakdown)
