"""The semantic invoice of EN 16931. Its groups are in ``parties``, ``money`` and ``lines``, in the norm's order.

Where a document may say a thing several times, every occurrence is kept in the order of the document; the norm's
single term is then a view on them. ``BT-DEX`` and ``BG-DEX`` are those of the XRechnung extension.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal, TypeAlias

from einvoice.model.group import Group, first, inside, term, terms, view
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
)
from einvoice.model.parties import Buyer, Delivery, Identified, Payee, Seller, TaxRepresentative
from einvoice.model.totals import Totals
from einvoice.model.values import Amount, Code, Date, Identifier, Text, Value, absent

if TYPE_CHECKING:
    import pandas as pd

Language: TypeAlias = Literal["de", "en"]


class Note(Group):
    """BG-1: a note on the whole invoice.

    UBL writes the subject into the text (``#REG#…``), CII beside it; ``text`` is what the document has there.
    """

    groups = ("BG-1",)
    subject_code: Code = term("BT-21")
    text: Text = term("BT-22")


class ProcessControl(Group):
    """BG-2: the business process and the specification that the invoice says it follows."""

    groups = ("BG-2",)
    business_process: Text = term("BT-23")
    specification: Identifier = term("BT-24")


class PrecedingInvoice(Group):
    """BG-3: an earlier invoice that this one corrects or follows."""

    groups = ("BG-3",)
    number: Identifier = term("BT-25")
    issue_date: Date = term("BT-26")

    @property
    def is_to_invoice(self) -> bool:
        """Whether UBL refers to an invoice, be it without a number; it could be to a statement or a reminder."""
        return "invoice" in self.marks or self.number is not absent or self.issue_date is not absent


#: By root element of UBL: how the elements of lines and quantities begin that belong to the other one.
_OF_OTHER_KIND: Final = {"Invoice": "}Credit", "CreditNote": "}Invoice"}


class Invoice(Identified):
    """An invoice or credit note as EN 16931 sees it, whichever syntax it came from.

    ``syntax`` and ``root`` say where it was read from, ``lang`` in which language a notebook shows it; they take no
    part in comparing two invoices, nor do the strays in ``elsewhere`` (known things at places that no business term
    has) and the elements in ``uncovered``.
    """

    groups = ("BG-0",)
    plain = ("specification", "business_process", "number", "project", "accounting_reference")
    syntax: ClassVar[str] = ""
    root: ClassVar[str] = ""
    lang: ClassVar[Language] = "de"
    elsewhere: ClassVar[dict[type, list[Any]]] = {}
    uncovered: ClassVar[Sequence[Any]] = ()

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

    def _has_part(self, mark: str) -> bool:
        """Whether a document of CII has one of the parts that it has to have; where there is no such document, yes."""
        return self.node is None or self.syntax != "CII" or mark in self.marks

    @property
    def has_process_control(self) -> bool:
        """Whether a document of CII has the element around BT-23 and BT-24; others need none."""
        return self._has_part("context")

    @property
    def has_transaction(self) -> bool:
        """Whether a document of CII has the element around lines, parties and amounts; others need none."""
        return self._has_part("transaction")

    @property
    def has_agreement(self) -> bool:
        """Whether a document of CII has the element around parties and references; others need none."""
        return self._has_part("agreement")

    @view("BG-2")
    def process_controls(self) -> Sequence[ProcessControl]:
        """BG-2: process control, once for each element that a document of CII has around it."""
        if self.node is None or self.syntax != "CII":
            return [self.process]
        found = []
        for element in self.marks.get("context", ()):
            process, specification = inside(element, self.business_process), inside(element, self.specification)
            found.append(ProcessControl(business_process=process, specification=specification))
            found[-1].__dict__["node"] = element
        return found

    @property
    def settlements(self) -> Sequence[Settlement]:
        """Currencies and VAT totals, once for each element that a document of CII has around them."""
        if self.node is None or self.syntax != "CII":
            return [Settlement(currency=self.currency, tax_currency=self.tax_currency, tax_totals=self.tax_totals)]
        found = []
        for element in self.marks.get("settlement", ()):
            currency, tax_currency = inside(element, self.currency), inside(element, self.tax_currency)
            tax_totals = [total for total in self.tax_totals if element in total.node.iterancestors()]
            found.append(Settlement(currency=currency, tax_currency=tax_currency, tax_totals=tax_totals))
            found[-1].__dict__["node"] = element
        return found

    @view("BG-2")
    def process(self) -> ProcessControl:
        """BG-2: process control; no syntax has an element for the group alone."""
        return ProcessControl(business_process=self.business_process, specification=self.specification)

    @view("BG-25")
    def own_lines(self) -> Sequence[Line]:
        """BG-25: the lines, in UBL only those whose element is that of the document: credited ones in a credit note."""
        return [line for line in self.lines if self.has_own_element(line)]

    @view("BG-20", "BG-21")
    def own_allowances_and_charges(self) -> Sequence[AllowanceCharge]:
        """BG-20, BG-21, BG-27, BG-28: allowances and charges on the invoice and on ``own_lines``."""
        of_lines = (it for line in self.own_lines for it in line.allowances_and_charges)
        return [*self.allowances_and_charges, *of_lines]

    @cached_property
    def lines_by_place(self) -> dict[Any, list[Line]]:
        """Every line of the document, also those astray, by the element around it."""
        return self._by_place(Line)

    @cached_property
    def allowances_and_charges_by_place(self) -> dict[Any, list[AllowanceCharge]]:
        """Every allowance and charge of the document, also those astray, by the element around it."""
        return self._by_place(AllowanceCharge)

    def _by_place(self, kind: type[Group]) -> dict[Any, list[Any]]:
        found: dict[Any, list[Any]] = {}
        for part in (self, *(stray for strays in self.elsewhere.values() for stray in strays)):
            for group in part.walk():
                if isinstance(group, kind):
                    found.setdefault(group.node.getparent(), []).append(group)
        return found

    def has_own_element(self, content: Value | Group) -> bool:
        """Whether a line or quantity has the element that UBL has for this kind of document.

        Both kinds of document may be read with the elements of the other, which some official rules pass over.
        """
        other = _OF_OTHER_KIND.get(self.root)
        return other is None or content.node is None or other not in content.node.tag

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
        """BT-8: in UBL beside the invoicing period, in CII in the VAT breakdown."""
        groups: list[Period | VatBreakdown] = [*self.periods, *self.vat_breakdown]
        return first(group.tax_point_code for group in groups if group.tax_point_code is not absent)

    @view("BT-18")
    def invoiced_object(self) -> Identifier:
        """BT-18: what the (first) document with type code 130 names."""
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
        """BG-25: the lines that count for the totals, where a line may be a subtotal or mere information (BT-X-8)."""
        return [line for line in self.lines if line.status_reason.text in ("DETAIL", absent)]

    @view("BT-110")
    def vat_total(self) -> Amount:
        """BT-110: the VAT total in the invoice currency."""
        return first(t.amount for t in self.tax_totals if t.amount.currency == self.currency.text)

    @view("BT-111")
    def vat_total_in_tax_currency(self) -> Amount:
        """BT-111: the VAT total in the accounting currency (BT-6)."""
        return first(t.amount for t in self.tax_totals if t.amount.currency == self.tax_currency.text)

    def to_frame(self, which: Literal["lines"] = "lines") -> pd.DataFrame:
        """The lines as a pandas table, one row each, those below a line after it: see `einvoice.model.frame`.

        Raises:
            ImportError: pandas is not installed (extra "notebook").
        """
        from einvoice.model.frame import to_frame

        return to_frame(self, which)

    def _repr_html_(self) -> str:
        from einvoice.model.html import html

        return html(self, self.lang)

    def in_language(self, lang: Language) -> Invoice:
        """The invoice itself, which a notebook shows in this language from now on."""
        self.lang = lang  # type: ignore[misc]
        return self

    def everywhere(self, kind: type[Group]) -> list[Any]:
        """Every group of ``kind``, wherever the document has one: at its place, below a sub line, or astray."""
        return [group for group in self.walk() if isinstance(group, kind)] + self.elsewhere.get(kind, [])
