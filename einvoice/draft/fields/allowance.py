"""Allowances and charges of the invoice and of its lines: an amount, or a percentage of a base amount."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any, ClassVar, TypeVar

from einvoice.draft.fields.base import DraftModel, draft_field, terms_of
from einvoice.draft.fields.types import Money, Number, Text, as_amount, as_code, as_percentage, as_text
from einvoice.errors import DraftProblem
from einvoice.model import money as model
from einvoice.model.calculation import calculate
from einvoice.model.values import Code

G = TypeVar("G", bound=model.AllowanceCharge)


class AllowanceOrCharge(DraftModel):
    """An allowance or charge."""

    is_charge: ClassVar[bool]
    amount: Money | None = None
    base_amount: Money | None = None
    percentage: Number | None = None
    reason: Text | None = None
    reason_code: Text | None = None

    @property
    def net(self) -> Decimal:
        """The amount, given or calculated; zero if it cannot be calculated, which `problems` reports."""
        if self.amount is not None:
            return self.amount
        if self.percentage is None or self.base_amount is None:
            return Decimal(0)
        return calculate(terms_of(type(self), "amount")[0], self.numbers("base_amount", "percentage"))

    def problems(self) -> Iterator[DraftProblem]:
        """Yield an error if the amount is missing and cannot be calculated."""
        if self.amount is None and (self.percentage is None or self.base_amount is None):
            yield DraftProblem("/amount" if self.percentage is None else "/base_amount", "amount_missing")

    def built(self, cls: type[G], currency: str, **more: Any) -> G:
        """Return the allowance or charge of the invoice as an instance of `cls`."""
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

    tax_category: Text = ""
    tax_rate: Number | None = None

    def build(self, currency: str) -> model.AllowanceCharge:
        """Return the allowance or charge of the invoice."""
        tax = model.AllowanceTax(
            category=as_code(self.tax_category), rate=as_percentage(self.tax_rate), scheme=Code("VAT")
        )
        return self.built(model.AllowanceCharge, currency, taxes=[tax])


class LineAllowanceOrCharge(AllowanceOrCharge):
    """An allowance or charge on a line; it has the tax category of the line."""

    def build(self, currency: str) -> model.LineAllowanceCharge:
        """Return the allowance or charge of the line."""
        return self.built(model.LineAllowanceCharge, currency)


class Allowance(DocumentAllowanceOrCharge):
    """An allowance on the whole invoice."""

    is_charge = False
    amount: Money | None = draft_field("BT-92", hint="amount", example="10.00")
    base_amount: Money | None = draft_field("BT-93", example="200.00")
    percentage: Number | None = draft_field("BT-94", hint="percentage", example="5")
    tax_category: Text = draft_field("BT-95", example="S", required=True)
    tax_rate: Number | None = draft_field("BT-96", example="19.00")
    reason: Text | None = draft_field("BT-97", hint="reason", example="Mengenrabatt")
    reason_code: Text | None = draft_field("BT-98", hint="Allowance.reason_code", example="95")


class Charge(DocumentAllowanceOrCharge):
    """A charge on the whole invoice."""

    is_charge = True
    amount: Money | None = draft_field("BT-99", hint="amount", example="4.90")
    base_amount: Money | None = draft_field("BT-100", example="200.00")
    percentage: Number | None = draft_field("BT-101", hint="percentage", example="2")
    tax_category: Text = draft_field("BT-102", example="S", required=True)
    tax_rate: Number | None = draft_field("BT-103", example="19.00")
    reason: Text | None = draft_field("BT-104", hint="reason", example="Versand")
    reason_code: Text | None = draft_field("BT-105", hint="Charge.reason_code", example="FC")


class LineAllowance(LineAllowanceOrCharge):
    """An allowance on a line."""

    is_charge = False
    amount: Money | None = draft_field("BT-136", hint="amount", example="5.00")
    base_amount: Money | None = draft_field("BT-137", example="100.00")
    percentage: Number | None = draft_field("BT-138", hint="percentage", example="5")
    reason: Text | None = draft_field("BT-139", hint="reason", example="Aktion")
    reason_code: Text | None = draft_field("BT-140", hint="LineAllowance.reason_code", example="95")


class LineCharge(LineAllowanceOrCharge):
    """A charge on a line."""

    is_charge = True
    amount: Money | None = draft_field("BT-141", hint="amount", example="2.50")
    base_amount: Money | None = draft_field("BT-142", example="100.00")
    percentage: Number | None = draft_field("BT-143", hint="percentage", example="2.5")
    reason: Text | None = draft_field("BT-144", hint="reason", example="Verpackung")
    reason_code: Text | None = draft_field("BT-145", hint="LineCharge.reason_code", example="PC")
