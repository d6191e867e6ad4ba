"""The draft of an invoice: what a seller knows of it, as JSON; the sums are worked out from it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, Final, Literal, TypeAlias

from einvoice.codelists import codes
from einvoice.draft.calculation import Sums, given_totals
from einvoice.draft.fields.allowance import Allowance, Charge
from einvoice.draft.fields.line import Line
from einvoice.draft.fields.part import Part, term, terms_of
from einvoice.draft.fields.party import Buyer, Delivery, PayeeParty, Seller, TaxRepresentative
from einvoice.draft.fields.payment import Payment
from einvoice.draft.fields.reference import Attachment, InvoicedObject, InvoicingPeriod, Note, PrecedingInvoice
from einvoice.draft.fields.totals import Totals, VatCategory
from einvoice.draft.fields.types import Day, Text, as_code, as_date, as_identifier, as_text
from einvoice.errors import DraftProblem
from einvoice.facturx import business_terms
from einvoice.model import parties
from einvoice.model.invoice import Invoice
from einvoice.model.lines import Document, Period
from einvoice.model.money import PaymentTerms
from einvoice.model.values import absent
from einvoice.syntax.detect import specifications

Format: TypeAlias = Literal["UBL", "CII", "ZUGFERD"]
Profile: TypeAlias = Literal["XRECHNUNG", "EN16931", "MINIMUM", "BASIC_WL", "BASIC", "EXTENDED"]

#: The specification that each profile declares, by its name in `rules/specifications.toml`.
_SPECIFICATIONS: Final[dict[Profile, str]] = {
    "XRECHNUNG": "xrechnung-3.0",
    "EN16931": "en16931",
    "MINIMUM": "facturx-1.0-minimum",
    "BASIC_WL": "facturx-1.0-basicwl",
    "BASIC": "facturx-1.0-basic",
    "EXTENDED": "facturx-1.0-extended",
}
_OF_XML: Final = ("XRECHNUNG", "EN16931")
_PEPPOL_BILLING: Final = "urn:fdc:peppol.eu:2017:poacc:billing:01:1.0"


class Draft(Part):
    """An invoice as a seller would note it down; everything that can be calculated is left out."""

    german = "Eine Rechnung, wie ein Verkäufer sie notiert; was sich ausrechnen lässt, bleibt weg."
    invoice_number: Text = term("BT-1", example="R-2026-0001", required=True)
    issue_date: Day = term("BT-2", example="2026-11-20", required=True)
    due_date: Day | None = term("BT-9", example="2026-12-20")
    service_date: Day | None = term("BT-72", example="2026-11-18")
    format: Format = term(
        title=("Format", "Format"),
        about=(
            "UBL or CII is XML; ZUGFERD is a PDF with CII inside.",
            "UBL und CII sind XML; ZUGFERD ist ein PDF mit CII darin.",
        ),
        example="UBL",
        required=True,
    )
    profile: Profile | None = term(
        "BT-24",
        title=("Profile", "Profil"),
        about=(
            "UBL and CII: XRECHNUNG (default) or EN16931. ZUGFERD: any, EN16931 by default.",
            "UBL und CII: XRECHNUNG (Vorgabe) oder EN16931. ZUGFERD: jedes, Vorgabe EN16931.",
        ),
        example="XRECHNUNG",
    )
    business_process: Text | None = term(
        "BT-23",
        about=(
            f"Under XRECHNUNG {_PEPPOL_BILLING} if not given.",
            f"Unter XRECHNUNG ohne Angabe {_PEPPOL_BILLING}.",
        ),
        example=_PEPPOL_BILLING,
    )
    type_code: Text = term(
        "BT-3",
        about=(
            "From UNTDID 1001; 380 is an invoice, 381 a credit note, 384 a corrected invoice.",
            "Aus UNTDID 1001; 380 ist eine Rechnung, 381 eine Gutschrift, 384 eine Korrektur.",
        ),
        example="380",
        default="380",
    )
    currency: Text = term("BT-5", about=("ISO 4217.", "ISO 4217."), example="EUR", default="EUR")
    tax_currency: Text | None = term(
        "BT-6", about=("Only if it is another one.", "Nur wenn sie eine andere ist."), example="SEK"
    )
    tax_point_date: Day | None = term("BT-7", example="2026-11-18")
    tax_point_code: Text | None = term(
        "BT-8",
        about=(
            "From UNTDID 2005, in either format: 3, 35 or 432; only without tax_point_date.",
            "Aus UNTDID 2005, in beiden Formaten: 3, 35 oder 432; nur ohne tax_point_date.",
        ),
        example="35",
    )
    buyer_reference: Text | None = term(
        "BT-10",
        about=("The Leitweg-ID for German public buyers.", "Bei Behörden die Leitweg-ID."),
        example="04011000-12345-34",
    )
    project_reference: Text | None = term("BT-11", example="P-7")
    contract_reference: Text | None = term("BT-12", example="V-2026-3")
    purchase_order_reference: Text | None = term("BT-13", example="B-815")
    sales_order_reference: Text | None = term("BT-14", example="A-4711")
    receiving_advice_reference: Text | None = term("BT-15", example="WE-12")
    despatch_advice_reference: Text | None = term("BT-16", example="LS-12")
    tender_reference: Text | None = term("BT-17", example="Los 2")
    invoiced_object: InvoicedObject | None = term("BT-18")
    buyer_accounting_reference: Text | None = term("BT-19", example="KST 4711")
    payment_terms: Text | None = term("BT-20", example="Zahlbar binnen 30 Tagen ohne Abzug.")
    notes: list[Note] | None = term("BG-1")
    preceding_invoices: list[PrecedingInvoice] | None = term(
        "BG-3", about=("CII has room for one.", "CII hat Platz für eine.")
    )
    seller: Seller = term("BG-4", "BG-5", required=True)
    buyer: Buyer = term("BG-7", "BG-8", required=True)
    payee: PayeeParty | None = term("BG-10")
    tax_representative: TaxRepresentative | None = term("BG-11", "BG-12")
    delivery: Delivery | None = term("BG-13", "BG-15")
    invoicing_period: InvoicingPeriod | None = term("BG-14")
    payment: Payment | None = term("BG-16")
    lines: list[Line] = term("BG-25", required=True, least=1)
    allowances: list[Allowance] | None = term("BG-20")
    charges: list[Charge] | None = term("BG-21")
    vat_breakdown: list[VatCategory] | None = term(
        "BG-23",
        about=(
            "Calculated; needed only to say why something is exempt from VAT.",
            "Wird berechnet; nötig nur, um den Grund einer Steuerbefreiung zu nennen.",
        ),
    )
    totals: Totals | None = term("BG-22", about=("Calculated.", "Werden berechnet."))
    attachments: list[Attachment] | None = term("BG-24")

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """The JSON Schema (2020-12) of drafts, described in English and German."""
        from einvoice.draft.schema import schema

        return schema()

    @property
    def declared_profile(self) -> Profile:
        """The profile, given or that of the format."""
        return self.profile or ("EN16931" if self.format == "ZUGFERD" else "XRECHNUNG")

    @property
    def root(self) -> str:
        """The root element that the invoice is written with; UBL has one of its own for credit notes."""
        if self.format != "UBL":
            return "CrossIndustryInvoice"
        return "CreditNote" if self.type_code in codes("credit_note_types") else "Invoice"

    @property
    def sums(self) -> Sums:
        """What the draft comes to."""
        return Sums.of(
            self.lines,
            (*(self.allowances or ()), *(self.charges or ())),
            self.vat_breakdown or (),
            self.totals or Totals(),
        )

    def problems(self) -> Iterator[DraftProblem]:
        """What does not go together: format and profile, and sums that are others than those of the lines."""
        if self.format != "ZUGFERD" and self.declared_profile not in _OF_XML:
            yield DraftProblem(
                "/profile",
                en=f"This profile is one of ZUGFERD; {self.format} has {' and '.join(_OF_XML)}.",
                de=f"Dieses Profil gibt es nur mit ZUGFERD; {self.format} kennt {' und '.join(_OF_XML)}.",
            )
        yield from self._without_room()
        if self.tax_currency is None and self.totals and self.totals.vat_amount_in_tax_currency is not None:
            yield DraftProblem(
                "/tax_currency",
                en="The VAT is given in another currency; say in which.",
                de="Die Umsatzsteuer ist in einer weiteren Währung angegeben; in welcher, fehlt.",
            )
        yield from given_totals(self.sums, self.vat_breakdown or (), self.totals or Totals())

    def _without_room(self) -> Iterator[DraftProblem]:
        """What the format has no place for: it would be lost without a word."""
        if self.root == "CrossIndustryInvoice" and len(self.preceding_invoices or ()) > 1:
            yield DraftProblem(
                "/preceding_invoices/1",
                en="CII names one preceding invoice; leave the others out, or take UBL.",
                de="CII nennt eine vorausgegangene Rechnung; die übrigen weglassen oder UBL wählen.",
            )
        if self.root == "CreditNote" and self.due_date is not None and self.payment is None:
            yield DraftProblem(
                "/payment",
                en="A credit note in UBL has its due date beside the way to pay; give payment, or leave due_date out.",
                de="Eine Gutschrift in UBL nennt die Fälligkeit bei der Zahlungsart; "
                "payment angeben oder due_date weglassen.",
            )
        profile = business_terms.named(self.declared_profile)
        if profile == business_terms.BASIC:  # a whole invoice, so that nothing may be left out
            yield from self._beyond(profile, self.parts())
        elif profile == business_terms.BASIC_WL and self.totals is not None:  # data beside a page, which has to add up
            yield from self._beyond(profile, [("/totals", self.totals)])

    @staticmethod
    def _beyond(profile: business_terms.Profile, parts: Iterable[tuple[str, Part]]) -> Iterator[DraftProblem]:
        """The fields of these parts that the profile has no place for."""
        for place, part in parts:
            for field in type(part).model_fields:
                numbers = [number for number in terms_of(type(part), field) if re.fullmatch("BT-[0-9]+", number)]
                given = getattr(part, field) is not None and field in part.model_fields_set
                if given and numbers and not any(business_terms.holds(profile, number) for number in numbers):
                    what = f"{numbers[0]}, {profile.name}"
                    yield DraftProblem(
                        f"{place}/{field}",
                        en=f"The profile has no place for this ({what}); leave it out, or take EN16931.",
                        de=f"Das Profil hat dafür keinen Platz ({what}); weglassen oder EN16931 wählen.",
                    )

    def invoice(self) -> Invoice:
        """The invoice that the draft describes, with all its sums, ready to be written in either syntax."""
        sums, currency = self.sums, self.currency
        extras = (*(self.allowances or ()), *(self.charges or ()))
        return Invoice(
            specification=as_identifier(specifications()[_SPECIFICATIONS[self.declared_profile]].identifiers[0]),
            business_process=as_text(self._business_process()),
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
            payment_terms=[] if self.payment_terms is None else [PaymentTerms(note=as_text(self.payment_terms))],
            notes=[note.build() for note in self.notes or ()],
            preceding_invoices=[it.build() for it in self.preceding_invoices or ()],
            seller=self.seller.build(),
            buyer=self.buyer.build(),
            payee=self.payee.build() if self.payee else absent,
            tax_representative=self.tax_representative.build() if self.tax_representative else absent,
            deliveries=self._deliveries(),
            periods=self._periods(),
            **self._payment(),
            allowances_and_charges=[extra.build(currency) for extra in extras],
            totals=sums.build(currency),
            tax_totals=sums.tax_totals(currency, self.tax_currency),
            vat_breakdown=[part.build(currency) for part in sums.vat],
            documents=self._documents(),
            lines=[line.build(number, currency) for number, line in enumerate(self.lines, 1)],
        )

    def _business_process(self) -> str | None:
        assumed = _PEPPOL_BILLING if self.declared_profile == "XRECHNUNG" else None
        return self.business_process or assumed

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
        """Attachments first, so that they are counted as the draft counts them."""
        about = [self.invoiced_object.build()] if self.invoiced_object else []
        return [*(it.build() for it in self.attachments or ()), *about]
