"""Binding table of CII D16B CrossIndustryInvoice, in schema order."""

from __future__ import annotations

from typing import Final

from einvoice.model.invoice import Invoice, Note, PrecedingInvoice, Totals
from einvoice.model.lines import Attached, Document, GrossPrice, ItemClassification, ItemProperty, Line, Price
from einvoice.model.money import (
    AllowanceCharge,
    AllowanceTax,
    LineTax,
    PaymentMeans,
    PriceAllowance,
    TaxCategory,
    TaxPoint,
)
from einvoice.model.parties import (
    Addressee,
    Buyer,
    Country,
    Delivery,
    Party,
    Payee,
    Seller,
    TaxRegistration,
    TaxRepresentative,
)
from einvoice.model.values import normalize_space
from einvoice.syntax.mapping.binding import Row, Table, constant, group, leaf, wrapper


def _registered_for(raw: str) -> str:
    """Return `VAT` for the text that the official rules treat as VAT: exactly `VA`."""
    return "VAT" if raw == "VA" else ""


def _tax_type(raw: str) -> str:
    """Return `VAT` for text that the official rules treat as VAT, ignoring case but not white space."""
    return "VAT" if raw.upper() == "VAT" else ""


_BOOLEANS: Final = {"0": "false", "1": "true"}
_TAX_TYPE: Final = leaf("ram:TypeCode", "scheme", view=_tax_type, default="VAT", foreign={"VAT": "VAT"})
_TAX_CATEGORY: Final = (
    _TAX_TYPE,
    leaf("ram:ExemptionReason", "exemption_reason"),
    leaf("ram:CategoryCode", "category"),
    leaf("ram:ExemptionReasonCode", "exemption_reason_code"),
    leaf("ram:RateApplicablePercent", "rate"),
)


def _address(field: str) -> Row:
    return group(
        "ram:PostalTradeAddress",
        field,
        leaf("ram:PostcodeCode", "postal_code"),
        leaf("ram:LineOne", "line_1"),
        leaf("ram:LineTwo", "line_2"),
        leaf("ram:LineThree", "line_3"),
        leaf("ram:CityName", "city"),
        leaf("ram:CountryID", "country_code"),
        leaf("ram:CountrySubDivisionName", "subdivision"),
    )


_IDENTIFIERS: Final = (leaf("ram:ID", "identifiers"), leaf("ram:GlobalID", "global_identifiers"))

_TAX_REGISTRATION: Final = group(
    "ram:SpecifiedTaxRegistration",
    "tax_registrations",
    leaf("ram:ID", "identifier"),
    leaf(
        "ram:ID/@schemeID", "scheme", view=_registered_for, default="FC", foreign={"VAT": "VA", "TAX": "FC", "": "FC"}
    ),
    misplaced=TaxRegistration,
)


def _party(*description: Row) -> tuple[Row, ...]:
    return (
        *_IDENTIFIERS,
        leaf("ram:Name", "name"),
        *description,
        wrapper(
            "ram:SpecifiedLegalOrganization",
            leaf("ram:ID", "legal_identifier"),
            leaf("ram:TradingBusinessName", "trading_name"),
            track="legal entity",
        ),
        group(
            "ram:DefinedTradeContact",
            "contact",
            leaf("ram:PersonName", "name"),
            leaf("ram:DepartmentName", "department"),
            leaf("ram:TelephoneUniversalCommunication/ram:CompleteNumber", "telephone"),
            leaf("ram:EmailURIUniversalCommunication/ram:URIID", "email"),
        ),
        _address("address"),
        leaf("ram:URIUniversalCommunication/ram:URIID", "electronic_address", track="electronic address"),
        _TAX_REGISTRATION,
    )


def _document(field: str, *, type_code: str) -> Row:
    return group(
        "ram:AdditionalReferencedDocument",
        field,
        leaf("ram:IssuerAssignedID", "identifier"),
        leaf("ram:URIID", "location"),
        leaf("ram:TypeCode", "type_code", default=type_code),
        leaf("ram:Name", "description"),
        leaf("ram:AttachmentBinaryObject", "attachment"),
        leaf("ram:ReferenceTypeCode", "reference_type"),
        misplaced=Document,
    )


def _period(field: str) -> Row:
    return group(
        "ram:BillingSpecifiedPeriod",
        field,
        leaf("ram:StartDateTime/udt:DateTimeString", "start", track="start"),
        leaf("ram:EndDateTime/udt:DateTimeString", "end", track="end"),
    )


def _allowance_charge(path: str, field: str, misplaced: type[AllowanceCharge] | None = None) -> Row:
    return group(
        path,
        field,
        leaf("ram:ChargeIndicator/udt:Indicator", "indicator", view=normalize_space, foreign=_BOOLEANS),
        leaf("ram:CalculationPercent", "percentage"),
        leaf("ram:BasisAmount", "base_amount"),
        leaf("ram:ActualAmount", "amount"),
        leaf("ram:ReasonCode", "reason_code"),
        leaf("ram:Reason", "reason"),
        group(
            "ram:CategoryTradeTax",
            "taxes",
            *_TAX_CATEGORY,
            misplaced=AllowanceTax,
        ),
        misplaced=misplaced,
    )


_LINE: Final = (
    wrapper(
        "ram:AssociatedDocumentLineDocument",
        leaf("ram:LineID", "identifier"),
        leaf("ram:ParentLineID", "parent_line"),
        leaf("ram:LineStatusReasonCode", "status_reason"),
        leaf("ram:IncludedNote/ram:Content", "notes"),
        always=True,
    ),
    group(
        "ram:SpecifiedTradeProduct",
        "item",
        leaf("ram:GlobalID", "standard_identifier"),
        leaf("ram:SellerAssignedID", "seller_identifier"),
        leaf("ram:BuyerAssignedID", "buyer_identifier"),
        leaf("ram:Name", "name"),
        leaf("ram:Description", "description"),
        group(
            "ram:ApplicableProductCharacteristic",
            "properties",
            leaf("ram:Description", "name"),
            leaf("ram:Value", "value"),
            misplaced=ItemProperty,
        ),
        group(
            "ram:DesignatedProductClassification",
            "classifications",
            leaf("ram:ClassCode", "identifier"),
            misplaced=ItemClassification,
        ),
        leaf("ram:OriginTradeCountry/ram:ID", "origin_country"),
    ),
    wrapper(
        "ram:SpecifiedLineTradeAgreement",
        leaf("ram:BuyerOrderReferencedDocument/ram:LineID", "order_line"),
        group(
            "ram:GrossPriceProductTradePrice",
            "gross_price",
            leaf("ram:ChargeAmount", "amount"),
            leaf("ram:BasisQuantity", "base_quantity"),
            _allowance_charge("ram:AppliedTradeAllowanceCharge", "allowances", misplaced=PriceAllowance),
            misplaced=GrossPrice,
        ),
        group(
            "ram:NetPriceProductTradePrice",
            "price",
            leaf("ram:ChargeAmount", "net"),
            leaf("ram:BasisQuantity", "base_quantity"),
            misplaced=Price,
        ),
    ),
    wrapper("ram:SpecifiedLineTradeDelivery", leaf("ram:BilledQuantity", "quantity")),
    wrapper(
        "ram:SpecifiedLineTradeSettlement",
        group(
            "ram:ApplicableTradeTax",
            "taxes",
            *_TAX_CATEGORY,
            misplaced=LineTax,
        ),
        _period("periods"),
        _allowance_charge("ram:SpecifiedTradeAllowanceCharge", "allowances_and_charges"),
        leaf("ram:SpecifiedTradeSettlementLineMonetarySummation/ram:LineTotalAmount", "net_amount"),
        _document("documents", type_code="130"),
        leaf("ram:ReceivableSpecifiedTradeAccountingAccount/ram:ID", "accounting_reference"),
        always=True,
    ),
)

_AGREEMENT: Final = wrapper(
    "ram:ApplicableHeaderTradeAgreement",
    leaf("ram:BuyerReference", "buyer_reference"),
    group("ram:SellerTradeParty", "seller", *_party(leaf("ram:Description", "legal_information")), misplaced=Seller),
    group("ram:BuyerTradeParty", "buyer", *_party(), misplaced=Buyer),
    group(
        "ram:SellerTaxRepresentativeTradeParty",
        "tax_representative",
        leaf("ram:Name", "name"),
        _address("address"),
        _TAX_REGISTRATION,
        misplaced=TaxRepresentative,
    ),
    leaf("ram:SellerOrderReferencedDocument/ram:IssuerAssignedID", "sales_order"),
    leaf("ram:BuyerOrderReferencedDocument/ram:IssuerAssignedID", "purchase_order"),
    leaf("ram:ContractReferencedDocument/ram:IssuerAssignedID", "contract"),
    _document("documents", type_code="916"),
    wrapper("ram:SpecifiedProcuringProject", leaf("ram:ID", "project"), constant("ram:Name", "Project reference")),
    always=True,
    track="agreement",
)

_DELIVERY: Final = group(
    "ram:ApplicableHeaderTradeDelivery",
    "deliveries",
    wrapper(
        "ram:ShipToTradeParty",
        leaf("ram:ID", "location_identifier"),
        leaf("ram:GlobalID", "global_location_identifier"),
        leaf("ram:Name", "party_name"),
        _address("address"),
    ),
    leaf("ram:ActualDeliverySupplyChainEvent/ram:OccurrenceDateTime/udt:DateTimeString", "date", track="date"),
    leaf("ram:DespatchAdviceReferencedDocument/ram:IssuerAssignedID", "../despatch_advice"),
    leaf("ram:ReceivingAdviceReferencedDocument/ram:IssuerAssignedID", "../receiving_advice"),
    misplaced=Delivery,
    always=True,
)

_PAYMENT_MEANS: Final = group(
    "ram:SpecifiedTradeSettlementPaymentMeans",
    "payment_means",
    leaf("ram:TypeCode", "code"),
    leaf("ram:Information", "description"),
    group(
        "ram:ApplicableTradeSettlementFinancialCard",
        "card",
        leaf("ram:ID", "number"),
        leaf("ram:CardholderName", "holder"),
    ),
    group("ram:PayerPartyDebtorFinancialAccount", "direct_debit", leaf("ram:IBANID", "debited_account")),
    group(
        "ram:PayeePartyCreditorFinancialAccount",
        "credit_transfer",
        leaf("ram:IBANID", "identifier"),
        leaf("ram:AccountName", "name"),
        leaf("ram:ProprietaryID", "proprietary_identifier"),
    ),
    wrapper("ram:PayerSpecifiedDebtorFinancialInstitution", track="bank"),
    leaf("ram:PayeeSpecifiedCreditorFinancialInstitution/ram:BICID", "service_provider", track="bank"),
    misplaced=PaymentMeans,
)

_SETTLEMENT: Final = wrapper(
    "ram:ApplicableHeaderTradeSettlement",
    leaf("ram:CreditorReferenceID", "creditor_identifier"),
    leaf("ram:PaymentReference", "remittance_information"),
    leaf("ram:TaxCurrencyCode", "tax_currency"),
    leaf("ram:InvoiceCurrencyCode", "currency"),
    group(
        "ram:PayeeTradeParty",
        "payee",
        *_IDENTIFIERS,
        leaf("ram:Name", "name"),
        leaf("ram:SpecifiedLegalOrganization/ram:ID", "legal_identifier"),
        misplaced=Payee,
    ),
    _PAYMENT_MEANS,
    group(
        "ram:ApplicableTradeTax",
        "vat_breakdown",
        leaf("ram:CalculatedAmount", "tax_amount"),
        _TAX_TYPE,
        leaf("ram:ExemptionReason", "exemption_reason"),
        leaf("ram:BasisAmount", "taxable_amount"),
        leaf("ram:CategoryCode", "category"),
        leaf("ram:ExemptionReasonCode", "exemption_reason_code"),
        leaf("ram:TaxPointDate/udt:DateString", "tax_point_date", track="tax point date"),
        leaf("ram:DueDateTypeCode", "tax_point_code", foreign={"3": "5", "35": "29", "432": "72"}),
        leaf("ram:RateApplicablePercent", "rate"),
    ),
    _period("periods"),
    _allowance_charge("ram:SpecifiedTradeAllowanceCharge", "allowances_and_charges", misplaced=AllowanceCharge),
    group(
        "ram:SpecifiedLogisticsServiceCharge",
        "logistics_charges",
        leaf("ram:Description", "description"),
        leaf("ram:AppliedAmount", "amount"),
        group(
            "ram:AppliedTradeTax",
            "taxes",
            *_TAX_CATEGORY,
        ),
    ),
    group(
        "ram:SpecifiedTradePaymentTerms",
        "payment_terms",
        leaf("ram:Description", "note"),
        leaf("ram:DueDateDateTime/udt:DateTimeString", "due_date", track="due date"),
        leaf("ram:DirectDebitMandateID", "mandate_reference"),
    ),
    group(
        "ram:SpecifiedTradeSettlementHeaderMonetarySummation",
        "totals",
        leaf("ram:LineTotalAmount", "line_net"),
        leaf("ram:ChargeTotalAmount", "charges"),
        leaf("ram:AllowanceTotalAmount", "allowances"),
        leaf("ram:TaxBasisTotalAmount", "net"),
        group("ram:TaxTotalAmount", "../tax_totals", leaf(".", "amount")),
        leaf("ram:RoundingAmount", "rounding"),
        leaf("ram:GrandTotalAmount", "gross"),
        leaf("ram:TotalPrepaidAmount", "paid"),
        leaf("ram:DuePayableAmount", "due"),
        misplaced=Totals,
    ),
    group(
        "ram:SpecifiedFinancialAdjustment",
        "financial_adjustments",
        leaf("ram:Reason", "reason"),
        leaf("ram:ActualAmount", "amount"),
    ),
    group(
        "ram:InvoiceReferencedDocument",
        "preceding_invoices",
        leaf("ram:IssuerAssignedID", "number"),
        leaf("ram:FormattedIssueDateTime/qdt:DateTimeString", "issue_date"),
        misplaced=PrecedingInvoice,
    ),
    leaf("ram:ReceivableSpecifiedTradeAccountingAccount/ram:ID", "accounting_reference"),
    always=True,
    track="settlement",
)

TABLE: Final = Table(
    "CII",
    Invoice,
    (
        wrapper(
            "rsm:ExchangedDocumentContext",
            leaf("ram:BusinessProcessSpecifiedDocumentContextParameter/ram:ID", "business_process"),
            leaf("ram:GuidelineSpecifiedDocumentContextParameter/ram:ID", "specification"),
            always=True,
            track="context",
        ),
        wrapper(
            "rsm:ExchangedDocument",
            leaf("ram:ID", "number"),
            leaf("ram:TypeCode", "type_code"),
            leaf("ram:IssueDateTime/udt:DateTimeString", "issue_date"),
            group("ram:IncludedNote", "notes", leaf("ram:Content", "text"), leaf("ram:SubjectCode", "subject_code")),
            always=True,
        ),
        wrapper(
            "rsm:SupplyChainTradeTransaction",
            group("ram:IncludedSupplyChainTradeLineItem", "lines", *_LINE, misplaced=Line),
            _AGREEMENT,
            _DELIVERY,
            _SETTLEMENT,
            always=True,
            track="transaction",
        ),
    ),
    misplaced_groups=(
        group("ram:TaxPointDate", "", leaf(".", "date"), misplaced=TaxPoint),
        group("ram:DueDateTypeCode", "", leaf(".", "code"), misplaced=TaxPoint),
        group("ram:ID", "", leaf(".", "identifiers"), misplaced=Party),
        group("ram:GlobalID", "", leaf(".", "global_identifiers"), misplaced=Party),
        group("ram:URIUniversalCommunication", "", leaf("ram:URIID", "electronic_address"), misplaced=Addressee),
        group("ram:AttachmentBinaryObject", "", leaf(".", "attachment"), misplaced=Attached),
        group("ram:CountryID", "", leaf(".", "code"), misplaced=Country),
        group("ram:CategoryCode", "", leaf(".", "category"), misplaced=TaxCategory),
        group("ram:SubjectCode", "", leaf(".", "subject_code"), misplaced=Note),
    ),
)
