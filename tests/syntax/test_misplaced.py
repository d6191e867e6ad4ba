"""Lines and quantities of the document type, and misplaced groups in UBL and CII."""

from __future__ import annotations

from einvoice.model.invoice import Invoice, Totals
from einvoice.model.lines import GrossPrice, Line, Period, Price
from einvoice.model.location import NAMESPACES
from einvoice.model.money import AllowanceTax, LineTax, PriceAllowance, TaxCategory
from einvoice.model.parties import Buyer, Country, Seller
from einvoice.model.values import Code, Quantity, absent
from einvoice.syntax.reader import read
from einvoice.syntax.xml import parse

SUMMATION = "SpecifiedTradeSettlementHeaderMonetarySummation"
SETTLEMENT = "ApplicableHeaderTradeSettlement"
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
    return [quantity.raw for quantity in line.matching_quantities]


def amounts(invoice: Invoice) -> list[str]:
    return [it.amount.raw for it in invoice.matching_allowances_and_charges]


def test_an_invoice_has_invoiced_quantities_and_invoice_lines() -> None:
    invoice = document("ubl:Invoice", LINES)
    assert [quantities(line) for line in invoice.lines] == [["1"], []]
    assert invoice.matching_lines == [invoice.lines[0]]
    assert invoice.other_lines == [invoice.lines[1]]
    assert amounts(invoice) == ["7", "3"]


def test_a_credit_note_has_credited_quantities_and_credit_note_lines() -> None:
    invoice = document("cn:CreditNote", LINES)
    assert [quantities(line) for line in invoice.lines] == [["2"], ["5"]]
    assert invoice.matching_lines == [invoice.lines[1]]
    assert invoice.other_lines == [invoice.lines[0]]
    assert amounts(invoice) == ["7", "6"]


def test_lines_of_the_other_root() -> None:
    for root, expected in (("ubl:Invoice", [False, True]), ("cn:CreditNote", [True, False])):
        invoice = document(root, LINES)
        assert [line.is_of_other_root for line in invoice.lines] == expected


def test_totals_at_their_place_and_misplaced() -> None:
    totals = "<cac:LegalMonetaryTotal><cbc:PayableAmount>1</cbc:PayableAmount></cac:LegalMonetaryTotal>"
    invoice = document("ubl:Invoice", f"{totals}<cac:Signature>{totals}</cac:Signature>")
    assert invoice.totals.is_of_invoice
    assert [it.is_of_invoice for it in invoice.descendants(Totals)] == [True, False]


def test_misplaced_totals_of_cii_beside_the_settlement() -> None:
    totals = f"<ram:{SUMMATION}/>"
    delivery = "ram:ApplicableHeaderTradeDelivery"
    parts = f"<ram:{SETTLEMENT}>{totals}</ram:{SETTLEMENT}><{delivery}>{totals}</{delivery}>{totals}"
    transaction = "rsm:SupplyChainTradeTransaction"
    invoice = document("rsm:CrossIndustryInvoice", f"<{transaction}>{parts}</{transaction}>")
    assert [it.is_of_invoice for it in invoice.descendants(Totals)] == [True, True, False]


def test_groups_made_by_hand_match_the_root() -> None:
    line = Line(quantity=Quantity("1"))
    assert quantities(line) == ["1"]
    assert not line.is_of_other_root
    assert Totals().is_of_invoice
    assert Invoice(lines=[line]).matching_lines == [line]
    assert Invoice(lines=[line]).other_lines == ()


def test_a_role_with_any_number_of_parties() -> None:
    party = "<cac:Party><cbc:EndpointID>{}</cbc:EndpointID></cac:Party>"
    content = f"{party.format('x')}<cac:Party/>"
    invoice = document(
        "ubl:Invoice",
        f"<cac:AccountingSupplierParty>{content}</cac:AccountingSupplierParty><cac:AccountingCustomerParty/>",
    )
    assert [it.electronic_address.text for it in invoice.seller.parties] == ["x", absent]
    assert invoice.buyer.parties == []
    assert len(Buyer().parties) == len(Seller().parties) == 1


def test_payment_means_misplaced() -> None:
    means = "<cac:PaymentMeans/>"
    invoice = document("ubl:Invoice", f"{means}<cac:Delivery>{means}</cac:Delivery>")
    (misplaced,) = invoice.misplaced[type(invoice.payment_means[0])]
    assert misplaced.is_misplaced
    assert not invoice.payment_means[0].is_misplaced


def test_prices_misplaced() -> None:
    discount = "<ram:AppliedTradeAllowanceCharge/>"
    gross = f"<ram:GrossPriceProductTradePrice>{discount}</ram:GrossPriceProductTradePrice>"
    invoice = document("rsm:CrossIndustryInvoice", f"{gross}<ram:NetPriceProductTradePrice/>{discount}")
    assert set(invoice.misplaced) == {GrossPrice, Price, PriceAllowance}
    assert len(invoice.misplaced[GrossPrice][0].allowances) == 1
    assert len(document("ubl:Invoice", "<cac:Price/>").misplaced[Price]) == 1


def test_the_line_of_a_price() -> None:
    priced = "<cac:SubInvoiceLine><cbc:ID>1.1</cbc:ID><cac:Price/></cac:SubInvoiceLine>"
    invoice = document("ubl:Invoice", f"<cac:InvoiceLine>{priced}</cac:InvoiceLine><cac:Price/>")
    assert invoice.lines[0].lines[0].price.priced_line is invoice.lines[0].lines[0]
    assert not list(invoice.misplaced[Price][0].priced_line)


def test_taxes_misplaced() -> None:
    taxed = "<cac:ClassifiedTaxCategory><cbc:ID> S </cbc:ID></cac:ClassifiedTaxCategory>"
    (tax,) = document("ubl:Invoice", f"<cac:Delivery><cac:Item>{taxed}</cac:Item></cac:Delivery>").misplaced[LineTax]
    assert tax.category.text == "S"
    code = "<ram:CategoryCode>E</ram:CategoryCode>"
    settlement = f"<ram:ApplicableTradeTax>{code}</ram:ApplicableTradeTax>"
    subordinate = (
        f"<ram:SpecifiedSubordinateLineTradeSettlement>{settlement}</ram:SpecifiedSubordinateLineTradeSettlement>"
    )
    allowance = f"<ram:CategoryTradeTax>{code}</ram:CategoryTradeTax>"
    logistics = f"<ram:AppliedTradeTax>{code}</ram:AppliedTradeTax>"
    invoice = document("rsm:CrossIndustryInvoice", subordinate + allowance + logistics)
    assert set(invoice.misplaced) == {LineTax, AllowanceTax, TaxCategory}
    assert [tax.category.raw for taxes in invoice.misplaced.values() for tax in taxes] == ["E", "E", "E"]


def test_countries_misplaced() -> None:
    country = "<cac:Country><cbc:IdentificationCode>IT</cbc:IdentificationCode></cac:Country>"
    bank = f"<cac:PayeeFinancialAccount>{country}</cac:PayeeFinancialAccount>"
    invoice = document("ubl:Invoice", f"<cac:PaymentMeans>{bank}</cac:PaymentMeans>")
    assert [it.code.raw for it in invoice.misplaced[Country]] == ["IT"]
    place = "<ram:RelevantTradeLocation><ram:CountryID>DE</ram:CountryID></ram:RelevantTradeLocation>"
    invoice = document("rsm:CrossIndustryInvoice", place)
    assert [it.code.raw for it in invoice.misplaced[Country]] == ["DE"]


def test_content_of_a_period() -> None:
    for content, there in {"": False, "<cbc:StartDate/>": True, "<cbc:Description>Mai</cbc:Description>": True}.items():
        invoice = document("ubl:Invoice", f"<cac:InvoicePeriod>{content}</cac:InvoicePeriod>")
        assert invoice.period.has_content is there
    assert not Period().has_content
    assert Period(tax_point_code=Code("3")).has_content


def test_each_settlement_has_its_own_currencies_and_totals() -> None:
    total = "<ram:TaxTotalAmount>1</ram:TaxTotalAmount>"
    totals = f"<ram:{SUMMATION}>{total}</ram:{SUMMATION}>"
    currency = "<ram:InvoiceCurrencyCode>EUR</ram:InvoiceCurrencyCode>"
    settlements = "".join(f"<ram:{SETTLEMENT}>{content}</ram:{SETTLEMENT}>" for content in (totals, currency + totals))
    transaction = f"<rsm:SupplyChainTradeTransaction>{settlements}</rsm:SupplyChainTradeTransaction>"
    first, second = document("rsm:CrossIndustryInvoice", transaction).settlements
    assert len(first.tax_totals) == len(second.tax_totals) == 1
    assert not list(first.currency)
    assert second.currency.raw == "EUR"
    assert document("rsm:CrossIndustryInvoice", "").settlements == []


def test_other_invoices_have_one_settlement() -> None:
    (settlement,) = document("ubl:Invoice", "<cac:TaxTotal/><cac:TaxTotal/>").settlements
    assert len(settlement.tax_totals) == 2
