"""Payment, allowances and charges, and VAT."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Final, TypeAlias

from einvoice.model.group import Group, first, numbered, split, term, terms, view
from einvoice.model.parties import Identified
from einvoice.model.values import Amount, Code, Date, Identifier, Percentage, Text, UnitPrice, absent

if TYPE_CHECKING:
    Line: TypeAlias = Any  # `Group.known` has the class; its module imports this one

_Index: TypeAlias = dict[Any, list[Any]]


class CreditTransfer(Group):
    """BG-17: the account to pay to.

    `proprietary_identifier` is an account number other than an IBAN; CII has a separate element for it.
    """

    groups = ("BG-17",)
    identifier: Identifier = term("BT-84")
    proprietary_identifier: Identifier = term("BT-84")
    name: Text = term("BT-85")


class PaymentCard(Identified):
    """BG-18: the payment card."""

    groups = ("BG-18",)
    plain = ("number",)
    number: Text = term("BT-87")
    holder: Text = term("BT-88")


class DirectDebit(Group):
    """BG-19: the direct debit; CII has `mandate_reference` in the payment terms."""

    groups = ("BG-19",)
    mandate_reference: Identifier = term("BT-89")
    debited_account: Identifier = term("BT-91")


class PaymentMeans(Group):
    """BG-16: payment means.

    A UBL credit note has `due_date` (BT-9) here; CII has it in the payment terms. UBL has `remittance_information`
    (BT-83) here; CII has it on the invoice.
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
    def is_misplaced(self) -> bool:
        """Whether it occurs where EN 16931 has no business term, that is, not beside the payment terms."""
        return "misplaced" in self.tracked

    @property
    def has_bank(self) -> bool:
        """Whether the document has an element for the payee's bank (BT-86) or, in CII, the payer's; it may be empty."""
        return "bank" in self.tracked or self.service_provider is not absent


class PaymentTerms(Group):
    """BT-20: payment terms; CII also has the due date and the mandate reference here."""

    note: Text = term("BT-20")
    due_date: Date = term("BT-9")
    mandate_reference: Identifier = term("BT-89")

    @property
    def has_due_date(self) -> bool:
        """Whether the document has an element for the due date; in CII it may be empty."""
        return "due date" in self.tracked or self.due_date is not absent


@numbered("", category="BT-95 BT-102 BT-118 BT-151", rate="BT-96 BT-103 BT-119 BT-152", exemption_reason_code="BT-121")
class TaxCategory(Group):
    """The VAT category and rate of a line, an allowance, a charge or a breakdown."""

    category: Code = term()
    rate: Percentage = term()
    scheme: Code = term()
    exemption_reason: Text = term()
    exemption_reason_code: Code = term()

    @property
    def is_vat(self) -> bool:
        """Whether the official rules of the syntax treat the tax as VAT."""
        return self.scheme.text == "VAT" or any(further.text == "VAT" for further in self.scheme.more)

    @property
    def is_of_item(self) -> bool:
        """Whether it is the VAT of the item of a line, which UBL has in an element of its own."""
        return isinstance(self, LineTax)

    @view()
    def categories(self) -> Sequence[TaxCategory]:
        """Itself; a UBL breakdown with several elements TaxCategory has one of each."""
        return [self]


@numbered("BG-20 BG-21", category="BT-95 BT-102", rate="BT-96 BT-103")
class AllowanceTax(TaxCategory):
    """The VAT of an allowance or charge on the whole invoice."""


@numbered("BG-30", category="BT-151", rate="BT-152")
class LineTax(TaxCategory):
    """BG-30: the VAT of a line."""


class VatBreakdown(TaxCategory):
    """BG-23: the taxable amount for one category and rate, and the tax on it.

    CII has `tax_point_date` (BT-7) and `tax_point_code` (BT-8) here.
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
        """Whether the document has an element for the tax point date; in CII it may be empty."""
        return "tax point date" in self.tracked or self.tax_point_date is not absent

    @property
    def is_of_invoice(self) -> bool:
        """Whether it is at document level; from there the official UBL rules find lines, allowances and charges."""
        return self.node is None or self.node.getparent().getparent().getparent() is None

    @view("BG-25")
    def lines_beside(self) -> Sequence[Line]:
        """BG-25: the lines beside the VAT total; for a breakdown in a UBL extension or a line, those in there."""
        return self._beside("lines", "lines_by_element")

    @view("BG-20", "BG-21")
    def allowances_and_charges_beside(self) -> Sequence[AllowanceCharge]:
        """BG-20, BG-21: the allowances and charges beside the VAT total, as `lines_beside`."""
        return self._beside("allowances_and_charges", "allowances_and_charges_by_element")

    def _beside(self, of_invoice: str, by_element: str) -> Sequence[Any]:
        invoice = self.find_invoice()
        if self.is_of_invoice:
            found: Sequence[Any] = getattr(invoice, of_invoice, ())
        else:
            found = getattr(invoice, by_element, {}).get(self.node.getparent().getparent(), ())
        return found

    @view()
    def taxes(self) -> Sequence[TaxCategory]:
        """The breakdown itself: `with_vat` finds breakdowns like other groups, by the taxes that they have."""
        return (self,)

    @view()
    def categories(self) -> Sequence[TaxCategory]:
        """The VAT categories: one, unless a UBL document repeats the element TaxCategory."""
        repeated = any(it.more for it in (self.category, self.rate, self.exemption_reason_code) if it is not absent)
        if not repeated or self.node is None or self.find_invoice().syntax != "UBL":
            return [self]
        return split(self, list(self.node.iterchildren("{*}TaxCategory")))

    @property
    def is_of_other_total(self) -> bool:
        """Whether its UBL element is below a total other than the VAT total, such as a withholding tax total."""
        return self.node is not None and not self.node.getparent().tag.endswith("}TaxTotal")


class TaxPoint(Group):
    """A misplaced tax point date or code, such as in the VAT of a line."""

    date: Date = term("BT-7")
    code: Code = term("BT-8")


class AllowanceCharge(Group):
    """BG-20 (allowance) or BG-21 (charge) on the invoice, depending on `indicator`."""

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
    def line_number(self) -> Identifier:
        """BT-126 of the line that it belongs to; `absent` on the invoice and on a price."""
        number: Identifier = absent
        return number

    @property
    def is_of_price(self) -> bool:
        """Whether it is the discount on a price."""
        return isinstance(self, PriceAllowance)

    @property
    def is_charge(self) -> bool:
        """Whether the indicator is true."""
        return self.indicator.text in ("true", "1")

    @property
    def is_allowance(self) -> bool:
        """Whether the indicator is false."""
        return self.indicator.text in ("false", "0")

    def indicates(self, *texts: str) -> bool:
        """Return whether one of the indicators is one of `texts`; the XML schema allows a single indicator."""
        indicator = self.indicator
        return indicator is not absent and any(it.text in texts for it in (indicator, *indicator.more))


@numbered("BG-27 BG-28", amount="BT-136 BT-141", base_amount="BT-137 BT-142", percentage="BT-138 BT-143",
          reason="BT-139 BT-144", reason_code="BT-140 BT-145", taxes="", vat="")  # fmt: skip
class LineAllowanceCharge(AllowanceCharge):
    """BG-27 (allowance) or BG-28 (charge) on a line."""

    @property
    def line_number(self) -> Identifier:
        """BT-126 of the line."""
        number: Identifier = getattr(self.parent, "identifier", absent)
        return number


@numbered("BG-29", amount="BT-147", base_amount="BT-148", percentage="", reason="", reason_code="", taxes="", vat="")
class PriceAllowance(AllowanceCharge):
    """The discount on the unit price; in UBL its base amount is the gross price (BT-148)."""

    amount: UnitPrice = term()
    base_amount: UnitPrice = term()


class LogisticsTax(TaxCategory):
    """The VAT of a logistics charge."""


class LogisticsCharge(Group):
    """BG-X-42 of Factur-X EXTENDED: a logistics service charge."""

    description: Text = term()
    amount: Amount = term()
    taxes: Sequence[LogisticsTax] = terms()

    def as_charge(self) -> AllowanceCharge:
        """Return the charge on the invoice (BG-21) that says the same in EN 16931."""
        names = [name for name in AllowanceTax.fields if name != "more"]
        taxes = [AllowanceTax(**{name: getattr(tax, name) for name in names}) for tax in self.taxes[:1]]
        return AllowanceCharge(indicator=Code("true"), amount=self.amount, reason=self.description, taxes=taxes)


class FinancialAdjustment(Group):
    """BG-X-72 of Factur-X EXTENDED: an amount collected for a third party."""

    amount: Amount = term()
    reason: Text = term()


class ThirdPartyPayment(Group):
    """BG-DEX-09: an amount collected for a third party (XRechnung extension)."""

    groups = ("BG-DEX-09",)
    type: Text = term("BT-DEX-001")
    amount: Amount = term("BT-DEX-002")
    description: Text = term("BT-DEX-003")


_MANY: Final = 20
"""Number of VAT breakdowns up to which it is faster to look at each than to index them."""


class TaxTotal(Group):
    """BT-110 or BT-111: the VAT total in the invoice currency or in the accounting currency."""

    amount: Amount = term("BT-110", "BT-111")

    @view("BG-23")
    def vat_breakdown(self) -> Sequence[VatBreakdown]:
        """BG-23: the UBL breakdowns inside this total; those outside any total belong to the first one."""
        invoice = self.find_invoice()
        if invoice is None:
            return []
        totals = invoice.tax_totals
        if len(totals) == 1 and totals[0] is self:
            found: Sequence[VatBreakdown] = invoice.vat_breakdown
            return found
        if self.node is not None and len(invoice.vat_breakdown) > _MANY:
            of_total: Sequence[VatBreakdown] = invoice.breakdowns_by_total.get(id(self), [])
            return of_total
        return breakdowns_by_total(invoice).get(id(self), [])


def breakdowns_by_total(invoice: Any) -> dict[int, list[VatBreakdown]]:
    """Return the breakdowns in each total, by its `id()`; those outside any total belong to the first one."""
    found: dict[int, list[VatBreakdown]] = {}
    for vat in invoice.vat_breakdown:
        total = None if vat.parent_ref is None else vat.parent_ref()
        if not isinstance(total, TaxTotal):
            total = next(iter(invoice.tax_totals), None)
        found.setdefault(id(total), []).append(vat)
    return found


class Settlement(Group):
    """Currencies and VAT totals of the invoice; CII has a common parent element for them."""

    currency: Code = term("BT-5")
    tax_currency: Code = term("BT-6")
    tax_totals: Sequence[TaxTotal] = terms("BT-110", "BT-111")


class VatIndex:
    """Finds lines, allowances and charges by VAT category and rate, and groups by a text, with one index per sequence.

    Indexes are cached by the `id()` of a sequence, which must not change.
    """

    __slots__ = ("_by_text", "_by_vat")

    def __init__(self) -> None:
        # With the sequence, which keeps its id in use.
        self._by_text: dict[tuple[int, str], tuple[Sequence[Any], _Index]] = {}
        self._by_vat: dict[int, tuple[Sequence[Any], _Index]] = {}

    def __call__(self, items: Sequence[Any], category: str, rate: Any = None) -> Sequence[Any]:
        """Return the items that have a tax of the category and, if given, a tax with the rate, in their order."""
        if not items or category is absent or rate is absent:  # absent equals nothing, but a dictionary would find it
            return ()
        key = id(items)
        if key not in self._by_vat:
            self._by_vat[key] = items, _index_by_vat(items)
        return self._by_vat[key][1].get(category if rate is None else (category, rate), ())

    def by_text(self, groups: Sequence[Any], field: str) -> _Index:
        """Return the groups, in their order, by the texts that the occurrences of a field have."""
        key = id(groups), field
        if key not in self._by_text:
            self._by_text[key] = groups, _index_by_text(groups, field)
        return self._by_text[key][1]


def _index_by_vat(items: Iterable[Any]) -> _Index:
    """Index items by each category of their taxes, and by each category with each rate. One pass: there may be many."""
    index: _Index = defaultdict(list)
    for item in items:
        taxes = item.taxes
        if len(taxes) == 1 and not (tax := taxes[0]).category.more and not tax.rate.more:  # the usual case
            category = tax.category.text
            index[category].append(item)
            index[category, tax.rate.number].append(item)
            continue
        rates = {it.number for tax in taxes for it in _occurrences(tax.rate)}
        for category in {it.text for tax in taxes for it in _occurrences(tax.category)}:
            index[category].append(item)
            for rate in rates:
                index[category, rate].append(item)
    return index


def _index_by_text(groups: Iterable[Any], field: str) -> _Index:
    """Index groups by the texts of a field, each group once for each text."""
    index: _Index = defaultdict(list)
    for group in groups:
        value = getattr(group, field)
        if not value.more:
            index[value.text].append(group)
            continue
        for text in {it.text for it in _occurrences(value)}:
            index[text].append(group)
    return index


def _occurrences(value: Any) -> Sequence[Any]:
    return () if value is absent else (value, *value.more)
