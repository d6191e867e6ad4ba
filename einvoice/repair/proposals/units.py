"""Gives the price and the quantity of a line the same unit of measure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from einvoice.causes.applicability import QUESTION
from einvoice.editing.edits import SetAttribute
from einvoice.model.values import absent
from einvoice.repair.case import Case
from einvoice.repair.proposal import Proposal

_UNIT: Final = "unitCode"


def proposals(case: Case) -> Iterator[Proposal]:
    """Yield for each line with two units the change of either: only the issuer knows what was counted."""
    for line in case.invoice.lines:
        places = ((line.quantity, "BT-130"), (line.price.base_quantity, "BT-150"))
        if any(it is absent or not it.unit for it, _ in places) or places[0][0].unit == places[1][0].unit:
            continue
        for (value, term), (other, _) in (places, places[::-1]):
            edit = SetAttribute(case.xpath(value.node), _UNIT, other.unit)
            yield Proposal((edit,), QUESTION, (term,), alternative=True)
