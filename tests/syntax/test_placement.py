"""Invoices written in the other syntax: every term is at its place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given
from lxml import etree

from einvoice.model.invoice import Invoice, Note, PrecedingInvoice
from einvoice.model.lines import Document, GrossPrice, Line, LineDocument, Period, Price
from einvoice.model.location import NAMESPACES
from einvoice.model.money import (
    AllowanceCharge,
    CreditTransfer,
    DirectDebit,
    LineTax,
    PaymentCard,
    PaymentMeans,
    PaymentTerms,
    PriceAllowance,
    TaxTotal,
    VatBreakdown,
)
from einvoice.model.parties import Buyer, BuyerContact, Delivery, Payee, Seller, SellerContact, SellerTaxRegistration
from einvoice.model.values import Amount, Code, Date, Identifier, Percentage, Quantity, Text, UnitPrice, absent
from einvoice.syntax.mapping.placement import place
from einvoice.syntax.schema import violations
from einvoice.syntax.writer import write
from einvoice.syntax.xml import parse
from tests.helpers.business_terms import business_terms
from tests.helpers.converted import converted, read_again
from tests.helpers.properties import examples
from tests.helpers.strategies import invoices, plausible_invoices

UBL, CREDIT_NOTE, CII = "Invoice", "CreditNote", "CrossIndustryInvoice"
ROOTS = (UBL, CREDIT_NOTE, CII)


def found(invoice: Invoice, root: str, path: str) -> list[str]:
    """Write the invoice as a document of that root, and return the texts at an XPath below the root element."""
    document: Any = etree.fromstring(write(invoice, root))
    nodes = document.xpath(path, namespaces=NAMESPACES)
    return [node if isinstance(node, str) else node.text or "" for node in nodes]


# ---------------------------------------------------------------- each term at its place

TRADE = "rsm:SupplyChainTradeTransaction"
AGREEMENT = f"{TRADE}/ram:ApplicableHeaderTradeAgreement"
DELIVERY = f"{TRADE}/ram:ApplicableHeaderTradeDelivery"
SETTLEMENT = f"{TRADE}/ram:ApplicableHeaderTradeSettlement"
LINE = f"{TRADE}/ram:IncludedSupplyChainTradeLineItem"
SUPPLIER = "cac:AccountingSupplierParty/cac:Party"
DOCUMENT = "cac:AdditionalDocumentReference"
DAY = Date("2026-03-31")
ID = Identifier("4711")
TEXT = Text("Ware")
NET, GROSS, DISCOUNT = UnitPrice("90.00"), UnitPrice("100.00"), UnitPrice("10.00")
FIVE = Quantity("5", {"unitCode": "C62"})
IBAN = Identifier("de89 3704 0044 0532 0130 00")
DEBIT = PaymentMeans(code=Code("59"), direct_debit=DirectDebit(debited_account=ID))
DISCOUNTED = Line(price=Price(net=NET, allowances=[PriceAllowance(amount=DISCOUNT, base_amount=GROSS)]))
REDUCED = Line(
    price=Price(net=NET, base_quantity=FIVE),
    gross_price=GrossPrice(amount=GROSS, base_quantity=FIVE, allowances=[PriceAllowance(amount=DISCOUNT)]),
)


def of_line(**content: Any) -> Invoice:
    return Invoice(lines=[Line(**content)])


def seller(**content: Any) -> Invoice:
    return Invoice(seller=Seller(**content))


#: Invoice with a term at the place of either syntax; root; XPath; expected texts.
PLACES: dict[str, tuple[Invoice, str, str, list[str]]] = {
    "BT-7 to CII: in the first breakdown": (
        Invoice(tax_point_date=DAY, vat_breakdown=[VatBreakdown(rate=Percentage("7")), VatBreakdown()]),
        CII, f"{SETTLEMENT}/ram:ApplicableTradeTax[1]/ram:TaxPointDate/udt:DateString[@format = '102']", ["20260331"],
    ),
    "BT-7 to UBL": (
        Invoice(vat_breakdown=[VatBreakdown(), VatBreakdown(tax_point_date=DAY)]),
        UBL, "cbc:TaxPointDate", ["2026-03-31"],
    ),
    "BT-8 to CII: another code list": (
        Invoice(periods=[Period(tax_point_code=Code("35"))], vat_breakdown=[VatBreakdown()]),
        CII, f"{SETTLEMENT}/ram:ApplicableTradeTax/ram:DueDateTypeCode", ["29"],
    ),
    "BT-8 to CII: its period has no day": (
        Invoice(periods=[Period(tax_point_code=Code("35"))]), CII, "//ram:BillingSpecifiedPeriod", [],
    ),
    "BT-8 to UBL: beside a period": (
        Invoice(vat_breakdown=[VatBreakdown(tax_point_code=Code("72"))]),
        UBL, "cac:InvoicePeriod/cbc:DescriptionCode", ["432"],
    ),
    "BT-9 to CII": (
        Invoice(due_date=DAY, payment_terms=[PaymentTerms(note=TEXT), PaymentTerms(note=TEXT)]),
        CII, f"{SETTLEMENT}/ram:SpecifiedTradePaymentTerms[1]/ram:DueDateDateTime/udt:DateTimeString", ["20260331"],
    ),
    "BT-9 to CII from a credit note's payment means, without terms": (
        Invoice(payment_means=[PaymentMeans(code=Code("30"), due_date=DAY)]),
        CII, "//ram:SpecifiedTradePaymentTerms/ram:DueDateDateTime/udt:DateTimeString", ["20260331"],
    ),
    "BT-9 to UBL": (
        Invoice(payment_terms=[PaymentTerms(note=TEXT), PaymentTerms(due_date=DAY)]),
        UBL, "cbc:DueDate | //cbc:PaymentDueDate", ["2026-03-31"],
    ),
    "BT-9 to UBL: terms without a note are none": (
        Invoice(payment_terms=[PaymentTerms(due_date=DAY)]), UBL, "cac:PaymentTerms", [],
    ),
    "BT-9 to a credit note: in the payment means": (
        Invoice(due_date=DAY, payment_means=[PaymentMeans(code=Code("30"))]),
        CREDIT_NOTE, "cbc:DueDate | cac:PaymentMeans/cbc:PaymentDueDate", ["2026-03-31"],
    ),
    "BT-11 to CII: the schema wants a name": (
        Invoice(project=ID), CII, f"{AGREEMENT}/ram:SpecifiedProcuringProject/*", ["4711", "Project reference"],
    ),
    "BT-11 to UBL": (Invoice(project=ID), UBL, "cac:ProjectReference/cbc:ID", ["4711"]),
    "BT-11 to a credit note: document of type 50": (
        Invoice(project=ID), CREDIT_NOTE, f"{DOCUMENT}[cbc:DocumentTypeCode = '50']/cbc:ID", ["4711"],
    ),
    "BT-13 to UBL: wanted beside BT-14": (Invoice(sales_order=ID), UBL, "cac:OrderReference/*", ["NA", "4711"]),
    "BT-13 to CII: not given": (
        Invoice(sales_order=ID, purchase_order=Identifier("NA")), CII, "//ram:BuyerOrderReferencedDocument", [],
    ),
    "BT-15 to CII: inside the delivery": (
        Invoice(receiving_advice=ID), CII, f"{DELIVERY}/ram:ReceivingAdviceReferencedDocument/*", ["4711"],
    ),
    "BT-17 to CII: document of type 50": (
        Invoice(tender=ID),
        CII, f"{AGREEMENT}/ram:AdditionalReferencedDocument[ram:TypeCode = '50']/ram:IssuerAssignedID", ["4711"],
    ),
    "BT-17 to UBL": (
        Invoice(documents=[Document(identifier=ID, type_code=Code("50"))]),
        UBL, f"cac:OriginatorDocumentReference/cbc:ID | {DOCUMENT}", ["4711"],
    ),
    "BT-18 to CII: the scheme has an element": (
        Invoice(documents=[Document(identifier=Identifier("4711", {"schemeID": "ABT"}), type_code=Code("130"))]),
        CII, "//ram:AdditionalReferencedDocument/* | //@schemeID", ["4711", "130", "ABT"],
    ),
    "BT-18 to UBL: the scheme is an attribute": (
        Invoice(documents=[Document(identifier=ID, type_code=Code("130"), reference_type=Code("ABT"))]),
        UBL, f"{DOCUMENT}[cbc:ID/@schemeID = 'ABT']/*", ["4711", "130"],
    ),
    "BG-24 to CII: type 916": (
        Invoice(documents=[Document(identifier=ID)]), CII, "//ram:AdditionalReferencedDocument/*", ["4711", "916"],
    ),
    "BG-24 to UBL: no type": (
        Invoice(documents=[Document(identifier=ID, type_code=Code("916"))]), UBL, f"{DOCUMENT}/*", ["4711"],
    ),
    "BT-20 to CII": (
        Invoice(payment_terms=[PaymentTerms(note=TEXT)]), CII, "//ram:SpecifiedTradePaymentTerms/*", ["Ware"],
    ),
    "BT-21 to CII": (
        Invoice(notes=[Note(text=Text("#REG#HRB 1\nBonn"))]),
        CII, "rsm:ExchangedDocument/ram:IncludedNote/*", ["HRB 1\nBonn", "REG"],
    ),
    "BT-21 to CII: not every # is a subject": (
        Invoice(notes=[Note(text=Text("Zu #REG#")), Note(text=Text("# 1#")), Note(text=Text("#12345#"))]),
        CII, "//ram:IncludedNote/*", ["Zu #REG#", "# 1#", "#12345#"],
    ),
    "BT-21 to UBL": (Invoice(notes=[Note(subject_code=Code("REG"), text=TEXT)]), UBL, "cbc:Note", ["#REG#Ware"]),
    "BG-3 to CII: room for one": (
        Invoice(preceding_invoices=[PrecedingInvoice(number=ID), PrecedingInvoice(number=Identifier("2"))]),
        CII, f"{SETTLEMENT}/ram:InvoiceReferencedDocument/*", ["4711"],
    ),
    "BG-14 to CII: the first that has a day": (
        Invoice(periods=[Period(tax_point_code=Code("3")), Period(end=DAY), Period(start=DAY)]),
        CII, f"{SETTLEMENT}/ram:BillingSpecifiedPeriod/*/udt:DateTimeString", ["20260331"],
    ),
    "BT-29 to CII: with a scheme apart": (
        seller(identifiers=[Identifier("4000001", {"schemeID": "0088"}), ID]),
        CII, f"{AGREEMENT}/ram:SellerTradeParty/ram:ID | //ram:GlobalID[@schemeID = '0088']", ["4711", "4000001"],
    ),
    "BT-29 to UBL: all in one list": (
        seller(identifiers=[ID], global_identifiers=[Identifier("4000001", {"schemeID": "0088"})]),
        UBL, f"{SUPPLIER}/cac:PartyIdentification/cbc:ID", ["4711", "4000001"],
    ),
    "BT-31 and BT-32 to CII": (
        seller(tax_registrations=[SellerTaxRegistration(identifier=ID, scheme=Code("VAT")),
                                  SellerTaxRegistration(identifier=ID, scheme=Code(""))]),
        CII, "//ram:SpecifiedTaxRegistration/ram:ID/@schemeID", ["VA", "FC"],
    ),
    "BT-31 and BT-32 to UBL: the scheme is no attribute": (
        seller(tax_registrations=[SellerTaxRegistration(identifier=Identifier("1", {"schemeID": "VA"}),
                                                        scheme=Code("VA")), SellerTaxRegistration(identifier=ID)]),
        UBL, f"{SUPPLIER}/cac:PartyTaxScheme/cac:TaxScheme/cbc:ID | //@schemeID", ["VAT", "FC"],
    ),
    "BT-41 to UBL: a department if there is no person": (
        seller(contact=SellerContact(department=TEXT)), UBL, f"{SUPPLIER}/cac:Contact/cbc:Name", ["Ware"],
    ),
    "BT-56 to UBL: person and department": (
        Invoice(buyer=Buyer(contact=BuyerContact(name=Text("Änne Groß"), department=TEXT))),
        UBL, "cac:AccountingCustomerParty/cac:Party/cac:Contact/*", ["Änne Groß, Ware"],
    ),
    "BG-13 to CII: the first": (
        Invoice(deliveries=[Delivery(date=DAY), Delivery(party_name=TEXT)]),
        CII, f"{DELIVERY}//udt:DateTimeString | {DELIVERY}//ram:Name", ["20260331"],
    ),
    "BT-71 to CII": (
        Invoice(deliveries=[Delivery(location_identifier=Identifier("4000001", {"schemeID": "0088"}))]),
        CII, f"{DELIVERY}/ram:ShipToTradeParty/ram:GlobalID[@schemeID = '0088']", ["4000001"],
    ),
    "BT-71 to UBL": (
        Invoice(deliveries=[Delivery(global_location_identifier=ID)]),
        UBL, "cac:Delivery/cac:DeliveryLocation/cbc:ID", ["4711"],
    ),
    "BT-83 to CII": (
        Invoice(payment_means=[PaymentMeans(remittance_information=[TEXT, TEXT])]),
        CII, f"{SETTLEMENT}/ram:PaymentReference", ["Ware"],
    ),
    "BT-83 to UBL: with every way to pay": (
        Invoice(remittance_information=TEXT, payment_means=[PaymentMeans(code=Code("30")), PaymentMeans()]),
        UBL, "cac:PaymentMeans/cbc:PaymentID", ["Ware", "Ware"],
    ),
    "BT-84 to CII: an IBAN, as one writes it": (
        Invoice(payment_means=[PaymentMeans(credit_transfer=CreditTransfer(identifier=IBAN))]),
        CII, "//ram:PayeePartyCreditorFinancialAccount/ram:IBANID", ["de89 3704 0044 0532 0130 00"],
    ),
    "BT-84 to CII: another account number": (
        Invoice(payment_means=[PaymentMeans(credit_transfer=CreditTransfer(identifier=Identifier("5678-1234567")))]),
        CII, "//ram:PayeePartyCreditorFinancialAccount/*", ["5678-1234567"],
    ),
    "BT-84 to CII: another account number has its own element": (
        Invoice(payment_means=[PaymentMeans(credit_transfer=CreditTransfer(identifier=ID))]),
        CII, "//ram:ProprietaryID", ["4711"],
    ),
    "BT-84 to UBL": (
        Invoice(payment_means=[PaymentMeans(credit_transfer=CreditTransfer(proprietary_identifier=ID))]),
        UBL, "cac:PaymentMeans/cac:PayeeFinancialAccount/cbc:ID", ["4711"],
    ),
    "BT-86 to UBL: inside an account": (
        Invoice(payment_means=[PaymentMeans(service_provider=ID)]),
        UBL, "cac:PaymentMeans/cac:PayeeFinancialAccount/cac:FinancialInstitutionBranch/cbc:ID", ["4711"],
    ),
    "BT-87 to UBL: the schema wants a network": (
        Invoice(payment_means=[PaymentMeans(card=PaymentCard(number=Text("4711"), holder=TEXT))]),
        UBL, "cac:PaymentMeans/cac:CardAccount/*", ["4711", "NA", "Ware"],
    ),
    "BT-89 to CII": (
        Invoice(payment_means=[PaymentMeans(direct_debit=DirectDebit(mandate_reference=ID))]),
        CII, f"{SETTLEMENT}/ram:SpecifiedTradePaymentTerms/ram:DirectDebitMandateID", ["4711"],
    ),
    "BT-89 to UBL: to the direct debit": (
        Invoice(payment_terms=[PaymentTerms(mandate_reference=ID)], payment_means=[PaymentMeans(), DEBIT]),
        UBL, "cac:PaymentMeans[cbc:PaymentMeansCode = '59']/cac:PaymentMandate/cbc:ID", ["4711"],
    ),
    "BT-89 to UBL: a direct debit is made": (
        Invoice(payment_terms=[PaymentTerms(mandate_reference=ID)], payment_means=[PaymentMeans(code=Code("59"))]),
        UBL, "cac:PaymentMeans/cac:PaymentMandate/cbc:ID", ["4711"],
    ),
    "BT-90 to CII": (
        seller(identifiers=[Identifier("4711", {"schemeID": "SEPA"})]),
        CII, f"{SETTLEMENT}/ram:CreditorReferenceID | //ram:SellerTradeParty | //@schemeID", ["4711"],
    ),
    "BT-90 to UBL: the payee's, where there is one": (
        Invoice(creditor_identifier=ID, seller=Seller(name=TEXT), payee=Payee(name=TEXT)),
        UBL, "//cac:PayeeParty/cac:PartyIdentification/cbc:ID[@schemeID = 'SEPA']", ["4711"],
    ),
    "BT-90 to UBL: otherwise the seller's": (
        Invoice(creditor_identifier=ID, seller=Seller(name=TEXT)),
        UBL, f"{SUPPLIER}/cac:PartyIdentification/cbc:ID[@schemeID = 'SEPA']", ["4711"],
    ),
    "BT-110 to UBL: the schema wants it above a breakdown": (
        Invoice(currency=Code("CHF"), vat_breakdown=[VatBreakdown(tax_amount=Amount("1.10")),
                                                     VatBreakdown(tax_amount=Amount("2.05"))]),
        UBL, "cac:TaxTotal/cbc:TaxAmount[@currencyID = 'CHF']", ["3.15"],
    ),
    "BT-110 to UBL: the breakdown stands below it, not below BT-111": (
        Invoice(currency=Code("CHF"), vat_breakdown=[VatBreakdown(tax_amount=Amount("2"))],
                tax_totals=[TaxTotal(amount=Amount("9", {"currencyID": "EUR"})),
                            TaxTotal(amount=Amount("2", {"currencyID": "CHF"}))]),
        UBL, "cac:TaxTotal[cac:TaxSubtotal]/cbc:TaxAmount | cac:TaxTotal[2]/cbc:TaxAmount/@currencyID", ["2", "EUR"],
    ),
    "BT-110 to CII: among the totals, with its currency": (
        Invoice(currency=Code("CHF"), tax_totals=[TaxTotal(amount=Amount("2"))]),
        CII, "//ram:SpecifiedTradeSettlementHeaderMonetarySummation/*/@currencyID", ["CHF"],
    ),
    "BT-116 to CII: other amounts without currency": (
        Invoice(vat_breakdown=[VatBreakdown(taxable_amount=Amount("2", {"currencyID": "EUR"}))]),
        CII, "//ram:BasisAmount | //@currencyID", ["2"],
    ),
    "BT-128 to CII: type 130": (
        of_line(documents=[LineDocument(identifier=Identifier("4711", {"schemeID": "ABT"}))]),
        CII, f"{LINE}//ram:AdditionalReferencedDocument/*", ["4711", "130", "ABT"],
    ),
    "BT-128 to UBL: other documents of a line have no place": (
        of_line(documents=[LineDocument(identifier=ID, type_code=Code("130"), reference_type=Code("ABT")),
                           LineDocument(identifier=ID, type_code=Code("916"))]),
        UBL, "cac:InvoiceLine/cac:DocumentReference[cbc:ID/@schemeID = 'ABT']/*", ["4711", "130"],
    ),
    "BT-147 to CII": (
        Invoice(lines=[DISCOUNTED]),
        CII, "//ram:AppliedTradeAllowanceCharge//udt:Indicator | //ram:ActualAmount", ["false", "10.00"],
    ),
    "BT-148 to CII": (
        Invoice(lines=[DISCOUNTED]), CII, f"{LINE}//ram:GrossPriceProductTradePrice/ram:ChargeAmount", ["100.00"],
    ),
    "BT-148 to CII: net price plus discount": (
        of_line(price=Price(net=NET, allowances=[PriceAllowance(amount=DISCOUNT)])),
        CII, "//ram:GrossPriceProductTradePrice/ram:ChargeAmount", ["100.00"],
    ),
    "BT-148 to CII: not to be known": (
        of_line(price=Price(allowances=[PriceAllowance(amount=DISCOUNT)])),
        CII, "//ram:GrossPriceProductTradePrice", [],
    ),
    "BT-147 and BT-148 to UBL": (
        Invoice(lines=[REDUCED]), UBL, "//cac:Price/cac:AllowanceCharge/*", ["false", "10.00", "100.00"],
    ),
    "BT-147 to UBL: gross minus net price": (
        of_line(price=Price(net=NET), gross_price=GrossPrice(amount=GROSS)),
        UBL, "//cac:Price/cac:AllowanceCharge/*", ["false", "10.00", "100.00"],
    ),
    "BT-149 to CII: for both prices": (
        of_line(price=Price(net=NET, base_quantity=FIVE, allowances=[PriceAllowance(base_amount=GROSS)])),
        CII, f"{LINE}//ram:BasisQuantity[@unitCode = 'C62']", ["5", "5"],
    ),
    "BT-149 to UBL: a gross price for another quantity has no place": (
        of_line(price=Price(net=NET, base_quantity=FIVE),
                gross_price=GrossPrice(amount=GROSS, base_quantity=Quantity("1"))),
        UBL, "//cac:Price/*", ["90.00", "5"],
    ),
    "BG-30 to UBL: inside the item": (
        of_line(taxes=[LineTax(category=Code("S"), scheme=Code("vat"))]),
        UBL, "cac:InvoiceLine/cac:Item/cac:ClassifiedTaxCategory/cbc:ID", ["S"],
    ),
    "indicators to CII are words": (
        Invoice(allowances_and_charges=[AllowanceCharge(indicator=Code("0")), AllowanceCharge(indicator=Code(" 1 ")),
                                        AllowanceCharge(indicator=Code("true"))]),
        CII, "//udt:Indicator", ["false", "true", "true"],
    ),
    "codes lose their blanks": (Invoice(currency=Code(" EUR\n")), CII, "//ram:InvoiceCurrencyCode", ["EUR"]),
    "a date that is none stays as it is": (Invoice(issue_date=Date("bald")), UBL, "cbc:IssueDate", ["bald"]),
}  # fmt: skip


@pytest.mark.parametrize("about", PLACES)
def test_place(about: str) -> None:
    invoice, root, path, texts = PLACES[about]
    before = repr(invoice)
    assert found(invoice, root, path) == texts
    assert repr(invoice) == before  # writing does not modify the invoice


@pytest.mark.parametrize("deliveries", [[], [Delivery()], [Delivery(), Delivery()]])
def test_cii_has_exactly_one_delivery(deliveries: list[Delivery]) -> None:
    assert len(converted(Invoice(deliveries=deliveries), CII).deliveries) == 1


def test_terms_that_the_standard_allows_once_are_kept_once() -> None:
    number = Identifier("R-1")
    number.more = [Identifier("R-2")]
    project = Seller(name=TEXT)
    project.more = [Seller(name=Text("another"))]
    invoice = Invoice(number=number, seller=project)
    assert found(invoice, UBL, "cbc:ID") == ["R-1"]
    assert found(invoice, CII, "//ram:SellerTradeParty/ram:Name") == ["Ware"]
    assert number.more


def test_places_differ_between_roots_of_one_syntax() -> None:
    """An invoice becomes a credit note: some terms of UBL have another place there."""
    invoice = converted(Invoice(project=ID, due_date=DAY, payment_means=[PaymentMeans(code=Code("30"))]), UBL)
    credit_note = converted(invoice, CREDIT_NOTE)
    assert credit_note.payment_means[0].due_date.raw == "2026-03-31"
    assert [(it.identifier.raw, it.type_code.raw) for it in credit_note.documents] == [("4711", "50")]
    assert converted(credit_note, UBL) == invoice
    assert found(credit_note, CII, "//ram:SpecifiedProcuringProject/ram:ID | //ram:AdditionalReferencedDocument") == [
        "4711"
    ]


def test_an_unknown_root_is_an_error() -> None:
    with pytest.raises(LookupError):
        write(Invoice(), "Order")


# ---------------------------------------------------------------- sub lines


def numbered(number: str, *below: Line, parent: str = "") -> Line:
    return Line(identifier=Identifier(number), parent_line=Identifier(parent) if parent else absent, lines=below)


def tree(lines: Iterable[Line]) -> list[Any]:
    return [[line.identifier.raw, *tree(line.lines)] for line in lines]


def test_nested_lines_become_flat_and_nested_again() -> None:
    nested = Invoice(lines=[numbered("1", numbered("1.1", numbered("1.1.1")), numbered("1.2")), numbered("2")])
    flat = converted(nested, CII)
    assert [(line.identifier.raw, line.parent_line.raw) for line in flat.lines] == [
        ("1", absent), ("1.1", "1"), ("1.1.1", "1.1"), ("1.2", "1"), ("2", absent),
    ]  # fmt: skip
    for root in (UBL, CREDIT_NOTE):
        assert tree(converted(flat, root).lines) == [["1", ["1.1", ["1.1.1"]], ["1.2"]], ["2"]]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([numbered("1", parent="1")], [["1"]]),
        ([numbered("1", parent="2"), numbered("2", parent="1")], [["1"], ["2"]]),
        ([numbered("1", parent="9")], [["1"]]),
        ([numbered("1.1", parent="1"), numbered("1")], [["1", ["1.1"]]]),
        ([numbered("1"), numbered("1"), numbered("2", parent="1")], [["1", ["2"]], ["1"]]),
    ],
    ids=["itself", "each other", "missing line", "a later one", "two of that number"],
)
def test_unknown_and_cyclic_parent_lines(lines: list[Line], expected: list[Any]) -> None:
    assert tree(place(Invoice(lines=lines), "UBL", UBL).lines) == expected


def test_nesting_of_lines_is_limited() -> None:
    tower = [numbered(str(n), parent=str(n - 1)) for n in range(2000)]
    document = write(Invoice(lines=tower), UBL)
    assert document.count(b"<cbc:ID>") == 2000
    parse(document)  # within the bounds of our own parser


# ---------------------------------------------------------------- generated invoices


@pytest.mark.slow
@examples(40, deadline=None)
@given(plausible_invoices())
def test_a_plausible_invoice_is_schema_valid_in_each_syntax_with_the_same_terms(invoice: Invoice) -> None:
    for root in ROOTS:
        document = write(invoice, root)
        assert not violations(parse(document), root)
        again = read_again(document)
        assert business_terms(again) == business_terms(invoice)
        for other in ROOTS:
            assert business_terms(converted(again, other)) == business_terms(invoice)


@pytest.mark.slow
@examples(40, deadline=None)
@given(invoices())
def test_placement_is_stable_for_any_invoice(invoice: Invoice) -> None:
    """Writing a second time changes nothing."""
    for root in ROOTS:
        once = converted(invoice, root)
        assert not once.unmapped
        again = place(once, once.syntax, root)
        assert again == place(again, once.syntax, root)
