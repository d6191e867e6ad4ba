"""Gives content of extensions the form that the specification of the converted invoice has for it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from einvoice.conversion.specification import facturx_profile, specification_of
from einvoice.facturx.profile import EXTENDED
from einvoice.model.invoice import Invoice
from einvoice.model.lines import Line
from einvoice.model.money import TaxCategory, VatBreakdown
from einvoice.model.values import Identifier, absent
from einvoice.syntax.mapping.placement import copy_of
from einvoice.syntax.specifications import Syntax

_WITH_TAX: Final = frozenset("SLM")
_WITHOUT_REASON: Final = _WITH_TAX | {"Z"}
"""VAT categories without exemption (BR-S-10, BR-Z-10, BR-AF-10, BR-AG-10)."""


def with_meaning(invoice: Invoice, target: Syntax, declared: str | None) -> Invoice:
    """Return a copy that means the same under the specification that it declares as a document of `target`.

    A logistics charge (BG-X-42) becomes a charge on the invoice (BG-21). Of lines and their sub-lines those remain that
    the totals count. Of EXTENDED, negative prices become negative quantities, and the exemption reasons (BT-120,
    BT-121) of categories that have none in EN 16931 are omitted. Also omitted are the accounting currency (BT-6) if it
    is that of the invoice, in CII the schemes of numbers that have none in EN 16931, and a VAT breakdown of 0 that
    nothing belongs to, where the official rules of the target forbid them.

    Args:
        invoice: the source.
        target: the syntax of the result.
        declared: its new specification (BT-24); None if it stays.
    """
    result = copy_of(invoice)
    result.__dict__.update(syntax=invoice.syntax, root=invoice.root)
    keeps_extension = specification_of(invoice, target, declared).facturx_profile == "extended"
    if result.tax_currency.text == result.currency.text:
        result.tax_currency = absent
    if not keeps_extension:
        charges = [it.as_charge() for it in result.logistics_charges]
        result.allowances_and_charges = [*result.allowances_and_charges, *charges]
        result.logistics_charges = ()
        result.lines = list(_lines(result, target))
        if facturx_profile(invoice) is EXTENDED:
            _leave_extended(result)
    if target == "CII":
        _remove_schemes(result)
    if target != invoice.syntax:
        result.vat_breakdown = _without_unused(result, target)
    if declared is not None:
        result.specification = Identifier(declared)
    return result


def _leave_extended(invoice: Invoice) -> None:
    for entry in invoice.vat_breakdown:
        if entry.category.text in _WITHOUT_REASON:
            entry.exemption_reason = entry.exemption_reason_code = absent
    for line in invoice.lines:
        price, gross = line.price, line.gross_price
        if price is not absent and price.net.number < 0 and not line.price_allowances:
            line.quantity, price.net = _negative(line.quantity), _negative(price.net)
            if gross is not absent:
                gross.amount = _negative(gross.amount)


def _negative(number: Any) -> Any:
    """Return a number with the other sign; `absent` stays."""
    if number is absent:
        return number
    text = number.raw.strip()
    return type(number)(text.removeprefix("-") if text.startswith("-") else f"-{text}", number.attributes)


def _without_unused(invoice: Invoice, target: Syntax) -> list[VatBreakdown]:
    """Return the VAT breakdowns without those of 0 whose category and rate nothing has; all if none would be left.

    In UBL the official rules accept them for categories without tax, in CII only for those with tax.
    """
    taxes = [tax for line in invoice.lines for tax in line.taxes]
    used = {_key(it) for it in (*taxes, *(tax for it in invoice.allowances_and_charges for tax in it.taxes))}
    kept = [
        it
        for it in invoice.vat_breakdown
        if it.taxable_amount.number != 0
        or it.tax_amount.number != 0
        or (it.category.text in _WITH_TAX) != (target == "UBL")
        or _key(it) in used
    ]
    return kept or list(invoice.vat_breakdown)


def _remove_schemes(invoice: Invoice) -> None:
    invoice.number = _without_scheme(invoice.number)
    for line in invoice.lines:
        item = line.item
        line.identifier = _without_scheme(line.identifier)
        item.seller_identifier = _without_scheme(item.seller_identifier)
        item.buyer_identifier = _without_scheme(item.buyer_identifier)


def _without_scheme(identifier: Identifier) -> Identifier:
    return identifier if identifier is absent or identifier.scheme is absent else Identifier(identifier.raw)


def _lines(invoice: Invoice, target: Syntax) -> Iterator[Line]:
    """Yield the lines that the totals count. Only EXTENDED has lines that they do not count, only UBL nests lines."""
    if invoice.syntax == target == "UBL":
        yield from invoice.lines
        return
    for line in invoice.counted_lines if facturx_profile(invoice) is EXTENDED else invoice.lines:
        line.parent_line = line.status_reason = absent
        yield from _counted(line)


def _counted(line: Line) -> Iterator[Line]:
    """Yield a line without its sub-lines, whose amounts it contains; the sub-lines if it is no full line without them.

    A line whose VAT category is not that of all its sub-lines is no full line either.
    """
    leaves = list(_leaves(line)) if line.lines else []
    line.lines = ()
    if not leaves or (_is_full(line) and {_vat(it) for it in leaves} == {_vat(line)}):
        yield line
        return
    is_same = sum(leaf.net_amount.number for leaf in leaves) == line.net_amount.number
    yield from leaves if is_same and all(map(_is_full, leaves)) else [line]


def _leaves(line: Line) -> Iterator[Line]:
    for inner in line.lines:
        yield from _leaves(inner)
    if not line.lines:
        yield line


def _vat(line: Line) -> tuple[Any, Any]:
    return _key(line.vat)


def _key(tax: TaxCategory) -> tuple[Any, Any]:
    return tax.category.text, tax.rate.number


def _is_full(line: Line) -> bool:
    """Return whether a line has the terms that EN 16931 requires of it."""
    required = (line.identifier, line.quantity, line.quantity.unit, line.net_amount, line.price.net, line.item.name)
    return bool(line.taxes) and all(it is not absent for it in required)
