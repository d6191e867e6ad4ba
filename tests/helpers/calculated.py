"""Random invoices whose amounts add up, and the same with some amounts changed; calculated in whole cents."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from random import Random
from typing import Any

from einvoice.model.invoice import Invoice, Totals
from einvoice.model.iteration import filled
from einvoice.model.lines import Item, Line, Price
from einvoice.model.money import (
    AllowanceCharge,
    AllowanceTax,
    LineAllowanceCharge,
    LineTax,
    PriceAllowance,
    TaxTotal,
    VatBreakdown,
)
from einvoice.model.values import Amount, Code, Date, Identifier, Percentage, Quantity, Text, UnitPrice, absent

#: VAT categories with their rates; category O has none.
TAXES = (
    ("S", "19"), ("S", "7.00"), ("S", "5.5"), ("Z", "0"), ("E", "0"), ("AE", "0"), ("K", "0.00"), ("G", "0"),
    ("O", ""), ("L", "7"), ("L", "3"), ("M", "4"),
)  # fmt: skip
_EURO = {"currencyID": "EUR"}
_CREDIT_NOTE = "381"


def random_invoice(random: Random) -> Invoice:
    """Return a correct invoice or credit note: up to five lines and three allowances or charges, of either sign."""
    taxes = random.sample(TAXES, random.randint(1, 3))
    sign = random.choice((1, 1, -1))
    lines = [_line(random, str(number), sign, random.choice(taxes)) for number in range(1, random.randint(2, 6))]
    extras = [_extra(random, random.choice(taxes)) for _ in range(random.randint(0, 3))]
    breakdown = _breakdown(random, lines, extras)
    tax = sum(map(_cents_of, (vat.tax_amount for vat in breakdown)))
    return Invoice(
        specification=Identifier("urn:cen.eu:en16931:2017"),
        number=Identifier("R-1"),
        issue_date=Date("2026-11-26"),
        type_code=Code(random.choice(("380", _CREDIT_NOTE))),
        currency=Code("EUR"),
        lines=lines,
        allowances_and_charges=extras,
        vat_breakdown=breakdown,
        tax_totals=[TaxTotal(amount=_amount(tax))],
        totals=_totals(random, lines, extras, tax),
    )


def alter(invoice: Invoice, random: Random) -> None:
    """Change up to three amounts, prices among them: by a cent, by three, or by one."""
    amounts = [it for it in filled(invoice) if isinstance(it.value, Amount)]
    for it in random.sample(amounts, random.randint(0, 3)):
        difference = Decimal(random.choice(("0.01", "-0.01", "0.03", "-0.03", "1.00")))
        changed = type(it.value)(f"{it.value.number + difference or 0:.4f}" if isinstance(it.value, UnitPrice)
                                 else f"{it.value.number + difference or 0:.2f}", _EURO)  # fmt: skip
        setattr(it.group, it.field, changed)


def root_of(invoice: Invoice, syntax: str) -> str:
    """Return the name of the root element in a syntax."""
    if syntax == "CII":
        return "CrossIndustryInvoice"
    return "CreditNote" if invoice.type_code.text == _CREDIT_NOTE else "Invoice"


def _amount(cents: int) -> Amount:
    return Amount(f"{Decimal(cents).scaleb(-2):.2f}", _EURO)


def _cents(amount: Decimal) -> int:
    return int((amount * 100).to_integral_value(ROUND_HALF_UP))


def _cents_of(amount: Any) -> int:
    return int(amount.number * 100)


def _signed(extras: Sequence[Any]) -> int:
    return sum(_cents_of(it.amount) * (1 if it.is_charge else -1) for it in extras)


def _line(random: Random, number: str, sign: int, tax: tuple[str, str]) -> Line:
    quantity = Decimal(sign * random.randint(1, 5000)).scaleb(-random.randint(0, 2))
    price = Decimal(random.randint(0, 10**6)).scaleb(-random.randint(2, 4))
    base = random.choice((None, None, 1, 3, 12, 100))
    extras = [_share(random, LineAllowanceCharge) for _ in range(random.randint(0, 2))]
    net = _cents(quantity * price / (base or 1)) + _signed(extras)
    category, rate = tax
    return Line(
        identifier=Identifier(number),
        quantity=Quantity(f"{quantity:f}", {"unitCode": "C62"}),
        net_amount=_amount(net),
        allowances_and_charges=extras,
        price=Price(
            net=UnitPrice(f"{price:f}", _EURO),
            base_quantity=Quantity(str(base), {"unitCode": "C62"}) if base else absent,
            allowances=_discount(random, price),
        ),
        taxes=[LineTax(category=Code(category), rate=Percentage(rate) if rate else absent, scheme=Code("VAT"))],
        item=Item(name=Text("Beratung")),
    )


def _discount(random: Random, price: Decimal) -> list[PriceAllowance]:
    if random.random() < 0.7:
        return []
    discount = Decimal(random.randint(1, 999)).scaleb(-2)
    return [
        PriceAllowance(
            indicator=Code("false"),
            amount=UnitPrice(f"{discount:f}", _EURO),
            base_amount=UnitPrice(f"{price + discount:f}", _EURO),
        )
    ]


def _share(random: Random, cls: type[Any], **more: Any) -> Any:
    """Return an allowance or charge, with or without a percentage."""
    content = {"amount": _amount(random.randint(0, 5000))}
    if random.random() < 0.5:
        base, percentage = random.randint(0, 10**6), Decimal(random.randint(1, 400)).scaleb(-1)
        content = {
            "amount": _amount(_cents(Decimal(base).scaleb(-2) * percentage / 100)),
            "base_amount": _amount(base),
            "percentage": Percentage(f"{percentage:f}"),
        }
    return cls(indicator=Code(random.choice(("true", "false"))), reason=Text("Aktion"), **content, **more)


def _extra(random: Random, tax: tuple[str, str]) -> AllowanceCharge:
    category, rate = tax
    vat = AllowanceTax(category=Code(category), rate=Percentage(rate) if rate else absent, scheme=Code("VAT"))
    extra: AllowanceCharge = _share(random, AllowanceCharge, taxes=[vat])
    return extra


def _breakdown(random: Random, lines: list[Line], extras: list[AllowanceCharge]) -> list[VatBreakdown]:
    taxable: defaultdict[tuple[str, Any], int] = defaultdict(int)
    for line in lines:
        taxable[line.vat.category.text, line.vat.rate.number or None] += _cents_of(line.net_amount)
    for extra in extras:
        taxable[extra.vat.category.text, extra.vat.rate.number or None] += _signed([extra])
    parts = []
    for (category, rate), cents in taxable.items():
        stated = absent if category == "O" and random.random() < 0.5 else Percentage(f"{rate or 0:f}")
        parts.append(
            VatBreakdown(
                category=Code(category),
                rate=stated,
                scheme=Code("VAT"),
                taxable_amount=_amount(cents),
                tax_amount=_amount(_cents(Decimal(cents) * (rate or 0) / 10**4)),
            )
        )
    return parts


def _totals(random: Random, lines: list[Line], extras: list[AllowanceCharge], tax: int) -> Totals:
    line_net = sum(_cents_of(line.net_amount) for line in lines)
    net = line_net + _signed(extras)
    charges, allowances = ([it for it in extras if it.is_charge is wanted] for wanted in (True, False))
    paid, rounding = random.choice((0, 0, 500, -123)), random.choice((0, 0, 1, -2))
    return Totals(
        line_net=_amount(line_net),
        allowances=_amount(-_signed(allowances)) if allowances else absent,
        charges=_amount(_signed(charges)) if charges else absent,
        net=_amount(net),
        gross=_amount(net + tax),
        paid=_amount(paid) if paid else absent,
        rounding=_amount(rounding) if rounding else absent,
        due=_amount(net + tax - paid + rounding),
    )
