"""Sets a VAT category and rate to a pair that the rest of the invoice has."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any, Final

from einvoice.causes.applicability import QUESTION, SAFE, UNSAFE
from einvoice.editing.edits import Edit, Remove
from einvoice.model.calculation import RATED, taxed_items
from einvoice.model.money import TaxCategory, VatBreakdown
from einvoice.model.values import absent
from einvoice.reconciliation.amounts import (
    Key,
    category_of,
    key_of,
    rate_of_amounts,
    round2,
    signed_amount,
)
from einvoice.reconciliation.categories import lacking_in_entries
from einvoice.repair.case import Case
from einvoice.repair.proposal import Proposal

_RATE: Final = re.compile(r"(\d{1,3}(\.\d{1,9})?)?", re.ASCII)
_VAT: Final = "VAT"
_STANDARD: Final = "S"
_FIRST: Final = -2
"""Order of the changes of all entries of a category."""
_WITHOUT_RATE: Final = "O"
"""The only VAT category that has no rate, not even zero (EN 16931-1, BR-O-05)."""
_TERRITORIES: Final = {"L": "ES", "M": "ES", "B": "IT"}
"""Categories of one country: Canary Islands, Ceuta and Melilla, split payment in Italy (UNTDID 5305)."""
_SEVERAL: Final = 2
_ZERO: Final = Decimal(0)
_TERMS = {"BT-95", "BT-96", "BT-102", "BT-103", "BT-118", "BT-119", "BT-151", "BT-152"}


def proposals(case: Case) -> Iterator[Proposal]:
    """Yield proposals for each tax of a line, allowance, charge or breakdown that a finding may be about."""
    if not any(_TERMS.intersection(finding.terms) for finding in case.findings):
        return
    taxes = [group for group in case.groups.values() if isinstance(group, TaxCategory)]
    breakdown = [tax for tax in taxes if isinstance(tax, VatBreakdown)]
    items = [tax for tax in taxes if not isinstance(tax, VatBreakdown)]
    sums = _Sums(case)
    stated, used = list(dict.fromkeys(map(_pair, breakdown))), list(dict.fromkeys(map(_pair, items)))
    yield from _schemes(case, taxes)
    yield from _of_untaxed(case, taxes)
    for tax in taxes:
        own, others = _pair(tax), used if isinstance(tax, VatBreakdown) else stated
        doubtful = own not in others
        if isinstance(tax, VatBreakdown) and not own[1]:
            others = list(_by_amounts(tax, own, others))
        for pair in sums.fitting(tax, [it for it in others if it != own and _is_possible(it[0], case)]):
            order = -doubtful - (pair[0] == own[0] or pair[1] == own[1])
            yield from proposal_of(case, tax, pair, order)


class _Sums:
    """What lines, charges and allowances have more than the entries of the breakdown, by category and rate."""

    def __init__(self, case: Case) -> None:
        self._left = lacking_in_entries(case.invoice)
        self._amounts: dict[int, Any] = {}
        self._moved: dict[Key, Any] = {}
        self._count: Counter[Key] = Counter()
        for item in taxed_items(case.invoice):
            for tax in item.taxes:
                amount = self._amounts[id(tax)] = signed_amount(item)
                self._count[key_of(tax)] += 1
                self._moved[key_of(tax)] = self._moved.get(key_of(tax), _ZERO) + amount

    def fitting(self, tax: TaxCategory, pairs: Sequence[tuple[str, str]]) -> Sequence[tuple[str, str]]:
        """Return the pairs that a tax may have; of several, those with which a sum is right.

        If none is, all for a single item, whose sum can be wrong for another reason; none for several items.
        """
        if len(pairs) < _SEVERAL or absent in self._left.values():
            return pairs
        if isinstance(tax, VatBreakdown):
            wanted = [tax.taxable_amount.number]
        else:
            wanted = [-self._amounts.get(id(tax), _ZERO), -self._moved.get(key_of(tax), _ZERO)]
        right = [it for it in pairs if self._left.get(_key(it), _ZERO) in wanted]
        return right or (pairs if self._count[key_of(tax)] <= 1 else ())


def _key(pair: tuple[str, str]) -> Key:
    category, rate = pair
    is_rate = category in RATED and _RATE.fullmatch(rate) and rate
    return category, Decimal(rate) if is_rate else _ZERO


def _is_possible(category: str, case: Case) -> bool:
    """Return whether an invoice can have a category: those of one territory need a seller or buyer there."""
    parties = (case.invoice.seller, case.invoice.buyer)
    countries = {it.address.country_code.text for it in parties}
    return category not in _TERRITORIES or _TERRITORIES[category] in countries


def _schemes(case: Case, taxes: Sequence[TaxCategory]) -> Iterator[Proposal]:
    """Yield a proposal for each tax of another or no type; EN 16931 has no other tax than VAT."""
    for tax in taxes:
        if tax.is_vat:
            continue
        given = "" if tax.scheme is absent else tax.scheme.raw.strip()
        edit = case.give(tax, "scheme", _VAT)
        if edit is not None:
            yield Proposal((edit,), SAFE if given.upper() in ("", _VAT) else QUESTION)


def _of_untaxed(case: Case, taxes: Sequence[TaxCategory]) -> Iterator[Proposal]:
    """Yield a proposal for each category without tax that has rates: its tax says whether category or rate is wrong.

    With tax, it may be the standard rate everywhere; without, the rates are 0, or not stated at all.
    """
    by_category: dict[str, list[TaxCategory]] = {}
    for tax in taxes:
        by_category.setdefault(category_of(tax)[0], []).append(tax)
    for category, same in by_category.items():
        rated = [tax for tax in same if tax.rate.number]
        amounts = [tax.tax_amount.number for tax in same if isinstance(tax, VatBreakdown)]
        if category in ("", *RATED) or not rated or not amounts or absent in amounts:
            continue
        if not any(amounts):
            edits = [_unrated(case, tax) for tax in rated]
            yield Proposal(tuple(edits), order=_FIRST, terms=tuple(case.term_of(tax, "rate") for tax in rated))
        elif len(rated) == len(same):
            edits = [case.set(tax.category, _STANDARD) for tax in same]
            yield Proposal(tuple(edits), order=_FIRST, terms=tuple(case.term_of(tax, "category") for tax in same))


def _unrated(case: Case, tax: TaxCategory) -> Edit:
    """Return the edit that takes the rate from a category without tax."""
    is_stated = category_of(tax)[0] != _WITHOUT_RATE
    return case.set(tax.rate, "0") if is_stated else Remove(case.xpath(tax.rate.node))


def _by_amounts(
    tax: VatBreakdown, own: tuple[str, str], others: Sequence[tuple[str, str]]
) -> Iterator[tuple[str, str]]:
    """Yield the pairs for a breakdown without rate that its amounts allow; without one, the rate that they make."""
    taxable, amount = tax.taxable_amount.number, tax.tax_amount.number
    if taxable is absent or amount is absent or not taxable:
        yield from others
        return
    known = [it for it in others if _RATE.fullmatch(it[1]) and own[0] in ("", it[0])]
    fitting = [it for it in known if round2(taxable * Decimal(it[1] or 0) / 100) == amount]
    percent = rate_of_amounts(tax)
    if not fitting and own[0] in RATED and percent is not absent:
        fitting = [(own[0], _plain(percent))]
    yield from fitting


def _pair(tax: Any) -> tuple[str, str]:
    number = tax.rate.number
    rate = tax.rate.raw.strip() if tax.rate is not absent and number is absent else ""
    return tax.category.raw.strip() if tax.category is not absent else "", rate or _plain(number)


def _plain(number: Any) -> str:
    if number is absent:
        return ""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def proposal_of(case: Case, tax: Any, pair: tuple[str, str], order: int = 0) -> Iterator[Proposal]:
    """Yield the change of category and rate of a tax, a text each; none if the syntax has no place for one of them."""
    edits: list[Edit] = []
    terms: list[str] = []
    ceiling = UNSAFE if _pair(tax)[0] in ("", pair[0]) else QUESTION
    for field, text in zip(("category", "rate"), pair, strict=True):
        value = getattr(tax, field)
        previous = _pair(tax)[field == "rate"]
        if field == "rate" and pair[0] == _WITHOUT_RATE:
            if value is not absent and not value.attribute:
                edits.append(Remove(case.xpath(value.node)))
                terms.append(case.term_of(tax, field))
                ceiling = max(ceiling, QUESTION if value.number else UNSAFE)
            continue
        if text == previous:
            continue
        if not text:
            return
        edit = case.give(tax, field, text)
        if edit is None:
            return
        edits.append(edit)
        terms.append(case.term_of(tax, field))
    if edits and tax.scheme is absent and (edit := case.add(tax, "scheme", _VAT)):
        edits.append(edit)
        terms.append("")
    if edits:
        yield Proposal(tuple(edits), ceiling, tuple(terms), order=order)
