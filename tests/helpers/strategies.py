"""Hypothesis strategies for invoices.

``invoices()`` makes anything the model can hold, from the model's own declarations; ``plausible_invoices()`` makes
invoices that a business could send and whose amounts add up.
"""

from __future__ import annotations

import base64
import datetime
import functools
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from einvoice.model.group import Group, types_of
from einvoice.model.invoice import Invoice, Totals
from einvoice.model.lines import Item, Line, Period, Price
from einvoice.model.money import (
    AllowanceCharge,
    AllowanceTax,
    CreditTransfer,
    LineAllowanceCharge,
    LineTax,
    PaymentMeans,
    TaxTotal,
    VatBreakdown,
)
from einvoice.model.parties import Buyer, BuyerAddress, Seller, SellerAddress, SellerContact, SellerTaxRegistration
from einvoice.model.values import (
    Amount,
    Binary,
    Code,
    Date,
    Identifier,
    Number,
    Percentage,
    Quantity,
    Text,
    UnitPrice,
    Value,
    absent,
)

#: Optional and required fields of a group.
FieldTest = Callable[[type[Group], str], bool]

#: Attributes of values, by class.
ATTRIBUTES: Mapping[type[Value], tuple[str, ...]] = {
    Identifier: ("schemeID",),
    Code: ("listID",),
    Amount: ("currencyID",),
    UnitPrice: ("currencyID",),
    Quantity: ("unitCode",),
    Binary: ("mimeCode", "filename"),
}

#: Codes that determine the meaning of a group, by field; as likely as any other code.
DECISIVE: Mapping[str, tuple[str, ...]] = {
    "indicator": ("true", "false", "1", "0"),
    "scheme": ("VAT", "VA", "FC"),
    "type_code": ("130", "916", "380"),
}

_DEEPEST_LINE = 2


def everything(cls: type[Group], field: str) -> bool:
    """Return all fields."""
    return True


def nothing(cls: type[Group], field: str) -> bool:
    """Return no field."""
    return False


# ---------------------------------------------------------------- texts


def texts(*, min_size: int = 0, max_size: int = 12) -> SearchStrategy[str]:
    """Generate texts that survive XML 1.0 unchanged (a carriage return would become a line feed)."""
    characters = st.characters(
        exclude_categories=("Cs", "Cc"), include_characters="\t\n", exclude_characters="\ufffe\uffff"
    )
    awkward = ("Müller & Söhne", "<b>", "]]>", "\"'", " leading", "trailing ", "a\u00a0b", "🧾", "1 < 2 > 0", "#ADU#x")
    fitting = [text for text in awkward if min_size <= len(text) <= max_size]
    return st.one_of(st.sampled_from(fitting), st.text(characters, min_size=min_size, max_size=max_size))


def codes() -> SearchStrategy[str]:
    """Generate texts that look like codes."""
    return st.text("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", min_size=1, max_size=4)


def decimals(*, places: int = 4, most: int = 10**8) -> SearchStrategy[str]:
    """Generate exact numbers of up to ``places`` decimals, with and without trailing zeros."""
    whole = st.integers(-most, most)
    return st.builds(lambda n, shift: f"{Decimal(n).scaleb(-shift):f}", whole, st.integers(0, places))


def days() -> SearchStrategy[datetime.date]:
    """Generate plausible invoice dates."""
    return st.dates(datetime.date(1990, 1, 1), datetime.date(2099, 12, 31))


def files() -> SearchStrategy[str]:
    """Generate small files in base64."""
    return st.binary(max_size=24).map(lambda content: base64.b64encode(content).decode())


# ---------------------------------------------------------------- values


def values(cls: type[Value], syntax: str = "", field: str = "") -> SearchStrategy[Any]:
    """Generate values of ``cls`` with attributes; dates have the format of ``syntax``."""
    if cls is Date:
        return days().map(_cii_date if syntax == "CII" else _date)
    attributes = st.fixed_dictionaries({}, optional=dict.fromkeys(ATTRIBUTES.get(cls, ()), texts(min_size=1)))
    any_value = st.builds(cls, _raw(cls), attributes)
    return any_value | st.sampled_from(DECISIVE[field]).map(cls) if field in DECISIVE else any_value


def _raw(cls: type[Value]) -> SearchStrategy[str]:
    if issubclass(cls, Number):
        return decimals()
    if issubclass(cls, Code):
        return codes()
    return files() if issubclass(cls, Binary) else texts()


def _date(day: datetime.date) -> Date:
    return Date(day.isoformat())


def _cii_date(day: datetime.date) -> Date:
    return Date(day.strftime("%Y%m%d"), {"format": "102"})


# ---------------------------------------------------------------- groups


@dataclass(frozen=True)
class Plan:
    """Options of a strategy for groups: see ``invoices``."""

    allowed: FieldTest = everything
    required: FieldTest = nothing
    repeated: FieldTest = nothing
    syntax: str = ""


def invoices(
    allowed: FieldTest = everything,
    *,
    required: FieldTest = nothing,
    repeated: FieldTest = nothing,
    syntax: str = "",
) -> SearchStrategy[Invoice]:
    """Generate invoices with any content.

    Any of the ``allowed`` fields is filled or not, the ``required`` ones always, lists with up to three members. A
    ``repeated`` field that holds one value or group may have further ones in ``more``. With a ``syntax`` the invoice
    claims to have been read from it.
    """

    def from_syntax(invoice: Invoice) -> Invoice:
        invoice.__dict__["syntax"] = syntax
        return invoice

    return groups(Invoice, Plan(allowed, required, repeated, syntax)).map(from_syntax)


@st.composite
def groups(draw: DrawFn, cls: type[Group], plan: Plan, depth: int = 1) -> Any:
    """Generate groups of ``cls``; lines are nested two levels deep."""
    kind: Any = cls  # mypy takes a class for unhashable where its instances are
    return kind(**draw(_content(kind, plan, depth)))


@functools.cache
def _content(cls: Any, plan: Plan, depth: int) -> SearchStrategy[dict[str, Any]]:
    needed: dict[str, SearchStrategy[Any]] = {}
    optional: dict[str, SearchStrategy[Any]] = {}
    for field in cls.fields:
        kind: type[Any]
        kind, many = types_of(cls)[field]
        deeper = depth + 1 if kind is cls else depth
        if field == "more" or deeper > _DEEPEST_LINE or not plan.allowed(cls, field):
            continue
        one = groups(kind, plan, deeper) if issubclass(kind, Group) else values(kind, plan.syntax, field)
        least = int(plan.required(cls, field))
        if many:
            one = st.lists(one, min_size=least, max_size=3)
        elif plan.repeated(cls, field):
            one = st.lists(one, min_size=1, max_size=3).map(_together)
        (needed if least else optional)[field] = one
    return st.fixed_dictionaries(needed, optional=optional)


def _together(occurrences: list[Any]) -> Any:
    first, *more = occurrences
    if more:
        first.more = more
    return first


# ---------------------------------------------------------------- consistent invoices


def cents(amount: Decimal) -> Decimal:
    """Round to two decimals, halves towards +infinity, as the official rules do."""
    return (amount * 100 + Decimal("0.5")).to_integral_value(ROUND_FLOOR) / 100


_VAT = Code("VAT")
_RATES = (("S", "19"), ("S", "7"), ("Z", "0"), ("E", "0"))
_EXEMPT = Text("Umsatzsteuerfrei nach § 4 UStG")


def _euro(amount: Decimal) -> Amount:
    return Amount(f"{amount:.2f}", {"currencyID": "EUR"})


def _money(most: int) -> SearchStrategy[Decimal]:
    return st.integers(0, most).map(lambda amount: Decimal(amount) / 100)


@st.composite
def plausible_invoices(draw: DrawFn) -> Invoice:
    """Generate consistent German invoices in euro with all terms that XRechnung requires."""
    lines = [draw(_lines(number)) for number in range(1, draw(st.integers(1, 4)) + 1)]
    extras = [draw(_document_extras()) for _ in range(draw(st.integers(0, 2)))]
    net_of = _net_by_category(lines, extras)
    breakdown = [_breakdown(category, rate, net) for (category, rate), net in net_of.items()]
    tax = sum((part.tax_amount.number for part in breakdown), Decimal(0))
    issued = draw(days())
    return Invoice(
        specification=Identifier("urn:cen.eu:en16931:2017#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0"),
        business_process=Text("urn:fdc:peppol.eu:2017:poacc:billing:01:1.0"),
        number=Identifier(draw(st.from_regex(r"R-[0-9]{1,6}", fullmatch=True))),
        issue_date=_date(issued),
        due_date=_date(issued + datetime.timedelta(days=draw(st.integers(0, 90)))),
        type_code=Code("380"),
        currency=Code("EUR"),
        buyer_reference=Text("04011000-12345-03"),
        seller=_seller(),
        buyer=_buyer(),
        periods=[Period(start=_date(issued - datetime.timedelta(days=30)), end=_date(issued))],
        payment_means=[
            PaymentMeans(
                code=Code("58"), credit_transfer=CreditTransfer(identifier=Identifier("DE89370400440532013000"))
            )
        ],
        allowances_and_charges=extras,
        totals=_totals(lines, extras, tax, draw(_money(1000))),
        tax_totals=[TaxTotal(amount=_euro(tax))],
        vat_breakdown=breakdown,
        lines=lines,
    )


def _seller() -> Seller:
    return Seller(
        name=Text("Müller & Söhne GmbH"),
        tax_registrations=[SellerTaxRegistration(identifier=Identifier("DE123456789"), scheme=_VAT)],
        electronic_address=Identifier("rechnung@mueller.example", {"schemeID": "EM"}),
        address=SellerAddress(
            line_1=Text("Hauptstraße 1"), city=Text("Köln"), postal_code=Text("50667"), country_code=Code("DE")
        ),
        contact=SellerContact(
            name=Text("Änne Groß"), telephone=Text("+49 221 123456"), email=Text("gross@mueller.example")
        ),
    )


def _buyer() -> Buyer:
    return Buyer(
        name=Text("Stadt Musterstadt"),
        electronic_address=Identifier("eingang@musterstadt.example", {"schemeID": "EM"}),
        address=BuyerAddress(
            line_1=Text("Am Markt 2"), city=Text("Musterstadt"), postal_code=Text("12345"), country_code=Code("DE")
        ),
    )


@st.composite
def _lines(draw: DrawFn, number: int) -> Line:
    quantity = Decimal(draw(st.integers(-500, 5000).filter(bool))) / 10
    price = Decimal(draw(st.integers(0, 10**6))) / 10000
    category, rate = draw(st.sampled_from(_RATES))
    extras = [
        LineAllowanceCharge(indicator=Code(draw(_indicators())), amount=_euro(draw(_money(500))), reason=Text("Aktion"))
        for _ in range(draw(st.integers(0, 2)))
    ]
    return Line(
        identifier=Identifier(str(number)),
        quantity=Quantity(str(quantity), {"unitCode": "C62"}),
        net_amount=_euro(cents(quantity * price) + _signed(extras)),
        allowances_and_charges=extras,
        price=Price(net=UnitPrice(f"{price:f}", {"currencyID": "EUR"})),
        taxes=[LineTax(category=Code(category), rate=Percentage(rate), scheme=_VAT)],
        item=Item(name=Text(draw(st.sampled_from(("Schrauben M8", "Beratung", "Fachbuch „XML“"))))),
    )


@st.composite
def _document_extras(draw: DrawFn) -> AllowanceCharge:
    category, rate = draw(st.sampled_from(_RATES))
    return AllowanceCharge(
        indicator=Code(draw(_indicators())),
        amount=_euro(draw(_money(2000))),
        taxes=[AllowanceTax(category=Code(category), rate=Percentage(rate), scheme=_VAT)],
        reason=Text("Fracht oder Rabatt"),
    )


def _indicators() -> SearchStrategy[str]:
    return st.sampled_from(("false", "true"))


def _signed(extras: list[Any]) -> Decimal:
    """Return the sum of allowances and charges."""
    return sum((it.amount.number if it.is_charge else -it.amount.number for it in extras), Decimal(0))


def _net_by_category(lines: list[Line], extras: list[AllowanceCharge]) -> dict[tuple[str, str], Decimal]:
    net: dict[tuple[str, str], Decimal] = defaultdict(Decimal)
    for line in lines:
        net[line.vat.category.raw, line.vat.rate.raw] += line.net_amount.number
    for extra in extras:
        net[extra.vat.category.raw, extra.vat.rate.raw] += _signed([extra])
    return net


def _breakdown(category: str, rate: str, net: Decimal) -> VatBreakdown:
    return VatBreakdown(
        taxable_amount=_euro(net),
        tax_amount=_euro(cents(net * Decimal(rate) / 100)),
        category=Code(category),
        rate=Percentage(rate),
        scheme=_VAT,
        exemption_reason=_EXEMPT if category == "E" else absent,
    )


def _totals(lines: list[Line], extras: list[AllowanceCharge], tax: Decimal, paid: Decimal) -> Totals:
    line_net = sum((line.net_amount.number for line in lines), Decimal(0))
    charges = [it for it in extras if it.is_charge]
    allowances = [it for it in extras if it.is_allowance]
    net = line_net + _signed(extras)
    return Totals(
        line_net=_euro(line_net),
        allowances=_euro(-_signed(allowances)) if allowances else absent,
        charges=_euro(_signed(charges)) if charges else absent,
        net=_euro(net),
        gross=_euro(net + tax),
        paid=_euro(paid) if paid else absent,
        due=_euro(net + tax - paid),
    )
