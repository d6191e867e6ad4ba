"""Reading a document: groups, values, and content that is unmapped or misplaced."""

from __future__ import annotations

import pytest
from lxml import etree

from einvoice.model.invoice import Invoice, Totals
from einvoice.model.location import NAMESPACES
from einvoice.model.money import AllowanceCharge, AllowanceTax, TaxTotal, VatBreakdown
from einvoice.model.parties import Address, TaxRegistration
from einvoice.model.values import absent
from einvoice.syntax.writer import write
from tests.helpers.converted import read_again


def ubl(content: str, root: str = "Invoice") -> Invoice:
    declared = " ".join(f'xmlns:{prefix}="{NAMESPACES[prefix]}"' for prefix in ("cac", "cbc", "ext"))
    namespace = NAMESPACES["ubl" if root == "Invoice" else "cn"]
    return read_again(f'<{root} xmlns="{namespace}" {declared}>{content}</{root}>'.encode())


def cii(content: str) -> Invoice:
    declared = " ".join(f'xmlns:{prefix}="{NAMESPACES[prefix]}"' for prefix in ("rsm", "ram", "udt", "qdt"))
    return read_again(f"<rsm:CrossIndustryInvoice {declared}>{content}</rsm:CrossIndustryInvoice>".encode())


def settlement(content: str) -> Invoice:
    inner = f"<ram:ApplicableHeaderTradeSettlement>{content}</ram:ApplicableHeaderTradeSettlement>"
    return cii(f"<rsm:SupplyChainTradeTransaction>{inner}</rsm:SupplyChainTradeTransaction>")


def test_content_without_a_term_is_unmapped() -> None:
    invoice = ubl("<cbc:UUID>1</cbc:UUID><cbc:ID>R-1</cbc:ID><cac:Signature><cbc:ID>2</cbc:ID></cac:Signature>")
    assert [etree.QName(node).localname for node in invoice.unmapped] == ["UUID", "Signature"]
    assert invoice.number.raw == "R-1"


def test_a_foreign_element_with_a_known_name_is_unmapped() -> None:
    invoice = ubl('<ID xmlns="urn:x">R-1</ID>')
    assert invoice.number is absent
    assert len(invoice.unmapped) == 1


def test_a_tax_subtotal_of_a_line_is_misplaced() -> None:
    invoice = ubl(
        "<cac:InvoiceLine><cac:TaxTotal><cac:TaxSubtotal><cbc:TaxAmount>1</cbc:TaxAmount></cac:TaxSubtotal>"
        "</cac:TaxTotal></cac:InvoiceLine>"
    )
    assert not invoice.vat_breakdown
    assert [part.tax_amount.raw for part in invoice.misplaced[VatBreakdown]] == ["1"]


def test_a_tax_total_of_a_line_is_misplaced() -> None:
    invoice = ubl(
        '<cac:InvoiceLine><cac:TaxTotal><cbc:TaxAmount currencyID="SEK">1</cbc:TaxAmount>'
        "</cac:TaxTotal></cac:InvoiceLine>"
    )
    assert not invoice.tax_totals
    (total,) = invoice.misplaced[TaxTotal]
    assert total.amount.currency == "SEK"
    assert total.vat_breakdown == []


@pytest.mark.parametrize("number", [1, 30])
def test_a_breakdown_belongs_to_its_total_or_else_to_the_first_one(number: int) -> None:
    breakdown = '<cac:TaxSubtotal><cbc:TaxAmount currencyID="EUR">{}</cbc:TaxAmount></cac:TaxSubtotal>'
    total = f"<cac:TaxTotal>{breakdown.format(1) * number}</cac:TaxTotal>"
    invoice = ubl(f"{total}<cac:TaxTotal/>{total.replace('>1<', '>3<')}")
    assert [[it.tax_amount.raw for it in total.vat_breakdown] for total in invoice.tax_totals] == [
        ["1"] * number,
        [],
        ["3"] * number,
    ]


def test_vat_totals_of_misplaced_totals_are_not_of_the_invoice() -> None:
    totals = "ram:SpecifiedTradeSettlementHeaderMonetarySummation"
    agreement = f"<{totals}><ram:TaxTotalAmount>1</ram:TaxTotalAmount></{totals}>"
    transaction = f"<ram:ApplicableHeaderTradeAgreement>{agreement}</ram:ApplicableHeaderTradeAgreement>"
    invoice = cii(f"<rsm:SupplyChainTradeTransaction>{transaction}</rsm:SupplyChainTradeTransaction>")
    assert not invoice.tax_totals
    assert len(invoice.misplaced[Totals]) == 1


def test_each_of_two_totals_has_its_own_vat() -> None:
    name = "ram:SpecifiedTradeSettlementHeaderMonetarySummation"
    one, other = (f"<{name}><ram:TaxTotalAmount>{amount}</ram:TaxTotalAmount></{name}>" for amount in "12")
    invoice = settlement(f"{one}{other}<ram:PayeeTradeParty>{one}</ram:PayeeTradeParty>")

    def vat(totals: Totals) -> list[str]:
        return [total.amount.raw for total in totals.tax_totals]

    assert vat(invoice.totals) == ["1"]
    assert [vat(totals) for totals in invoice.totals.more] == [["2"]]
    assert [vat(misplaced) for misplaced in invoice.misplaced[Totals]] == [["1", "2"]]
    assert vat(Totals()) == []


def test_a_tax_scheme_of_another_party_is_misplaced() -> None:
    invoice = ubl(
        "<cac:AccountingSupplierParty><cac:Party><cac:AgentParty><cac:PartyTaxScheme><cbc:CompanyID>DE1</cbc:CompanyID>"
        "</cac:PartyTaxScheme></cac:AgentParty></cac:Party></cac:AccountingSupplierParty>"
    )
    assert not invoice.seller.tax_registrations
    assert [it.identifier.raw for it in invoice.misplaced[TaxRegistration]] == ["DE1"]


def test_an_address_inside_a_misplaced_group_is_not_of_the_seller() -> None:
    invoice = ubl(
        "<cac:Delivery><cac:CarrierParty><cac:PostalAddress><cac:Country><cbc:IdentificationCode>DE"
        "</cbc:IdentificationCode></cac:Country></cac:PostalAddress></cac:CarrierParty></cac:Delivery>"
    )
    assert invoice.delivery.address is absent
    assert [it.country_code.raw for it in invoice.misplaced[Address]] == ["DE"]


def test_an_allowance_without_indicator_is_neither_allowance_nor_charge() -> None:
    invoice = ubl("<cac:AllowanceCharge><cbc:Amount>5</cbc:Amount></cac:AllowanceCharge>")
    assert [it.amount.raw for it in invoice.allowances_and_charges] == ["5"]
    assert not invoice.allowances
    assert not invoice.charges


def test_an_allowance_at_another_place_is_misplaced() -> None:
    invoice = settlement(
        "<ram:InvoiceCurrencyCode>EUR</ram:InvoiceCurrencyCode><ram:SpecifiedLogisticsServiceCharge>"
        "<ram:SpecifiedTradeAllowanceCharge><ram:ActualAmount>5</ram:ActualAmount></ram:SpecifiedTradeAllowanceCharge>"
        "</ram:SpecifiedLogisticsServiceCharge>"
    )
    assert not invoice.allowances_and_charges
    assert [it.amount.raw for it in invoice.misplaced[AllowanceCharge]] == ["5"]


def test_an_empty_group_exists() -> None:
    assert ubl("").seller is absent
    assert ubl("<cac:AccountingSupplierParty/>").seller.contact is absent
    invoice = ubl("<cac:AccountingSupplierParty><cac:Party><cac:Contact/></cac:Party></cac:AccountingSupplierParty>")
    assert invoice.seller.contact is not absent
    assert invoice.seller.contact.name is absent


def test_an_empty_element_is_a_value_without_text() -> None:
    number = ubl("<cbc:ID/>").number
    assert (number.raw, number.filled) == ("", False)


@pytest.mark.parametrize("blanks", [" ", "  ", "\t \n"])
def test_blanks_are_a_value_without_text(blanks) -> None:
    number = ubl(f"<cbc:ID>{blanks}</cbc:ID>").number
    assert (number.raw, number.filled) == (blanks, False)


@pytest.mark.parametrize("markup", ["<!-- a -->", "<?a?>", "<![CDATA[]]>"])
@pytest.mark.parametrize("value", [" {}5", "5 {}", " {} 5", "\n{}"])
def test_blanks_beside_markup_belong_to_the_value(markup, value) -> None:
    assert ubl(f"<cbc:ID>{value.format(markup)}</cbc:ID>").number.raw == value.format("")


@pytest.mark.parametrize("value", [" {}5", "5 {}", " {} 5", " {}"])
def test_blanks_beside_an_element_in_a_value_belong_to_the_value(value) -> None:
    assert ubl(f"<cbc:ID>{value.format('<cbc:ID/>')}</cbc:ID>").number.raw == value.format("")


def test_further_occurrences_are_kept_in_more() -> None:
    invoice = ubl("<cbc:ID>R-1</cbc:ID><cbc:ID>R-2</cbc:ID><cbc:ID>R-3</cbc:ID><cac:PayeeParty/><cac:PayeeParty/>")
    assert invoice.number.raw == "R-1"
    assert [value.raw for value in invoice.number.more] == ["R-2", "R-3"]
    assert len(invoice.payee.more) == 1


def test_a_comment_does_not_split_a_value() -> None:
    means = settlement(
        "<ram:SpecifiedTradeSettlementHeaderMonetarySummation><ram:GrandTotalAmount>31<!-- a -->4.<?b c?>86"
        "</ram:GrandTotalAmount></ram:SpecifiedTradeSettlementHeaderMonetarySummation>"
    )
    assert means.totals.gross.raw == "314.86"


def test_an_element_inside_a_value_belongs_to_its_text() -> None:
    invoice = ubl("<cbc:Note>a<b xmlns=''>b</b>c</cbc:Note><cbc:ID>R<cbc:ID>-</cbc:ID>1</cbc:ID>")
    assert [note.text.raw for note in invoice.notes] == ["abc"]
    assert invoice.number.raw == "R-1"
    assert len(invoice.unmapped) == 2


@pytest.mark.parametrize(
    ("scheme", "is_vat"), [("VAT", True), (" vat\n", True), ("VA", False), ("V AT", False), ("", False)]
)
def test_vat_scheme_of_ubl(scheme: str, is_vat: bool) -> None:
    invoice = ubl(
        "<cac:AllowanceCharge><cac:TaxCategory><cbc:ID> S </cbc:ID><cac:TaxScheme><cbc:ID>"
        f"{scheme}</cbc:ID></cac:TaxScheme></cac:TaxCategory></cac:AllowanceCharge>"
    )
    tax: AllowanceTax = invoice.allowances_and_charges[0].vat
    assert tax.is_vat is is_vat
    assert (tax.category.text, tax.category.raw, tax.scheme.raw) == ("S", " S ", scheme)


@pytest.mark.parametrize(("scheme", "is_vat"), [("VAT", True), ("vat", True), (" VAT", False), ("VA", False)])
def test_vat_scheme_of_cii(scheme: str, is_vat: bool) -> None:
    invoice = settlement(f"<ram:ApplicableTradeTax><ram:TypeCode>{scheme}</ram:TypeCode></ram:ApplicableTradeTax>")
    assert invoice.vat_breakdown[0].is_vat is is_vat


def test_the_scheme_of_a_registration_is_an_attribute() -> None:
    invoice = cii(
        "<rsm:SupplyChainTradeTransaction><ram:ApplicableHeaderTradeAgreement><ram:SellerTradeParty>"
        '<ram:SpecifiedTaxRegistration><ram:ID schemeID="FC">12/3</ram:ID></ram:SpecifiedTaxRegistration>'
        '<ram:SpecifiedTaxRegistration><ram:ID schemeID="VA">DE1</ram:ID></ram:SpecifiedTaxRegistration>'
        "</ram:SellerTradeParty></ram:ApplicableHeaderTradeAgreement></rsm:SupplyChainTradeTransaction>"
    )
    assert (invoice.seller.vat_identifier.raw, invoice.seller.tax_number.raw) == ("DE1", "12/3")
    scheme = invoice.seller.tax_registrations[1].scheme
    assert scheme.xpath.endswith("/ram:SpecifiedTaxRegistration[2]/ram:ID/@schemeID")
    assert read_again(write(invoice, "CrossIndustryInvoice")) == invoice


def test_attributes_of_several_elements_cannot_be_changed_by_one() -> None:
    line = '<cac:InvoiceLine><cbc:InvoicedQuantity unitCode="{}">1</cbc:InvoicedQuantity></cac:InvoiceLine>'
    invoice = ubl("".join(map(line.format, ("H87", "H87", "KGM"))))
    first, second, third = (line.quantity for line in invoice.lines)
    assert (first.unit, second.unit, third.unit) == ("H87", "H87", "KGM")
    with pytest.raises(TypeError, match="does not support item assignment"):
        first.attributes["unitCode"] = "C62"
