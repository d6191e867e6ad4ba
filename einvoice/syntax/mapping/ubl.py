"""Binding table of UBL 2.1 Invoice and CreditNote, in schema order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from einvoice.model.invoice import Invoice, PrecedingInvoice, Totals
from einvoice.model.lines import Attached, Document, Goods, ItemProperty, Line, MisplacedSubLine, Period, Price
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
from einvoice.model.values import BLANKS, normalize_space
from einvoice.syntax.mapping.binding import Row, Table, constant, group, leaf, nested, wrapper


def _scheme(raw: str) -> str:
    """Return `VAT` for text that the official rules treat as VAT, ignoring case and surrounding white space."""
    return "VAT" if raw.upper().strip(BLANKS) == "VAT" else ""


def _tax_scheme(default: str, foreign: Mapping[str, str] | None = None) -> Row:
    return wrapper(
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
        misplaced=Address,
    )


def _tax_registration() -> Row:
    return group(
        "cac:PartyTaxScheme",
        "tax_registrations",
        leaf("cbc:CompanyID", "identifier"),
        _tax_scheme("FC", foreign={"VA": "VAT", "": "FC"}),
        misplaced=TaxRegistration,
    )


def _party(*legal_form: Row) -> Row:
    return wrapper(
        "cac:Party",
        leaf("cbc:EndpointID", "electronic_address"),
        leaf("cac:PartyIdentification/cbc:ID", "identifiers"),
        leaf("cac:PartyName/cbc:Name", "trading_name"),
        _address("cac:PostalAddress", "address"),
        _tax_registration(),
        wrapper(
            "cac:PartyLegalEntity",
            leaf("cbc:RegistrationName", "name"),
            leaf("cbc:CompanyID", "legal_identifier"),
            *legal_form,
            track="legal entity",
        ),
        group(
            "cac:Contact",
            "contact",
            leaf("cbc:Name", "name"),
            leaf("cbc:Telephone", "telephone"),
            leaf("cbc:ElectronicMail", "email"),
        ),
        track="party",
    )


def _period(field: str) -> Row:
    return group(
        "cac:InvoicePeriod",
        field,
        leaf("cbc:StartDate", "start"),
        leaf("cbc:EndDate", "end"),
        leaf("cbc:DescriptionCode", "tax_point_code", foreign={"5": "3", "29": "35", "72": "432"}),
        misplaced=Period,
    )


_TAX_CATEGORY: Final = (
    leaf("cbc:ID", "category", view=normalize_space),
    leaf("cbc:Percent", "rate"),
    leaf("cbc:TaxExemptionReasonCode", "exemption_reason_code"),
    leaf("cbc:TaxExemptionReason", "exemption_reason"),
    _tax_scheme("VAT"),
)


def _allowance_charge(field: str, misplaced: type[AllowanceCharge] | None = None) -> Row:
    return group(
        "cac:AllowanceCharge",
        field,
        leaf("cbc:ChargeIndicator", "indicator", view=normalize_space),
        leaf("cbc:AllowanceChargeReasonCode", "reason_code"),
        leaf("cbc:AllowanceChargeReason", "reason"),
        leaf("cbc:MultiplierFactorNumeric", "percentage"),
        leaf("cbc:Amount", "amount"),
        leaf("cbc:BaseAmount", "base_amount"),
        group("cac:TaxCategory", "taxes", *_TAX_CATEGORY, misplaced=TaxCategory),
        misplaced=misplaced,
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
        constant("cbc:NetworkID", "NA"),
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
    misplaced=PaymentMeans,
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
        wrapper("cac:TaxCategory", *_TAX_CATEGORY, always=True),
        misplaced=VatBreakdown,
    ),
    misplaced=TaxTotal,
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
    misplaced=Totals,
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
    group("cac:ClassifiedTaxCategory", "../taxes", *_TAX_CATEGORY, misplaced=LineTax),
    group(
        "cac:AdditionalItemProperty",
        "properties",
        leaf("cbc:Name", "name"),
        leaf("cbc:Value", "value"),
        misplaced=ItemProperty,
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
        misplaced=Price,
    ),
    nested("cac:SubInvoiceLine", "lines", misplaced=MisplacedSubLine, root="Invoice"),
    nested("cac:SubCreditNoteLine", "lines", misplaced=MisplacedSubLine, root="CreditNote"),
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
    wrapper("cac:OrderReference", leaf("cbc:ID", "purchase_order"), leaf("cbc:SalesOrderID", "sales_order")),
    group(
        "cac:BillingReference",
        "preceding_invoices",
        wrapper(
            "cac:InvoiceDocumentReference",
            leaf("cbc:ID", "number"),
            leaf("cbc:IssueDate", "issue_date"),
            track="invoice",
        ),
        misplaced=PrecedingInvoice,
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
        wrapper(
            "cac:Attachment",
            leaf("cbc:EmbeddedDocumentBinaryObject", "attachment"),
            leaf("cac:ExternalReference/cbc:URI", "location", track="external"),
        ),
        misplaced=Document,
    ),
    leaf(_ORIGINATOR, "tender", root="CreditNote"),
    leaf("cac:ProjectReference/cbc:ID", "project", root="Invoice"),
)

_PARTIES: Final = (
    group(
        "cac:AccountingSupplierParty",
        "seller",
        _party(leaf("cbc:CompanyLegalForm", "legal_information")),
        misplaced=Seller,
    ),
    group("cac:AccountingCustomerParty", "buyer", _party(), misplaced=Buyer),
    group(
        "cac:PayeeParty",
        "payee",
        leaf("cac:PartyIdentification/cbc:ID", "identifiers"),
        leaf("cac:PartyName/cbc:Name", "name"),
        leaf("cac:PartyLegalEntity/cbc:CompanyID", "legal_identifier"),
        misplaced=Payee,
    ),
    group(
        "cac:TaxRepresentativeParty",
        "tax_representative",
        leaf("cac:PartyName/cbc:Name", "name"),
        _address("cac:PostalAddress", "address"),
        _tax_registration(),
        misplaced=TaxRepresentative,
    ),
    group(
        "cac:Delivery",
        "deliveries",
        leaf("cbc:ActualDeliveryDate", "date"),
        wrapper(
            "cac:DeliveryLocation",
            leaf("cbc:ID", "location_identifier"),
            _address("cac:Address", "address"),
        ),
        leaf("cac:DeliveryParty/cac:PartyName/cbc:Name", "party_name"),
        misplaced=Delivery,
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
        _allowance_charge("allowances_and_charges", misplaced=AllowanceCharge),
        _TAX_TOTAL,
        _TOTALS,
        group("cac:InvoiceLine", "lines", *_LINE, misplaced=Line, root="Invoice"),
        group("cac:CreditNoteLine", "lines", *_LINE, misplaced=Line, root="CreditNote"),
    ),
    misplaced_groups=(
        group("cac:PartyIdentification", "", leaf("cbc:ID", "identifiers"), misplaced=Party),
        group("cac:PartyLegalEntity", "", leaf("cbc:CompanyID", "legal_identifier"), misplaced=Party),
        group("cbc:EndpointID", "", leaf(".", "electronic_address"), misplaced=Addressee),
        group("cac:DeliveryLocation", "", leaf("cbc:ID", "location_identifier"), misplaced=Location),
        group("cac:StandardItemIdentification", "", leaf("cbc:ID", "standard_identifier"), misplaced=Goods),
        group("cbc:EmbeddedDocumentBinaryObject", "", leaf(".", "attachment"), misplaced=Attached),
        group("cbc:IdentificationCode", "", leaf(".", "code"), misplaced=Country),
    ),
)
