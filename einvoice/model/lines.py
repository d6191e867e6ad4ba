"""What an invoice is for: its lines with their items, prices, periods and documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from einvoice.model.group import Group, first, invoice_of, numbered, term, terms, view
from einvoice.model.money import LineAllowanceCharge, LineTax, PriceAllowance
from einvoice.model.parties import Identified
from einvoice.model.values import Amount, Binary, Code, Date, Identifier, Quantity, Text, UnitPrice, absent


class Period(Group):
    """BG-14 or BG-26: from when to when; on the invoice also the code of the tax point date."""

    groups = ("BG-14", "BG-26")
    start: Date = term("BT-73", "BT-134")
    end: Date = term("BT-74", "BT-135")
    tax_point_code: Code = term("BT-8", "")

    @property
    def has_start(self) -> bool:
        """Whether there is an element for the first day; in CII it may be empty."""
        return "start" in self.marks or self.start is not absent

    @property
    def has_end(self) -> bool:
        """Whether there is an element for the last day; in CII it may be empty."""
        return "end" in self.marks or self.end is not absent

    @property
    def has_content(self) -> bool:
        """Whether anything stands in it, be it no business term."""
        if self.node is not None:
            return len(self.node) > 0
        return not (self.start is absent and self.end is absent and self.tax_point_code is absent)

    @property
    def is_of_line(self) -> bool:
        """Whether it is the period of a line, not of a line below a line; told by where the reader found it."""
        line = self.parent
        return isinstance(line, Line) and not line.is_below_line and any(period is self for period in line.periods)


class Attached(Group):
    """An attached file, also at a place that no business term has."""

    attachment: Binary = term("BT-125")


class Document(Attached):
    """BG-24, a supporting document; with type code 130 BT-18 or BT-128, in CII with type code 50 BT-17."""

    groups = ("BG-24",)
    identifier: Identifier = term("BT-122")
    type_code: Code = term()
    reference_type: Code = term("BT-18-1")
    description: Text = term("BT-123")
    location: Text = term("BT-124")
    attachment: Binary = term("BT-125")

    @property
    def is_external(self) -> bool:
        """Whether there is an element that says where to find it; in UBL it may be empty."""
        return "external" in self.marks or self.location is not absent

    @property
    def is_of_line(self) -> bool:
        """Whether it is about a line."""
        return isinstance(self, LineDocument)


@numbered("BG-25", identifier="BT-128", reference_type="BT-128-1", description="", location="", attachment="")
class LineDocument(Document):
    """BT-128: the object that a line is about."""


class QuotedPrice(Group):
    """A price for one unit, or for a number of them."""

    groups = ("BG-29",)
    base_quantity: Quantity = term("BT-149")
    allowances: Sequence[PriceAllowance] = terms("BT-147")

    @property
    def priced_line(self) -> Line:
        """The line that it is the price of; ``absent`` for one that stands on no line."""
        return self.parent if isinstance(self.parent, Line) else absent


class Price(QuotedPrice):
    """BG-29: what one unit, or a number of units, costs; UBL keeps discount and gross price in ``allowances``."""

    net: UnitPrice = term("BT-146")


class GrossPrice(QuotedPrice):
    """BG-29: the price before the discount, where CII says it."""

    amount: UnitPrice = term("BT-148")


class ItemProperty(Group):
    """BG-32: a property of the item, such as its colour."""

    groups = ("BG-32",)
    name: Text = term("BT-160")
    value: Text = term("BT-161")


class ItemClassification(Group):
    """BT-158: a class that the item belongs to, in some classification."""

    identifier: Identifier = term("BT-158")


class Goods(Identified):
    """What has a standard identifier, also at a place that no business term has."""

    standard_identifier: Identifier = term("BT-157")


class Item(Goods):
    """BG-31: what is sold."""

    groups = ("BG-31",)
    plain = ("origin_country",)
    name: Text = term("BT-153")
    description: Text = term("BT-154")
    seller_identifier: Identifier = term("BT-155")
    buyer_identifier: Identifier = term("BT-156")
    standard_identifier: Identifier = term("BT-157")
    classifications: Sequence[ItemClassification] = terms("BT-158")
    origin_country: Code = term("BT-159")
    properties: Sequence[ItemProperty] = terms("BG-32", "BG-DEX-08")


class Line(Identified):
    """BG-25, a line of the invoice, or BG-DEX-01, a line below a line (XRechnung extension).

    UBL nests lines (``lines``), CII names the line above (``parent_line``).
    """

    groups = ("BG-25", "BG-DEX-01")
    plain = ("accounting_reference",)
    identifier: Identifier = term("BT-126", "BT-126")
    parent_line: Identifier = term()
    status_reason: Code = term()
    notes: Sequence[Text] = terms("BT-127", "BT-127")
    documents: Sequence[LineDocument] = terms("BT-128", "BT-128")
    quantity: Quantity = term("BT-129", "BT-129")
    net_amount: Amount = term("BT-131", "BT-131")
    order_line: Identifier = term("BT-132", "BT-132")
    accounting_reference: Text = term("BT-133", "BT-133")
    periods: Sequence[Period] = terms("BG-26", "BG-DEX-05")
    allowances_and_charges: Sequence[LineAllowanceCharge] = terms("BG-27", "BG-28", "BG-DEX-03", "BG-DEX-04")
    price: Price = term("BG-29", "BG-DEX-07")
    gross_price: GrossPrice = term("BG-29", "BG-DEX-07")
    taxes: Sequence[LineTax] = terms("BG-30", "BG-DEX-06")
    item: Item = term("BG-31", "BG-DEX-02")
    lines: Sequence[Line] = terms("BG-DEX-01", "BG-DEX-01")

    @view("BG-27", "BG-DEX-03")
    def allowances(self) -> Sequence[LineAllowanceCharge]:
        """BG-27: the allowances on the line."""
        return [it for it in self.allowances_and_charges if it.is_allowance]

    @view("BG-28", "BG-DEX-04")
    def charges(self) -> Sequence[LineAllowanceCharge]:
        """BG-28: the charges on the line."""
        return [it for it in self.allowances_and_charges if it.is_charge]

    @property
    def is_below_line(self) -> bool:
        """Whether it is a line below a line, as UBL nests them; told by where the reader found it."""
        return isinstance(self.parent, Line) and any(line is self for line in self.parent.lines)

    @property
    def is_astray(self) -> bool:
        """Whether it stands where no business term has it, so that it is none of the invoice."""
        return "astray" in self.marks

    @property
    def is_of_other_kind(self) -> bool:
        """Whether its element is the one that UBL has in the other kind of document: a credited line in an invoice."""
        invoice = invoice_of(self)
        return invoice is not None and not invoice.has_own_element(self)

    @view("BT-129", "BT-129")
    def own_quantities(self) -> Sequence[Quantity]:
        """BT-129: the quantity, in UBL only where its element is that of the document, such as the one invoiced."""
        quantities: list[Any] = [] if self.quantity is absent else [self.quantity, *self.quantity.more]
        invoice = invoice_of(self)
        return [it for it in quantities if invoice is None or invoice.has_own_element(it)]

    @view("BG-30", "BG-DEX-06")
    def vat(self) -> LineTax:
        """The (first) VAT category of the line."""
        return first(self.taxes)


class StrayLineBelowLine(Line):
    """What UBL has for a line below a line, but below something else."""

    @property
    def is_below_line(self) -> bool:
        """By its element it is, so that no rule on lines looks at it."""
        return True
