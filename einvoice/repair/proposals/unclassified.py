"""Adds the VAT category and rate that lines, allowances and charges lack, as the VAT breakdown says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from einvoice.causes.applicability import UNSAFE
from einvoice.editing.edits import Edit, Insert
from einvoice.model.calculation import RATED, taxed_items
from einvoice.model.lines import Line
from einvoice.model.values import absent
from einvoice.reconciliation.amounts import (
    Key,
    category_of,
    rate_of_amounts,
    signed_amount,
    total,
    unclassified,
)
from einvoice.reconciliation.assignment import Assignment
from einvoice.repair.case import Case, decimal_text
from einvoice.repair.proposal import Proposal


def proposals(case: Case) -> Iterator[Proposal]:
    """Yield a proposal that gives each of them the category and rate with which the taxable amounts are right.

    None if several assignments fit: only the issuer knows which of them is right.
    """
    invoice = case.invoice
    items, breakdown = unclassified(invoice), [(vat, _key(vat)) for vat in invoice.vat_breakdown]
    stated = list(dict.fromkeys(key for _, key in breakdown))
    if not items or not stated or any(not category or _lacks_rate((category, rate)) for category, rate in stated):
        return
    keys = stated * len(items) if len(stated) == 1 else _assigned(case, items, breakdown)
    if not keys:
        return
    edits: list[Edit] = []
    terms: list[str] = []
    for vat, key in breakdown:
        edit = case.give(vat, "rate", decimal_text(key[1])) if _lacks_rate(category_of(vat)) else None
        if edit is not None:
            edits.append(edit)
            terms.append("BT-119")
    if edits:  # a line that sums up others needs no category
        yield Proposal(tuple(edits), UNSAFE, tuple(terms), order=-1)
    for item, key in zip(items, keys, strict=True):
        for edit, term in _classified(case, item, key):
            edits.append(edit)
            terms.append(term)
    if edits:
        yield Proposal(tuple(edits), UNSAFE, tuple(terms))


def _lacks_rate(key: Key) -> bool:
    return key[0] in RATED and key[1] is absent


def _key(vat: Any) -> Key:
    """Return category and rate of a breakdown, a missing rate calculated from its amounts."""
    category, rate = category_of(vat)
    return category, rate_of_amounts(vat) if _lacks_rate((category, rate)) else rate


def _assigned(case: Case, items: Sequence[Any], breakdown: Sequence[tuple[Any, Key]]) -> Sequence[Key]:
    """Return the only assignment of the items with which all taxable amounts are right; () if there is none."""
    left: dict[Key, Any] = {}
    for vat, key in breakdown:
        left[key] = left.get(key, -_sum_of(case, key)) + vat.taxable_amount.number
    amounts = [signed_amount(item) for item in items]
    search = Assignment(amounts, left, lambda position, key: _may_be(items[position], key))
    return search.found[0] if len(search.found) == 1 and search.is_complete else ()


def _may_be(item: Any, key: Key) -> bool:
    """Return whether the category and rate that an item has do not contradict the key."""
    for tax in item.taxes:
        category, rate = category_of(tax)
        if (category and category != key[0]) or (rate is not absent and key[0] in RATED and rate != key[1]):
            return False
    return True


def _sum_of(case: Case, key: Key) -> Any:
    """Return the sum of the items that have the category and rate."""
    items = taxed_items(case.invoice)
    others = {id(it) for it in unclassified(case.invoice)}
    return total(
        signed_amount(it) for it in items if id(it) not in others and any(_is_of(tax, key) for tax in it.taxes)
    )


def _is_of(tax: Any, key: Key) -> bool:
    category, rate = category_of(tax)
    return category == key[0] and (category not in RATED or rate == key[1])


def _classified(case: Case, item: Any, key: Key) -> Iterator[tuple[Edit, str]]:
    """Yield the edits that give an item a category and rate, each with its term."""
    category, rate = key
    texts = {"category": category, "rate": "" if rate is absent else decimal_text(rate)}
    if not item.taxes:
        yield from _whole(case, item, texts)
        return
    tax = item.taxes[0]
    for field, text in texts.items():
        value = getattr(tax, field)
        known = value is not absent and (value.filled if field == "category" else value.number is not absent)
        if not text or known:
            continue
        edit = case.give(tax, field, text)
        if edit is not None:
            yield edit, case.term_of(tax, field)


def _whole(case: Case, item: Any, texts: Mapping[str, str]) -> Iterator[tuple[Edit, str]]:
    """Yield the edits that add the VAT category as a whole."""
    if item.node is None:
        return
    is_line = isinstance(item, Line)
    parent, elements = _ELEMENTS[case.syntax, is_line]
    terms = ("BT-151", "BT-152") if is_line else ("BT-102", "BT-103") if item.is_charge else ("BT-95", "BT-96")
    numbers = dict(zip(texts, terms, strict=True))
    for name, steps in elements.items():
        if text := texts.get(name, "VAT" if name == "scheme" else ""):
            yield Insert(case.xpath(item.node), (*parent, *steps), text, {}), numbers.get(name, "")


_UBL: Final = {"category": ("cbc:ID",), "rate": ("cbc:Percent",), "scheme": ("cac:TaxScheme", "cbc:ID")}
_CII: Final = {
    "scheme": ("ram:TypeCode",), "category": ("ram:CategoryCode",), "rate": ("ram:RateApplicablePercent",)
}  # fmt: skip
_ELEMENTS: Final[Mapping[tuple[str, bool], tuple[tuple[str, ...], Mapping[str, tuple[str, ...]]]]] = {
    ("UBL", True): (("cac:Item", "cac:ClassifiedTaxCategory"), _UBL),
    ("UBL", False): (("cac:TaxCategory",), _UBL),
    ("CII", True): (("ram:SpecifiedLineTradeSettlement", "ram:ApplicableTradeTax"), _CII),
    ("CII", False): (("ram:CategoryTradeTax",), _CII),
}
