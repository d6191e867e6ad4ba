"""Tracked elements: wrappers whose existence rules test, even if they are empty."""

from __future__ import annotations

import pytest

from einvoice.model.invoice import Invoice, PrecedingInvoice
from einvoice.model.lines import Document, Period
from einvoice.model.location import NAMESPACES
from einvoice.model.money import PaymentMeans
from einvoice.model.parties import Delivery, Seller
from einvoice.model.values import Date, Identifier, Text, absent
from einvoice.syntax.reader import read
from einvoice.syntax.xml import parse

DECLARED = " ".join(f'xmlns:{prefix}="{uri}"' for prefix, uri in NAMESPACES.items())


def ubl(content: str) -> Invoice:
    return read(parse(f"<ubl:Invoice {DECLARED}>{content}</ubl:Invoice>".encode()).getroot())


def cii(content: str) -> Invoice:
    return read(parse(f"<rsm:CrossIndustryInvoice {DECLARED}>{content}</rsm:CrossIndustryInvoice>".encode()).getroot())


def payment(content: str) -> PaymentMeans:
    means = f"<ram:SpecifiedTradeSettlementPaymentMeans>{content}</ram:SpecifiedTradeSettlementPaymentMeans>"
    settlement = f"<ram:ApplicableHeaderTradeSettlement>{means}</ram:ApplicableHeaderTradeSettlement>"
    return cii(f"<rsm:SupplyChainTradeTransaction>{settlement}</rsm:SupplyChainTradeTransaction>").payment_means[0]


def delivery(content: str) -> Delivery:
    group = f"<ram:ApplicableHeaderTradeDelivery>{content}</ram:ApplicableHeaderTradeDelivery>"
    return cii(f"<rsm:SupplyChainTradeTransaction>{group}</rsm:SupplyChainTradeTransaction>").deliveries[0]


@pytest.mark.parametrize("role", ["PayeeSpecifiedCreditor", "PayerSpecifiedDebtor"])
def test_financial_institution(role: str) -> None:
    assert payment(f"<ram:{role}FinancialInstitution/>").has_bank
    assert not payment("<ram:TypeCode>59</ram:TypeCode>").has_bank
    assert PaymentMeans(service_provider=Identifier("BYLADEM1001")).has_bank


def test_delivery_date() -> None:
    assert delivery(
        "<ram:ActualDeliverySupplyChainEvent><ram:OccurrenceDateTime/></ram:ActualDeliverySupplyChainEvent>"
    ).is_dated
    assert not delivery("<ram:ActualDeliverySupplyChainEvent/>").is_dated
    assert Delivery(date=Date("2026-03-31")).is_dated


def test_period_with_start_and_end() -> None:
    def period(content: str) -> Period:
        group = f"<ram:BillingSpecifiedPeriod>{content}</ram:BillingSpecifiedPeriod>"
        settlement = f"<ram:ApplicableHeaderTradeSettlement>{group}</ram:ApplicableHeaderTradeSettlement>"
        return cii(f"<rsm:SupplyChainTradeTransaction>{settlement}</rsm:SupplyChainTradeTransaction>").periods[0]

    with_start, with_end = period("<ram:StartDateTime/>"), period("<ram:EndDateTime><udt:DateTime/></ram:EndDateTime>")
    assert (with_start.has_start, with_start.has_end) == (True, False)
    assert (with_end.has_start, with_end.has_end) == (False, True)
    assert Period(start=Date("2026-03-01")).has_start
    assert Period(end=Date("2026-03-31")).has_end


def test_external_document() -> None:
    def document(content: str) -> Document:
        return ubl(f"<cac:AdditionalDocumentReference>{content}</cac:AdditionalDocumentReference>").documents[0]

    assert document("<cac:Attachment><cac:ExternalReference/></cac:Attachment>").is_external
    assert not document("<cac:Attachment/>").is_external
    assert Document(location=Text("https://muster.example")).is_external


def test_invoice_reference() -> None:
    def reference(name: str) -> PrecedingInvoice:
        return ubl(f"<cac:BillingReference><cac:{name}/></cac:BillingReference>").preceding_invoices[0]

    assert reference("InvoiceDocumentReference").is_to_invoice
    assert not reference("StatementDocumentReference").is_to_invoice
    assert PrecedingInvoice(number=Identifier("R-1")).is_to_invoice


def test_process_control() -> None:
    assert cii("<rsm:ExchangedDocumentContext/>").has_process_control
    assert not cii("<rsm:ExchangedDocument/>").has_process_control
    assert ubl("").has_process_control
    assert Invoice().has_process_control


def test_specifications_of_each_process_control() -> None:
    def context(*names: str) -> str:
        parameter = "ram:GuidelineSpecifiedDocumentContextParameter"
        parameters = "".join(f"<{parameter}><ram:ID>{name}</ram:ID></{parameter}>" for name in names)
        return f"<rsm:ExchangedDocumentContext>{parameters}</rsm:ExchangedDocumentContext>"

    def specifications(invoice: Invoice) -> list[list[str]]:
        values = [control.specification for control in invoice.process_controls]
        return [[] if first is absent else [first.text, *(value.text for value in first.more)] for first in values]

    assert specifications(cii("")) == []
    assert specifications(cii(context("A", "B"))) == [["A", "B"]]
    assert specifications(cii(context("A") + context() + context("B"))) == [["A"], [], ["B"]]
    assert specifications(ubl("<cbc:CustomizationID>A</cbc:CustomizationID>")) == [["A"]]
    assert specifications(Invoice(specification=Identifier("A"))) == [["A"]]


def test_transaction_and_agreement() -> None:
    empty = cii("")
    assert not empty.has_transaction
    assert not empty.has_agreement
    transaction = cii("<rsm:SupplyChainTradeTransaction/>")
    assert transaction.has_transaction
    assert not transaction.has_agreement
    agreement = "<ram:ApplicableHeaderTradeAgreement/>"
    assert cii(f"<rsm:SupplyChainTradeTransaction>{agreement}</rsm:SupplyChainTradeTransaction>").has_agreement
    assert ubl("").has_transaction
    assert ubl("").has_agreement


@pytest.mark.parametrize(("party", "field"), [("SellerTradeParty", "seller"), ("BuyerTradeParty", "buyer")])
def test_electronic_address(party: str, field: str) -> None:
    def invoice(content: str) -> Invoice:
        group = f"<ram:{party}>{content}</ram:{party}>"
        agreement = f"<ram:ApplicableHeaderTradeAgreement>{group}</ram:ApplicableHeaderTradeAgreement>"
        return cii(f"<rsm:SupplyChainTradeTransaction>{agreement}</rsm:SupplyChainTradeTransaction>")

    assert getattr(invoice("<ram:URIUniversalCommunication/>"), field).has_electronic_address
    assert not getattr(invoice("<ram:Name>Muster GmbH</ram:Name>"), field).has_electronic_address
    assert Seller(electronic_address=Identifier("post@muster.example")).has_electronic_address


@pytest.mark.parametrize(("party", "field"), [("Seller", "seller"), ("Buyer", "buyer")])
def test_legal_entity_in_cii(party: str, field: str) -> None:
    def invoice(content: str) -> Invoice:
        group = f"<ram:{party}TradeParty>{content}</ram:{party}TradeParty>"
        agreement = f"<ram:ApplicableHeaderTradeAgreement>{group}</ram:ApplicableHeaderTradeAgreement>"
        return cii(f"<rsm:SupplyChainTradeTransaction>{agreement}</rsm:SupplyChainTradeTransaction>")

    assert getattr(invoice("<ram:SpecifiedLegalOrganization/>"), field).has_legal_entity
    assert not getattr(invoice("<ram:Name>Muster GmbH</ram:Name>"), field).has_legal_entity


@pytest.mark.parametrize(("party", "field"), [("Supplier", "seller"), ("Customer", "buyer")])
def test_legal_entity_in_ubl(party: str, field: str) -> None:
    def invoice(content: str) -> Invoice:
        name = f"cac:Accounting{party}Party"
        return ubl(f"<{name}><cac:Party>{content}</cac:Party></{name}>")

    assert getattr(invoice("<cac:PartyLegalEntity/>"), field).has_legal_entity
    assert not getattr(invoice("<cac:PartyName/>"), field).has_legal_entity


def test_legal_entity_without_a_document() -> None:
    assert Seller(legal_identifier=Identifier("HRB 1")).has_legal_entity
    assert not Seller().has_legal_entity
