"""Invoice lines with their items, prices, periods and documents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from einvoice.model.group import Group, first, numbered, term, terms, view
from einvoice.model.money import LineAllowanceCharge, LineTax, PriceAllowance
from einvoice.model.parties import Identified
from einvoice.model.values import Amount, Binary, Code, Date, Identifier, Quantity, Text, UnitPrice, absent


class Period(Group):
    """BG-14 or BG-26: a period; on the invoice also the code of the tax point date."""

    groups = ("BG-14", "BG-26")
    start: Date = term("BT-73", "BT-134")
    end: Date = term("BT-74", "BT-135")
    tax_point_code: Code = term("BT-8", "")

    @property
    def has_start(self) -> bool:
        """Whether the document has an element for the start date; in CII it may be empty."""
        return "start" in self.tracked or self.start is not absent

    @property
    def has_end(self) -> bool:
        """Whether the document has an element for the end date; in CII it may be empty."""
        return "end" in self.tracked or self.end is not absent

    @property
    def has_content(self) -> bool:
        """Whether the element has any child, with or without a business term."""
        if self.node is not None:
            return len(self.node) > 0
        return not (self.start is absent and self.end is absent and self.tax_point_code is absent)

    @property
    def is_of_line(self) -> bool:
        """Whether it belongs to a line that is not a sub-line."""
        line = self.parent
        return isinstance(line, Line) and not line.is_sub_line and any(period is self for period in line.periods)


class Attached(Group):
    """An attached file; also the class of misplaced ones."""

    attachment: Binary = term("BT-125")


class Document(Attached):
    """BG-24: a supporting document; BT-18 or BT-128 if the type code is 130, in CII BT-17 if it is 50."""

    groups = ("BG-24",)
    identifier: Identifier = term("BT-122")
    type_code: Code = term()
    reference_type: Code = term("BT-18-1")
    description: Text = term("BT-123")
    location: Text = term("BT-124")
    attachment: Binary = term("BT-125")

    @property
    def identifier_term(self) -> str:
        """The term of the identifier, which depends on the type: BT-122 of a document that supports the invoice.

        The type 50 is the tender in CII, and the project in a UBL credit note, which has no element for it.
        """
        if self.type_code.text == "130":
            return "BT-18"
        invoice = self.find_invoice()
        root = "" if invoice is None else invoice.root
        if self.type_code.text == "50" and root != "Invoice":
            return "BT-11" if root == "CreditNote" else "BT-17"
        return "BT-122"

    @property
    def is_external(self) -> bool:
        """Whether the document has an element for an external location; in UBL it may be empty."""
        return "external" in self.tracked or self.location is not absent

    @property
    def is_of_line(self) -> bool:
        """Whether it belongs to a line."""
        return isinstance(self, LineDocument)


@numbered("BG-25", identifier="BT-128", reference_type="BT-128-1", description="", location="", attachment="")
class LineDocument(Document):
    """BT-128: the invoiced object of a line."""

    @property
    def identifier_term(self) -> str:
        """The term of the identifier."""
        return "BT-128"


class QuotedPrice(Group):
    """A price for one unit or for a base quantity."""

    groups = ("BG-29",)
    base_quantity: Quantity = term("BT-149")
    allowances: Sequence[PriceAllowance] = terms("BT-147")

    @property
    def priced_line(self) -> Line:
        """The line of the price; `absent` for a price outside a line."""
        return self.parent if isinstance(self.parent, Line) else absent


class Price(QuotedPrice):
    """BG-29: the net price; UBL keeps discount and gross price in `allowances`."""

    net: UnitPrice = term("BT-146")


class GrossPrice(QuotedPrice):
    """BG-29: the price before the discount, as in CII."""

    amount: UnitPrice = term("BT-148")


class ItemProperty(Group):
    """BG-32: a property of the item, such as its colour."""

    groups = ("BG-32",)
    name: Text = term("BT-160")
    value: Text = term("BT-161")


class ItemClassification(Group):
    """BT-158: the class of the item in a classification scheme."""

    identifier: Identifier = term("BT-158")


class Goods(Identified):
    """An item with a standard identifier. Misplaced items are also read as `Goods`."""

    standard_identifier: Identifier = term("BT-157")


class Item(Goods):
    """BG-31: the goods or services invoiced."""

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
    """BG-25, a line of the invoice, or BG-DEX-01, a sub-line (XRechnung extension).

    UBL nests sub-lines (`lines`), CII names the parent line (`parent_line`).
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

    @view("BT-147")
    def price_allowances(self) -> Sequence[PriceAllowance]:
        """BT-147: the discount on the price, which UBL has in the net price and CII in the gross price."""
        return [*self.price.allowances, *self.gross_price.allowances]

    @view("BT-148")
    def gross_unit_price(self) -> UnitPrice:
        """BT-148: the price before the discount, which UBL has in the discount."""
        amounts = [self.gross_price.amount, *(it.base_amount for it in self.price.allowances)]
        return first(amount for amount in amounts if amount is not absent)

    @view("BG-27", "BG-DEX-03")
    def allowances(self) -> Sequence[LineAllowanceCharge]:
        """BG-27: the allowances on the line."""
        return [it for it in self.allowances_and_charges if it.is_allowance]

    @view("BG-28", "BG-DEX-04")
    def charges(self) -> Sequence[LineAllowanceCharge]:
        """BG-28: the charges on the line."""
        return [it for it in self.allowances_and_charges if it.is_charge]

    @property
    def is_sub_line(self) -> bool:
        """Whether it is nested in another line, as in UBL."""
        parent = None if self.parent_ref is None else self.parent_ref()
        if not isinstance(parent, Line):
            return False
        return any(line is self for line in parent.lines)

    @property
    def is_misplaced(self) -> bool:
        """Whether it occurs where EN 16931 has no business term, so it is not a line of the invoice."""
        return "misplaced" in self.tracked

    @property
    def is_of_other_root(self) -> bool:
        """Whether its UBL element belongs to the other document type, such as a credit note line in an invoice."""
        invoice = self.find_invoice()
        return invoice is not None and invoice.is_mixed and not invoice.matches_root(self)

    @view("BT-129", "BT-129")
    def matching_quantities(self) -> Sequence[Quantity]:
        """BT-129: the quantity, in UBL only if its element is that of the document type: invoiced or credited."""
        quantity, invoice = self.quantity, self.find_invoice()
        if quantity is absent:
            return ()
        quantities: list[Any] = [quantity, *quantity.more]
        if invoice is not None and invoice.is_mixed:
            return [it for it in quantities if invoice.matches_root(it)]
        return quantities

    @view("BG-30", "BG-DEX-06")
    def vat(self) -> LineTax:
        """The (first) VAT category of the line."""
        return first(self.taxes)


class MisplacedSubLine(Line):
    """A UBL sub-line element outside a line."""

    @property
    def is_sub_line(self) -> bool:
        """True, since the official rules identify sub-lines by their element."""
        return True
