"""The totals of the draft. Most are calculated, and checked if given; three can only be given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from einvoice.draft.fields.base import Bilingual, DraftModel, draft_field
from einvoice.draft.fields.types import Money, Number, Text

_CHECKED: Bilingual = ("Calculated; checked if given.", "Wird berechnet; eine Angabe wird geprüft.")


class Totals(DraftModel):
    """The totals of the invoice."""

    doc_de = "Die Summen der Rechnung."
    line_net_amount: Money | None = draft_field("BT-106", hint=_CHECKED, example="200.00")
    allowance_amount: Money | None = draft_field("BT-107", hint=_CHECKED, example="10.00")
    charge_amount: Money | None = draft_field("BT-108", hint=_CHECKED, example="4.90")
    net_amount: Money | None = draft_field("BT-109", hint=_CHECKED, example="194.90")
    vat_amount: Money | None = draft_field("BT-110", hint=_CHECKED, example="37.03")
    vat_amount_in_tax_currency: Money | None = draft_field(
        "BT-111",
        hint=("Required if tax_currency is given.", "Nötig, wenn tax_currency angegeben ist."),
        example="423.10",
    )
    gross_amount: Money | None = draft_field("BT-112", hint=_CHECKED, example="231.93")
    paid_amount: Money | None = draft_field("BT-113", example="31.93")
    rounding_amount: Money | None = draft_field(
        "BT-114", hint=("Added to the amount due.", "Wird zum fälligen Betrag addiert."), example="0.00"
    )
    due_amount: Money | None = draft_field("BT-115", hint=_CHECKED, example="200.00")


class VatCategory(DraftModel):
    """The VAT of one category and rate, and the reason of an exemption."""

    doc_de = "Die Umsatzsteuer einer Kategorie und eines Satzes, und der Grund einer Befreiung."
    #: The field of a line, allowance or charge that causes an error in a calculated entry.
    causes: ClassVar[Mapping[str, str]] = {
        "tax_category": "tax_category",
        "tax_rate": "tax_rate",
        "tax_amount": "tax_rate",
    }
    tax_category: Text = draft_field("BT-118", example="E", required=True)
    tax_rate: Number | None = draft_field("BT-119", example="0")
    taxable_amount: Money | None = draft_field("BT-116", hint=_CHECKED, example="200.00")
    tax_amount: Money | None = draft_field("BT-117", hint=_CHECKED, example="0.00")
    exemption_reason: Text | None = draft_field("BT-120", example="Umsatzsteuerfrei nach § 4 Nr. 11 UStG")
    exemption_reason_code: Text | None = draft_field(
        "BT-121", hint=("From the list VATEX.", "Aus der Liste VATEX."), example="VATEX-EU-132"
    )
