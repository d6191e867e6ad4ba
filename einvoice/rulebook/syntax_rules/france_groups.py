"""Check of French invoices whose lines are groups: those of several sellers, and those in two directions.

An invoice of several sellers (BT-23 is S8, B8 or M8) has a group of lines for each seller, one in two directions (S9,
B9, M9) a group for each party. Fields outside of EN 16931 say whether a line is a group (GROUP), one of its lines
(DETAIL) or an information, and which line is its parent: CII has them beside the identifier of the line, UBL in a
reference of the line to the invoice itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any, Final, NamedTuple, TypeAlias

from einvoice.model.values import Text, absent, normalize_space
from einvoice.rulebook.functions.arithmetic import double, total
from einvoice.rulebook.functions.registry import Numeric
from einvoice.rulebook.syntax_rules.checks import Found, per_context, per_context_always
from einvoice.rulebook.syntax_rules.france import SEVERAL_SELLERS, TWO_WAY, mode
from einvoice.rulebook.syntax_rules.rule import SyntaxRule
from einvoice.rulebook.syntax_rules.xpath import below, text, texts
from einvoice.syntax.mapping.binding import qualified

_ALL: Final = (*SEVERAL_SELLERS, *TWO_WAY)
_CORRECTIONS: Final = ("384", "472", "381", "396", "503")
_SELF_BILLED_CORRECTIONS: Final = ("261", "471", "473", "502")
_CREDIT_NOTES: Final = ("261", "381", "396", "502", "503")
_UBL_INVOICE: Final = qualified("ubl:Invoice")
_CENT: Final = Decimal("0.01")
_SUMMATION: Final = "ram:SpecifiedLineTradeSettlement/ram:SpecifiedTradeSettlementLineMonetarySummation"
_SETTLEMENT: Final = "rsm:SupplyChainTradeTransaction/ram:ApplicableHeaderTradeSettlement"
_AGREEMENT: Final = "rsm:SupplyChainTradeTransaction/ram:ApplicableHeaderTradeAgreement"
_SELLER: Final = {
    "UBL": "cac:Item/cac:ManufacturerParty",
    "CII": "ram:SpecifiedLineTradeAgreement/ram:ItemSellerTradeParty",
}
#: Paths by syntax: from a line, or from the root element.
_OF_LINE: Final = {
    "identifier": ("cbc:ID", "ram:AssociatedDocumentLineDocument/ram:LineID"),
    "net": ("cbc:LineExtensionAmount", f"{_SUMMATION}/ram:LineTotalAmount"),
    "gross": ("cbc:TaxInclusiveLineExtensionAmount", f"{_SUMMATION}/ram:GrandTotalAmount"),
    "vat": ("cac:TaxTotal/cbc:TaxAmount", f"{_SUMMATION}/ram:TaxTotalAmount"),
    "exemption": (
        "cac:Item/cac:ClassifiedTaxCategory/cbc:TaxExemptionReason",
        "ram:SpecifiedLineTradeSettlement/ram:ApplicableTradeTax/ram:ExemptionReason",
    ),
    "seller_name": (f"{_SELLER['UBL']}/cac:PartyLegalEntity/cbc:RegistrationName", f"{_SELLER['CII']}/ram:Name"),
    "seller_number": (
        f"{_SELLER['UBL']}/cac:PartyLegalEntity/cbc:CompanyID",
        f"{_SELLER['CII']}/ram:SpecifiedLegalOrganization/ram:ID",
    ),
    "seller_country": (
        f"{_SELLER['UBL']}/cac:PostalAddress/cac:Country/cbc:IdentificationCode",
        f"{_SELLER['CII']}/ram:PostalTradeAddress/ram:CountryID",
    ),
}
_OF_INVOICE: Final = {
    "number": ("cbc:ID", "rsm:ExchangedDocument/ram:ID"),
    "currency": ("cbc:DocumentCurrencyCode", f"{_SETTLEMENT}/ram:InvoiceCurrencyCode"),
    "tax_currency": ("cbc:TaxCurrencyCode", f"{_SETTLEMENT}/ram:TaxCurrencyCode"),
    "seller": (
        "cac:AccountingSupplierParty/cac:Party/cac:PartyLegalEntity/cbc:CompanyID",
        f"{_AGREEMENT}/ram:SellerTradeParty/ram:SpecifiedLegalOrganization/ram:ID",
    ),
    "buyer": (
        "cac:AccountingCustomerParty/cac:Party/cac:PartyLegalEntity/cbc:CompanyID",
        f"{_AGREEMENT}/ram:BuyerTradeParty/ram:SpecifiedLegalOrganization/ram:ID",
    ),
}
_TYPES: Final = (("cbc:InvoiceTypeCode", "cbc:CreditNoteTypeCode"), ("rsm:ExchangedDocument/ram:TypeCode",))
_BREAKDOWN: Final = ("cac:TaxTotal/cac:TaxSubtotal", f"{_SETTLEMENT}/ram:ApplicableTradeTax")
#: Path of the references to preceding invoices, with those from there to number and date.
_REFERENCE: Final = (
    ("cac:BillingReference/cac:InvoiceDocumentReference", ("cbc:ID", "cbc:IssueDate")),
    (
        f"{_SETTLEMENT}/ram:InvoiceReferencedDocument",
        ("ram:IssuerAssignedID", "ram:FormattedIssueDateTime/qdt:DateTimeString"),
    ),
)
_LINES: Final = tuple(map(qualified, ("cac:InvoiceLine", "cac:CreditNoteLine", "ram:IncludedSupplyChainTradeLineItem")))


class _Invoice(NamedTuple):
    """The invoice of an element: its root, and the position of its syntax in the tables of paths."""

    root: Any
    syntax: int

    def texts(self, name: str) -> list[str]:
        return texts(self.root, _OF_INVOICE[name][self.syntax])

    def text(self, name: str) -> str:
        return next(iter(self.texts(name)), "")

    @property
    def type_codes(self) -> set[str]:
        return {code for path in _TYPES[self.syntax] for code in texts(self.root, path)}

    @property
    def lines(self) -> list[_Line]:
        above = below(self.root, "rsm:SupplyChainTradeTransaction") if self.syntax else [self.root]
        return [_Line(self, it) for parent in above for it in parent if it.tag in _LINES]

    @property
    def top_groups(self) -> list[_Line]:
        return [it for it in self.lines if it.is_top_group]


class _Line(NamedTuple):
    """A line of an invoice."""

    invoice: _Invoice
    element: Any

    def texts(self, name: str) -> list[str]:
        return texts(self.element, _OF_LINE[name][self.invoice.syntax])

    def text(self, name: str) -> str:
        return normalize_space(next(iter(self.texts(name)), ""))

    def number(self, name: str) -> Numeric:
        return double(Text(self.text(name)))

    def references(self, *, own: bool) -> list[Any]:
        """Return the references of a line in UBL to the invoice itself, or to others."""
        numbers = ((it, texts(it, "cac:InvoiceDocumentReference/cbc:ID")) for it in self._references())
        return [it for it, number in numbers if number and (self.invoice.text("number") in number) is own]

    def _references(self) -> list[Any]:
        return below(self.element, "cac:BillingReference")

    @property
    def kinds(self) -> list[str]:
        """GROUP, DETAIL or INFORMATION."""
        if self.invoice.syntax:
            return texts(self.element, "ram:AssociatedDocumentLineDocument/ram:LineStatusReasonCode")
        return [kind for it in self.references(own=True) for kind in _kinds_of(it)]

    @property
    def parents(self) -> list[str]:
        """The identifier of the parent line, if it has one."""
        if self.invoice.syntax:
            return texts(self.element, "ram:AssociatedDocumentLineDocument/ram:ParentLineID")
        return [line for it in self.references(own=True) for line in _parents_of(it)]

    @property
    def is_top_group(self) -> bool:
        """Whether it is a group without a parent."""
        if self.invoice.syntax:
            return "GROUP" in self.kinds and not self.parents
        return any(map(_is_top_group, self.references(own=True)))

    @property
    def parent_lines(self) -> list[_Line]:
        return [it for it in self.invoice.lines if not set(self.parents).isdisjoint(it.texts("identifier"))]

    @property
    def counted_lines(self) -> list[_Line]:
        """The lines of a group that its amount sums up."""
        own = self.text("identifier")
        below_it = (it for it in self.invoice.lines if own in it.parents)
        return [it for it in below_it if any(kind != "INFORMATION" for kind in it.kinds)]

    def objects(self, scheme: str) -> Iterator[str]:
        """Yield the invoiced objects (BT-128) with a scheme: AFL is the number of the partial invoice."""
        for document in self.documents(scheme):
            identifiers = below(document, "ram:IssuerAssignedID" if self.invoice.syntax else "cbc:ID")
            yield from (text(it) for it in identifiers if self.invoice.syntax or it.get("schemeID") == scheme)

    def documents(self, scheme: str) -> list[Any]:
        if not self.invoice.syntax:
            documents = below(self.element, "cac:DocumentReference")
            return [it for it in documents if "130" in texts(it, "cbc:DocumentTypeCode")]
        documents = below(self.element, "ram:SpecifiedLineTradeSettlement/ram:AdditionalReferencedDocument")
        of_scheme = (it for it in documents if scheme in texts(it, "ram:ReferenceTypeCode"))
        return [it for it in of_scheme if "130" in texts(it, "ram:TypeCode")]

    @property
    def partial_invoice(self) -> str:
        return normalize_space(next(self.objects("AFL"), ""))

    def vat_in(self, currencies: list[str]) -> str:
        amounts = below(self.element, _OF_LINE["vat"][self.invoice.syntax])
        return normalize_space(next((text(it) for it in amounts if it.get("currencyID") in currencies), ""))

    @property
    def kinds_or_own(self) -> list[Any]:
        """The kinds, in UBL the references to the invoice itself, which may have none."""
        return self.kinds if self.invoice.syntax else self.references(own=True)

    @property
    def has_complete_reference(self) -> bool:
        """Whether it refers to a preceding invoice with number and date."""
        if self.invoice.syntax:
            references = below(self.element, "ram:SpecifiedLineTradeSettlement/ram:InvoiceReferencedDocument")
            return any(_is_complete(it, *_REFERENCE[1][1]) for it in references)
        documents = (below(it, "cac:InvoiceDocumentReference") for it in self.references(own=False))
        return any(_is_complete(it, *_REFERENCE[0][1]) for found in documents for it in found)

    def has_preceding(self, ubl: str, cii: str) -> bool:
        """Return whether it has a part of a reference to a preceding invoice."""
        if self.invoice.syntax:
            path = f"ram:SpecifiedLineTradeSettlement/ram:InvoiceReferencedDocument/{cii}"
            return bool(below(self.element, path))
        return any(below(it, f"cac:InvoiceDocumentReference/{ubl}") for it in self.references(own=False))


def _kinds_of(reference: Any) -> list[str]:
    return texts(reference, "cac:InvoiceDocumentReference/cbc:DocumentStatusCode")


def _parents_of(reference: Any) -> list[str]:
    return texts(reference, "cac:BillingReferenceLine/cbc:ID")


def _is_top_group(reference: Any) -> bool:
    return "GROUP" in _kinds_of(reference) and not _parents_of(reference)


# --------------------------------------------------------------------------------------------------------- requirements

_OfInvoice: TypeAlias = Callable[[_Invoice], bool]
_OfLine: TypeAlias = Callable[[_Line, Any], bool]


@per_context
def part_of_groups(rule: SyntaxRule, context: Any, found: Found) -> bool:
    """In an invoice of several sellers or in two directions, the requirement ``argument`` must be met."""
    invoice = _Invoice(context.getroottree().getroot(), int(rule.syntax == "CII"))
    process = mode(context, rule.syntax)
    if rule.argument in _OF_INVOICE_IS_MET:
        modes, is_met = _OF_INVOICE_IS_MET[rule.argument]
        return process in modes and not is_met(invoice)
    modes, of_group, is_met_by = _OF_LINE_IS_MET[rule.argument]
    if process not in modes:
        return False
    element = next(it for it in (context, *context.iterancestors()) if it.tag in _LINES)
    line = _Line(invoice, element)
    if of_group and not (line.is_top_group and (context is element or _is_of_group(line, context))):
        return False
    return not is_met_by(line, context)


@per_context_always
def credited_invoice(rule: SyntaxRule, context: Any, found: Found) -> bool:
    """A credit note must refer to a preceding invoice, or each of its lines must; each with its number and its date.

    Of an invoice with groups, only the lines themselves need a reference.
    """
    invoice = _Invoice(context.getroottree().getroot(), int(rule.syntax == "CII"))
    if invoice.type_codes.isdisjoint(_CREDIT_NOTES) or invoice.root.tag == _UBL_INVOICE:
        return False
    if any(
        _is_complete(it, *_REFERENCE[invoice.syntax][1]) for it in below(invoice.root, _REFERENCE[invoice.syntax][0])
    ):
        return False
    counted = (it for it in invoice.lines if not it.kinds_or_own or "DETAIL" in it.kinds)
    return not all(it.has_complete_reference for it in counted)


def _is_complete(reference: Any, number: str, date: str) -> bool:
    return bool(below(reference, number) and below(reference, date))


def _is_of_group(line: _Line, context: Any) -> bool:
    """Return whether the context is the reference in UBL that makes a line a group, or any part of a group in CII."""
    own = line.references(own=True) if not line.invoice.syntax else ()
    return bool(line.invoice.syntax) or (context in own and _is_top_group(context))


def _has_two_groups(invoice: _Invoice) -> bool:
    return len(invoice.top_groups) == 2


def _has_group_of(party: str) -> _OfInvoice:
    def is_met(invoice: _Invoice) -> bool:
        numbers = set(invoice.texts(party))
        return sum(not numbers.isdisjoint(it.texts("seller_number")) for it in invoice.top_groups) == 1

    return is_met


def _has_distinct_numbers(invoice: _Invoice) -> bool:
    """Whether no group has the number of an earlier document: in UBL of a line, in CII any reference."""
    path = "//ram:IssuerAssignedID" if invoice.syntax else "//cac:DocumentReference"
    names = {"ram": qualified("ram:ID")[1:].partition("}")[0], "cac": qualified("cac:Item")[1:].partition("}")[0]}
    earlier: set[str] = set()
    own = {id(document) for it in invoice.top_groups for document in it.documents("AFL")}
    for element in invoice.root.xpath(path, namespaces=names):
        document = element.getparent() if invoice.syntax else element
        numbers = [text(element)] if invoice.syntax else _afl_of(element)
        if id(document) in own and not earlier.isdisjoint(numbers):
            return False
        earlier.update(numbers)
    return True


def _afl_of(document: Any) -> list[str]:
    is_object = "130" in texts(document, "cbc:DocumentTypeCode")
    return [text(it) for it in below(document, "cbc:ID") if is_object and it.get("schemeID") == "AFL"]


def _has(name: str) -> _OfLine:
    return lambda line, _: bool(line.text(name))


def _has_kind(line: _Line, context: Any) -> bool:
    kinds = line.kinds if context is line.element else [text(context)]
    return any(map(normalize_space, kinds))


def _has_vat(line: _Line, _: Any) -> bool:
    return bool(line.vat_in(line.invoice.texts("currency")))


def _has_vat_in_tax_currency(line: _Line, _: Any) -> bool:
    currencies = line.invoice.texts("tax_currency")
    return not currencies or (any(currencies) and bool(line.vat_in(currencies)))


def _has_number(line: _Line, context: Any) -> bool:
    return any(map(normalize_space, _objects_at(line, context, "AFL")))


def _has_mode(line: _Line, context: Any) -> bool:
    """Whether the partial invoice has a framework of its own, which is not that of several sellers."""
    modes = _objects_at(line, context, "AVV")
    return any(map(normalize_space, modes)) and not set(modes) & set(SEVERAL_SELLERS)


def _objects_at(line: _Line, context: Any, scheme: str) -> list[str]:
    if not line.invoice.syntax:
        return list(line.objects(scheme))
    return texts(context, "ram:IssuerAssignedID") if "130" in texts(context, "ram:TypeCode") else []


def _is_near(one: Numeric, other: Numeric, count: int) -> bool:
    return one is not absent and other is not absent and bool(abs(one - other) <= float(_CENT * count))


def _is_sum_of_lines(line: _Line, _: Any) -> bool:
    amounts = [double(Text(amount)) for it in line.counted_lines for amount in it.texts("net")]
    return _is_near(line.number("net"), total(amounts), len(amounts))


def _has_seller_of_parent(line: _Line, _: Any) -> bool:
    own = line.text("seller_number")
    return own != "" and (not line.parents or own == next((it.text("seller_number") for it in line.parent_lines), ""))


def _has_number_of_parent(line: _Line, _: Any) -> bool:
    own = line.partial_invoice
    return own != "" and (not line.parents or own == next((it.partial_invoice for it in line.parent_lines), ""))


def _exemption_begins_with_number(line: _Line, _: Any) -> bool:
    number = line.partial_invoice
    reason = next(iter(line.texts("exemption")), "")
    return "DETAIL" not in line.kinds or (number != "" and reason.startswith(f"#{number}#"))


def _is_sum_of_vat(line: _Line, _: Any) -> bool:
    breakdown = below(line.invoice.root, _BREAKDOWN[line.invoice.syntax])
    mark = f"#{line.partial_invoice}#"
    paths = (
        ("ram:TypeCode", "ram:ExemptionReason", "ram:CalculatedAmount")
        if line.invoice.syntax
        else ("cac:TaxCategory/cac:TaxScheme/cbc:ID", "cac:TaxCategory/cbc:TaxExemptionReason", "cbc:TaxAmount")
    )
    own = [it for it in breakdown if "VAT" in texts(it, paths[0]) and _begins(it, paths[1], mark)]
    amounts = [double(Text(amount)) for it in own for amount in texts(it, paths[2])]
    return _is_near(double(Text(line.vat_in(line.invoice.texts("currency")))), total(amounts), 1)


def _begins(element: Any, path: str, beginning: str) -> bool:
    return next(iter(texts(element, path)), "").startswith(beginning)


def _is_gross(line: _Line, _: Any) -> bool:
    if not line.texts("gross"):
        return True
    own = line.text("identifier")
    details = sum("DETAIL" in it.kinds and own in it.parents for it in line.invoice.lines)
    vat = double(Text(line.vat_in(line.invoice.texts("currency"))))
    net = line.number("net")
    difference = absent if vat is absent or net is absent else line.number("gross") - net
    return _is_near(difference, vat, details)


def _has_number_of_invoice(line: _Line, _: Any) -> bool:
    """Whether the main seller, if it has groups, has one with the number of the invoice."""
    sellers, number = line.invoice.texts("seller"), line.invoice.text("number")
    if line.text("seller_number") not in sellers:
        return True
    own = [it for it in line.invoice.top_groups if it.text("seller_number") in sellers]
    count = sum(number in it.objects("AFL") for it in own)
    return count == 1 or (line.partial_invoice == number) is (count == 0)


def _has_preceding(ubl: str, cii: str, types: tuple[str, ...]) -> _OfLine:
    def is_met(line: _Line, _: Any) -> bool:
        return line.invoice.type_codes.isdisjoint(types) or line.has_preceding(ubl, cii)

    return is_met


#: Paths of the number and the date, in UBL and CII.
_NUMBER, _DATE = ((_REFERENCE[0][1][it], _REFERENCE[1][1][it]) for it in (0, 1))
_OF_INVOICE_IS_MET: Final[dict[str, tuple[tuple[str, ...], _OfInvoice]]] = {
    "group_exists": (SEVERAL_SELLERS, lambda invoice: bool(invoice.top_groups)),
    "two_groups": (TWO_WAY, _has_two_groups),
    "group_of_seller": (TWO_WAY, _has_group_of("seller")),
    "group_of_buyer": (TWO_WAY, _has_group_of("buyer")),
    "distinct_numbers": (_ALL, _has_distinct_numbers),
}
#: With the frameworks in which it is required, and whether only of groups without a parent.
_OF_LINE_IS_MET: Final[dict[str, tuple[tuple[str, ...], bool, _OfLine]]] = {
    "kind": (_ALL, False, _has_kind),
    "seller_name": (_ALL, True, _has("seller_name")),
    "seller_number": (_ALL, True, _has("seller_number")),
    "seller_country": (_ALL, True, _has("seller_country")),
    "vat": (_ALL, True, _has_vat),
    "vat_in_tax_currency": (_ALL, True, _has_vat_in_tax_currency),
    "number": (_ALL, True, _has_number),
    "mode": (_ALL, True, _has_mode),
    "sum_of_lines": (_ALL, True, _is_sum_of_lines),
    "seller_of_parent": (_ALL, False, _has_seller_of_parent),
    "number_of_parent": (_ALL, False, _has_number_of_parent),
    "exemption_begins_with_number": (_ALL, False, _exemption_begins_with_number),
    "sum_of_vat": (_ALL, True, _is_sum_of_vat),
    "gross": (_ALL, True, _is_gross),
    "number_of_main_seller": (_ALL, True, _has_number_of_invoice),
    "preceding_number": (SEVERAL_SELLERS, True, _has_preceding(*_NUMBER, _CORRECTIONS)),
    "preceding_date": (SEVERAL_SELLERS, True, _has_preceding(*_DATE, _CORRECTIONS)),
    "preceding_number_two_way": (TWO_WAY, True, _has_preceding(*_NUMBER, _SELF_BILLED_CORRECTIONS)),
    "preceding_date_two_way": (TWO_WAY, True, _has_preceding(*_DATE, _SELF_BILLED_CORRECTIONS)),
}
