"""The semantic invoice of EN 16931: its business groups, top to bottom, in the norm's order.

Where a document may say a thing several times, every occurrence is kept in the order of the document; the norm's
single term is then a view on them. ``BT-DEX`` and ``BG-DEX`` are those of the XRechnung extension.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Final, TypeVar

from einvoice.model.group import Group, numbered, term, terms, view
from einvoice.model.values import (
    Amount,
    Binary,
    Code,
    Date,
    Identifier,
    Percentage,
    Quantity,
    Text,
    UnitPrice,
    Value,
    absent,
)

T = TypeVar("T")


def first(occurrences: Iterable[T]) -> T:
    """The first of several occurrences that is there; ``absent`` where none is."""
    return next((occurrence for occurrence in occurrences if occurrence is not absent), absent)


def _inside(element: Any, value: Any) -> Any:
    """The occurrences of a value that stand inside an element."""
    found = [it for it in (() if value is absent else (value, *value.more)) if element in it.node.iterancestors()]
    for it in found[:1]:
        value = copy.copy(it)
        value.more = found[1:]
    return value if found else absent


def _invoice_of(group: Group) -> Invoice | None:
    """The invoice that a group was read from."""
    while group is not None and not isinstance(group, Invoice):
        group = group.parent
    return group


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


@numbered("", country_code="BT-40 BT-55 BT-69 BT-80")
class Address(Group):
    """A postal address; what its lines are called depends on whose address it is."""

    line_1: Text = term()
    line_2: Text = term()
    line_3: Text = term()
    city: Text = term()
    postal_code: Text = term()
    subdivision: Text = term()
    country_code: Code = term()


class Country(Group):
    """A country that stands where no business term has one, such as that of an agent or of a bank."""

    code: Code = term()


class Contact(Group):
    """Whom to ask; the department is what CII has beside the person."""

    name: Text = term()
    department: Text = term()
    telephone: Text = term()
    email: Text = term()


@numbered("", identifier="BT-31 BT-48 BT-63")
class TaxRegistration(Group):
    """A number under which a tax office knows a party, whoever that is; ``scheme`` tells for which tax."""

    identifier: Identifier = term()
    scheme: Code = term()

    @property
    def is_vat(self) -> bool:
        """Whether the syntax's official rules take this for a registration for VAT."""
        return self.scheme.text == "VAT" or any(further.text == "VAT" for further in self.scheme.more)


@numbered("BG-5", line_1="BT-35", line_2="BT-36", line_3="BT-162", city="BT-37", postal_code="BT-38",
          subdivision="BT-39", country_code="BT-40")  # fmt: skip
class SellerAddress(Address):
    """BG-5: the seller's postal address."""


@numbered("BG-8", line_1="BT-50", line_2="BT-51", line_3="BT-163", city="BT-52", postal_code="BT-53",
          subdivision="BT-54", country_code="BT-55")  # fmt: skip
class BuyerAddress(Address):
    """BG-8: the buyer's postal address."""


@numbered("BG-12", line_1="BT-64", line_2="BT-65", line_3="BT-164", city="BT-66", postal_code="BT-67",
          subdivision="BT-68", country_code="BT-69")  # fmt: skip
class TaxRepresentativeAddress(Address):
    """BG-12: the postal address of the seller's tax representative."""


@numbered("BG-15", line_1="BT-75", line_2="BT-76", line_3="BT-165", city="BT-77", postal_code="BT-78",
          subdivision="BT-79", country_code="BT-80")  # fmt: skip
class DeliveryAddress(Address):
    """BG-15: where the goods or services go."""


@numbered("BG-6", name="BT-41", department="BT-41", telephone="BT-42", email="BT-43")
class SellerContact(Contact):
    """BG-6: whom to ask at the seller."""


@numbered("BG-9", name="BT-56", department="BT-56", telephone="BT-57", email="BT-58")
class BuyerContact(Contact):
    """BG-9: whom to ask at the buyer."""


@numbered("BG-4", identifier="BT-31 BT-32")
class SellerTaxRegistration(TaxRegistration):
    """BT-31 (for VAT) or BT-32 (for another tax) of the seller."""


@numbered("BG-7", identifier="BT-48")
class BuyerTaxRegistration(TaxRegistration):
    """BT-48 of the buyer."""


@numbered("BG-11", identifier="BT-63")
class TaxRepresentativeTaxRegistration(TaxRegistration):
    """BT-63 of the seller's tax representative."""


def _for_vat(registrations: Iterable[TaxRegistration]) -> Sequence[Identifier]:
    return [it.identifier for it in registrations if it.is_vat and it.identifier is not absent]


class Identified(Group):
    """What has identifiers that CII writes as ``ram:ID``; ``plain`` names their fields."""

    plain: ClassVar[tuple[str, ...]] = ()

    @view("BT-29", "BT-46", "BT-60", "BT-30", "BT-47", "BT-61", "BT-71")
    def plain_identifiers(self) -> Sequence[Identifier]:
        """Those identifiers. The terms are those that may name a scheme; an invoice number, say, may not."""
        found = [getattr(self, name) for name in self.plain]
        single = [(it, *it.more) for it in found if isinstance(it, Value)]
        return [it for several in (*single, *(it for it in found if isinstance(it, list))) for it in several]


class Party(Identified):
    """Whoever has identifiers: a party of the invoice, or one that no business term has (an agent, a carrier)."""

    plain = ("identifiers", "legal_identifier")
    identifiers: Sequence[Identifier] = terms("BT-29", "BT-46", "BT-60")
    global_identifiers: Sequence[Identifier] = terms("BT-29", "BT-46", "BT-60")
    legal_identifier: Identifier = term("BT-30", "BT-47", "BT-61")

    @property
    def is_creditor(self) -> bool:
        """Whether it is the seller or the payee, or stands inside one of them."""
        group: Group | None = self
        while group is not None and not isinstance(group, Seller | Payee):
            group = group.parent
        return group is not None

    @property
    def is_of_goods(self) -> bool:
        """Whether CII has it in what is sold, or in the party that the goods are delivered to."""
        above = () if self.node is None else self.node.iterancestors()
        return any(element.tag.endswith(("}SpecifiedTradeProduct", "}ShipToTradeParty")) for element in above)


class Addressee(Party):
    """Whoever has an electronic address: seller, buyer, or a party that no business term has."""

    electronic_address: Identifier = term("BT-34", "BT-49")


class Seller(Addressee):
    """BG-4: who sells and asks for the money.

    ``global_identifiers`` are the identifiers that CII keeps apart because a scheme is named; UBL has one list, in
    which the scheme ``SEPA`` marks the bank's creditor identifier (BT-90).
    """

    groups = ("BG-4",)
    name: Text = term("BT-27")
    trading_name: Text = term("BT-28")
    identifiers: Sequence[Identifier] = terms("BT-29")
    global_identifiers: Sequence[Identifier] = terms("BT-29")
    legal_identifier: Identifier = term("BT-30")
    tax_registrations: Sequence[SellerTaxRegistration] = terms("BT-31", "BT-32")
    legal_information: Text = term("BT-33")
    electronic_address: Identifier = term("BT-34")
    address: SellerAddress = term("BG-5")
    contact: SellerContact = term("BG-6")

    @property
    def has_electronic_address(self) -> bool:
        """Whether there is an element for the electronic address; in CII it may be empty."""
        return "electronic address" in self.marks or self.electronic_address is not absent

    @property
    def has_party(self) -> bool:
        """Whether the role has a party, be it empty: in UBL an element of its own."""
        return self.node is None or "party" in self.marks

    @property
    def has_party_without_address(self) -> bool:
        """Whether UBL has a party in this role that gives no electronic address; there may be several."""
        return any(_inside(party, self.electronic_address) is absent for party in self.marks.get("party", ()))

    @view("BT-31")
    def vat_identifiers(self) -> Sequence[Identifier]:
        """BT-31, as often as the document has it."""
        return _for_vat(self.tax_registrations)

    @view("BT-31")
    def vat_identifier(self) -> Identifier:
        """BT-31: the first registration for VAT."""
        return first(r.identifier for r in self.tax_registrations if r.is_vat)

    @view("BT-32")
    def tax_number(self) -> Identifier:
        """BT-32: the first registration for another tax than VAT."""
        return first(r.identifier for r in self.tax_registrations if not r.is_vat)


class Buyer(Addressee):
    """BG-7: who buys."""

    groups = ("BG-7",)
    name: Text = term("BT-44")
    trading_name: Text = term("BT-45")
    identifiers: Sequence[Identifier] = terms("BT-46")
    global_identifiers: Sequence[Identifier] = terms("BT-46")
    legal_identifier: Identifier = term("BT-47")
    tax_registrations: Sequence[BuyerTaxRegistration] = terms("BT-48")
    electronic_address: Identifier = term("BT-49")
    address: BuyerAddress = term("BG-8")
    contact: BuyerContact = term("BG-9")

    @property
    def has_electronic_address(self) -> bool:
        """Whether there is an element for the electronic address; in CII it may be empty."""
        return "electronic address" in self.marks or self.electronic_address is not absent

    @property
    def has_party(self) -> bool:
        """Whether the role has a party, be it empty: in UBL an element of its own."""
        return self.node is None or "party" in self.marks

    @property
    def has_party_without_address(self) -> bool:
        """Whether UBL has a party in this role that gives no electronic address; there may be several."""
        return any(_inside(party, self.electronic_address) is absent for party in self.marks.get("party", ()))

    @view("BT-48")
    def vat_identifiers(self) -> Sequence[Identifier]:
        """BT-48, as often as the document has it."""
        return _for_vat(self.tax_registrations)

    @view("BT-48")
    def vat_identifier(self) -> Identifier:
        """BT-48: the first registration for VAT."""
        return first(r.identifier for r in self.tax_registrations if r.is_vat)


class Payee(Party):
    """BG-10: who gets the money, where it is not the seller."""

    groups = ("BG-10",)
    name: Text = term("BT-59")
    identifiers: Sequence[Identifier] = terms("BT-60")
    global_identifiers: Sequence[Identifier] = terms("BT-60")
    legal_identifier: Identifier = term("BT-61")


class TaxRepresentative(Group):
    """BG-11: who answers to the tax office for the seller."""

    groups = ("BG-11",)
    name: Text = term("BT-62")
    tax_registrations: Sequence[TaxRepresentativeTaxRegistration] = terms("BT-63")
    address: TaxRepresentativeAddress = term("BG-12")

    @view("BT-63")
    def vat_identifiers(self) -> Sequence[Identifier]:
        """BT-63, as often as the document has it."""
        return _for_vat(self.tax_registrations)

    @view("BT-63")
    def vat_identifier(self) -> Identifier:
        """BT-63: the first registration for VAT."""
        return first(r.identifier for r in self.tax_registrations if r.is_vat)


class Location(Identified):
    """A place that something is delivered to, also one that no business term has."""

    plain = ("location_identifier",)
    location_identifier: Identifier = term("BT-71")
    global_location_identifier: Identifier = term("BT-71")


class Delivery(Location):
    """BG-13: where and when the goods or services are delivered."""

    groups = ("BG-13",)
    party_name: Text = term("BT-70")
    location_identifier: Identifier = term("BT-71")
    global_location_identifier: Identifier = term("BT-71")
    date: Date = term("BT-72")
    address: DeliveryAddress = term("BG-15")

    @property
    def is_dated(self) -> bool:
        """Whether there is an element for the date; in CII it may be empty."""
        return "date" in self.marks or self.date is not absent


class Period(Group):
    """BG-14 or BG-26: from when to when; on the invoice also the code of the tax point date."""

    groups = ("BG-14", "BG-26")
    start: Date = term("BT-73", "BT-134")
    end: Date = term("BT-74", "BT-135")
    tax_point_code: Code = term("BT-8", "")

    @property
    def has_start(self) -> bool:
        """Whether there is an element for the first day; in CII it may be empty."""
        return "start" in self.marks or self.start is not absent

    @property
    def has_end(self) -> bool:
        """Whether there is an element for the last day; in CII it may be empty."""
        return "end" in self.marks or self.end is not absent

    @property
    def has_content(self) -> bool:
        """Whether anything stands in it, be it no business term."""
        if self.node is not None:
            return len(self.node) > 0
        return not (self.start is absent and self.end is absent and self.tax_point_code is absent)

    @property
    def is_of_line(self) -> bool:
        """Whether it is the period of a line, not of a line below a line; told by where the reader found it."""
        line = self.parent
        return isinstance(line, Line) and not line.is_below_line and any(period is self for period in line.periods)


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
        invoice = _invoice_of(self)
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


class Totals(Group):
    """BG-22: the sums of the invoice. The VAT is ``Invoice.vat_total``, since a document may have two of them."""

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
        """The VAT of the invoice, but not what CII has of it inside other totals of the invoice than these."""
        invoice = _invoice_of(self)
        if invoice is None:
            return ()
        beside = [totals for totals in (invoice.totals, *invoice.totals.more) if totals is not self]
        is_astray = len(beside) == 1 + len(invoice.totals.more)
        return [it for it in invoice.tax_totals if is_astray or not any(it.parent is totals for totals in beside)]

    @property
    def is_of_invoice(self) -> bool:
        """Whether they stand where those of the invoice belong; told by where the reader found them."""
        return self.parent is None or isinstance(self.parent, Invoice)


class Attached(Group):
    """An attached file, also at a place that no business term has."""

    attachment: Binary = term("BT-125")


class Document(Attached):
    """BG-24, a supporting document; with type code 130 BT-18 or BT-128, in CII with type code 50 BT-17."""

    groups = ("BG-24",)
    identifier: Identifier = term("BT-122")
    type_code: Code = term()
    reference_type: Code = term("BT-18-1")
    description: Text = term("BT-123")
    location: Text = term("BT-124")
    attachment: Binary = term("BT-125")

    @property
    def is_external(self) -> bool:
        """Whether there is an element that says where to find it; in UBL it may be empty."""
        return "external" in self.marks or self.location is not absent

    @property
    def is_of_line(self) -> bool:
        """Whether it is about a line."""
        return isinstance(self, LineDocument)


@numbered("BG-25", identifier="BT-128", reference_type="BT-128-1", description="", location="", attachment="")
class LineDocument(Document):
    """BT-128: the object that a line is about."""


class QuotedPrice(Group):
    """A price for one unit, or for a number of them."""

    groups = ("BG-29",)
    base_quantity: Quantity = term("BT-149")
    allowances: Sequence[PriceAllowance] = terms("BT-147")

    @property
    def priced_line(self) -> Line:
        """The line that it is the price of; ``absent`` for one that stands on no line."""
        return self.parent if isinstance(self.parent, Line) else absent


class Price(QuotedPrice):
    """BG-29: what one unit, or a number of units, costs; UBL keeps discount and gross price in ``allowances``."""

    net: UnitPrice = term("BT-146")


class GrossPrice(QuotedPrice):
    """BG-29: the price before the discount, where CII says it."""

    amount: UnitPrice = term("BT-148")


class ItemProperty(Group):
    """BG-32: a property of the item, such as its colour."""

    groups = ("BG-32",)
    name: Text = term("BT-160")
    value: Text = term("BT-161")


class ItemClassification(Group):
    """BT-158: a class that the item belongs to, in some classification."""

    identifier: Identifier = term("BT-158")


class Goods(Identified):
    """What has a standard identifier, also at a place that no business term has."""

    standard_identifier: Identifier = term("BT-157")


class Item(Goods):
    """BG-31: what is sold."""

    groups = ("BG-31",)
    plain = ("origin_country",)
    name: Text = term("BT-153")
    description: Text = term("BT-154")
    seller_identifier: Identifier = term("BT-155")
    buyer_identifier: Identifier = term("BT-156")
    standard_identifier: Identifier = term("BT-157")
    classifications: Sequence[ItemClassification] = terms("BT-158")
    origin_country: Code = term("BT-159")
    properties: Sequence[ItemProperty] = terms("BG-32", "BG-DEX-08")


class Line(Identified):
    """BG-25, a line of the invoice, or BG-DEX-01, a line below a line (XRechnung extension).

    UBL nests lines (``lines``), CII names the line above (``parent_line``).
    """

    groups = ("BG-25", "BG-DEX-01")
    plain = ("accounting_reference",)
    identifier: Identifier = term("BT-126", "BT-126")
    parent_line: Identifier = term()
    status_reason: Code = term()
    notes: Sequence[Text] = terms("BT-127", "BT-127")
    documents: Sequence[LineDocument] = terms("BT-128", "BT-128")
    quantity: Quantity = term("BT-129", "BT-129")
    net_amount: Amount = term("BT-131", "BT-131")
    order_line: Identifier = term("BT-132", "BT-132")
    accounting_reference: Text = term("BT-133", "BT-133")
    periods: Sequence[Period] = terms("BG-26", "BG-DEX-05")
    allowances_and_charges: Sequence[LineAllowanceCharge] = terms("BG-27", "BG-28", "BG-DEX-03", "BG-DEX-04")
    price: Price = term("BG-29", "BG-DEX-07")
    gross_price: GrossPrice = term("BG-29", "BG-DEX-07")
    taxes: Sequence[LineTax] = terms("BG-30", "BG-DEX-06")
    item: Item = term("BG-31", "BG-DEX-02")
    lines: Sequence[Line] = terms("BG-DEX-01", "BG-DEX-01")

    @view("BG-27", "BG-DEX-03")
    def allowances(self) -> Sequence[LineAllowanceCharge]:
        """BG-27: the allowances on the line."""
        return [it for it in self.allowances_and_charges if it.is_allowance]

    @view("BG-28", "BG-DEX-04")
    def charges(self) -> Sequence[LineAllowanceCharge]:
        """BG-28: the charges on the line."""
        return [it for it in self.allowances_and_charges if it.is_charge]

    @property
    def is_below_line(self) -> bool:
        """Whether it is a line below a line, as UBL nests them; told by where the reader found it."""
        return isinstance(self.parent, Line) and any(line is self for line in self.parent.lines)

    @view("BT-129", "BT-129")
    def own_quantities(self) -> Sequence[Quantity]:
        """BT-129: the quantity, in UBL only where its element is that of the document, such as the one invoiced."""
        quantities: list[Any] = [] if self.quantity is absent else [self.quantity, *self.quantity.more]
        invoice = _invoice_of(self)
        return [it for it in quantities if invoice is None or invoice.has_own_element(it)]

    @view("BG-30", "BG-DEX-06")
    def vat(self) -> LineTax:
        """The (first) VAT category of the line."""
        return first(self.taxes)


#: By root element of UBL: how the elements of lines and quantities begin that belong to the other one.
_OF_OTHER_KIND: Final = {"Invoice": "}Credit", "CreditNote": "}Invoice"}


class StrayLineBelowLine(Line):
    """What UBL has for a line below a line, but below something else."""

    @property
    def is_below_line(self) -> bool:
        """By its element it is, so that no rule on lines looks at it."""
        return True


class Invoice(Identified):
    """An invoice or credit note as EN 16931 sees it, whichever syntax it came from.

    ``syntax`` and ``root`` say where it was read from; they take no part in comparing two invoices, nor do the strays
    in ``elsewhere`` (known things at places that no business term has) and the elements in ``uncovered``.
    """

    groups = ("BG-0",)
    plain = ("specification", "business_process", "number", "project", "accounting_reference")
    syntax: ClassVar[str] = ""
    root: ClassVar[str] = ""
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
            process, specification = _inside(element, self.business_process), _inside(element, self.specification)
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
            currency, tax_currency = _inside(element, self.currency), _inside(element, self.tax_currency)
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

    def everywhere(self, kind: type[Group]) -> list[Any]:
        """Every group of ``kind``, wherever the document has one: at its place, below a sub line, or astray."""
        return [group for group in self.walk() if isinstance(group, kind)] + self.elsewhere.get(kind, [])
