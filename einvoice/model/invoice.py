"""The semantic invoice of EN 16931, with its groups in the order of the standard.

Repeated content is kept in document order; a term that the standard allows once is then a view of the first
occurrence. `BT-DEX` and `BG-DEX` are those of the XRechnung extension.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, TypeVar, cast, overload

from einvoice.localization import Language
from einvoice.localization.options import language
from einvoice.model.group import Group, first, inside, term, terms, view
from einvoice.model.iteration import content_of, set_content
from einvoice.model.lines import Document, Line, Period
from einvoice.model.money import (
    AllowanceCharge,
    FinancialAdjustment,
    LogisticsCharge,
    PaymentMeans,
    PaymentTerms,
    Settlement,
    TaxTotal,
    ThirdPartyPayment,
    VatBreakdown,
    breakdowns_by_total,
)
from einvoice.model.parties import (
    Addressee,
    Buyer,
    Delivery,
    Identified,
    Party,
    Payee,
    Seller,
    TaxRegistration,
    TaxRepresentative,
    country_of,
    numbers_of,
)
from einvoice.model.terms import similar
from einvoice.model.values import Amount, Code, Date, Identifier, Text, Value, absent, normalize_space

if TYPE_CHECKING:
    import os

    import pandas as pd


class Note(Group):
    """BG-1: a note on the whole invoice.

    UBL has the subject code inside the text (`#REG#…`), CII in a separate element.
    """

    groups = ("BG-1",)
    subject_code: Code = term("BT-21")
    text: Text = term("BT-22")

    @view("BT-22", "BT-21")
    def written(self) -> Text:
        """The note as UBL has it, with its subject code in the text."""
        return self.text if self.subject_code is absent else Text(f"#{self.subject_code.raw}#{self.text.raw}")


class ProcessControl(Group):
    """BG-2: the business process and the specification that the invoice declares."""

    groups = ("BG-2",)
    business_process: Text = term("BT-23")
    specification: Identifier = term("BT-24")


class PrecedingInvoice(Group):
    """BG-3: a preceding invoice that this one corrects or follows."""

    groups = ("BG-3",)
    number: Identifier = term("BT-25")
    issue_date: Date = term("BT-26")

    @property
    def is_to_invoice(self) -> bool:
        """Whether UBL refers to an invoice, with or without a number, not to a statement or a reminder."""
        return "invoice" in self.tracked or self.number is not absent or self.issue_date is not absent


class Totals(Group):
    """BG-22: the totals of the invoice. The VAT total is `Invoice.vat_total`, since a document may have two."""

    groups = ("BG-22",)
    line_net: Amount = term("BT-106")
    allowances: Amount = term("BT-107")
    charges: Amount = term("BT-108")
    net: Amount = term("BT-109")
    gross: Amount = term("BT-112")
    paid: Amount = term("BT-113")
    rounding: Amount = term("BT-114")
    due: Amount = term("BT-115")

    @view("BT-110", "BT-111")
    def tax_totals(self) -> Sequence[TaxTotal]:
        """The VAT totals of the invoice, except those that CII has inside other `Totals`."""
        invoice = self.find_invoice()
        if invoice is None:
            return ()
        others = [totals for totals in (invoice.totals, *invoice.totals.more) if totals is not self]
        is_misplaced = len(others) == 1 + len(invoice.totals.more)
        return [it for it in invoice.tax_totals if is_misplaced or not any(it.parent is totals for totals in others)]

    @property
    def is_of_invoice(self) -> bool:
        """Whether paths in the official rules lead from here to the lines, allowances and charges of the invoice."""
        return self._belongs_to(self.find_invoice())

    @view("BG-20")
    def summed_allowances(self) -> Sequence[AllowanceCharge]:
        """BG-20: the allowances on the invoice; for misplaced totals, those with the same parent element."""
        return [it for it in self._allowances_and_charges() if it.indicates("false", "0")]

    @view("BG-21")
    def summed_charges(self) -> Sequence[AllowanceCharge]:
        """BG-21: the charges on the invoice; for misplaced totals, those with the same parent element."""
        return [it for it in self._allowances_and_charges() if it.indicates("true", "1")]

    @view("BG-25")
    def summed_lines(self) -> Sequence[Line]:
        """BG-25: the lines of the invoice; for misplaced totals in CII, those beside their parent element."""
        invoice = self.find_invoice()
        if invoice is None:
            return ()
        if self._belongs_to(invoice):
            return list(invoice.lines)
        return list(invoice.lines_by_element.get(self.node.getparent().getparent(), ()))

    def _allowances_and_charges(self) -> Sequence[AllowanceCharge]:
        invoice = self.find_invoice()
        if invoice is None:
            return ()
        if self._belongs_to(invoice):
            return cast("Sequence[AllowanceCharge]", invoice.allowances_and_charges)
        return list(invoice.allowances_and_charges_by_element.get(self.node.getparent(), ()))

    def _belongs_to(self, invoice: Any) -> bool:
        if self.node is None or invoice is None:
            return True
        parent = self.node.getparent()
        if invoice.syntax == "UBL":
            return parent is invoice.node
        return parent.getparent() in invoice.tracked.get("transaction", ())


P = TypeVar("P", bound=Group)


def _part(cls: type[P], node: Any, **content: Any) -> P:
    """Return a group with terms of the invoice, which need no check, at the element that has them."""
    group = cls.__new__(cls)
    group.__dict__.update(content, node=node)
    return group


#: Names of the line and quantity elements of the other UBL document type, by root element.
_OF_OTHER_ROOT: Final = {
    "Invoice": ("CreditNoteLine", "CreditedQuantity"),
    "CreditNote": ("InvoiceLine", "InvoicedQuantity"),
}


#: UNTDID 1001 types that UBL writes as a CreditNote (EN 16931-3-2, BT-3).
CREDIT_NOTE_TYPES: Final = frozenset(
    ("81", "83", "261", "262", "296", "308", "381", "396", "420", "458", "502", "503", "532")
)


class Invoice(Identified):
    """An invoice or credit note of EN 16931, independent of syntax.

    Comparisons ignore the attributes below.

    Attributes:
        syntax: "UBL" or "CII", "" for an invoice that was not read from a document.
        root: name of the root element.
        lang: language in which a notebook shows the invoice; None for `einvoice.options.lang`.
        misplaced: groups that occur where EN 16931 has no business term, by class.
        unmapped: elements without a business term.
        repeated: further occurrences of terms and groups that the standard allows once, each after the first one.
    """

    groups = ("BG-0",)
    plain = ("specification", "business_process", "number", "project", "accounting_reference")
    syntax: ClassVar[str] = ""
    root: ClassVar[str] = ""
    lang: ClassVar[Language | None] = None
    misplaced: ClassVar[dict[type, list[Any]]] = {}
    unmapped: ClassVar[Sequence[Any]] = ()
    repeated: ClassVar[Sequence[tuple[Any, Any]]] = ()

    specification: Identifier = term("BT-24")
    business_process: Text = term("BT-23")
    number: Identifier = term("BT-1")
    issue_date: Date = term("BT-2")
    type_code: Code = term("BT-3")
    currency: Code = term("BT-5")
    tax_currency: Code = term("BT-6")
    tax_point_date: Date = term("BT-7")
    due_date: Date = term("BT-9")
    buyer_reference: Text = term("BT-10")
    project: Identifier = term("BT-11")
    contract: Identifier = term("BT-12")
    purchase_order: Identifier = term("BT-13")
    sales_order: Identifier = term("BT-14")
    receiving_advice: Identifier = term("BT-15")
    despatch_advice: Identifier = term("BT-16")
    tender: Identifier = term("BT-17")
    accounting_reference: Text = term("BT-19")
    payment_terms: Sequence[PaymentTerms] = terms("BT-20")
    remittance_information: Text = term("BT-83")
    creditor_identifier: Identifier = term("BT-90")
    notes: Sequence[Note] = terms("BG-1")
    preceding_invoices: Sequence[PrecedingInvoice] = terms("BG-3")
    seller: Seller = term("BG-4")
    buyer: Buyer = term("BG-7")
    payee: Payee = term("BG-10")
    tax_representative: TaxRepresentative = term("BG-11")
    deliveries: Sequence[Delivery] = terms("BG-13")
    periods: Sequence[Period] = terms("BG-14")
    payment_means: Sequence[PaymentMeans] = terms("BG-16")
    allowances_and_charges: Sequence[AllowanceCharge] = terms("BG-20", "BG-21")
    third_party_payments: Sequence[ThirdPartyPayment] = terms("BG-DEX-09")
    logistics_charges: Sequence[LogisticsCharge] = terms()
    financial_adjustments: Sequence[FinancialAdjustment] = terms()
    totals: Totals = term("BG-22")
    tax_totals: Sequence[TaxTotal] = terms("BT-110", "BT-111")
    vat_breakdown: Sequence[VatBreakdown] = terms("BG-23")
    documents: Sequence[Document] = terms("BG-24")
    lines: Sequence[Line] = terms("BG-25")

    def _has_part(self, name: str) -> bool:
        """Return whether a CII document has a mandatory element; true for any other invoice."""
        return self.node is None or self.syntax != "CII" or name in self.tracked

    @property
    def has_process_control(self) -> bool:
        """Whether a CII document has the parent element of BT-23 and BT-24; true for UBL."""
        return self._has_part("context")

    @property
    def has_transaction(self) -> bool:
        """Whether a CII document has the parent element of lines, parties and amounts; true for UBL."""
        return self._has_part("transaction")

    @property
    def has_agreement(self) -> bool:
        """Whether a CII document has the parent element of parties and references; true for UBL."""
        return self._has_part("agreement")

    @view("BG-2")
    def process_controls(self) -> Sequence[ProcessControl]:
        """BG-2: process control, once for each parent element in CII."""
        if self.node is None or self.syntax != "CII":
            return [self.process]
        found = []
        elements = self.tracked.get("context", ())
        for element in elements:
            process, specification = self.business_process, self.specification
            if len(elements) > 1:
                process, specification = inside(element, process), inside(element, specification)
            found.append(_part(ProcessControl, element, business_process=process, specification=specification))
        return found

    @property
    def settlements(self) -> Sequence[Settlement]:
        """Currencies and VAT totals. CII has one entry per settlement element, UBL has one in all."""
        if self.node is None or self.syntax != "CII":
            of_invoice = {"currency": self.currency, "tax_currency": self.tax_currency, "tax_totals": self.tax_totals}
            return [_part(Settlement, None, **of_invoice)]
        found = []
        elements = self.tracked.get("settlement", ())
        for element in elements:
            currency, tax_currency, tax_totals = self.currency, self.tax_currency, self.tax_totals
            if len(elements) > 1:
                currency, tax_currency = inside(element, currency), inside(element, tax_currency)
                tax_totals = [total for total in tax_totals if element in total.node.iterancestors()]
            part = _part(Settlement, element, currency=currency, tax_currency=tax_currency, tax_totals=tax_totals)
            found.append(part)
        return found

    @view("BG-2")
    def process(self) -> ProcessControl:
        """BG-2: process control, which has no separate element."""
        return ProcessControl(business_process=self.business_process, specification=self.specification)

    @view("BG-25")
    def matching_lines(self) -> Sequence[Line]:
        """BG-25: the lines, in UBL only those of the document type, such as credit note lines in a credit note."""
        return [line for line in self.lines if self.matches_root(line)] if self.is_mixed else self.lines

    @view("BG-25")
    def other_lines(self) -> Sequence[Line]:
        """BG-25: the lines of the other document type in UBL, such as invoice lines in a credit note."""
        return [line for line in self.lines if not self.matches_root(line)] if self.is_mixed else ()

    @view("BG-20", "BG-21")
    def matching_allowances_and_charges(self) -> Sequence[AllowanceCharge]:
        """BG-20, BG-21, BG-27, BG-28: allowances and charges on the invoice and on `matching_lines`."""
        found = list(self.allowances_and_charges)
        for line in self.matching_lines:
            found += line.allowances_and_charges
        return found

    @functools.cached_property
    def lines_by_element(self) -> dict[Any, list[Line]]:
        """All lines of the document, including misplaced ones, by parent element."""
        return self._by_element(Line)

    @functools.cached_property
    def allowances_and_charges_by_element(self) -> dict[Any, list[AllowanceCharge]]:
        """All allowances and charges of the document, including misplaced ones, by parent element."""
        return self._by_element(AllowanceCharge)

    @functools.cached_property
    def breakdowns_by_total(self) -> dict[int, list[VatBreakdown]]:
        """The VAT breakdowns in each UBL total, as `money.breakdowns_by_total` finds them."""
        return breakdowns_by_total(self)

    def _by_element(self, cls: type[Group]) -> dict[Any, list[Any]]:
        found: dict[Any, list[Any]] = {}
        for part in (self, *(group for groups in self.misplaced.values() for group in groups)):
            for group in part.walk():
                if isinstance(group, cls):
                    found.setdefault(group.node.getparent(), []).append(group)
        return found

    def matches_root(self, content: Value | Group) -> bool:
        """Return whether the UBL element of a line or quantity belongs to this type of document.

        The reader accepts the elements of either type in both; some official rules ignore those of the other type.
        """
        if not self.is_mixed or content.node is None:
            return True
        return content.node.tag.rpartition("}")[2] not in _OF_OTHER_ROOT[self.root]

    @functools.cached_property
    def is_mixed(self) -> bool:
        """Whether a UBL document has lines or quantities of the other document type: a rare mistake."""
        names = [f"{{*}}{name}" for name in _OF_OTHER_ROOT.get(self.root, ())]
        return bool(names) and self.node is not None and next(self.node.iter(*names), None) is not None

    @property
    def supplier_country(self) -> str:
        """The country whose Peppol rules apply to the supply.

        It is that of the VAT identifier of the seller, or else of the tax representative, or else the seller's address.
        """
        return country_of((self.seller, self.tax_representative), self.seller.country or "")

    @view("BT-29", "BT-30", "BT-31", "BT-32", "BT-34", "BT-46", "BT-47", "BT-48", "BT-49", "BT-60", "BT-61", "BT-63")
    def party_numbers(self) -> Sequence[Identifier]:
        """The electronic addresses, identifiers, legal and tax registration numbers of all parties of the document."""
        parties: list[Any] = [it for it in (self.seller, self.buyer, self.payee, self.tax_representative) if it]
        for cls in (Seller, Buyer, Payee, TaxRepresentative, Party, Addressee, TaxRegistration):
            parties += self.misplaced.get(cls, ())
        return numbers_of(parties)

    @view("BT-2", "BT-7", "BT-9", "BT-26", "BT-72", "BT-73", "BT-74", "BT-134", "BT-135")
    def dates(self) -> Sequence[Date]:
        """All dates of the document. This runs for every invoice, so it has loops, which are the fastest."""
        found = [self.issue_date, self.tax_point_date, self.due_date]
        for terms_ in self.payment_terms:
            found.append(terms_.due_date)
        for means in self.payment_means:
            found.append(means.due_date)
        for vat in self.vat_breakdown:
            found.append(vat.tax_point_date)
        for reference in self.preceding_invoices:
            found.append(reference.issue_date)
        for delivery in self.deliveries:
            found.append(delivery.date)
        for period in self.periods:
            found += (period.start, period.end)
        for line in self.lines:
            for period in line.periods:
                found += (period.start, period.end)
        return [it for it in found if it is not absent]

    @view("BG-13")
    def delivery(self) -> Delivery:
        """BG-13: the (first) delivery."""
        return first(self.deliveries)

    @view("BG-14")
    def period(self) -> Period:
        """BG-14: the (first) invoicing period."""
        return first(self.periods)

    @view("BT-8")
    def tax_point_code(self) -> Code:
        """BT-8: in UBL in the invoicing period, in CII in the VAT breakdown."""
        groups: list[Period | VatBreakdown] = [*self.periods, *self.vat_breakdown]
        return first(group.tax_point_code for group in groups if group.tax_point_code is not absent)

    @view("BT-18")
    def invoiced_object(self) -> Identifier:
        """BT-18: the identifier of the (first) document with type code 130."""
        return first(document.identifier for document in self.documents if document.type_code.text == "130")

    @view("BG-20")
    def allowances(self) -> Sequence[AllowanceCharge]:
        """BG-20: the allowances on the whole invoice."""
        return [it for it in self.allowances_and_charges if it.is_allowance]

    @view("BG-21")
    def charges(self) -> Sequence[AllowanceCharge]:
        """BG-21: the charges on the whole invoice."""
        return [it for it in self.allowances_and_charges if it.is_charge]

    @view("BG-25")
    def counted_lines(self) -> Sequence[Line]:
        """BG-25: the lines that count towards the totals, without subtotal and information lines (BT-X-8).

        One DETAIL is enough where the reason is given several times.
        """
        reasons = ((line, line.status_reason) for line in self.lines)
        return [
            line
            for line, reason in reasons
            if reason is absent or any(it.text == "DETAIL" for it in (reason, *reason.more))
        ]

    @view("BT-110")
    def vat_total(self) -> Amount:
        """BT-110: the VAT total in the invoice currency."""
        return self._tax_total(self.currency)

    @view("BT-111")
    def vat_total_in_tax_currency(self) -> Amount:
        """BT-111: the VAT total in the accounting currency (BT-6)."""
        return self._tax_total(self.tax_currency)

    def _tax_total(self, currency: Code) -> Amount:
        result: Amount = absent
        for total in self.tax_totals:
            if result is absent and total.amount.currency == currency.text:
                result = total.amount
        return result

    @property
    def is_credit_note(self) -> bool:
        """Whether the document is a credit note: by its type (BT-3), or without one by its UBL document."""
        code = normalize_space(self.type_code.raw or "")
        return code in CREDIT_NOTE_TYPES or (not code and self.root == "CreditNote")

    def __getitem__(self, number: str) -> Any:
        """Return the content of a business term, such as `invoice["BT-1"]`.

        A term that EN 16931 allows to repeat, or that is in a group that may repeat, is a list in document order: empty
        if there is none. Any other is its (first) content, or `absent`. The content is a value of the model, for a
        group (BG) the group, for a term in an XML attribute (such as BT-130) its text.

        Raises:
            KeyError: EN 16931 and the XRechnung extension have no such term; the message names a similar one.
            TypeError: the key is not text.
        """
        if not isinstance(number, str):
            raise TypeError(f"the key must be the number of a business term, such as 'BT-1', not {number!r}")
        try:
            return content_of(self, number)
        except LookupError as error:
            near = similar(number)
            raise KeyError(f"{error}" + (f"; did you mean {near!r}?" if near else "")) from None

    def __setitem__(self, number: str, given: Any) -> None:
        """Set a business term, such as `invoice["BT-9"] = "2026-12-01"`; groups around it are added.

        Takes what the field of the term takes, see `model.editing`.

        Raises:
            KeyError: there is no such term; the message names a similar one.
            TypeError: the value has the wrong type, or the invoice has the term several times; the message says where.
            ValueError: the text is no number or date, or the number is not finite.
        """
        self[number]  # an unknown term
        set_content(self, number, given)

    def recalculate(self) -> None:
        """Calculate the amounts again, from quantity and price of each line to the amount due.

        These are BT-131 of each line, BT-116 and BT-117 of the VAT breakdown, and the totals BT-106 to BT-110, BT-112
        and BT-115. The VAT breakdown gets an entry for each category and rate of the lines, allowances and charges, and
        loses others; why there is no VAT (BT-120, BT-121) only the issuer can add. Amounts of allowances and charges,
        paid amount (BT-113) and rounding (BT-114) stay. An amount whose operands are missing stays, too.
        """
        from einvoice.model.recalculation import recalculate

        recalculate(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the content as plain data, ready for JSON: nested by the names of the fields, without empty ones.

        Numbers are decimal text, dates ISO 8601, files base64, invalid ones the text of the document. An attribute of a
        value is beside it: `quantity_unit`, `due_currency`, `legal_identifier_scheme`; `…_more` has further occurrences
        of a term or group that EN 16931 allows once.
        """
        from einvoice.render.invoice_json import invoice_dict

        return invoice_dict(self)

    @overload
    def write(self, path: None = None, *, syntax: Literal["UBL", "CII"] | None = None) -> bytes: ...
    @overload
    def write(self, path: str | os.PathLike[str], *, syntax: Literal["UBL", "CII"] | None = None) -> None: ...
    def write(
        self, path: str | os.PathLike[str] | None = None, *, syntax: Literal["UBL", "CII"] | None = None
    ) -> bytes | None:
        """Return the invoice as an XML document in UTF-8; if `path` is given, write it there instead.

        Args:
            path: the file to write.
            syntax: by default the one that the invoice was read from, else UBL. A new UBL document is a CreditNote if
                the type code (BT-3) requires it.

        Raises:
            ValueError: the syntax is unknown.
            OSError: the file cannot be written.
        """
        from einvoice.syntax.writer import write_syntax

        data = write_syntax(self, syntax)
        if path is None:
            return data
        Path(path).write_bytes(data)
        return None

    def to_frame(self, which: Literal["lines", "vat"] = "lines") -> pd.DataFrame:
        """Return the lines, or the VAT breakdown, as a pandas table.

        "lines" has one row per line, each followed by its sub-lines: `line` (BT-126) and `above`, the parent line (""
        if none); `name`, `description`, `seller_item`, `buyer_item`, `standard_item`; `quantity`, `unit`, `price`,
        `base_quantity`; `allowances` and `charges`, the sums of BT-136 and BT-141; `net`, `vat_category`, `vat_rate`;
        `order_line` (BT-132), `period_start`, `period_end`, `accounting_reference` (BT-133).

        "vat" has one row per category and rate: `vat_category`, `vat_rate`, `taxable` (BT-116), `tax` (BT-117),
        `exemption_code` (BT-121), `exemption` (BT-120).

        Numbers are `Decimal`, None if missing or not a number; units and categories are categories, others text, ""
        if missing.

        Raises:
            ImportError: pandas is not installed (extra "notebook").
            ValueError: `which` is unknown.
        """
        from einvoice.render.invoice_table import frame

        return frame(self, which)

    def _repr_html_(self) -> str:
        from einvoice.render.invoice_html import invoice_html

        return invoice_html(self, language(self.lang))

    def in_language(self, lang: Language) -> Invoice:
        """Set the language in which a notebook shows the invoice, and return the invoice."""
        self.lang = lang  # type: ignore[misc]
        return self

    def descendants(self, cls: type[Group]) -> list[Any]:
        """Return all groups of a class in the document, including those of sub-lines and misplaced ones."""
        return [group for group in self.walk() if isinstance(group, cls)] + self.misplaced.get(cls, [])
