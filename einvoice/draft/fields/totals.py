"""The totals of the draft. Most are calculated, and checked if given; three can only be given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from einvoice.draft.fields.base import DraftModel, draft_field
from einvoice.draft.fields.types import Day, Money, Number, Text, as_date, as_identifier
from einvoice.model.invoice import PrecedingInvoice
from einvoice.model.worded.down_payments import DownPayment


class Prepayment(DraftModel):
    """A down payment that a final invoice deducts, with its VAT (§ 14 (5) UStG, Directive 2006/112/EC, article 226).

    It is part of the paid amount (BT-113). EN 16931 has no term for its VAT, which becomes a note (BT-22).
    """

    amount: Money = draft_field(title="Prepayment.amount", hint="Prepayment.amount", example="119.00", required=True)
    tax_rate: Number | None = draft_field(title="Prepayment.tax_rate", example="19")
    tax_amount: Money | None = draft_field(title="Prepayment.tax_amount", example="19.00")
    date: Day | None = draft_field(title="Prepayment.date", example="2026-10-01")
    invoice_number: Text | None = draft_field(title="Prepayment.invoice_number", example="A-2026-1")
    invoice_date: Day | None = draft_field(title="Prepayment.invoice_date", example="2026-09-20")

    def down_payment(self) -> DownPayment:
        """Return the down payment."""
        return DownPayment(
            amount=self.amount,
            tax=self.tax_amount,
            rate=None if self.tax_amount is None else self.tax_rate,
            received=self.date,
            number=self.invoice_number,
            issued=self.invoice_date if self.invoice_number else None,
        )

    @staticmethod
    def content(it: DownPayment) -> dict[str, Any]:
        """Return the content of the model that `down_payment` makes a down payment of."""
        given = {
            "amount": it.amount,
            "tax_rate": it.rate,
            "tax_amount": it.tax,
            "date": it.received,
            "invoice_number": it.number,
            "invoice_date": it.issued,
        }
        return {name: value for name, value in given.items() if value is not None}

    def preceding(self) -> PrecedingInvoice | None:
        """Return the reference to the invoice of the down payment, if there is one."""
        if self.invoice_number is None:
            return None
        return PrecedingInvoice(number=as_identifier(self.invoice_number), issue_date=as_date(self.invoice_date))


class Totals(DraftModel):
    """The totals of the invoice."""

    line_net_amount: Money | None = draft_field("BT-106", hint="checked", example="200.00")
    allowance_amount: Money | None = draft_field("BT-107", hint="checked", example="10.00")
    charge_amount: Money | None = draft_field("BT-108", hint="checked", example="4.90")
    net_amount: Money | None = draft_field("BT-109", hint="checked", example="194.90")
    vat_amount: Money | None = draft_field("BT-110", hint="checked", example="37.03")
    vat_amount_in_tax_currency: Money | None = draft_field(
        "BT-111",
        hint="Totals.vat_amount_in_tax_currency",
        example="423.10",
    )
    gross_amount: Money | None = draft_field("BT-112", hint="checked", example="231.93")
    paid_amount: Money | None = draft_field("BT-113", example="31.93")
    rounding_amount: Money | None = draft_field("BT-114", hint="Totals.rounding_amount", example="0.00")
    due_amount: Money | None = draft_field("BT-115", hint="checked", example="200.00")


class VatCategory(DraftModel):
    """The VAT of one category and rate, and the reason of an exemption."""

    #: The field of a line, allowance or charge that causes an error in a calculated entry.
    causes: ClassVar[Mapping[str, str]] = {
        "tax_category": "tax_category",
        "tax_rate": "tax_rate",
        "tax_amount": "tax_rate",
    }
    tax_category: Text = draft_field("BT-118", example="E", required=True)
    tax_rate: Number | None = draft_field("BT-119", example="0")
    taxable_amount: Money | None = draft_field("BT-116", hint="checked", example="200.00")
    tax_amount: Money | None = draft_field("BT-117", hint="checked", example="0.00")
    exemption_reason: Text | None = draft_field("BT-120", example="Umsatzsteuerfrei nach § 4 Nr. 11 UStG")
    exemption_reason_code: Text | None = draft_field(
        "BT-121", hint="VatCategory.exemption_reason_code", example="VATEX-EU-132"
    )
