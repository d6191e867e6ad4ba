"""UBL 2.1: where an Invoice or a CreditNote says each business term, in schema order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from einvoice.model.invoice import Invoice, PrecedingInvoice
from einvoice.model.lines import Attached, Document, Goods, ItemProperty, Line, Period, Price, StrayLineBelowLine
from einvoice.model.money import AllowanceCharge, LineTax, PaymentMeans, TaxCategory, TaxTotal, VatBreakdown
from einvoice.model.parties import (
    Address,
    Addressee,
    Buyer,
    Country,
    Delivery,
    Location,
    Party,
    Payee,
    Seller,
    TaxRegistration,
    TaxRepresentative,
)
from einvoice.model.totals import Totals
from einvoice.model.values import BLANKS
from einvoice.syntax.mapping.binding import Row, Table, again, collapse, fixed, group, inside, leaf


def _scheme(raw: str) -> str:
    """``VAT`` for what the official rules take for VAT; they ignore case and blanks around."""
    return "VAT" if raw.upper().strip(BLANKS) == "VAT" else ""


def _tax_scheme(default: str, foreign: Mapping[str, str] | None = None) -> Row:
    return inside(
        "cac:TaxScheme", leaf("cbc:ID", "scheme", view=_scheme, default=default, foreign=foreign), always=True
    )


def _address(path: str, field: str) -> Row:
    return group(
        path,
        field,
        leaf("cbc:StreetName", "line_1"),
        leaf("cbc:AdditionalStreetName", "line_2"),
        leaf("cbc:CityName", "city"),
        leaf("cbc:PostalZone", "postal_code"),
        leaf("cbc:CountrySubentity", "subdivision"),
        leaf("cac:AddressLine/cbc:Line", "line_3"),
        leaf("cac:Country/cbc:IdentificationCode", "country_code"),
        stray=Address,
    )


def _tax_registration() -> Row:
    return group(
        "cac:PartyTaxScheme",
        "tax_registrations",
        leaf("cbc:CompanyID", "identifier"),
        _tax_scheme("FC", foreign={"VA": "VAT", "": "FC"}),
        stray=TaxRegistration,
    )


def _party(*legal_form: Row) -> Row:
    return inside(
        "cac:Party",
        leaf("cbc:EndpointID", "electronic_address"),
        leaf("cac:PartyIdentification/cbc:ID", "identifiers"),
        leaf("cac:PartyName/cbc:Name", "trading_name"),
        _address("cac:PostalAddress", "address"),
        _tax_registration(),
        inside(
            "cac:PartyLegalEntity",
            leaf("cbc:RegistrationName", "name"),
            leaf("cbc:CompanyID", "legal_identifier"),
            *legal_form,
        ),
        group(
            "cac:Contact",
            "contact",
            leaf("cbc:Name", "name"),
            leaf("cbc:Telephone", "telephone"),
            leaf("cbc:ElectronicMail", "email"),
        ),
        mark="party",
    )


def _period(field: str) -> Row:
    return group(
        "cac:InvoicePeriod",
        field,
        leaf("cbc:StartDate", "start"),
        leaf("cbc:EndDate", "end"),
        leaf("cbc:DescriptionCode", "tax_point_code", foreign={"5": "3", "29": "35", "72": "432"}),
        stray=Period,
    )


_TAX_CATEGORY: Final = (
    leaf("cbc:ID", "category", view=collapse),
    leaf("cbc:Percent", "rate"),
    leaf("cbc:TaxExemptionReasonCode", "exemption_reason_code"),
    leaf("cbc:TaxExemptionReason", "exemption_reason"),
    _tax_scheme("VAT"),
)


def _allowance_charge(field: str, stray: type[AllowanceCharge] | None = None) -> Row:
    return group(
        "cac:AllowanceCharge",
        field,
        leaf("cbc:ChargeIndicator", "indicator", view=collapse),
        leaf("cbc:AllowanceChargeReasonCode", "reason_code"),
        leaf("cbc:AllowanceChargeReason", "reason"),
        leaf("cbc:MultiplierFactorNumeric", "percentage"),
        leaf("cbc:Amount", "amount"),
        leaf("cbc:BaseAmount", "base_amount"),
        group("cac:TaxCategory", "taxes", *_TAX_CATEGORY, stray=TaxCategory),
        stray=stray,
    )


_PAYMENT_MEANS: Final = group(
    "cac:PaymentMeans",
    "payment_means",
    leaf("cbc:PaymentMeansCode", "code"),
    leaf("cbc:PaymentMeansCode/@name", "description"),
    leaf("cbc:PaymentDueDate", "due_date"),
    leaf("cbc:PaymentID", "remittance_information"),
    group(
        "cac:CardAccount",
        "card",
        leaf("cbc:PrimaryAccountNumberID", "number"),
        fixed("cbc:NetworkID", "NA"),
        leaf("cbc:HolderName", "holder"),
    ),
    group(
        "cac:PayeeFinancialAccount",
        "credit_transfer",
        leaf("cbc:ID", "identifier"),
        leaf("cbc:Name", "name"),
        leaf("cac:FinancialInstitutionBranch/cbc:ID", "../service_provider"),
    ),
    group(
        "cac:PaymentMandate",
        "direct_debit",
        leaf("cbc:ID", "mandate_reference"),
        leaf("cac:PayerFinancialAccount/cbc:ID", "debited_account"),
    ),
    stray=PaymentMeans,
)

_TAX_TOTAL: Final = group(
    "cac:TaxTotal",
    "tax_totals",
    leaf("cbc:TaxAmount", "amount"),
    group(
        "cac:TaxSubtotal",
        "../vat_breakdown",
        leaf("cbc:TaxableAmount", "taxable_amount"),
        leaf("cbc:TaxAmount", "tax_amount"),
        inside("cac:TaxCategory", *_TAX_CATEGORY, always=True),
        stray=VatBreakdown,
    ),
    stray=TaxTotal,
)

_TOTALS: Final = group(
    "cac:LegalMonetaryTotal",
    "totals",
    leaf("cbc:LineExtensionAmount", "line_net"),
    leaf("cbc:TaxExclusiveAmount", "net"),
    leaf("cbc:TaxInclusiveAmount", "gross"),
    leaf("cbc:AllowanceTotalAmount", "allowances"),
    leaf("cbc:ChargeTotalAmount", "charges"),
    leaf("cbc:PrepaidAmount", "paid"),
    leaf("cbc:PayableRoundingAmount", "rounding"),
    leaf("cbc:PayableAmount", "due"),
    stray=Totals,
)

_ITEM: Final = group(
    "cac:Item",
    "item",
    leaf("cbc:Description", "description"),
    leaf("cbc:Name", "name"),
    leaf("cac:BuyersItemIdentification/cbc:ID", "buyer_identifier"),
    leaf("cac:SellersItemIdentification/cbc:ID", "seller_identifier"),
    leaf("cac:StandardItemIdentification/cbc:ID", "standard_identifier"),
    leaf("cac:OriginCountry/cbc:IdentificationCode", "origin_country"),
    group("cac:CommodityClassification", "classifications", leaf("cbc:ItemClassificationCode", "identifier")),
    group("cac:ClassifiedTaxCategory", "../taxes", *_TAX_CATEGORY, stray=LineTax),
    group(
        "cac:AdditionalItemProperty",
        "properties",
        leaf("cbc:Name", "name"),
        leaf("cbc:Value", "value"),
        stray=ItemProperty,
    ),
)

_LINE: Final = (
    leaf("cbc:ID", "identifier"),
    leaf("cbc:Note", "notes"),
    leaf("cbc:InvoicedQuantity", "quantity", root="Invoice"),
    leaf("cbc:CreditedQuantity", "quantity", root="CreditNote"),
    leaf("cbc:LineExtensionAmount", "net_amount"),
    leaf("cbc:AccountingCost", "accounting_reference"),
    _period("periods"),
    leaf("cac:OrderLineReference/cbc:LineID", "order_line"),
    group(
        "cac:DocumentReference",
        "documents",
        leaf("cbc:ID", "identifier"),
        leaf("cbc:DocumentTypeCode", "type_code", default="130"),
    ),
    _allowance_charge("allowances_and_charges"),
    _ITEM,
    group(
        "cac:Price",
        "price",
        leaf("cbc:PriceAmount", "net"),
        leaf("cbc:BaseQuantity", "base_quantity"),
        _allowance_charge("allowances"),
        stray=Price,
    ),
    again("cac:SubInvoiceLine", "lines", stray=StrayLineBelowLine, root="Invoice"),
    again("cac:SubCreditNoteLine", "lines", stray=StrayLineBelowLine, root="CreditNote"),
)

_HEADER: Final = (
    leaf("cbc:CustomizationID", "specification"),
    leaf("cbc:ProfileID", "business_process"),
    leaf("cbc:ID", "number"),
    leaf("cbc:IssueDate", "issue_date"),
    leaf("cbc:DueDate", "due_date", root="Invoice"),
    leaf("cbc:TaxPointDate", "tax_point_date", root="CreditNote"),
    leaf("cbc:InvoiceTypeCode", "type_code", root="Invoice"),
    leaf("cbc:CreditNoteTypeCode", "type_code", root="CreditNote"),
    group("cbc:Note", "notes", leaf(".", "text")),
    leaf("cbc:TaxPointDate", "tax_point_date", root="Invoice"),
    leaf("cbc:DocumentCurrencyCode", "currency"),
    leaf("cbc:TaxCurrencyCode", "tax_currency"),
    leaf("cbc:AccountingCost", "accounting_reference"),
    leaf("cbc:BuyerReference", "buyer_reference"),
    _period("periods"),
)

_ORIGINATOR: Final = "cac:OriginatorDocumentReference/cbc:ID"

_REFERENCES: Final = (
    inside("cac:OrderReference", leaf("cbc:ID", "purchase_order"), leaf("cbc:SalesOrderID", "sales_order")),
    group(
        "cac:BillingReference",
        "preceding_invoices",
        inside(
            "cac:InvoiceDocumentReference",
            leaf("cbc:ID", "number"),
            leaf("cbc:IssueDate", "issue_date"),
            mark="invoice",
        ),
        stray=PrecedingInvoice,
    ),
    leaf("cac:DespatchDocumentReference/cbc:ID", "despatch_advice"),
    leaf("cac:ReceiptDocumentReference/cbc:ID", "receiving_advice"),
    leaf(_ORIGINATOR, "tender", root="Invoice"),
    leaf("cac:ContractDocumentReference/cbc:ID", "contract"),
    group(
        "cac:AdditionalDocumentReference",
        "documents",
        leaf("cbc:ID", "identifier"),
        leaf("cbc:DocumentTypeCode", "type_code"),
        leaf("cbc:DocumentDescription", "description"),
        inside(
            "cac:Attachment",
            leaf("cbc:EmbeddedDocumentBinaryObject", "attachment"),
            leaf("cac:ExternalReference/cbc:URI", "location", mark="external"),
        ),
        stray=Document,
    ),
    leaf(_ORIGINATOR, "tender", root="CreditNote"),
    leaf("cac:ProjectReference/cbc:ID", "project", root="Invoice"),
)

_PARTIES: Final = (
    group(
        "cac:AccountingSupplierParty",
        "seller",
        _party(leaf("cbc:CompanyLegalForm", "legal_information")),
        stray=Seller,
    ),
    group("cac:AccountingCustomerParty", "buyer", _party(), stray=Buyer),
    group(
        "cac:PayeeParty",
        "payee",
        leaf("cac:PartyIdentification/cbc:ID", "identifiers"),
        leaf("cac:PartyName/cbc:Name", "name"),
        leaf("cac:PartyLegalEntity/cbc:CompanyID", "legal_identifier"),
        stray=Payee,
    ),
    group(
        "cac:TaxRepresentativeParty",
        "tax_representative",
        leaf("cac:PartyName/cbc:Name", "name"),
        _address("cac:PostalAddress", "address"),
        _tax_registration(),
        stray=TaxRepresentative,
    ),
    group(
        "cac:Delivery",
        "deliveries",
        leaf("cbc:ActualDeliveryDate", "date"),
        inside(
            "cac:DeliveryLocation",
            leaf("cbc:ID", "location_identifier"),
            _address("cac:Address", "address"),
        ),
        leaf("cac:DeliveryParty/cac:PartyName/cbc:Name", "party_name"),
        stray=Delivery,
    ),
)

TABLE: Final = Table(
    "UBL",
    Invoice,
    (
        *_HEADER,
        *_REFERENCES,
        *_PARTIES,
        _PAYMENT_MEANS,
        group("cac:PaymentTerms", "payment_terms", leaf("cbc:Note", "note")),
        group(
            "cac:PrepaidPayment",
            "third_party_payments",
            leaf("cbc:ID", "type"),
            leaf("cbc:PaidAmount", "amount"),
            leaf("cbc:InstructionID", "description"),
            root="Invoice",
        ),
        _allowance_charge("allowances_and_charges", stray=AllowanceCharge),
        _TAX_TOTAL,
        _TOTALS,
        group("cac:InvoiceLine", "lines", *_LINE, stray=Line, root="Invoice"),
        group("cac:CreditNoteLine", "lines", *_LINE, stray=Line, root="CreditNote"),
    ),
    strays=(
        group("cac:PartyIdentification", "", leaf("cbc:ID", "identifiers"), stray=Party),
        group("cac:PartyLegalEntity", "", leaf("cbc:CompanyID", "legal_identifier"), stray=Party),
        group("cbc:EndpointID", "", leaf(".", "electronic_address"), stray=Addressee),
        group("cac:DeliveryLocation", "", leaf("cbc:ID", "location_identifier"), stray=Location),
        group("cac:StandardItemIdentification", "", leaf("cbc:ID", "standard_identifier"), stray=Goods),
        group("cbc:EmbeddedDocumentBinaryObject", "", leaf(".", "attachment"), stray=Attached),
        group("cbc:IdentificationCode", "", leaf(".", "code"), stray=Country),
    ),
)
