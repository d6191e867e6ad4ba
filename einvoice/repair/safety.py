"""Decides whether the amounts that a change sets follow from the rest of the invoice, with nothing else at fault."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from decimal import Decimal
from typing import Any, Final

from einvoice.model.invoice import Invoice
from einvoice.model.lines import Line
from einvoice.model.values import absent
from einvoice.repair.arithmetic import Amount, calculated, has_repeated_breakdown, in_currency, total

_OPERANDS: Final[Mapping[str, frozenset[str]]] = {
    "BT-106": frozenset({"BT-131"}),
    "BT-107": frozenset({"BT-92"}),
    "BT-108": frozenset({"BT-99"}),
    "BT-109": frozenset({"BT-106", "BT-107", "BT-108"}),
    "BT-110": frozenset({"BT-117"}),
    "BT-112": frozenset({"BT-109", "BT-110"}),
    "BT-115": frozenset({"BT-112", "BT-113", "BT-114"}),
    "BT-116": frozenset({"BT-131", "BT-92", "BT-99"}),
    "BT-117": frozenset({"BT-116"}),
    "BT-131": frozenset(),
}
"""The equations of EN 16931-1 (6.4.3): an amount and those from which it is calculated."""
_TOTALS: Final = {
    "line_net": "BT-106", "allowances": "BT-107", "charges": "BT-108", "net": "BT-109", "gross": "BT-112",
    "due": "BT-115", "paid": "BT-113", "rounding": "BT-114",
}  # fmt: skip
_FROM_BREAKDOWN: Final = {"BT-110", "BT-116", "BT-117"}
_FROM_LINES: Final = {"BT-106", "BT-109", "BT-110", "BT-112", "BT-115", "BT-116", "BT-117"}
_ROUNDED_TO: Final = Decimal("0.05")
"""The smallest unit to which payable amounts are rounded, in countries without smaller coins."""
_GIVEN: Final = {"BT-92", "BT-99", "BT-116", "BT-117", "BT-131"}


def is_derivable(before: Invoice, after: Invoice) -> bool:
    """Return whether the amounts that a change sets follow from the rest of the invoice.

    Each of them is the result of its equation, and so are all amounts of the equations that it or one of its operands
    is part of: otherwise an operand may be wrong instead. An unreadable amount may also be written in another form that
    no equation contradicts. No equation confirms the amount due, so the totals only change together if the lines and
    the VAT breakdown agree with each other.

    Args:
        before: the invoice.
        after: the changed invoice.
    """
    changed, reformatted = _changed(before, after)
    if not changed | reformatted:
        return True
    if changed & _FROM_BREAKDOWN and has_repeated_breakdown(before):
        return False
    right, wrong = _equations(after)
    if not changed <= right or any(wrong & _related(term) for term in changed):
        return False
    if any(wrong & _containing({term}) for term in reformatted):
        return False
    if "BT-115" in changed and "BT-112" in changed:
        return right >= _FROM_LINES and not changed & _GIVEN
    return "BT-115" not in changed or ("BT-112" in right and not _is_rounded(before))


def _is_rounded(invoice: Invoice) -> bool:
    """Return whether the amount due differs from the total as if it was rounded and the rounding (BT-114) got lost."""
    due, gross = invoice.totals.due.number, invoice.totals.gross.number
    difference = due - gross + (invoice.totals.paid.number or 0)
    return difference is not absent and abs(difference) < 1 and not due % _ROUNDED_TO


def _related(term: str) -> set[str]:
    """Return the results of the equations that an amount, or an operand of it, is part of."""
    related = _containing({term, *_OPERANDS[term]})
    return related if term == "BT-131" else related - {"BT-131"}  # a net amount can be agreed instead of calculated


def _containing(terms: set[str]) -> set[str]:
    return {result for result, operands in _OPERANDS.items() if result in terms or not operands.isdisjoint(terms)}


def _equations(invoice: Invoice) -> tuple[set[str], set[str]]:
    """Return the terms of which all amounts are as calculated, and those of which one is not."""
    right: set[str] = set()
    wrong: set[str] = set()
    for it in calculated(invoice):
        if not it.is_input:
            (right if getattr(it.group, it.field).number == it.number else wrong).add(_term(invoice, it))
    taxable, net = total(vat.taxable_amount.number for vat in invoice.vat_breakdown), invoice.totals.net.number
    is_unequal = bool(invoice.vat_breakdown) and absent not in (taxable, net) and taxable != net
    if is_unequal or has_repeated_breakdown(invoice):  # lines may be missing, or rows may belong together
        wrong.add("BT-116")
    return right - wrong, wrong


def _term(invoice: Invoice, amount: Amount) -> str:
    if amount.group is invoice.totals:
        return _TOTALS[amount.field]
    if isinstance(amount.group, Line):
        return "BT-131"
    return {"taxable_amount": "BT-116", "tax_amount": "BT-117"}.get(amount.field, "BT-110")


def not_calculable(invoice: Invoice) -> set[str]:
    """Return the totals that follow from an amount that is missing or unreadable; rules may count it as zero."""
    return _FROM_LINES - {_term(invoice, it) for it in calculated(invoice) if not it.is_input}


def _changed(before: Invoice, after: Invoice) -> tuple[set[str], set[str]]:
    """Return the terms of the amounts that differ, and those of amounts that can only now be read."""
    changed: set[str] = set()
    reformatted: set[str] = set()
    known = dict(_amounts(after))
    for term, values in _amounts(before):
        pairs = list(zip(values, known[term], strict=False))
        if len(values) != len(known[term]) or any(_differs(*pair) for pair in pairs):
            changed.add(term)
        elif any(one.number is not other.number and one.number != other.number for one, other in pairs):
            reformatted.add(term)
    return changed, reformatted


def _differs(before: Any, after: Any) -> bool:
    is_readable = before.number is not absent or not before.filled
    return is_readable and before.number is not after.number and before.number != after.number


def _amounts(invoice: Invoice) -> Iterator[tuple[str, list[Any]]]:
    """Yield the stated amounts by term."""
    yield "BT-131", _stated(line.net_amount for line in invoice.lines)
    yield "BT-92", _stated(it.amount for it in invoice.allowances)
    yield "BT-99", _stated(it.amount for it in invoice.charges)
    yield "BT-110", _stated(it.amount for it in invoice.tax_totals if in_currency(it, invoice))
    yield "BT-116", _stated(vat.taxable_amount for vat in invoice.vat_breakdown)
    yield "BT-117", _stated(vat.tax_amount for vat in invoice.vat_breakdown)
    for field, term in _TOTALS.items():
        yield term, _stated([getattr(invoice.totals, field)])


def _stated(values: Iterable[Any]) -> list[Any]:
    return [value for value in values if value is not absent]
