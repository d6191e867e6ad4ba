"""Forty invoices and what they mean under German VAT law.

The expectations follow from the letter of the Federal Ministry of Finance of 2025-10-15, from §§ 14, 14a, 27 (38) UStG
and from §§ 33, 34a UStDV. They were written before `einvoice.assessment`. The codes of the errors are those of the
official rules; their classes and everything else are the expectation.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from lxml import etree

import einvoice
from tests.helpers.paths import ROOT

DRAFT: Final = json.loads((ROOT / "tests" / "samples" / "draft.json").read_text("utf-8"))
DROP: Final = object()
"""Value of a change that removes a field."""

FORMAT, RULE, CONTENT = "format", "business_rule", "content"

Edit = Callable[[etree._Element], None]


@dataclass(frozen=True)
class Case:
    """An invoice and the expected assessment.

    Attributes:
        name: what is peculiar about it.
        changes: of the draft, by path such as "seller.street".
        edits: of the generated XML.
        syntax: "UBL" or "CII".
        kind: what the document is: "e_invoice", "other_invoice" or "open".
        follows: for another invoice, the key of what follows on the date of supply.
        errors: class of each error, by code.
        contested: codes whose class is contested.
        items: codes of what is missing for § 14 UStG.
    """

    name: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    edits: tuple[Edit, ...] = ()
    syntax: str = "UBL"
    kind: str = "e_invoice"
    follows: str = ""
    errors: Mapping[str, str] = field(default_factory=dict)
    contested: frozenset[str] = frozenset()
    items: frozenset[str] = frozenset()

    def xml(self) -> bytes:
        """Return the document."""
        draft = {**copy.deepcopy(DRAFT), "profile": "EN16931"}
        for path, value in self.changes.items():
            _change(draft, path.split("."), value)
        root = etree.fromstring(einvoice.generate(draft, self.syntax).xml.encode())
        for edit in self.edits:
            edit(root)
        return etree.tostring(root, xml_declaration=True, encoding="UTF-8")


def _change(data: Any, path: list[str], value: Any) -> None:
    *above, last = (int(it) if it.isdecimal() else it for it in path)
    for key in above:
        data = data[key]
    if value is DROP:
        del data[last]
    else:
        data[last] = value


def _found(root: etree._Element, xpath: str) -> etree._Element:
    (element,) = root.xpath(xpath, namespaces=einvoice.NAMESPACES)[:1]
    return element


def remove(xpath: str) -> Edit:
    """Return an edit that removes an element."""

    def edit(root: etree._Element) -> None:
        element = _found(root, xpath)
        element.getparent().remove(element)

    return edit


def put(xpath: str, text: str) -> Edit:
    """Return an edit that replaces the text of an element."""

    def edit(root: etree._Element) -> None:
        _found(root, xpath).text = text

    return edit


def first(xpath: str) -> Edit:
    """Return an edit that moves an element to the start of its parent."""

    def edit(root: etree._Element) -> None:
        element = _found(root, xpath)
        element.getparent().insert(0, element)

    return edit


def add(name: str) -> Edit:
    """Return an edit that adds an element to the root that no schema has."""

    def edit(root: etree._Element) -> None:
        etree.SubElement(root, f"{{{einvoice.NAMESPACES['cbc']}}}{name}").text = "x"

    return edit


def items(*names: str) -> frozenset[str]:
    """Return the codes of § 14 items by the end of their names."""
    return frozenset(f"USTG14-{name}" for name in names)


NO_DATE: Final = {"service_date": DROP}
LINE: Final = {
    "line_id": "1", "name": "Beratung", "quantity": "1", "unit_code": "HUR", "unit_price": "100.00",
    "tax_category": "S", "tax_rate": "19.00",
}  # fmt: skip
SMALL: Final = {"lines": [LINE]}  # 119.00 EUR
LARGE: Final = {"lines": [{**LINE, "quantity": "10"}]}  # 1,190.00 EUR
EXEMPT: Final = {**LINE, "quantity": "10", "tax_category": "E", "tax_rate": "0"}
SMALL_BUSINESS: Final = {
    "lines": [EXEMPT],
    "vat_breakdown": [{"tax_category": "E", "tax_rate": "0", "exemption_reason": "Kleinunternehmer, § 19 UStG"}],
}
OUTSIDE: Final = {
    "seller.tax_id": DROP,
    "seller.legal_registration": {"id": "HRB 4711"},
    "lines": [{key: it for key, it in {**LINE, "quantity": "10", "tax_category": "O"}.items() if key != "tax_rate"}],
    "vat_breakdown": [{"tax_category": "O", "exemption_reason_code": "VATEX-EU-O"}],
}
XRECHNUNG: Final = {
    "profile": "XRECHNUNG",
    "seller.electronic_address": {"id": "rechnung@werkstatt.example", "scheme": "EM"},
    "seller.contact": {"name": "Erika Muster", "telephone": "+49 30 123456", "email": "a@werkstatt.example"},
    "buyer.electronic_address": {"id": "04011000-12345-34", "scheme": "0204"},
}
DUE: Final = "/ubl:Invoice/cbc:DueDate"
BROKEN: Final = (put(DUE, "morgen"),)
BAD_DATE: Final = {"SCHEMA-VALUE-DATE": FORMAT}
CII: Final = "/rsm:CrossIndustryInvoice"
PARTY: Final = "//ram:ApplicableHeaderTradeAgreement/ram:{}TradeParty/ram:Name"

VALID: Final = (
    Case("complete"),
    Case("no date of supply", {**NO_DATE, **LARGE}, items=items("SUPPLY-DATE")),
    Case("an invoicing period", {**NO_DATE, **LARGE, "invoicing_period": {"start": "2026-11-01", "end": "2026-11-30"}}),
    Case("a period on the only line", {**NO_DATE, "lines": [
        {**LINE, "quantity": "10", "period": {"start": "2026-11-01", "end": "2026-11-30"}}]}),
    Case("a period on one of two lines", {**NO_DATE, "lines": [
        {**LINE, "quantity": "10", "period": {"start": "2026-11-01", "end": "2026-11-30"}}, {**LINE, "line_id": "2"}]},
        items=items("SUPPLY-DATE")),
    Case("a tax point date", {**NO_DATE, **LARGE, "tax_point_date": "2026-11-18"}),
    Case("the date of supply in a note", {**NO_DATE, **LARGE,
        "notes": [{"text": "Leistungsdatum entspricht Rechnungsdatum."}]}),
    Case("a seller without a street", {**LARGE, "seller.street": DROP}, items=items("SELLER-ADDRESS")),
    Case("a seller without a town", {**LARGE, "seller.city": DROP}, items=items("SELLER-ADDRESS")),
    Case("a buyer without an address", {**LARGE, "buyer.street": DROP, "buyer.city": DROP, "buyer.postal_code": DROP},
         items=items("BUYER-ADDRESS")),
    Case("neither tax number nor VAT identifier", OUTSIDE, items=items("TAX-NUMBER")),
    Case("a tax number alone", {**LARGE, "seller.tax_id": DROP, "seller.tax_number": "29/123/45678",
        "seller.legal_registration": {"id": "HRB 4711"}}),
    Case("self-billing as invoice", {**LARGE, "notes": [{"text": "Abrechnung im Gutschriftsverfahren"}]},
         items=items("SELF-BILLING")),
    Case("self-billing", {**LARGE, "type_code": "389", "notes": [{"text": "Abrechnung im Gutschriftsverfahren"}]}),
    Case("a name that refers", {"lines": [{**LINE, "quantity": "10", "name": "siehe Lieferschein 4711"}]},
         items=items("ITEM-NAME")),
    Case("a name that refers, with a description", {"lines": [
        {**LINE, "quantity": "10", "name": "siehe Angebot 12", "description": "Wartung der Heizung, Haus 3"}]}),
    Case("a small amount with little", {**NO_DATE, **SMALL, "buyer.street": DROP, "buyer.city": DROP}),
    Case("a small business without a date of supply", {**NO_DATE, **SMALL_BUSINESS}),
    Case("a prepayment", {**NO_DATE, **LARGE, "type_code": "386"}),
    Case("several gaps", {**NO_DATE, "buyer.street": DROP, "lines": [
        {**LINE, "quantity": "10", "name": "lt. Auftrag"}]},
        items=items("SUPPLY-DATE", "BUYER-ADDRESS", "ITEM-NAME")),
)  # fmt: skip

INVALID: Final = (
    Case("no number", LARGE, (put(f"{CII}/rsm:ExchangedDocument/ram:ID", ""),), "CII",
         errors={"BR-02": CONTENT}, contested=frozenset({"BR-02"})),
    Case("no number of the line", LARGE, (put("//ram:AssociatedDocumentLineDocument/ram:LineID", ""),), "CII",
         errors={"BR-21": RULE}, contested=frozenset({"BR-21"})),
    Case("no name of the seller", LARGE, (remove(PARTY.format("Seller")),), "CII",
         errors={"BR-06": CONTENT}, contested=frozenset({"BR-06"})),
    Case("no name of the buyer", LARGE, (remove(PARTY.format("Buyer")),), "CII",
         errors={"BR-07": CONTENT}, contested=frozenset({"BR-07"})),
    Case("no item name", LARGE, (put("//ram:SpecifiedTradeProduct/ram:Name", ""),), "CII",
         errors={"BR-25": CONTENT}, contested=frozenset({"BR-25"})),
    Case("no sum of the lines", LARGE, (put("//cac:LegalMonetaryTotal/cbc:LineExtensionAmount", "999.00"),),
         errors={"BR-CO-10": RULE, "BR-CO-13": CONTENT}),
    Case("a wrong amount of tax", LARGE, (put("//cac:TaxSubtotal/cbc:TaxAmount", "195.00"),),
         errors={"BR-CO-14": RULE, "BR-CO-17": CONTENT, "BR-S-09": CONTENT}, contested=frozenset({"BR-CO-14"})),
    Case("a wrong amount due", LARGE, (put("//cbc:PayableAmount", "1190.50"),), errors={"BR-CO-16": RULE}),
    Case("no buyer reference", {**LARGE, **XRECHNUNG}, (remove("/ubl:Invoice/cbc:BuyerReference"),),
         errors={"BR-DE-15": RULE}),
    Case("no contact", {**LARGE, **XRECHNUNG}, (remove("//cac:AccountingSupplierParty/cac:Party/cac:Contact"),),
         errors={"BR-DE-2": RULE}),
    Case("no town of the buyer", {**LARGE, **XRECHNUNG},
         (remove("//cac:AccountingCustomerParty//cac:PostalAddress/cbc:CityName"),),
         errors={"BR-DE-8": CONTENT}, items=items("BUYER-ADDRESS")),
    Case("no tax number with standard rate", LARGE, (remove("//cac:AccountingSupplierParty//cac:PartyTaxScheme"),),
         errors={"BR-CO-26": RULE, "BR-S-02": CONTENT}, items=items("TAX-NUMBER")),
    Case("no reason of an exemption", SMALL_BUSINESS,
         (remove("//cac:TaxSubtotal/cac:TaxCategory/cbc:TaxExemptionReason"),), errors={"BR-E-10": CONTENT}),
    Case("a due date that is none, 2026", LARGE, BROKEN, kind="other_invoice", follows="until_2026", errors=BAD_DATE),
    Case("an unknown element", LARGE, (add("Unknown"),), kind="other_invoice", follows="until_2026",
         errors={"SCHEMA-UNKNOWN-ELEMENT": FORMAT}),
    Case("elements in another order", LARGE, (first("//cac:LegalMonetaryTotal/cbc:PayableAmount"),),
         kind="other_invoice", follows="until_2026", errors={"SCHEMA-ELEMENT-ORDER": FORMAT}),
    Case("a due date that is none, 2027", {**LARGE, "service_date": "2027-05-31"}, BROKEN, kind="other_invoice",
         follows="until_2027", errors=BAD_DATE),
    Case("a due date that is none, 2028", {**LARGE, "service_date": "2028-01-01"}, BROKEN, kind="other_invoice",
         follows="due", errors=BAD_DATE),
    Case("a due date that is none, small amount of 2028", {**SMALL, "service_date": "2028-01-01"}, BROKEN,
         kind="other_invoice", follows="small_amount", errors=BAD_DATE),
    Case("a due date that is none, no date of supply", {**LARGE, **NO_DATE}, BROKEN, kind="other_invoice",
         follows="no_date", errors=BAD_DATE, items=items("SUPPLY-DATE")),
)  # fmt: skip
