"""Proposed changes, one module per strategy.

Each module of this package has a function `proposals(case)`, which yields the changes that its strategy proposes for
the findings of a document. A proposal is derived from the rules and from the rest of the invoice; whether it mends
anything is found out by trying it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final, TypeAlias

from einvoice.repair.case import Case
from einvoice.repair.proposal import Proposal
from einvoice.repair.proposals import (
    amounts,
    attachments,
    breakdown,
    codes,
    currency,
    derived,
    discounts,
    expected,
    form,
    names,
    order,
    payment,
    periods,
    rates,
    registrations,
    split_breakdown,
    surplus,
    totals,
    unclassified,
    units,
    vat,
)

Strategy: TypeAlias = Callable[[Case], Iterable[Proposal]]

FAMILIES: Final[tuple[tuple[Strategy, ...], ...]] = (
    (names.namespaces,),
    (codes.proposals,),  # before the forms of a value: "Stk" is a piece, although there is a code STK
    (attachments.proposals,),  # before the removal of the file
    (form.proposals, discounts.proposals),
    (names.proposals, registrations.proposals),
    (order.proposals,),
    (amounts.proposals, expected.proposals),
    (unclassified.proposals,),
    (breakdown.tax_total,),
    (totals.proposals,),
    (currency.proposals, derived.proposals),
    (split_breakdown.proposals,),  # before the amounts of a single entry
    (breakdown.proposals,),
    (rates.proposals,),  # before a single category or rate, which leaves the others as they are
    (vat.proposals,),
    (payment.proposals, periods.proposals, units.proposals),
    (surplus.proposals,),
    (amounts.carried,),
)
"""The strategies in the order in which their proposals are tried; those of one family are alternatives."""


def proposals(case: Case, end: float = math.inf) -> list[Proposal]:
    """Return the proposals of all strategies in the order in which to try them, each change once.

    Args:
        case: the document.
        end: time (`time.monotonic`) after which no further proposal is generated.
    """
    found: dict[frozenset[object], Proposal] = {}
    for family, strategies in enumerate(FAMILIES):
        for it in (proposal for strategy in strategies for proposal in strategy(case)):
            if time.monotonic() > end:
                break
            known = found.setdefault(frozenset(it.edits), replace(it, family=family))
            found[frozenset(it.edits)] = replace(known, applicability=min(it.applicability, known.applicability))
    return sorted(found.values(), key=lambda it: it.rank)
