"""The lines of the draft: what was sold, how much of it, at what price, and how it is taxed."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from einvoice.draft.arithmetic import cents, minus, priced, total
from einvoice.draft.fields.allowance import LineAllowance, LineCharge
from einvoice.draft.fields.part import Part, term
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
from einvoice.model.money import LineTax, PriceAllowance
from einvoice.model.values import Code, absent


class LineObject(Part):
    """An object that a line is about, such as a meter or a subscription."""

    german = "Ein Objekt, um das es in einer Position geht, etwa ein Zähler oder ein Abonnement."
    id: Text = term("BT-128", example="Z-2026-77", required=True)
    scheme: Text | None = term("BT-128-1", about=("From UNTDID 1153.", "Aus UNTDID 1153."), example="AVE")


class LinePeriod(Part):
    """From when to when a line is about."""

    german = "Von wann bis wann eine Position reicht."
    start: Day | None = term("BT-134", example="2026-10-01")
    end: Day | None = term("BT-135", example="2026-10-31")


class StandardItemIdentifier(Part):
    """The identifier of an item in a registered scheme, such as its GTIN."""

    german = "Die Kennung eines Artikels in einem registrierten Schema, etwa seine GTIN."
    id: Text = term("BT-157", example="04012345123456", required=True)
    scheme: Text | None = term(
        "BT-157-1", about=("From ISO 6523; 0160 is GTIN.", "Aus ISO 6523; 0160 ist GTIN."), example="0160"
    )


class Classification(Part):
    """A class that an item belongs to, such as its CPV code."""

    german = "Eine Klasse, zu der ein Artikel gehört, etwa sein CPV-Code."
    id: Text = term("BT-158", example="72000000", required=True)
    scheme: Text | None = term(
        "BT-158-1", about=("From UNTDID 7143; STI is CPV.", "Aus UNTDID 7143; STI ist CPV."), example="STI"
    )
    version: Text | None = term("BT-158-2", example="2008")


class Attribute(Part):
    """A property of an item, such as its colour."""

    german = "Eine Eigenschaft eines Artikels, etwa seine Farbe."
    name: Text = term("BT-160", example="Farbe", required=True)
    value: Text = term("BT-161", example="blau", required=True)


class Line(Part):
    """One line of the invoice."""

    german = "Eine Position der Rechnung."
    line_id: Text | None = term(
        "BT-126",
        about=("Counted from 1 where it is not given.", "Wird ab 1 gezählt, wenn nichts angegeben ist."),
        example="1",
    )
    name: Text = term("BT-153", example="Beratung", required=True)
    description: Text | None = term("BT-154", example="Beratung vor Ort, zwei Stunden")
    quantity: Number = term("BT-129", example="2", required=True)
    unit_code: Text = term(
        "BT-130",
        about=(
            "From UN/ECE recommendation 20; C62 is a piece, HUR an hour.",
            "Aus UN/ECE-Empfehlung 20; C62 ist ein Stück, HUR eine Stunde.",
        ),
        example="HUR",
        default="C62",
    )
    unit_price: Number = term("BT-146", about=("Without VAT.", "Ohne Umsatzsteuer."), example="100.00", required=True)
    price_base_quantity: Number | None = term(
        "BT-149",
        about=("The price is that of so many units.", "Der Preis gilt für so viele Einheiten."),
        example="1",
    )
    price_base_unit_code: Text | None = term(
        "BT-150", about=("That of the line if not given.", "Ohne Angabe die der Position."), example="HUR"
    )
    gross_price: Number | None = term("BT-148", example="120.00")
    price_discount: Number | None = term(
        "BT-147",
        about=(
            "Taken off the gross price; calculated if only that is given.",
            "Vom Bruttopreis abgezogen; wird berechnet, wenn nur dieser angegeben ist.",
        ),
        example="20.00",
    )
    tax_category: Text = term(
        "BT-151",
        about=("S is the normal one, taxed at tax_rate.", "S ist der Normalfall, besteuert zu tax_rate."),
        example="S",
        required=True,
    )
    tax_rate: Number | None = term("BT-152", about=("19 means 19 %.", "19 bedeutet 19 %."), example="19.00")
    net_amount: Money | None = term(
        "BT-131", about=("Calculated; checked if given.", "Wird berechnet; eine Angabe wird geprüft."), example="200.00"
    )
    allowances: list[LineAllowance] | None = term("BG-27")
    charges: list[LineCharge] | None = term("BG-28")
    note: Text | None = term("BT-127", example="Termin am 18. November")
    object: LineObject | None = term("BT-128")
    order_line_reference: Text | None = term("BT-132", example="10")
    buyer_accounting_reference: Text | None = term("BT-133", example="KST 4711")
    period: LinePeriod | None = term("BG-26")
    seller_item_id: Text | None = term("BT-155", example="B-100")
    buyer_item_id: Text | None = term("BT-156", example="4711-1")
    standard_item_id: StandardItemIdentifier | None = term("BT-157")
    classifications: list[Classification] | None = term("BT-158")
    origin_country: Text | None = term("BT-159", example="DE")
    attributes: list[Attribute] | None = term("BG-32")

    @property
    def net(self) -> Decimal:
        """BT-131 calculated: quantity by price, with allowances and charges, rounded to cents (EN 16931-1, 6.4.2)."""
        base = self.price_base_quantity or Decimal(1)  # zero is a problem, told of by `problems`
        extras = total(it.signed for it in (*(self.allowances or ()), *(self.charges or ())))
        return cents(total((priced(self.quantity, self.unit_price, base), extras)))

    def problems(self) -> Iterator[DraftProblem]:
        """A price for nothing; a net amount that is another than what the line comes to."""
        if self.price_base_quantity is not None and self.price_base_quantity == 0:
            yield DraftProblem(
                "/price_base_quantity",
                en="A price for a quantity of 0 is no price; give the number of units, mostly 1.",
                de="Ein Preis für die Menge 0 ist keiner; die Zahl der Einheiten angeben, meist 1.",
            )
        elif self.net_amount is not None and self.net_amount != self.net:
            yield DraftProblem.of_amount("/net_amount", expected=self.net, actual=self.net_amount)

    def build(self, number: int, currency: str) -> model.Line:
        """The line of the invoice; `number` is its position, counted from 1."""
        extras = (*(self.allowances or ()), *(self.charges or ()))
        period = self.period
        tax = LineTax(category=as_code(self.tax_category), rate=as_percentage(self.tax_rate), scheme=Code("VAT"))
        return model.Line(
            identifier=as_identifier(self.line_id or str(number)),
            notes=[] if self.note is None else [as_text(self.note)],
            documents=self._documents(),
            quantity=as_quantity(self.quantity, self.unit_code),
            net_amount=as_amount(self.net, currency),
            order_line=as_identifier(self.order_line_reference),
            accounting_reference=as_text(self.buyer_accounting_reference),
            periods=[model.Period(start=as_date(period.start), end=as_date(period.end))] if period else [],
            allowances_and_charges=[extra.build(currency) for extra in extras],
            price=self._price(currency),
            taxes=[tax],
            item=self._item(),
        )

    def _documents(self) -> list[model.LineDocument]:
        about = self.object
        if about is None:
            return []
        return [model.LineDocument(identifier=as_identifier(about.id, schemeID=about.scheme), type_code=Code("130"))]

    def _price(self, currency: str) -> model.Price:
        base = self.price_base_quantity
        return model.Price(
            net=as_price(self.unit_price, currency),
            base_quantity=as_quantity(base, self.price_base_unit_code or self.unit_code),
            allowances=self._discounts(currency),
        )

    def _discounts(self, currency: str) -> list[PriceAllowance]:
        """BT-147 and BT-148, either worked out from the other: net price = gross price - discount."""
        gross, discount = self.gross_price, self.price_discount
        if gross is None and discount is None:
            return []
        if gross is None:
            gross = total((self.unit_price, discount or Decimal(0)))
        if discount is None:
            discount = minus(gross, self.unit_price)
        return [
            PriceAllowance(
                indicator=Code("false"), amount=as_price(discount, currency), base_amount=as_price(gross, currency)
            )
        ]

    def _item(self) -> model.Item:
        standard = self.standard_item_id
        return model.Item(
            name=as_text(self.name),
            description=as_text(self.description),
            seller_identifier=as_identifier(self.seller_item_id),
            buyer_identifier=as_identifier(self.buyer_item_id),
            standard_identifier=as_identifier(standard.id, schemeID=standard.scheme) if standard else absent,
            classifications=[model.ItemClassification(identifier=_classified(it)) for it in self.classifications or ()],
            origin_country=as_code(self.origin_country),
            properties=[
                model.ItemProperty(name=as_text(it.name), value=as_text(it.value)) for it in self.attributes or ()
            ],
        )


def _classified(given: Classification) -> Any:
    return as_identifier(given.id, listID=given.scheme, listVersionID=given.version)
