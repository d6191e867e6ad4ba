"""Exchanges the start and the end of a period that ends before it starts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from einvoice.model.values import absent
from einvoice.repair.case import Candidate, Case

_RANK: Final = 45


def candidates(case: Case) -> Iterator[Candidate]:
    """Yield a candidate for each reversed period; one of its dates may be wrong instead."""
    for period in (*case.invoice.periods, *(it for line in case.invoice.lines for it in line.periods)):
        start, end = period.start, period.end
        if absent in (start, end, start.value, end.value) or start.value <= end.value:
            continue
        terms = tuple(case.numbers.get((id(period), field), "") for field in ("start", "end"))
        yield Candidate((case.set(start, end.raw), case.set(end, start.raw)), _RANK, terms=terms, swapped=True)
