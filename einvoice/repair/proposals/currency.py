"""Makes the currencies of the invoice and those of its amounts agree."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Final

from einvoice import codelists
from einvoice.causes.applicability import QUESTION, SAFE, UNSAFE
from einvoice.editing.edits import Remove, SetAttribute
from einvoice.model.values import Amount, absent
from einvoice.repair.case import Case
from einvoice.repair.proposal import Proposal, SetValues, Withdraw

_VAT_TOTALS: Final = ("BT-110", "BT-111")
"""The amounts that say their currency in CII, too."""
_NONE: Final = ("XTS", "XXX")
"""Codes of ISO 4217 for tests, and for what has no currency."""


def proposals(case: Case) -> Iterator[Proposal]:
    """Yield a proposal for the invoice currency (BT-5), and for each amount in another currency."""
    invoice = case.invoice
    stated = [(it, it.value.attributes.get("currencyID", "")) for it in case.values if isinstance(it.value, Amount)]
    most = Counter(currency for _, currency in stated if currency and currency not in _NONE).most_common(1)
    currency = most[0][0] if most else ""
    if currency and invoice.currency is absent:
        edit = case.add(invoice, "currency", currency)
        if edit:
            yield Proposal((edit,), UNSAFE, ("BT-5",))
    elif currency and invoice.currency.raw != currency:
        known = codelists.codes("currencies", None, case.syntax, case.rules)
        ceiling = QUESTION if invoice.currency.text in known else UNSAFE
        yield Proposal((case.set(invoice.currency, currency),), ceiling, ("BT-5",))
    yield from _same_currency_twice(case)
    yield from _accounting_currency(case)
    right = invoice.currency.text
    other = invoice.tax_currency.text if invoice.tax_currency is not absent else right
    without = [it for it, given in stated if given in _NONE]
    if without and right is not absent and right not in _NONE:
        edits = tuple(SetAttribute(case.xpath(it.value.node), "currencyID", right) for it in without)
        yield Proposal(edits, QUESTION, tuple(it.number for it in without))
    common = {it for it, count in Counter(given for _, given in stated).items() if count > len(_VAT_TOTALS)}
    for it, given in stated:
        if given in common or given in _NONE:  # common: then it is rather the currency of the invoice that is wrong
            continue
        is_required = case.syntax == "UBL" or it.number in _VAT_TOTALS
        if right is not absent and given not in (right, other) and (given or is_required):
            terms = (it.number,) if it.number else ()
            edit = SetAttribute(case.xpath(it.value.node), "currencyID", right)
            ceiling = QUESTION if currency not in ("", right) else UNSAFE if given else SAFE
            yield Proposal((edit,), ceiling, terms)


def _same_currency_twice(case: Case) -> Iterator[Proposal]:
    """Yield the removal of the VAT accounting currency (BT-6) if it is that of the invoice."""
    currency, other = case.invoice.currency, case.invoice.tax_currency
    if other is absent or currency is absent or other.text.strip() != currency.text.strip():
        return
    refused = next((finding for finding in case.findings if finding.terms[:1] == ("BT-6",)), None)
    action = SetValues() if refused is None else Withdraw(refused)
    yield Proposal((Remove(case.xpath(other.node)),), UNSAFE, ("BT-6",), action)


def _accounting_currency(case: Case) -> Iterator[Proposal]:
    """Yield the accounting currency (BT-6) that the second VAT total has, if that is not the one stated.

    If both are stated, either may be wrong: that of the VAT total (BT-111) is the alternative.
    """
    own, other = case.invoice.currency, case.invoice.tax_currency
    if own is absent:
        return
    amounts = [it.amount for it in case.invoice.tax_totals if it.amount is not absent]
    currencies = {it.currency for it in amounts} - {absent, ""}
    others = currencies - {own.text}
    if len(others) != 1 or own.text not in currencies or (other is not absent and other.text in others):
        return
    (currency,) = others
    edit = case.give(case.invoice, "tax_currency", currency)
    is_choice = other is not absent and other.filled and other.text != own.text
    if edit:
        yield Proposal((edit,), UNSAFE, ("BT-6",), alternative=is_choice, turned=("BT-110",))
    if is_choice:
        second = [it for it in amounts if it.currency == currency]
        edits = tuple(SetAttribute(case.xpath(it.node), "currencyID", other.text) for it in second)
        yield Proposal(edits, terms=("BT-111",), alternative=True)
