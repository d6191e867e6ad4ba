"""Sets the VAT category and rate of a breakdown, and of what belongs to it, to those that its amounts say.

The alternative is that the tax amount is wrong, and all totals with it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any, Final

from einvoice.editing.edits import Edit, Remove
from einvoice.model.calculation import RATED, taxed_items
from einvoice.model.values import absent
from einvoice.reconciliation.amounts import (
    Key,
    in_currency,
    key_of,
    rate_of_amounts,
    round2,
    signed_amount,
    total,
)
from einvoice.reconciliation.assignment import Assignment
from einvoice.reconciliation.equations import MAX_RATE
from einvoice.repair.case import Case, decimal_text
from einvoice.repair.evidence import agrees
from einvoice.repair.proposal import Proposal

_STANDARD: Final = "S"
_TOTALS: Final = ("BT-109", "BT-110", "BT-112", "BT-115")

Described = tuple[Edit, str]
"""An edit, and the term that it changes."""


def proposals(case: Case) -> Iterator[Proposal]:
    """Yield the rates that the tax amounts say, and beside them the tax amounts that the rates say.

    None if the tax amounts and the totals do not agree with each other: then it is an amount that is wrong.
    """
    faulty = _faulty(case)
    totals = (it for it in case.hypotheses.calculations if it.equation.result in _TOTALS)
    if not faulty or not all(map(agrees, totals)):
        return
    for order, edits in enumerate((list(_rates(case, faulty)), list(_amounts(case, faulty)))):
        if edits:
            edited, terms = zip(*edits, strict=True)
            yield Proposal(edited, terms=terms, order=order, alternative=True, beside=bool(order))


def _faulty(case: Case) -> dict[Key, list[Any]]:
    """Return the breakdowns by category and rate, if the amounts of one with the same ones say another rate."""
    by_key: dict[Key, list[Any]] = {}
    for vat in case.invoice.vat_breakdown:
        by_key.setdefault(key_of(vat), []).append(vat)
    return {key: rows for key, rows in by_key.items() if key[0] and any(_is_faulty(key, vat) for vat in rows)}


def _is_faulty(key: Key, vat: Any) -> bool:
    rate = rate_of_amounts(vat)
    return rate is not absent and key[1] is not absent and rate != key[1]


def _rates(case: Case, faulty: dict[Key, list[Any]]) -> Iterator[Described]:
    """Yield the edits that give the breakdowns, and the items that belong to them, the rate of the amounts.

    None if it is not known which items belong to which of several breakdowns.
    """
    rows = [(key, vat) for key, vats in faulty.items() for vat in vats]
    items = [it for it in taxed_items(case.invoice) if any(key_of(tax) in faulty for tax in it.taxes)]
    for (key, vat), own in zip(rows, _assigned(rows, items), strict=False):
        if not _is_faulty(key, vat):
            continue
        rate = rate_of_amounts(vat)
        yield from _rated(case, vat, key, rate)
        for tax in (tax for item in own for tax in item.taxes if key_of(tax) in faulty):
            yield from _rated(case, tax, key_of(tax), rate)


def _assigned(rows: Sequence[tuple[Key, Any]], items: Sequence[Any]) -> Sequence[Sequence[Any]]:
    """Return the items of each breakdown: those of its category and rate, or else those that add up to it."""
    keys = [key for key, _ in rows]
    by_key = [[it for it in items if any(key_of(tax) == key for tax in it.taxes)] for key in keys]
    is_right = all(_sum(own) == vat.taxable_amount.number for own, (_, vat) in zip(by_key, rows, strict=True))
    if len(rows) == 1 or (is_right and len(set(keys)) == len(keys)):
        return by_key
    sums = {position: vat.taxable_amount.number for position, (_, vat) in enumerate(rows)}
    found = Assignment([signed_amount(it) for it in items], sums, lambda *_: True).found
    if not found or (len(found) > 1 and len(set(keys)) > 1):
        return ()
    pairs = list(zip(items, found[0], strict=True))
    return [[item for item, position in pairs if position == row] for row in range(len(rows))]


def _sum(items: Sequence[Any]) -> Any:
    return total(signed_amount(it) for it in items)


def _rated(case: Case, tax: Any, key: Key, rate: Decimal) -> Iterator[Described]:
    """Yield the edits that give a tax the rate, and a category with a rate; such a category has no exemption reason."""
    texts = {"rate": decimal_text(rate)}
    if key[0] not in RATED:
        texts = {"category": _STANDARD, **texts}
        for field in ("exemption_reason_code", "exemption_reason"):
            if (reason := getattr(tax, field)) is not absent and reason.node is not None:
                yield Remove(case.xpath(reason.node)), case.term_of(tax, field)
    for field, text in texts.items():
        value = getattr(tax, field)
        edit = case.give(tax, field, text)
        if edit is not None and (value is absent or value.raw != text):
            yield edit, case.term_of(tax, field)


def _amounts(case: Case, faulty: dict[Key, list[Any]]) -> Iterator[Described]:
    """Yield the edits that calculate the tax amounts again; breakdowns with the same category and rate become one.

    None if an amount of a breakdown is missing or unreadable, the items with its rate add up to another one, or the
    rate is none.
    """
    if any(key[1] > MAX_RATE for key in faulty):
        return
    if any(absent in (vat.taxable_amount.number, vat.tax_amount.number) for rows in faulty.values() for vat in rows):
        return
    totals, difference = case.invoice.totals, Decimal(0)
    stated: dict[Key, Any] = {}
    for item in taxed_items(case.invoice):
        for key in map(key_of, item.taxes):
            stated[key] = stated.get(key, Decimal(0)) + signed_amount(item)
    for key, (first, *others) in faulty.items():
        rows = (first, *others)
        taxable = total(vat.taxable_amount.number for vat in rows)
        if taxable != stated.get(key):
            return
        tax = round2(taxable * key[1] / 100)
        difference += tax - total(vat.tax_amount.number for vat in rows)
        yield from _to(case, first.taxable_amount, taxable, "BT-116")
        yield from _to(case, first.tax_amount, tax, "BT-117")
        for vat in others:
            yield Remove(case.xpath(vat.node)), "BG-23"
    sums = [("BT-110", it.amount) for it in case.invoice.tax_totals if in_currency(it, case.invoice)]
    for number, amount in (*sums, ("BT-112", totals.gross), ("BT-115", totals.due)):
        if amount is not absent and amount.number is not absent:
            yield from _to(case, amount, amount.number + difference, number)


def _to(case: Case, amount: Any, number: Decimal, term: str) -> Iterator[Described]:
    if amount.number != number:
        yield case.set(amount, decimal_text(number, 2)), term
