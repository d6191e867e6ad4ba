"""What belongs to the kind of document and stands at its place, and what UBL and CII let stand elsewhere."""

from __future__ import annotations

from einvoice.model.invoice import Buyer, GrossPrice, Invoice, Line, Price, PriceAllowance, Seller
from einvoice.model.source import NAMESPACES
from einvoice.model.values import Quantity
from einvoice.syntax.reader import read
from einvoice.syntax.xml import parse

DECLARED = " ".join(f'xmlns:{prefix}="{uri}"' for prefix, uri in NAMESPACES.items())
LINES = """
<cac:InvoiceLine>
  <cbc:InvoicedQuantity>1</cbc:InvoicedQuantity><cbc:CreditedQuantity>2</cbc:CreditedQuantity>
  <cac:AllowanceCharge><cbc:Amount>3</cbc:Amount></cac:AllowanceCharge>
  <cac:SubInvoiceLine><cac:AllowanceCharge><cbc:Amount>4</cbc:Amount></cac:AllowanceCharge></cac:SubInvoiceLine>
</cac:InvoiceLine>
<cac:CreditNoteLine>
  <cbc:CreditedQuantity>5</cbc:CreditedQuantity>
  <cac:AllowanceCharge><cbc:Amount>6</cbc:Amount></cac:AllowanceCharge>
</cac:CreditNoteLine>
<cac:AllowanceCharge><cbc:Amount>7</cbc:Amount></cac:AllowanceCharge>
"""


def document(root: str, content: str) -> Invoice:
    return read(parse(f"<{root} {DECLARED}>{content}</{root}>".encode()).getroot())


def quantities(line: Line) -> list[str]:
    return [quantity.raw for quantity in line.own_quantities]


def amounts(invoice: Invoice) -> list[str]:
    return [it.amount.raw for it in invoice.own_allowances_and_charges]


def test_an_invoice_has_invoiced_quantities_and_invoice_lines() -> None:
    invoice = document("ubl:Invoice", LINES)
    assert [quantities(line) for line in invoice.lines] == [["1"], []]
    assert invoice.own_lines == [invoice.lines[0]]
    assert amounts(invoice) == ["7", "3"]


def test_a_credit_note_has_credited_quantities_and_credit_note_lines() -> None:
    invoice = document("cn:CreditNote", LINES)
    assert [quantities(line) for line in invoice.lines] == [["2"], ["5"]]
    assert invoice.own_lines == [invoice.lines[1]]
    assert amounts(invoice) == ["7", "6"]


def test_what_no_document_gave_is_its_own() -> None:
    line = Line(quantity=Quantity("1"))
    assert quantities(line) == ["1"]
    assert Invoice(lines=[line]).own_lines == [line]


def test_a_role_without_a_party() -> None:
    without, empty = (
        "<cac:AccountingCustomerParty/>",
        "<cac:AccountingSupplierParty><cac:Party/></cac:AccountingSupplierParty>",
    )
    invoice = document("ubl:Invoice", without + empty)
    assert not invoice.buyer.has_party
    assert invoice.seller.has_party
    assert Buyer().has_party
    assert Seller().has_party


def test_payment_means_astray() -> None:
    means = "<cac:PaymentMeans/>"
    invoice = document("ubl:Invoice", f"{means}<cac:Delivery>{means}</cac:Delivery>")
    (astray,) = invoice.elsewhere[type(invoice.payment_means[0])]
    assert astray.is_astray
    assert not invoice.payment_means[0].is_astray


def test_prices_astray() -> None:
    discount = "<ram:AppliedTradeAllowanceCharge/>"
    gross = f"<ram:GrossPriceProductTradePrice>{discount}</ram:GrossPriceProductTradePrice>"
    invoice = document("rsm:CrossIndustryInvoice", f"{gross}<ram:NetPriceProductTradePrice/>{discount}")
    assert set(invoice.elsewhere) == {GrossPrice, Price, PriceAllowance}
    assert len(invoice.elsewhere[GrossPrice][0].allowances) == 1
    assert len(document("ubl:Invoice", "<cac:Price/>").elsewhere[Price]) == 1


def test_the_line_of_a_price() -> None:
    priced = "<cac:SubInvoiceLine><cbc:ID>1.1</cbc:ID><cac:Price/></cac:SubInvoiceLine>"
    invoice = document("ubl:Invoice", f"<cac:InvoiceLine>{priced}</cac:InvoiceLine><cac:Price/>")
    assert invoice.lines[0].lines[0].price.priced_line is invoice.lines[0].lines[0]
    assert not list(invoice.elsewhere[Price][0].priced_line)
