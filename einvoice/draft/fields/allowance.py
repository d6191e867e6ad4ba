"""What is taken off or added, on the whole invoice or on a line: an amount, or a percentage of another amount."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any, ClassVar, Final, TypeVar

from einvoice.draft.arithmetic import cents, percent_of
from einvoice.draft.fields.part import Part, term
from einvoice.draft.fields.types import Money, Number, Text, as_amount, as_code, as_percentage, as_text
from einvoice.errors import DraftProblem
from einvoice.model import money as model
from einvoice.model.values import Code

G = TypeVar("G", bound=model.AllowanceCharge)

_AMOUNT_ABOUT: Final = (
    "Without VAT. Calculated where percentage and base_amount are given.",
    "Ohne Umsatzsteuer. Wird berechnet, wenn percentage und base_amount angegeben sind.",
)
_PERCENTAGE_ABOUT: Final = ("5 means 5 %.", "5 bedeutet 5 %.")
_REASON_ABOUT: Final = ("Reason or reason code is wanted.", "Verlangt wird der Grund oder sein Code.")


class AllowanceOrCharge(Part):
    """An amount that lowers or raises another."""

    is_charge: ClassVar[bool]
    amount: Money | None = None
    base_amount: Money | None = None
    percentage: Number | None = None
    reason: Text | None = None
    reason_code: Text | None = None

    @property
    def net(self) -> Decimal:
        """The amount, given or calculated; zero where neither can be had, which `problems` tells of."""
        if self.amount is not None:
            return self.amount
        if self.percentage is None or self.base_amount is None:
            return Decimal(0)
        return cents(percent_of(self.base_amount, self.percentage))

    @property
    def signed(self) -> Decimal:
        """What it adds to a sum."""
        return self.net if self.is_charge else self.net.copy_negate()

    def problems(self) -> Iterator[DraftProblem]:
        """No amount, and nothing to calculate it from."""
        if self.amount is None and (self.percentage is None or self.base_amount is None):
            yield DraftProblem(
                "/amount" if self.percentage is None else "/base_amount",
                en="Give an amount, or percentage and base_amount to calculate it from.",
                de="Entweder amount angeben oder percentage und base_amount, aus denen er berechnet wird.",
            )

    def built(self, cls: type[G], currency: str, **more: Any) -> G:
        """The allowance or charge of the invoice, as a group of that class."""
        return cls(
            indicator=Code("true" if self.is_charge else "false"),
            amount=as_amount(self.net, currency),
            base_amount=as_amount(self.base_amount, currency),
            percentage=as_percentage(self.percentage),
            reason=as_text(self.reason),
            reason_code=as_code(self.reason_code),
            **more,
        )


class DocumentAllowanceOrCharge(AllowanceOrCharge):
    """An allowance or charge on the whole invoice."""

    tax_category: Text | None = None
    tax_rate: Number | None = None

    def build(self, currency: str) -> model.AllowanceCharge:
        """The allowance or charge of the invoice."""
        tax = model.AllowanceTax(
            category=as_code(self.tax_category), rate=as_percentage(self.tax_rate), scheme=Code("VAT")
        )
        return self.built(model.AllowanceCharge, currency, taxes=[tax])


class LineAllowanceOrCharge(AllowanceOrCharge):
    """An allowance or charge on a line; it is taxed as the line is."""

    def build(self, currency: str) -> model.LineAllowanceCharge:
        """The allowance or charge of the line."""
        return self.built(model.LineAllowanceCharge, currency)


class Allowance(DocumentAllowanceOrCharge):
    """An allowance on the whole invoice."""

    german = "Ein Nachlass auf die ganze Rechnung."
    is_charge = False
    amount: Money | None = term("BT-92", about=_AMOUNT_ABOUT, example="10.00")
    base_amount: Money | None = term("BT-93", example="200.00")
    percentage: Number | None = term("BT-94", about=_PERCENTAGE_ABOUT, example="5")
    tax_category: Text | None = term("BT-95", example="S")
    tax_rate: Number | None = term("BT-96", example="19.00")
    reason: Text | None = term("BT-97", about=_REASON_ABOUT, example="Mengenrabatt")
    reason_code: Text | None = term("BT-98", about=("From UNTDID 5189.", "Aus UNTDID 5189."), example="95")


class Charge(DocumentAllowanceOrCharge):
    """A charge on the whole invoice."""

    german = "Ein Zuschlag auf die ganze Rechnung."
    is_charge = True
    amount: Money | None = term("BT-99", about=_AMOUNT_ABOUT, example="4.90")
    base_amount: Money | None = term("BT-100", example="200.00")
    percentage: Number | None = term("BT-101", about=_PERCENTAGE_ABOUT, example="2")
    tax_category: Text | None = term("BT-102", example="S")
    tax_rate: Number | None = term("BT-103", example="19.00")
    reason: Text | None = term("BT-104", about=_REASON_ABOUT, example="Versand")
    reason_code: Text | None = term("BT-105", about=("From UNTDID 7161.", "Aus UNTDID 7161."), example="FC")


class LineAllowance(LineAllowanceOrCharge):
    """An allowance on a line."""

    german = "Ein Nachlass auf eine Position."
    is_charge = False
    amount: Money | None = term("BT-136", about=_AMOUNT_ABOUT, example="5.00")
    base_amount: Money | None = term("BT-137", example="100.00")
    percentage: Number | None = term("BT-138", about=_PERCENTAGE_ABOUT, example="5")
    reason: Text | None = term("BT-139", about=_REASON_ABOUT, example="Aktion")
    reason_code: Text | None = term("BT-140", about=("From UNTDID 5189.", "Aus UNTDID 5189."), example="95")


class LineCharge(LineAllowanceOrCharge):
    """A charge on a line."""

    german = "Ein Zuschlag auf eine Position."
    is_charge = True
    amount: Money | None = term("BT-141", about=_AMOUNT_ABOUT, example="2.50")
    base_amount: Money | None = term("BT-142", example="100.00")
    percentage: Number | None = term("BT-143", about=_PERCENTAGE_ABOUT, example="2.5")
    reason: Text | None = term("BT-144", about=_REASON_ABOUT, example="Verpackung")
    reason_code: Text | None = term("BT-145", about=("From UNTDID 7161.", "Aus UNTDID 7161."), example="PC")
