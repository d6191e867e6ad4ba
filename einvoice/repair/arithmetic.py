"""The amounts of an invoice as EN 16931-1 (6.4.3) calculates them, each from the others as the invoice states them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Context, Decimal, localcontext
from typing import Any, Final

from einvoice.model.group import Group
from einvoice.model.invoice import Invoice
from einvoice.model.lines import Line
from einvoice.model.values import absent

_EXACT: Final = Context(prec=40, rounding=ROUND_HALF_UP)
_CENT: Final = Decimal("0.01")
_TOLERANCE: Final = 2 * _CENT
"""Maximum difference of a tax amount that is the sum of rounded ones."""
_MIN_STEP: Final = Decimal("0.1")
"""Minimum difference of two VAT rates in percent."""
TAXED: Final = ("S", "L", "M", "B")
"""VAT categories with a rate above zero."""


@dataclass(frozen=True, slots=True)
class Amount:
    """An amount that follows from others.

    Attributes:
        group: its group.
        field: its field in the group.
        number: the calculated amount.
        is_input: whether calculation normally starts from it, so that other inputs could be wrong as well.
        is_possible: whether the invoice can state it: a paid amount is only negative if the stated one is.
    """

    group: Group
    field: str
    number: Decimal
    is_input: bool = False
    is_possible: bool = True


def calculated(invoice: Invoice) -> Iterator[Amount]:
    """Yield the amounts that follow from other amounts of the invoice; none of those whose operands are missing."""
    yield from _calculated(invoice, (_lines, _sums, _breakdown, _totals))


def calculated_totals(invoice: Invoice) -> Iterator[Amount]:
    """Yield those that follow from the document totals and the VAT breakdown alone, without reading lines."""
    yield from _calculated(invoice, (_totals,))


def _calculated(invoice: Invoice, equations: Iterable[Callable[[Invoice], Iterator[Amount]]]) -> Iterator[Amount]:
    with localcontext(_EXACT):
        for equation in equations:
            for it in equation(invoice):
                if it.number is not absent and it.group is not absent:
                    yield it


_PASSES: Final = 6
"""More than the steps from a line amount to the amount due."""


def recalculated(invoice: Invoice, *, with_lines: bool) -> list[Amount]:
    """Return the amounts that change if all are calculated again from the lines.

    Args:
        invoice: the invoice.
        with_lines: whether the amounts of the lines are calculated too, from quantity and price.
    """
    changed: dict[tuple[int, str], Amount] = {}
    before: dict[int, tuple[Group, dict[str, Any]]] = {}
    try:  # a copy of an invoice with thousands of lines takes longer than its validation
        for _ in range(_PASSES):
            stale = [it for it in calculated(invoice) if _is_stale(it, with_lines)]
            for it in stale:
                before.setdefault(id(it.group), (it.group, dict(vars(it.group))))
                setattr(it.group, it.field, it.number)
                changed[id(it.group), it.field] = it
            if not stale:
                break
    finally:
        for group, fields in before.values():
            vars(group).clear()
            vars(group).update(fields)
    return list(changed.values())


def _is_stale(amount: Amount, with_lines: bool) -> bool:
    if amount.is_input or (isinstance(amount.group, Line) and not with_lines):
        return False
    return bool(getattr(amount.group, amount.field).number != amount.number)


def round2(number: Any) -> Any:
    """Round to two decimals, half away from zero; absent if the number is, or has too many digits for an amount."""
    return _rounded(number, 2)


def _rounded(number: Any, places: int) -> Any:
    if number is absent or number.adjusted() + places >= _EXACT.prec - 1:
        return absent
    return number.quantize(Decimal(1).scaleb(-places), context=_EXACT)


def total(numbers: Iterable[Any]) -> Any:
    """Return the sum; absent if a number is."""
    result: Any = Decimal(0)
    for number in numbers:
        result = result + number
    return result


def category_of(tax: Any) -> tuple[str, Any]:
    """Return category and rate, by which amounts are added; a category without tax has no rate."""
    return tax.category.text.strip() if tax.category is not absent else "", tax.rate.number


def _known(value: Any) -> Any:
    """Return the number of an optional amount: zero if it is missing."""
    return Decimal(0) if value is absent else value.number


def _signed(item: Any) -> Any:
    return item.amount.number if item.is_charge else -item.amount.number


def signed_amount(item: Any) -> Any:
    """Return what a line, an allowance or a charge adds to the taxable amount of its breakdown."""
    return item.net_amount.number if isinstance(item, Line) else _signed(item)


def _lines(invoice: Invoice) -> Iterator[Amount]:
    for line in invoice.lines:
        yield from _line(line)


def net_amount(line: Line) -> Any:
    """Return the net amount of a line calculated from quantity, price, allowances and charges; absent without them."""
    base = _known(line.price.base_quantity) or Decimal(1)
    extras = total(_signed(it) for it in line.allowances_and_charges)
    with localcontext(_EXACT):
        return round2(line.quantity.number * line.price.net.number / base + extras)


def _line(line: Line) -> Iterator[Amount]:
    price, quantity, net = line.price.net.number, line.quantity.number, line.net_amount.number
    base = _known(line.price.base_quantity) or Decimal(1)
    extras = total(_signed(it) for it in line.allowances_and_charges)
    expected = net_amount(line)
    yield Amount(line, "net_amount", expected)
    difference = net - expected
    if difference is not absent and abs(difference) < _CENT:
        return
    goods = net - extras
    if quantity and goods is not absent:
        yield Amount(line.price, "net", _factor(goods * base, quantity, base), is_input=True)
    if price and goods is not absent:
        yield Amount(line, "quantity", _factor(goods * base, price, base), is_input=True)
    for it in line.allowances_and_charges:
        amount = it.amount.number + (difference if it.is_charge else -difference)
        if amount is not absent and amount >= 0:
            yield Amount(it, "amount", amount, is_input=True)


def _factor(product: Any, factor: Any, base: Decimal) -> Any:
    """Return the number with the fewest decimals, at most six, that times `factor` is `product` to the cent."""
    if factor is absent:
        return absent
    exact = product / factor
    for places in range(6):
        short = _rounded(exact, places)
        if round2(short * factor / base) == round2(product / base):
            return short
    return _rounded(exact, 6)


def _sums(invoice: Invoice) -> Iterator[Amount]:
    """Yield the sums of lines, allowances and charges, and from the sums each summand."""
    totals = invoice.totals
    if invoice.lines:
        yield from _sum(totals, "line_net", [(line, "net_amount") for line in invoice.lines])
    for field, items in (("allowances", invoice.allowances), ("charges", invoice.charges)):
        if items:
            yield from _sum(totals, field, [(it, "amount") for it in items])


def _sum(totals: Any, field: str, summands: list[tuple[Any, str]]) -> Iterator[Amount]:
    stated = getattr(totals, field).number
    numbers = [getattr(group, name).number for group, name in summands]
    expected = total(numbers)
    yield Amount(totals, field, round2(expected))
    yield from _summands(summands, numbers, stated)


def _summands(summands: list[tuple[Any, str]], numbers: list[Any], stated: Any) -> Iterator[Amount]:
    """Yield what each summand would be if the others and the sum were right."""
    missing = sum(number is absent for number in numbers)
    if stated is absent or missing > 1:
        return
    known = total(number for number in numbers if number is not absent)
    for (group, name), present in zip(summands, numbers, strict=True):
        if missing and present is not absent:
            continue
        number = stated - known if present is absent else stated - (known - present)
        if number != present:
            yield Amount(group, name, number, is_input=True)


def unclassified(invoice: Invoice) -> list[Any]:
    """Return the lines, allowances and charges that may belong to any VAT breakdown, as they lack category or rate."""
    return [it for it in taxed_items(invoice) if not _is_classified(it.taxes)]


def taxed_items(invoice: Invoice) -> list[Any]:
    """Return the lines, allowances and charges, which have a VAT category each."""
    return [*invoice.lines, *invoice.allowances_and_charges]


def _is_classified(taxes: Iterable[Any]) -> bool:
    keys = [category_of(tax) for tax in taxes]
    return bool(keys) and all(category and (category not in TAXED or rate is not absent) for category, rate in keys)


def _breakdown(invoice: Invoice) -> Iterator[Amount]:
    are_classified = bool(invoice.lines) and not unclassified(invoice)
    keys = Counter(map(category_of, invoice.vat_breakdown))
    for vat in invoice.vat_breakdown:
        key = category_of(vat)
        plus = [(line, "net_amount") for line in invoice.lines if _is_of(line.taxes, key)]
        items = [it for it in invoice.allowances_and_charges if _is_of(it.taxes, key)]
        numbers = [getattr(group, name).number for group, name in plus]
        expected = total([*numbers, *(_signed(it) for it in items)])
        if (plus or items) and are_classified and keys[key] == 1:
            yield Amount(vat, "taxable_amount", expected)
            difference = vat.taxable_amount.number - expected
            for it in items if difference is not absent and difference else ():
                amount = it.amount.number + (difference if it.is_charge else -difference)
                yield Amount(it, "amount", amount, is_input=True)
            stated = vat.taxable_amount.number - total(_signed(it) for it in items)
            yield from _summands(plus, numbers, stated)
        rate = Decimal(0) if key[0] not in TAXED else vat.rate.number
        yield Amount(vat, "tax_amount", round2(vat.taxable_amount.number * rate / 100))
        if not (plus or items) and are_classified and rate and keys[key] == 1:
            yield Amount(vat, "taxable_amount", round2(vat.tax_amount.number * 100 / rate), is_input=True)


def rate_of_amounts(vat: Any) -> Any:
    """Return the rate in whole percent with which a breakdown has its tax amount; absent if there is none.

    The tax amount may differ by the cents of a tax that is rounded per line, but by less than another rate makes.
    """
    taxable, tax = vat.taxable_amount.number, vat.tax_amount.number
    if absent in (taxable, tax) or not taxable or not tax:
        return absent
    percent = round2(tax * 100 / taxable)
    if percent is absent or not 1 <= percent <= 100:
        return absent
    percent = percent.to_integral_value()
    tolerance = min(_TOLERANCE, abs(taxable) * _MIN_STEP / 200)
    return percent if abs(round2(taxable * percent / 100) - tax) <= tolerance else absent


def _is_of(taxes: Iterable[Any], key: tuple[str, Any]) -> bool:
    for tax in taxes:
        category, rate = category_of(tax)
        if category == key[0] and (category not in TAXED or rate == key[1]):
            return True
    return False


def _totals(invoice: Invoice) -> Iterator[Amount]:
    totals = invoice.totals
    tax = next((it for it in invoice.tax_totals if in_currency(it, invoice)), absent)
    if invoice.vat_breakdown:
        yield Amount(tax, "amount", total(vat.tax_amount.number for vat in invoice.vat_breakdown))
    line_net, net, gross, due = (getattr(totals, it).number for it in ("line_net", "net", "gross", "due"))
    less, plus = _known(totals.allowances), _known(totals.charges)
    paid, rounding = _known(totals.paid), _known(totals.rounding)
    vat = tax.amount.number if tax is not absent else absent
    yield Amount(totals, "net", line_net - less + plus)
    if tax is not absent or not is_taxed(invoice):
        yield Amount(totals, "gross", net + (Decimal(0) if tax is absent else vat))
    yield Amount(totals, "due", gross - paid + rounding)
    if gross - paid + rounding != due:
        number = gross + rounding - due
        is_possible = number is absent or number >= 0 or paid < 0
        yield Amount(totals, "paid", number, is_input=True, is_possible=is_possible)
    if net != line_net - less + plus and not invoice.allowances_and_charges:
        yield Amount(totals, "line_net", net + less - plus, is_input=True)


def has_repeated_breakdown(invoice: Invoice) -> bool:
    """Return whether the VAT breakdown has a category and rate twice, so that their amounts belong to several rows."""
    keys = [category_of(vat) for vat in invoice.vat_breakdown]
    return len(set(keys)) < len(keys)


def is_taxed(invoice: Invoice) -> bool:
    """Return whether a rate or an amount of the invoice says that it has VAT."""
    taxes = (tax for it in taxed_items(invoice) for tax in it.taxes)
    rates = [tax.rate.number for tax in (*taxes, *invoice.vat_breakdown)]
    return any(it for it in (*rates, *(vat.tax_amount.number for vat in invoice.vat_breakdown)) if it is not absent)


def in_currency(tax: Any, invoice: Invoice) -> bool:
    """Return whether a total VAT amount is the one in the currency of the invoice (BT-110), not BT-111."""
    currency = tax.amount.currency
    other = invoice.tax_currency
    return other is absent or currency != other.text or other.text == invoice.currency.text
