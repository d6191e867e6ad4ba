"""The JSON draft of an invoice: the seller's input, from which totals are calculated."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from typing import Annotated, Any, Final, Literal, TypeAlias, get_args

from pydantic import BeforeValidator, PrivateAttr
from pydantic_core import core_schema

from einvoice.codelists import codes
from einvoice.comparison import ComparedTerm, diff
from einvoice.draft.calculation import CalculatedTotals, check_totals
from einvoice.draft.fields.allowance import Allowance, Charge
from einvoice.draft.fields.base import DraftModel, draft_field, terms_of
from einvoice.draft.fields.line import Line
from einvoice.draft.fields.party import Buyer, Delivery, PayeeParty, Seller, TaxRepresentative
from einvoice.draft.fields.payment import Payment, ThirdPartyPayment
from einvoice.draft.fields.payment_terms import Discount, Retention, build_terms
from einvoice.draft.fields.reference import Attachment, InvoicedObject, InvoicingPeriod, Note, PrecedingInvoice
from einvoice.draft.fields.totals import Prepayment, Totals, VatCategory
from einvoice.draft.fields.types import Day, Text, as_code, as_date, as_identifier, as_text
from einvoice.draft.from_invoice import content_from, reread, wording_language
from einvoice.draft.json_schema import build_schema
from einvoice.errors import DraftProblem
from einvoice.facturx.business_terms import supports
from einvoice.facturx.profile import BASIC, BASIC_WL, PROFILES, profile_named
from einvoice.facturx.profile import Profile as FacturXProfile
from einvoice.localization import Language
from einvoice.localization.options import language
from einvoice.model import parties
from einvoice.model.invoice import Invoice
from einvoice.model.invoice import Note as NoteOfModel
from einvoice.model.invoice import PrecedingInvoice as PrecedingInvoiceOfModel
from einvoice.model.lines import Document, Period
from einvoice.model.values import absent
from einvoice.model.worded.down_payments import Sum, write_note
from einvoice.rulebook.releases import releases
from einvoice.syntax.specifications import Specification, SpecificationKind, Syntax, identifier_of, specifications
from einvoice.syntax.writer import write

Format: TypeAlias = Literal["UBL", "CII", "ZUGFERD"]
Profile: TypeAlias = str
"""Name of a profile: `draft_profile` of a specification in `rules`, such as "XRECHNUNG"."""

#: Scheme of the tax number (BT-32), unless the specification demands another: EN 16931 requires one that is not VAT.
_TAX_SCHEME: Final = "FC"
_ORDER: Final = get_args(SpecificationKind)


@functools.cache
def _specifications() -> dict[Profile, Specification]:
    """Return the specifications that drafts can declare, by profile: that of the default CIUS first."""
    default = releases().default
    declarable = [it for it in specifications().values() if it.draft_profile]
    declarable.sort(key=lambda it: (default not in it.rulesets, _ORDER.index(it.kind)))
    return {it.draft_profile: it for it in declarable}


class _KnownProfile:
    """Restricts a text to the names of profiles."""

    def __get_pydantic_core_schema__(self, _source: Any, _handler: Any) -> core_schema.CoreSchema:
        return core_schema.literal_schema(list(_specifications()))


def _in_capitals(profile: Any) -> Any:
    """Return the name of a profile in capitals; `validate` names the rule sets in lower case."""
    return profile.upper() if isinstance(profile, str) and profile.upper() in _specifications() else profile


class Draft(DraftModel):
    """The data of an invoice that the seller provides; all other amounts are calculated."""

    invoice_number: Text = draft_field("BT-1", example="R-2026-0001", required=True)
    issue_date: Day = draft_field("BT-2", example="2026-11-20", required=True)
    due_date: Day | None = draft_field("BT-9", example="2026-12-20")
    service_date: Day | None = draft_field("BT-72", example="2026-11-18")
    format: Format = draft_field(
        title="Draft.format",
        hint="Draft.format",
        example="UBL",
        required=True,
    )
    profile: Annotated[Annotated[Profile, _KnownProfile()] | None, BeforeValidator(_in_capitals)] = draft_field(
        "BT-24",
        title="Draft.profile",
        hint="Draft.profile",
        example="XRECHNUNG",
    )
    business_process: Text | None = draft_field(
        "BT-23",
        hint="Draft.business_process",
        example="urn:fdc:peppol.eu:2017:poacc:billing:01:1.0",
    )
    type_code: Text = draft_field(
        "BT-3",
        hint="Draft.type_code",
        example="380",
        default="380",
    )
    currency: Text = draft_field("BT-5", hint="Draft.currency", example="EUR", default="EUR")
    tax_currency: Text | None = draft_field("BT-6", hint="Draft.tax_currency", example="SEK")
    tax_point_date: Day | None = draft_field("BT-7", example="2026-11-18")
    tax_point_code: Text | None = draft_field(
        "BT-8",
        hint="Draft.tax_point_code",
        example="35",
    )
    buyer_reference: Text | None = draft_field(
        "BT-10",
        hint="Draft.buyer_reference",
        example="04011000-12345-34",
    )
    project_reference: Text | None = draft_field("BT-11", example="P-7")
    contract_reference: Text | None = draft_field("BT-12", example="V-2026-3")
    purchase_order_reference: Text | None = draft_field("BT-13", example="B-815")
    sales_order_reference: Text | None = draft_field("BT-14", example="A-4711")
    receiving_advice_reference: Text | None = draft_field("BT-15", example="WE-12")
    despatch_advice_reference: Text | None = draft_field("BT-16", example="LS-12")
    tender_reference: Text | None = draft_field("BT-17", example="Los 2")
    invoiced_object: InvoicedObject | None = draft_field("BT-18")
    buyer_accounting_reference: Text | None = draft_field("BT-19", example="KST 4711")
    payment_terms: Text | None = draft_field("BT-20", example="Zahlbar binnen 30 Tagen ohne Abzug.")
    discounts: list[Discount] | None = draft_field(title="Draft.discounts", hint="Draft.discounts")
    retentions: list[Retention] | None = draft_field(title="Draft.retentions", hint="Draft.retentions")
    notes: list[Note] | None = draft_field("BG-1")
    preceding_invoices: list[PrecedingInvoice] | None = draft_field("BG-3", hint="Draft.preceding_invoices")
    seller: Seller = draft_field("BG-4", "BG-5", required=True)
    buyer: Buyer = draft_field("BG-7", "BG-8", required=True)
    payee: PayeeParty | None = draft_field("BG-10")
    tax_representative: TaxRepresentative | None = draft_field("BG-11", "BG-12")
    delivery: Delivery | None = draft_field("BG-13", "BG-15")
    invoicing_period: InvoicingPeriod | None = draft_field("BG-14")
    payment: Payment | None = draft_field("BG-16")
    lines: list[Line] = draft_field("BG-25", required=True, min_items=1)
    allowances: list[Allowance] | None = draft_field("BG-20")
    charges: list[Charge] | None = draft_field("BG-21")
    vat_breakdown: list[VatCategory] | None = draft_field(
        "BG-23",
        hint="Draft.vat_breakdown",
    )
    totals: Totals | None = draft_field("BG-22", hint="Draft.totals")
    prepayments: list[Prepayment] | None = draft_field(title="Draft.prepayments", hint="Draft.prepayments")
    third_party_payments: list[ThirdPartyPayment] | None = draft_field("BG-DEX-09", hint="Draft.third_party_payments")
    attachments: list[Attachment] | None = draft_field("BG-24")

    _left_out: tuple[ComparedTerm, ...] = PrivateAttr(())

    @classmethod
    def from_invoice(cls, invoice: Invoice, format: Format | None = None) -> Draft:
        """Return a draft that says what an invoice says, for a correction, a credit note or a copy.

        Amounts are calculated again. `left_out` lists what the draft does not contain.

        Args:
            invoice: an invoice, such as `einvoice.read` returns.
            format: "UBL", "CII" or "ZUGFERD"; by default the syntax of the invoice, or ZUGFERD for a profile that is
                embedded in a PDF.

        Raises:
            DraftError: the invoice lacks a field that a draft requires, or has a value that it does not take.
        """
        from einvoice.draft.read import read

        known = specifications().values()
        declared = next((it for it in known if invoice.specification.text in it.identifiers), None)
        while declared and declared.superseded_by:
            declared = specifications()[declared.superseded_by]
        content = content_from(invoice, cls, is_coded=declared is not None and "xrechnung" in declared.rulesets)
        embedded = "ZUGFERD" if declared and declared.facturx_profile else ""
        content["format"] = format or embedded or invoice.syntax or "UBL"
        content["profile"] = declared.draft_profile if declared and declared.draft_profile else "EN16931"
        draft = read(content)
        compared = diff(invoice, reread(write(draft.invoice(wording_language(invoice)), draft.root)))
        draft._left_out = tuple(it for it in compared.differences if it.entry_a)
        return draft

    @property
    def left_out(self) -> Sequence[ComparedTerm]:
        """What the invoice that the draft was made from has, and the draft not or otherwise, such as a wrong total."""
        return self._left_out

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """Return the JSON Schema (2020-12) of drafts, with descriptions in English and German."""
        return build_schema(cls)

    @property
    def declared_profile(self) -> Profile:
        """The profile, or the default of the format: in a PDF, EN 16931 itself; otherwise the default CIUS."""
        if self.profile:
            return self.profile
        known = _specifications().values()
        return next(it.draft_profile for it in known if it.kind == "core" or self.format != "ZUGFERD")

    @property
    def specification(self) -> Specification:
        """The specification that the invoice declares."""
        return _specifications()[self.declared_profile]

    @property
    def embedded_profile(self) -> Profile:
        """The profile of the XML in a PDF: that of the specification, or of the one that it refines."""
        refined = self.specification.refines
        return specifications()[refined].draft_profile if refined else self.declared_profile

    @property
    def syntax(self) -> Syntax:
        """The syntax of the XML."""
        return "UBL" if self.format == "UBL" else "CII"

    @property
    def root(self) -> str:
        """Name of the root element: in UBL, credit notes have their own."""
        if self.format != "UBL":
            return "CrossIndustryInvoice"
        return "CreditNote" if self.type_code in codes("credit_note_types") else "Invoice"

    @property
    def calculated(self) -> CalculatedTotals:
        """VAT breakdown and totals."""
        return CalculatedTotals.of(
            self.lines,
            (*(self.allowances or ()), *(self.charges or ())),
            self.vat_breakdown or (),
            self.totals or Totals(),
            prepaid=sum((it.amount for it in self.prepayments), Decimal(0)) if self.prepayments else None,
            for_third_parties=sum((it.amount for it in self.third_party_payments or ()), Decimal(0)),
        )

    def problems(self) -> Iterator[DraftProblem]:
        """Yield errors that involve several fields: format and profile, content they cannot contain, wrong totals."""
        yield from self._unsupported_profile()
        yield from self._unsupported_by_format()
        yield from self._unsupported_extension()
        yield from self._unsupported_by_profile()
        if self.tax_currency is None and self.totals and self.totals.vat_amount_in_tax_currency is not None:
            yield DraftProblem("/tax_currency", "tax_currency_missing")
        yield from check_totals(self.calculated, self.vat_breakdown or (), self.totals or Totals())

    def _unsupported_profile(self) -> Iterator[DraftProblem]:
        """Yield an error if the format cannot contain the profile."""
        if self.specification.facturx_profile and self.format != "ZUGFERD":
            known = _specifications().values()
            named = [it for it in known if self.syntax in it.syntaxes and not it.facturx_profile]
            profiles = ", ".join(it.draft_profile for it in named)
            yield DraftProblem("/profile", "profile_needs_zugferd", {"format": self.format, "profiles": profiles})
        elif self.syntax not in self.specification.syntaxes:
            needed = self.specification.syntaxes[0].lower()
            yield DraftProblem("/profile", f"profile_needs_{needed}", {"name": self.specification.profile})
        elif self.format == "ZUGFERD" and self.embedded_profile not in {it.name for it in PROFILES}:
            yield DraftProblem("/profile", "profile_not_in_pdf", {"name": self.specification.profile})

    def _unsupported_by_format(self) -> Iterator[DraftProblem]:
        """Yield fields that the format cannot contain; they would be lost silently."""
        if self._preceding_limit and len(self.preceding_invoices or ()) > self._preceding_limit:
            yield DraftProblem("/preceding_invoices/1", "one_preceding_invoice")
        if self.root == "CreditNote" and self.due_date is not None and self.payment is None:
            yield DraftProblem("/payment", "due_date_without_payment")

    @property
    def _preceding_limit(self) -> int:
        """Maximum number of preceding invoices; 0 if any: the schema of CII allows one, that of EXTENDED several."""
        return int(self.root == "CrossIndustryInvoice" and self.specification.facturx_profile != "extended")

    def _unsupported_extension(self) -> Iterator[DraftProblem]:
        """Yield fields of the XRechnung Extension that another specification, or CII, does not contain."""
        pointers = [f"/lines/{number}/lines" for number, line in enumerate(self.lines) if line.lines]
        pointers += ["/third_party_payments"] if self.third_party_payments else []
        for pointer in pointers:
            if "xrechnung-extension" not in self.specification.rulesets:
                yield DraftProblem(pointer, "needs_extension")
            elif self.syntax != "UBL":
                yield DraftProblem(pointer, "extension_needs_ubl")

    def _unsupported_by_profile(self) -> Iterator[DraftProblem]:
        """Yield fields that the profile does not contain, where omitting them would make the XML incorrect."""
        if not self.specification.facturx_profile:
            return
        profile = profile_named(self.declared_profile)
        if profile == BASIC:  # the XML is a complete invoice
            yield from _unsupported_fields(profile, self.walk())
        elif profile == BASIC_WL and self.totals is not None:  # the totals must add up
            yield from _unsupported_fields(profile, [("/totals", self.totals)])

    def invoice(self, lang: Language | None = None) -> Invoice:
        """Return the invoice with all calculated totals; it can be written in UBL and in CII.

        `lang` is the language of texts on discounts, retentions and down payments; default: `einvoice.options.lang`.
        """
        totals, currency, lang = self.calculated, self.currency, language(lang)
        allowances_and_charges = (*(self.allowances or ()), *(self.charges or ()))
        return Invoice(
            specification=as_identifier(identifier_of(self.specification)),
            business_process=as_text(self.business_process or self.specification.business_process or None),
            number=as_identifier(self.invoice_number),
            issue_date=as_date(self.issue_date),
            type_code=as_code(self.type_code),
            currency=as_code(currency),
            tax_currency=as_code(self.tax_currency),
            tax_point_date=as_date(self.tax_point_date),
            due_date=as_date(self.due_date),
            buyer_reference=as_text(self.buyer_reference),
            project=as_identifier(self.project_reference),
            contract=as_identifier(self.contract_reference),
            purchase_order=as_identifier(self.purchase_order_reference),
            sales_order=as_identifier(self.sales_order_reference),
            receiving_advice=as_identifier(self.receiving_advice_reference),
            despatch_advice=as_identifier(self.despatch_advice_reference),
            tender=as_identifier(self.tender_reference),
            accounting_reference=as_text(self.buyer_accounting_reference),
            payment_terms=build_terms(
                self.payment_terms,
                self.discounts or (),
                self.retentions or (),
                currency,
                lang,
                is_coded="xrechnung" in self.specification.rulesets,
            ),
            notes=[*(note.build() for note in self.notes or ()), *self._down_payments(totals, lang)],
            preceding_invoices=self._preceding_invoices(),
            seller=self.seller.build(self.specification.tax_number_scheme or _TAX_SCHEME),
            buyer=self.buyer.build(),
            payee=self.payee.build() if self.payee else absent,
            tax_representative=self.tax_representative.build() if self.tax_representative else absent,
            deliveries=self._deliveries(),
            periods=self._periods(),
            **self._payment(),
            allowances_and_charges=[it.build(currency) for it in allowances_and_charges],
            totals=totals.build(currency),
            tax_totals=totals.tax_totals(currency, self.tax_currency),
            vat_breakdown=[subtotal.build(currency) for subtotal in totals.vat],
            third_party_payments=[it.build(currency) for it in self.third_party_payments or ()],
            documents=self._documents(),
            lines=[line.build(number, currency) for number, line in enumerate(self.lines, 1)],
        )

    def _down_payments(self, totals: CalculatedTotals, lang: Language) -> list[NoteOfModel]:
        """Return the note on the down payments."""
        if not self.prepayments:
            return []
        total = Sum(totals.amount("BT-112") or Decimal(0), totals.amount("BT-110"))
        down_payments = [it.down_payment() for it in self.prepayments]
        return [NoteOfModel(text=as_text(write_note(total, down_payments, self.currency, lang)))]

    def _preceding_invoices(self) -> list[PrecedingInvoiceOfModel]:
        """Return the preceding invoices, and those of down payments as far as the syntax allows: notes name all."""
        given = [it.build() for it in self.preceding_invoices or ()]
        prepaid = [it.preceding() for it in self.prepayments or ()]
        known = {it.number.text for it in given}
        given += [it for it in prepaid if it is not None and it.number.text not in known]
        return given[: self._preceding_limit or None]

    def _deliveries(self) -> list[parties.Delivery]:
        if self.delivery is None and self.service_date is None:
            return []
        delivery = self.delivery.build() if self.delivery else parties.Delivery()
        delivery.date = as_date(self.service_date)
        return [delivery]

    def _periods(self) -> list[Period]:
        if self.invoicing_period is None and self.tax_point_code is None:
            return []
        period = self.invoicing_period.build() if self.invoicing_period else Period()
        period.tax_point_code = as_code(self.tax_point_code)
        return [period]

    def _payment(self) -> dict[str, Any]:
        payment = self.payment
        if payment is None:
            return {}
        creditor = payment.direct_debit.creditor_id if payment.direct_debit else None
        return {
            "payment_means": payment.build(),
            "remittance_information": as_text(payment.payment_reference),
            "creditor_identifier": as_identifier(creditor),
        }

    def _documents(self) -> list[Document]:
        """Return the documents, attachments first, so that their indices match those in the draft."""
        invoiced_object = [self.invoiced_object.build()] if self.invoiced_object else []
        return [*(it.build() for it in self.attachments or ()), *invoiced_object]


def _unsupported_fields(profile: FacturXProfile, models: Iterable[tuple[str, DraftModel]]) -> Iterator[DraftProblem]:
    """Yield a problem for each field that is set but has no business term in the profile."""
    for pointer, model in models:
        for field in type(model).model_fields:
            numbers = [number for number in terms_of(type(model), field) if re.fullmatch("BT-[0-9]+", number)]
            is_given = getattr(model, field) is not None and field in model.model_fields_set
            if is_given and numbers and not any(supports(profile, number) for number in numbers):
                yield DraftProblem(
                    f"{pointer}/{field}", "not_in_profile", {"term": numbers[0], "profile": profile.name}
                )


def draft_schema() -> dict[str, Any]:
    """Return the JSON Schema (2020-12) of drafts, with descriptions in English and German."""
    return Draft.json_schema()
