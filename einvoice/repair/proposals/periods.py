"""Exchanges the start and the end of a period that ends before it starts."""

from __future__ import annotations

from collections.abc import Iterator

from einvoice.model.values import absent
from einvoice.repair.case import Case
from einvoice.repair.proposal import Proposal, Swap


def proposals(case: Case) -> Iterator[Proposal]:
    """Yield a proposal for each reversed period; one of its dates may be wrong instead."""
    for period in (*case.invoice.periods, *(it for line in case.invoice.lines for it in line.periods)):
        start, end = period.start, period.end
        if absent in (start, end, start.value, end.value) or start.value <= end.value:
            continue
        terms = tuple(case.numbers.get((id(period), field), "") for field in ("start", "end"))
        yield Proposal((case.set(start, end.raw), case.set(end, start.raw)), terms=terms, action=Swap())
