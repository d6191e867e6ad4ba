"""The lines of the draft: item, quantity, price and tax."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from einvoice.draft.fields.allowance import LineAllowance, LineCharge
from einvoice.draft.fields.base import DraftModel, draft_field
from einvoice.draft.fields.identifier import SchemedIdentifier
from einvoice.draft.fields.types import (
    Day,
    Money,
    Number,
    Text,
    as_amount,
    as_code,
    as_date,
    as_identifier,
    as_percentage,
    as_price,
    as_quantity,
    as_text,
)
from einvoice.errors import DraftProblem
from einvoice.model import lines as model
from einvoice.model.calculation import EQUATIONS, calculate
from einvoice.model.money import LineTax, PriceAllowance
from einvoice.model.values import Code, absent


class LineObject(SchemedIdentifier, term="BT-128", example="Z-2026-77", scheme="AVE", hint="LineObject.scheme"):
    """The invoiced object of a line, such as a meter or a subscription."""


class LinePeriod(DraftModel):
    """The period that a line covers."""

    start: Day | None = draft_field("BT-134", example="2026-10-01")
    end: Day | None = draft_field("BT-135", example="2026-10-31")


class StandardItemIdentifier(
    SchemedIdentifier, term="BT-157", example="04012345123456", scheme="0160", hint="StandardItemIdentifier.scheme"
):
    """The identifier of an item in a registered scheme, such as a GTIN."""


class Classification(DraftModel):
    """A classification of an item, such as a CPV code."""

    id: Text = draft_field("BT-158", example="72000000", required=True)
    scheme: Text | None = draft_field("BT-158-1", hint="Classification.scheme", example="STI")
    version: Text | None = draft_field("BT-158-2", example="2008")


class Attribute(DraftModel):
    """A property of an item, such as its colour."""

    name: Text = draft_field("BT-160", example="Farbe", required=True)
    value: Text = draft_field("BT-161", example="blau", required=True)


class Line(DraftModel):
    """A line of the invoice."""

    line_id: Text | None = draft_field(
        "BT-126",
        hint="Line.line_id",
        example="1",
    )
    name: Text = draft_field("BT-153", example="Beratung", required=True)
    description: Text | None = draft_field("BT-154", example="Beratung vor Ort, zwei Stunden")
    quantity: Number = draft_field("BT-129", example="2", required=True)
    unit_code: Text = draft_field(
        "BT-130",
        hint="Line.unit_code",
        example="HUR",
        default="C62",
    )
    unit_price: Number = draft_field("BT-146", hint="Line.unit_price", example="100.00", required=True)
    price_base_quantity: Number | None = draft_field(
        "BT-149",
        hint="Line.price_base_quantity",
        example="1",
    )
    price_base_unit_code: Text | None = draft_field("BT-150", hint="Line.price_base_unit_code", example="HUR")
    gross_price: Number | None = draft_field("BT-148", example="120.00")
    price_discount: Number | None = draft_field(
        "BT-147",
        hint="Line.price_discount",
        example="20.00",
    )
    tax_category: Text = draft_field(
        "BT-151",
        hint="Line.tax_category",
        example="S",
        required=True,
    )
    tax_rate: Number | None = draft_field("BT-152", hint="Line.tax_rate", example="19.00")
    net_amount: Money | None = draft_field("BT-131", hint="Line.net_amount", example="200.00")
    allowances: list[LineAllowance] | None = draft_field("BG-27")
    charges: list[LineCharge] | None = draft_field("BG-28")
    note: Text | None = draft_field("BT-127", example="Termin am 18. November")
    object: LineObject | None = draft_field("BT-128")
    order_line_reference: Text | None = draft_field("BT-132", example="10")
    buyer_accounting_reference: Text | None = draft_field("BT-133", example="KST 4711")
    period: LinePeriod | None = draft_field("BG-26")
    seller_item_id: Text | None = draft_field("BT-155", example="B-100")
    buyer_item_id: Text | None = draft_field("BT-156", example="4711-1")
    standard_item_id: StandardItemIdentifier | None = draft_field("BT-157")
    classifications: list[Classification] | None = draft_field("BT-158")
    origin_country: Text | None = draft_field("BT-159", example="DE")
    attributes: list[Attribute] | None = draft_field("BG-32")
    lines: list[Line] | None = draft_field("BG-DEX-01", hint="Line.lines")

    @property
    def net(self) -> Decimal:
        """BT-131: quantity times price, plus charges minus allowances, to two decimals (EN 16931-1, 6.4.2)."""
        numbers = self.numbers("quantity", "unit_price", "price_base_quantity")
        numbers["BT-136"] = [it.net for it in self.allowances or ()]
        numbers["BT-141"] = [it.net for it in self.charges or ()]
        return calculate("BT-131", numbers)

    def problems(self) -> Iterator[DraftProblem]:
        """Yield an error for a price base quantity of 0, or for a net amount that differs from the calculated one."""
        if self.price_base_quantity is not None and self.price_base_quantity == 0:
            yield DraftProblem("/price_base_quantity", "base_quantity_zero")
        elif self.net_amount is not None and self.net_amount != self.net:
            yield DraftProblem.of_amount("/net_amount", expected=self.net, actual=self.net_amount)
        if self.lines and (below := sum((line.net for line in self.lines), Decimal(0))) != self.net:
            yield DraftProblem.of_amount("/unit_price", expected=below, actual=self.net)

    def build(self, number: int, currency: str, prefix: str = "") -> model.Line:
        """Return the line of the invoice; `number` is its position, counted from 1, `prefix` that of a sub-line."""
        identifier = self.line_id or f"{prefix}{number}"
        allowances_and_charges = (*(self.allowances or ()), *(self.charges or ()))
        period = self.period
        tax = LineTax(category=as_code(self.tax_category), rate=as_percentage(self.tax_rate), scheme=Code("VAT"))
        return model.Line(
            identifier=as_identifier(identifier),
            notes=[] if self.note is None else [as_text(self.note)],
            documents=self._documents(),
            quantity=as_quantity(self.quantity, self.unit_code),
            net_amount=as_amount(self.net, currency),
            order_line=as_identifier(self.order_line_reference),
            accounting_reference=as_text(self.buyer_accounting_reference),
            periods=[model.Period(start=as_date(period.start), end=as_date(period.end))] if period else [],
            allowances_and_charges=[it.build(currency) for it in allowances_and_charges],
            price=self._price(currency),
            taxes=[tax],
            item=self._item(),
            lines=[it.build(position, currency, f"{identifier}.") for position, it in enumerate(self.lines or (), 1)],
        )

    def _documents(self) -> list[model.LineDocument]:
        if self.object is None:
            return []
        return [model.LineDocument(identifier=self.object.build(), type_code=Code("130"))]

    def _price(self, currency: str) -> model.Price:
        base = self.price_base_quantity
        return model.Price(
            net=as_price(self.unit_price, currency),
            base_quantity=as_quantity(base, self.price_base_unit_code or self.unit_code),
            allowances=self._discounts(currency),
        )

    def _discounts(self, currency: str) -> list[PriceAllowance]:
        """Return BT-147 and BT-148; one is calculated from the other: net price = gross price - discount."""
        gross, discount = self.gross_price, self.price_discount
        if gross is None and discount is None:
            return []
        net, given = EQUATIONS["BT-146"], self.numbers("gross_price", "price_discount")
        if gross is None:
            gross = net.operand("BT-148", self.unit_price, given)
        if discount is None:
            discount = net.operand("BT-147", self.unit_price, given)
        return [
            PriceAllowance(
                indicator=Code("false"), amount=as_price(discount, currency), base_amount=as_price(gross, currency)
            )
        ]

    def _item(self) -> model.Item:
        return model.Item(
            name=as_text(self.name),
            description=as_text(self.description),
            seller_identifier=as_identifier(self.seller_item_id),
            buyer_identifier=as_identifier(self.buyer_item_id),
            standard_identifier=self.standard_item_id.build() if self.standard_item_id else absent,
            classifications=[
                model.ItemClassification(identifier=_classification(it)) for it in self.classifications or ()
            ],
            origin_country=as_code(self.origin_country),
            properties=[
                model.ItemProperty(name=as_text(it.name), value=as_text(it.value)) for it in self.attributes or ()
            ],
        )


def _classification(given: Classification) -> Any:
    return as_identifier(given.id, listID=given.scheme, listVersionID=given.version)
