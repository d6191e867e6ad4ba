"""What the texts of an assessment quote from the invoice: amounts, dates and the issuer."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Final

from einvoice.localization import Language
from einvoice.localization.formatting import format_date, format_number
from einvoice.model.terms import leading
from einvoice.quotation import quote

if TYPE_CHECKING:
    from einvoice.assessment.law import Law
    from einvoice.model.invoice import Invoice
    from einvoice.result import Finding

_MAX_NAME: Final = 80
_TOTALS: Final = ("BT-115", "BT-112")


@dataclass(frozen=True, slots=True)
class Values:
    """Values that texts quote; None and "" for what the invoice does not state.

    Attributes:
        issuer: name of the party that issued the invoice.
        currency: of the amounts (BT-5).
        amount: amount due (BT-115).
        due_date: day on which it is due (BT-9), the first of several.
        net: total without VAT (BT-109).
        vat: total VAT amount (BT-110), or the sum of those by rate (BT-117).
        picture: the amount due, or else the total with VAT, as the PDF pages show it, if it differs.
        issue_date: date of issue (BT-2).
        today: day of the assessment.
    """

    issuer: str
    currency: str
    amount: Decimal | None
    due_date: datetime.date | None
    net: Decimal | None
    vat: Decimal | None
    picture: str
    issue_date: datetime.date | None
    today: datetime.date

    @classmethod
    def of(cls, invoice: Invoice, findings: Iterable[Finding], issuer: str, today: datetime.date) -> Values:
        """Return the values of an invoice with these findings."""
        shown = {leading(it.terms): str(it.values.get("actual", "")) for it in findings if it.layer == "pdf"}
        picture = next(filter(None, map(shown.get, _TOTALS)), "")
        stated = (it.tax_amount.number for it in invoice.vat_breakdown)
        numbers = [it for it in stated if isinstance(it, Decimal)]
        by_rate = sum(numbers, Decimal(0)) if numbers else None
        amounts = (invoice.totals.due.number, invoice.totals.net.number, invoice.vat_total.number or by_rate)
        amount, net, vat = (it if isinstance(it, Decimal) else None for it in amounts)
        dates = [invoice.due_date, *(it.due_date for it in invoice.payment_terms)]
        dates += [it.due_date for it in invoice.payment_means]
        due = next((it.date for it in dates if isinstance(it.date, datetime.date)), None)
        return cls(issuer, str(invoice.currency or ""), amount, due, net, vat, picture, invoice.issue_date.date, today)

    def texts(self, law: Law, lang: Language) -> Mapping[str, str]:
        """Return the values by the placeholders of the law's texts."""
        amount = self._money(self.amount, lang) or law.text("no_amount", lang)
        due = law.text("due" if self.due_date else "due_undated", lang)
        until = law.text("until" if self.issue_date else "until_unknown", lang)
        year = self.issue_date.year + law.retention if self.issue_date else 0
        return {
            "seller": quote(self.issuer, limit=_MAX_NAME) or law.text("no_issuer", lang),
            "amount": amount,
            "due_date": _date(self.due_date, lang),
            "net": self._money(self.net, lang),
            "stated_vat": self._money(self.vat, lang),
            "due": due.format(amount=amount, date=_date(self.due_date, lang)) if self.amount is not None else amount,
            "vat": self._money(self.vat, lang) or law.text("no_vat", lang),
            "picture": f"{quote(self.picture)} {self.currency}" if self.picture else law.text("another_amount", lang),
            "issued": _date(self.issue_date, lang),
            "today": _date(self.today, lang),
            "kept_until": until.format(year=year),
        }

    def _money(self, amount: Decimal | None, lang: Language) -> str:
        return "" if amount is None else f"{format_number(amount, lang, decimals=2)} {self.currency}".strip()


def _date(date: datetime.date | None, lang: Language) -> str:
    return format_date(date, lang) if date else ""
