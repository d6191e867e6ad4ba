"""The sums of the draft. Most are calculated, and checked where they are given; three only the seller knows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from einvoice.draft.fields.part import Both, Part, term
from einvoice.draft.fields.types import Money, Number, Text

_CHECKED: Both = ("Calculated; checked if given.", "Wird berechnet; eine Angabe wird geprüft.")


class Totals(Part):
    """The sums of the invoice."""

    german = "Die Summen der Rechnung."
    line_net_amount: Money | None = term("BT-106", about=_CHECKED, example="200.00")
    allowance_amount: Money | None = term("BT-107", about=_CHECKED, example="10.00")
    charge_amount: Money | None = term("BT-108", about=_CHECKED, example="4.90")
    net_amount: Money | None = term("BT-109", about=_CHECKED, example="194.90")
    vat_amount: Money | None = term("BT-110", about=_CHECKED, example="37.03")
    vat_amount_in_tax_currency: Money | None = term(
        "BT-111",
        about=("Wanted where tax_currency is given.", "Nötig, wenn tax_currency angegeben ist."),
        example="423.10",
    )
    gross_amount: Money | None = term("BT-112", about=_CHECKED, example="231.93")
    paid_amount: Money | None = term("BT-113", example="31.93")
    rounding_amount: Money | None = term(
        "BT-114", about=("Added to the amount due.", "Wird zum fälligen Betrag addiert."), example="0.00"
    )
    due_amount: Money | None = term("BT-115", about=_CHECKED, example="200.00")


class VatCategory(Part):
    """What is taxed in one category and at one rate; here also stands why something is exempt."""

    german = "Was in einer Kategorie und zu einem Satz besteuert wird; hier steht auch, warum etwas befreit ist."
    #: What to look at on a line, an allowance or a charge, where the draft leaves an entry to be calculated.
    causes: ClassVar[Mapping[str, str]] = {
        "tax_category": "tax_category",
        "tax_rate": "tax_rate",
        "tax_amount": "tax_rate",
    }
    tax_category: Text = term("BT-118", example="E", required=True)
    tax_rate: Number | None = term("BT-119", example="0")
    taxable_amount: Money | None = term("BT-116", about=_CHECKED, example="200.00")
    tax_amount: Money | None = term("BT-117", about=_CHECKED, example="0.00")
    exemption_reason: Text | None = term("BT-120", example="Umsatzsteuerfrei nach § 4 Nr. 11 UStG")
    exemption_reason_code: Text | None = term(
        "BT-121", about=("From the list VATEX.", "Aus der Liste VATEX."), example="VATEX-EU-132"
    )
