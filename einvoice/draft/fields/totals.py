"""The totals of the draft. Most are calculated, and checked if given; three can only be given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from einvoice.draft.fields.base import DraftModel, draft_field
from einvoice.draft.fields.types import Money, Number, Text


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
