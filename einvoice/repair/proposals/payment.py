"""Makes the payment means code (BT-81) and the details of the payment agree."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from einvoice.editing.edits import Remove
from einvoice.model.group import Group
from einvoice.model.money import CreditTransfer, PaymentMeans
from einvoice.model.values import Value, absent
from einvoice.repair.case import Case
from einvoice.repair.proposal import Proposal, Withdraw

_TERMS: Final = {"BG-16", "BG-17", "BG-18", "BG-19", "BT-81", "BT-84", "BT-87", "BT-89", "BT-90", "BT-91"}
_TRANSFER, _SEPA_TRANSFER, _SEPA_DEBIT = "30", "58", "59"
_CARDS: Final = ("48", "54", "55")
"""Bank card, credit card and debit card (UNTDID 4461)."""
_WITHOUT_DEBIT: Final = {"BR-DE-23-b": (_TRANSFER, _SEPA_TRANSFER), "BR-DE-24-b": _CARDS}
"""The rules that forbid details of a direct debit, and beside which codes."""
_KNOWN: Final = (_TRANSFER, _SEPA_TRANSFER, _SEPA_DEBIT, *_CARDS)
"""The codes that need details of one kind."""
_IBAN: Final = re.compile(r"[A-Z]{2}[0-9]{2}[A-Z0-9]{11,30}", re.ASCII)
"""Form of an account number according to ISO 13616-1."""


def proposals(case: Case) -> Iterator[Proposal]:
    """Yield proposals for payment means whose code a finding may be about, and that have the details of another one.

    None for means with the details of several, of which any may be wrong, nor for a code that needs none of them. An
    account without a number says no code: its number is missing. Details of a direct debit beside credit transfers or
    cards are one proposal, wherever they stand.
    """
    if not any(_TERMS.intersection(finding.terms) for finding in case.findings):
        return
    yield from _without_direct_debit(case)
    for means in case.invoice.payment_means:
        codes = _codes(case, means)
        if means.code is absent or means.code.text.strip() not in set(_KNOWN).difference(codes):
            continue
        for code in codes:
            edit = case.set(means.code, code)
            yield Proposal((edit,), terms=("BT-81",), alternative=len(codes) > 1)


def _without_direct_debit(case: Case) -> Iterator[Proposal]:
    """Yield the removal of all details of a direct debit (BG-19) if all payment means are of another kind."""
    means, refused = case.invoice.payment_means, next((it for it in case.findings if it.code in _WITHOUT_DEBIT), None)
    if refused is None or not all(it.code.text.strip() in _WITHOUT_DEBIT[refused.code] for it in means):
        return
    mandates = (it.mandate_reference for it in case.invoice.payment_terms)
    stated: tuple[Any, ...] = (case.invoice.creditor_identifier, *mandates, *(it.direct_debit for it in means))
    edits = tuple(Remove(case.xpath(it.node)) for it in stated if it is not absent and it.node is not None)
    if edits:
        yield Proposal(edits, terms=("BG-19",), action=Withdraw(refused))


def _codes(case: Case, means: PaymentMeans) -> Sequence[str]:
    """Return the codes for which XRechnung (BR-DE-23 to BR-DE-25) and SEPA demand the details; () if several fit."""
    transfer, card, debit = means.credit_transfer, means.card, means.direct_debit
    stated = [group for group in (transfer, card, debit) if group is not absent and _is_filled(group)]
    if len(stated) != 1 or (stated[0] is transfer and not _has_number(transfer)):
        return ()
    if stated[0] is transfer:
        return (_SEPA_TRANSFER,) if _is_sepa(case, transfer) else (_TRANSFER,)
    return _CARDS if stated[0] is card else (_SEPA_DEBIT,)


def _is_filled(group: Group) -> bool:
    values = (getattr(group, field) for field in group.fields)
    return any(isinstance(it, Value) and it.filled for it in values)


def _has_number(account: CreditTransfer) -> bool:
    return any(it is not absent and it.filled for it in (account.identifier, account.proprietary_identifier))


def _is_sepa(case: Case, account: CreditTransfer) -> bool:
    """Return whether an account has an IBAN, and the invoice is in euros."""
    currency, number = case.invoice.currency, account.identifier
    is_iban = number is not absent and bool(_IBAN.fullmatch("".join(number.text.split())))
    return is_iban and currency is not absent and bool(currency.text == "EUR")
