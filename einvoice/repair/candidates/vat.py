"""Sets a VAT category and rate to a pair that the rest of the invoice has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from einvoice.model.group import terms_of
from einvoice.model.money import TaxCategory, VatBreakdown
from einvoice.model.values import absent
from einvoice.repair.case import Candidate, Case
from einvoice.repair.edits import Edit

_RANK = 40
_TERMS = {"BT-95", "BT-96", "BT-102", "BT-103", "BT-118", "BT-119", "BT-151", "BT-152"}


def candidates(case: Case) -> Iterator[Candidate]:
    """Yield candidates for each tax of a line, allowance, charge or breakdown that a finding may be about."""
    if not any(_TERMS.intersection(finding.terms) for finding in case.findings):
        return
    taxes = [group for group in case.groups.values() if isinstance(group, TaxCategory)]
    breakdown = [tax for tax in taxes if isinstance(tax, VatBreakdown)]
    items = [tax for tax in taxes if not isinstance(tax, VatBreakdown)]
    stated, used = list(dict.fromkeys(map(_pair, breakdown))), list(dict.fromkeys(map(_pair, items)))
    for tax in taxes:
        own, others = _pair(tax), used if isinstance(tax, VatBreakdown) else stated
        doubtful = own not in others
        for pair in others:
            if pair != own:
                rank = _RANK - doubtful - (pair[0] == own[0] or pair[1] == own[1])
                yield from _candidate(case, tax, pair, rank)


def _pair(tax: Any) -> tuple[str, str]:
    number = tax.rate.number
    rate = tax.rate.raw.strip() if tax.rate is not absent and number is absent else ""
    return tax.category.raw.strip() if tax.category is not absent else "", rate or _plain(number)


def _plain(number: Any) -> str:
    if number is absent:
        return ""
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _candidate(case: Case, tax: Any, pair: tuple[str, str], rank: int) -> Iterator[Candidate]:
    edits: list[Edit] = []
    terms: list[str] = []
    for field, text in zip(("category", "rate"), pair, strict=True):
        value = getattr(tax, field)
        previous = _pair(tax)[field == "rate"]
        if text == previous:
            continue
        if not text:
            return
        edit = case.add(tax, field, text) if value is absent else case.set(value, text)
        if edit is None:
            return
        edits.append(edit)
        terms += _term(case, tax, field)
    if edits:
        yield Candidate(tuple(edits), rank, terms=tuple(terms))


def _term(case: Case, tax: Any, field: str) -> Sequence[str]:
    known = [it.number for it in case.values if it.group is tax and it.field == field]
    return [number for number in known or terms_of(type(tax), field) if number][:1]
