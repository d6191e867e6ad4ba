"""The JSON draft of an invoice: its fields, JSON Schema, calculated totals, and conversion to an invoice.

Drafts can be written in Python, too: `Draft(lines=[Line(...)], ...)`, with dates as `datetime.date` and numbers as
`Decimal`.
"""

from einvoice.draft.draft import Draft, Format, Profile, draft_schema
from einvoice.draft.fields.allowance import Allowance, Charge, LineAllowance, LineCharge
from einvoice.draft.fields.line import Attribute, Classification, Line, LineObject, LinePeriod, StandardItemIdentifier
from einvoice.draft.fields.party import (
    Buyer,
    BuyerContact,
    BuyerElectronicAddress,
    BuyerIdentifier,
    BuyerRegistration,
    Delivery,
    LocationIdentifier,
    PayeeIdentifier,
    PayeeParty,
    PayeeRegistration,
    Seller,
    SellerContact,
    SellerElectronicAddress,
    SellerIdentifier,
    SellerRegistration,
    TaxRepresentative,
)
from einvoice.draft.fields.payment import Account, Card, DirectDebit, Payment, ThirdPartyPayment
from einvoice.draft.fields.payment_terms import Discount, Retention
from einvoice.draft.fields.reference import Attachment, InvoicedObject, InvoicingPeriod, Note, PrecedingInvoice
from einvoice.draft.fields.totals import Prepayment, Totals, VatCategory
from einvoice.draft.json_schema import SCHEMA_VERSION
from einvoice.draft.read import Source, read

__all__ = [
    "SCHEMA_VERSION",
    "Account",
    "Allowance",
    "Attachment",
    "Attribute",
    "Buyer",
    "BuyerContact",
    "BuyerElectronicAddress",
    "BuyerIdentifier",
    "BuyerRegistration",
    "Card",
    "Charge",
    "Classification",
    "Delivery",
    "DirectDebit",
    "Discount",
    "Draft",
    "Format",
    "InvoicedObject",
    "InvoicingPeriod",
    "Line",
    "LineAllowance",
    "LineCharge",
    "LineObject",
    "LinePeriod",
    "LocationIdentifier",
    "Note",
    "PayeeIdentifier",
    "PayeeParty",
    "PayeeRegistration",
    "Payment",
    "PrecedingInvoice",
    "Prepayment",
    "Profile",
    "Retention",
    "Seller",
    "SellerContact",
    "SellerElectronicAddress",
    "SellerIdentifier",
    "SellerRegistration",
    "Source",
    "StandardItemIdentifier",
    "TaxRepresentative",
    "ThirdPartyPayment",
    "Totals",
    "VatCategory",
    "draft_schema",
    "read",
]
