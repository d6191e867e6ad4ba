"""Down payments that a final invoice deducts, with their VAT: a note (BT-22).

A final invoice deducts the down payments and the VAT on them (§ 14 (5) sentence 2 UStG). EN 16931 has their sum
(BT-113) and the numbers of their invoices (BT-25), but no term for their VAT.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Any, Final, TypeVar

from einvoice.localization import Language, Messages
from einvoice.model.worded.phrase import Phrase

_MESSAGES: Final = Messages("einvoice.model", "down_payments")
_DOWN_PAYMENT: Final = Phrase(_MESSAGES, "amount", "received", "vat", "rate", "invoice", "issued")
_REMAINDER: Final = Phrase(_MESSAGES, "remainder", "vat")


T = TypeVar("T", bound="Sum")


@dataclass(frozen=True, slots=True)
class Sum:
    """An amount with its VAT.

    Attributes:
        amount: with VAT.
        tax: the VAT in it; None if it is not known.
    """

    amount: Decimal
    tax: Decimal | None = None

    @property
    def net(self) -> Decimal | None:
        """The amount without VAT; None if the VAT is not known."""
        return None if self.tax is None else self.amount - self.tax


@dataclass(frozen=True, slots=True)
class DownPayment(Sum):
    """A down payment.

    Attributes:
        rate: of the VAT (percent).
        received: day of the payment.
        number, issued: number and date of the invoice on it.
    """

    rate: Decimal | None = None
    received: datetime.date | None = None
    number: str | None = None
    issued: datetime.date | None = None


def remainder(total: Sum, down_payments: Sequence[DownPayment]) -> Sum:
    """Return what remains of an invoice: without its VAT if that of a down payment is not known."""
    amount = total.amount - sum(it.amount for it in down_payments)
    taxes = [it.tax for it in down_payments if it.tax is not None]
    if total.tax is None or len(taxes) < len(down_payments):
        return Sum(amount)
    return Sum(amount, total.tax - sum(taxes))


def write_note(total: Sum, down_payments: Sequence[DownPayment], currency: str, lang: Language) -> str:
    """Return the note on the down payments and the remainder, one a line.

    Args:
        total: of the invoice, before the down payments.
        down_payments: at least one.
        currency: of the invoice.
        lang: language of the note.
    """
    lines = [_DOWN_PAYMENT.write({**asdict(it), "net": it.net, "currency": currency}, lang) for it in down_payments]
    rest = remainder(total, down_payments)
    lines.append(_REMAINDER.write({**asdict(rest), "net": rest.net, "currency": currency}, lang))
    return "\n".join(lines)


def read_note(text: str, total: Sum, currency: str) -> list[DownPayment]:
    """Return the down payments of a note that `write_note` wrote for an invoice; none if it is any other note."""
    *lines, last = text.split("\n")
    fixed = {"currency": currency}
    found = [_sum(DownPayment, _DOWN_PAYMENT.read(line, fixed)) for line in lines]
    down_payments = [it for it in found if it is not None]
    if len(down_payments) < len(lines) or _sum(Sum, _REMAINDER.read(last, fixed)) != remainder(total, down_payments):
        return []
    return down_payments


def _sum(cls: type[T], values: dict[str, Any] | None) -> T | None:
    """Return the amount of a sentence; None if there is none, or if its net amount does not fit."""
    if values is None:
        return None
    net = values.pop("net", None)
    found = cls(**values)
    return found if found.net == net else None
