"""What an invoice says about money: how to pay, allowances and charges, VAT, totals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from einvoice.model.group import Group, first, invoice_of, numbered, term, terms, view
from einvoice.model.parties import Identified
from einvoice.model.values import Amount, Code, Date, Identifier, Percentage, Text, UnitPrice, absent


class CreditTransfer(Group):
    """BG-17: the account to pay to.

    ``proprietary_identifier`` is an account number that is no IBAN, which CII keeps apart.
    """

    groups = ("BG-17",)
    identifier: Identifier = term("BT-84")
    proprietary_identifier: Identifier = term("BT-84")
    name: Text = term("BT-85")


class PaymentCard(Identified):
    """BG-18: the card that was used."""

    groups = ("BG-18",)
    plain = ("number",)
    number: Text = term("BT-87")
    holder: Text = term("BT-88")


class DirectDebit(Group):
    """BG-19: the mandate to collect; ``mandate_reference`` stands here in UBL, in the payment terms in CII."""

    groups = ("BG-19",)
    mandate_reference: Identifier = term("BT-89")
    debited_account: Identifier = term("BT-91")


class PaymentMeans(Group):
    """BG-16: one way to pay. ``due_date`` is where a UBL credit note says BT-9, ``remittance_information`` where UBL
    says BT-83; CII has the one in the payment terms, the other on the invoice.
    """

    groups = ("BG-16",)
    code: Code = term("BT-81")
    description: Text = term("BT-82")
    remittance_information: Sequence[Text] = terms("BT-83")
    due_date: Date = term("BT-9")
    card: PaymentCard = term("BG-18")
    credit_transfer: CreditTransfer = term("BG-17")
    service_provider: Identifier = term("BT-86")
    direct_debit: DirectDebit = term("BG-19")

    @property
    def is_astray(self) -> bool:
        """Whether it stands where no business term has it, so not beside the payment terms."""
        return "astray" in self.marks

    @property
    def has_bank(self) -> bool:
        """Whether there is an element for the bank of the payee (BT-86) or, in CII, of the payer, be it empty."""
        return "bank" in self.marks or self.service_provider is not absent


class PaymentTerms(Group):
    """BT-20: until when and on what conditions; CII keeps the due date and the mandate here."""

    note: Text = term("BT-20")
    due_date: Date = term("BT-9")
    mandate_reference: Identifier = term("BT-89")

    @property
    def has_due_date(self) -> bool:
        """Whether there is an element for the due date; in CII it may be empty."""
        return "due date" in self.marks or self.due_date is not absent


@numbered("", category="BT-95 BT-102 BT-118 BT-151", rate="BT-96 BT-103 BT-119 BT-152")
class TaxCategory(Group):
    """A VAT category with its rate, as it stands on a line, an allowance, a charge or a breakdown."""

    category: Code = term()
    rate: Percentage = term()
    scheme: Code = term()
    exemption_reason: Text = term()
    exemption_reason_code: Code = term()

    @property
    def is_vat(self) -> bool:
        """Whether the syntax's official rules take the tax for VAT."""
        return self.scheme.text == "VAT" or any(further.text == "VAT" for further in self.scheme.more)


@numbered("BG-20 BG-21", category="BT-95 BT-102", rate="BT-96 BT-103")
class AllowanceTax(TaxCategory):
    """The VAT of an allowance or charge on the whole invoice."""


@numbered("BG-30", category="BT-151", rate="BT-152")
class LineTax(TaxCategory):
    """BG-30: the VAT of a line."""


class VatBreakdown(TaxCategory):
    """BG-23: what is taxed in one category and at one rate, and the tax on it.

    ``tax_point_date`` and ``tax_point_code`` are where CII says BT-7 and BT-8.
    """

    groups = ("BG-23",)
    numbers: ClassVar[dict[str, tuple[str, ...]]] = {
        "category": ("BT-118",),
        "rate": ("BT-119",),
        "exemption_reason": ("BT-120",),
        "exemption_reason_code": ("BT-121",),
    }
    taxable_amount: Amount = term("BT-116")
    tax_amount: Amount = term("BT-117")
    tax_point_date: Date = term("BT-7")
    tax_point_code: Code = term("BT-8")

    @property
    def has_tax_point_date(self) -> bool:
        """Whether there is an element for the tax point date; in CII it may be empty."""
        return "tax point date" in self.marks or self.tax_point_date is not absent

    @property
    def is_of_invoice(self) -> bool:
        """Whether a UBL document has it where the official rules find lines, allowances and charges from it."""
        return self.node is None or self.node.getparent().getparent().getparent() is None

    @property
    def is_of_other_total(self) -> bool:
        """Whether its document has it below something else than a total of the VAT, such as a tax withheld."""
        return self.node is not None and not self.node.getparent().tag.endswith("}TaxTotal")


class TaxPoint(Group):
    """A date or code for when the tax falls due, at a place that no business term has, such as the VAT of a line."""

    date: Date = term("BT-7")
    code: Code = term("BT-8")


class AllowanceCharge(Group):
    """BG-20 (allowance) or BG-21 (charge) on the invoice: the indicator tells which, if the document has one."""

    groups = ("BG-20", "BG-21")
    indicator: Code = term()
    amount: Amount = term("BT-92", "BT-99")
    base_amount: Amount = term("BT-93", "BT-100")
    percentage: Percentage = term("BT-94", "BT-101")
    taxes: Sequence[AllowanceTax] = terms("BT-95", "BT-102")
    reason: Text = term("BT-97", "BT-104")
    reason_code: Code = term("BT-98", "BT-105")

    @view("BT-95", "BT-102")
    def vat(self) -> AllowanceTax:
        """The (first) VAT category of the allowance or charge."""
        return first(self.taxes)

    @property
    def is_of_price(self) -> bool:
        """Whether it is the discount on a price."""
        return isinstance(self, PriceAllowance)

    @property
    def is_charge(self) -> bool:
        """Whether the indicator says charge."""
        return self.indicator.text in ("true", "1")

    @property
    def is_allowance(self) -> bool:
        """Whether the indicator says allowance."""
        return self.indicator.text in ("false", "0")


@numbered("BG-27 BG-28", amount="BT-136 BT-141", base_amount="BT-137 BT-142", percentage="BT-138 BT-143",
          reason="BT-139 BT-144", reason_code="BT-140 BT-145", taxes="", vat="")  # fmt: skip
class LineAllowanceCharge(AllowanceCharge):
    """BG-27 (allowance) or BG-28 (charge) on a line."""


@numbered("BG-29", amount="BT-147", base_amount="BT-148", percentage="", reason="", reason_code="", taxes="", vat="")
class PriceAllowance(AllowanceCharge):
    """The discount on the unit price; in UBL its base amount is the gross price (BT-148)."""

    amount: UnitPrice = term()
    base_amount: UnitPrice = term()


class LogisticsTax(TaxCategory):
    """The VAT of a logistics charge."""


class LogisticsCharge(Group):
    """BG-X-42 of Factur-X EXTENDED: a charge for delivery, beside the charges of EN 16931."""

    description: Text = term()
    amount: Amount = term()
    taxes: Sequence[LogisticsTax] = terms()


class FinancialAdjustment(Group):
    """BG-X-72 of Factur-X EXTENDED: an amount that is collected for somebody else."""

    amount: Amount = term()
    reason: Text = term()


class ThirdPartyPayment(Group):
    """BG-DEX-09: money that is collected for somebody else (XRechnung extension)."""

    groups = ("BG-DEX-09",)
    type: Text = term("BT-DEX-001")
    amount: Amount = term("BT-DEX-002")
    description: Text = term("BT-DEX-003")


class TaxTotal(Group):
    """BT-110 or BT-111: the VAT of the invoice, in the invoice's or in the accounting currency."""

    amount: Amount = term("BT-110", "BT-111")

    @view("BG-23")
    def vat_breakdown(self) -> Sequence[VatBreakdown]:
        """BG-23: what UBL has of it inside this total; what stands in none belongs to the first total."""
        invoice = invoice_of(self)
        if invoice is None:
            return []
        is_first = first(invoice.tax_totals) is self
        return [
            vat
            for vat in invoice.vat_breakdown
            if vat.parent is self or (is_first and not isinstance(vat.parent, TaxTotal))
        ]


class Settlement(Group):
    """What the currencies and VAT totals of an invoice are together; a document of CII has an element around them."""

    currency: Code = term("BT-5")
    tax_currency: Code = term("BT-6")
    tax_totals: Sequence[TaxTotal] = terms("BT-110", "BT-111")
