"""Sets numbers to what the other numbers of the invoice say, and removes a group that is there twice.

Which ones may be wrong is found out by weighing hypotheses, see `einvoice.reconciliation.hypotheses`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal

from einvoice.causes.applicability import QUESTION, SAFE, UNSAFE
from einvoice.editing.edits import Edit, Remove
from einvoice.model.calculation import Operand
from einvoice.model.group import types_of
from einvoice.model.values import Amount, UnitPrice, absent
from einvoice.reconciliation.amounts import rate_of_amounts
from einvoice.reconciliation.hypotheses import Hypothesis
from einvoice.repair.case import Case, decimal_text
from einvoice.repair.proposal import Proposal, SetValues, Swap

_MAX_ALTERNATIVES = 4
_KINDS = {"BT-92": "BG-20", "BT-99": "BG-21", "BT-136": "BG-27", "BT-141": "BG-28"}
_CHARGE = ("BG-21", "BG-28")
_AS_WORD, _AS_NUMBER = ("false", "true"), ("0", "1")
"""Charge indicators: that of an allowance and that of a charge."""
_GROUPS = {"BT-131": "BG-25", "BT-92": "BG-20", "BT-99": "BG-21", "BT-117": "BG-23"}
_GIVEN = ("BT-113", "BT-114")
"""What only the issuer knows, so that it is never the only proposal."""
_UNIT = "unitCode"
_INPUTS = ("BT-129", "BT-131", "BT-146", "BT-149")
"""Numbers of lines, from which the totals are calculated."""


def proposals(case: Case) -> Iterator[Proposal]:
    """Yield a proposal for each hypothesis of each explanation; none for a group that is missing."""
    for order, explanation in enumerate(case.hypotheses.explanations):
        if explanation[0].weight > 0 and not explanation[0].missing:
            for it in explanation[:_MAX_ALTERNATIVES]:
                if proposal := proposal_of(case, it, order):
                    yield proposal


def carried(case: Case) -> Iterator[Proposal]:
    """Yield one proposal for the errors that were carried on from total to total, as they change the same totals."""
    found: dict[int, tuple[Operand, Decimal]] = {}
    for best, *_ in case.hypotheses.explanations:
        if best.weight <= 0 and not best.missing and not any(_says_rate(operand) for operand, _ in best.values):
            found.update((id(value[0]), value) for value in best.values)
    if found and (proposal := proposal_of(case, Hypothesis(0, tuple(found.values())))):
        yield replace(proposal, is_fallback=True)


def _says_rate(operand: Operand) -> bool:
    """Return whether an operand is a tax amount that says another rate than its row has: the rate may be wrong."""
    if operand.term != "BT-117":
        return False
    rate = rate_of_amounts(operand.group)
    return rate is not absent and rate != operand.group.rate.number


def proposal_of(case: Case, hypothesis: Hypothesis, order: int = 0) -> Proposal | None:
    """Return the change that a hypothesis proposes; None if the syntax has no place for one of its values."""
    if hypothesis.surplus is not None:
        group = hypothesis.surplus
        number = _GROUPS[hypothesis.summands[0].term]
        ceiling = UNSAFE if number == "BG-23" else QUESTION
        return Proposal((Remove(case.xpath(group.node)),), ceiling, (number,), order=order)
    if hypothesis.turned is not None:
        return _turned(case, hypothesis, order)
    edited = [(edit, it) for it, number in hypothesis.values if (edit := _edit(case, it, number))]
    if not edited or len(edited) < len(hypothesis.values):
        return None
    edits, places = zip(*edited, strict=True)
    terms = tuple(case.term_of(it.group, it.field) or it.term for it in places)
    # The same fault in several numbers is a matter of how the invoice was made, which its issuer knows.
    is_common = len(places) > 1 and not hypothesis.exchanged and any(it.number is not None for it in places)
    is_given = all(it.term in _GIVEN for it in places)
    is_total = not any(it.term in _INPUTS for it in places)
    return Proposal(
        edits,
        QUESTION if is_common else SAFE,
        terms,
        Swap() if hypothesis.exchanged else SetValues(),
        order=order,
        is_total=is_total,
        beside=is_given,
    )


def _turned(case: Case, hypothesis: Hypothesis, order: int) -> Proposal | None:
    """Return the proposal that sets the charge indicator of an allowance or charge."""
    item, becomes = hypothesis.turned, _KINDS[hypothesis.summands[-1].term]
    is_charge = becomes in _CHARGE
    pair = _AS_NUMBER if item.indicator.text in _AS_NUMBER else _AS_WORD
    edit = case.give(item, "indicator", pair[is_charge])
    if edit is None:
        return None
    turned = {it.number for node in item.node.iter() for it in case.by_element.get(node, ())}
    return Proposal((edit,), terms=(becomes,), order=order, turned=tuple(sorted(turned)))


def _edit(case: Case, place: Operand, number: Decimal) -> Edit | None:
    """Return the edit that sets a number; None if the syntax has no place for it."""
    value = place.value
    if value is not absent and value.node is None:
        return None
    if place.term == "BT-129" and (value is absent or not value.attributes.get(_UNIT)):
        return None  # a number without a unit is no quantity, and only the issuer knows the unit
    kind, _ = types_of(type(place.group))[place.field]
    is_money = issubclass(kind, Amount) and not issubclass(kind, UnitPrice)
    text = decimal_text(number, 2 if is_money else 0)
    if value is not absent:
        return case.set(value, text)
    attributes = case.currency_attributes if issubclass(kind, Amount) else {}
    return case.add(place.group, place.field, text, attributes)
