"""Finds the VAT category that stands in the wrong place: in an entry of the breakdown, or in the lines that it adds."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any, NamedTuple

from einvoice.model.calculation import RATED, taxed_items
from einvoice.model.invoice import Invoice
from einvoice.model.values import absent
from einvoice.reconciliation.amounts import Key, key_of, round2, signed_amount, total


class Misplaced(NamedTuple):
    """Taxes of one category and rate that belong to another one."""

    taxes: Sequence[Any]
    given: Key
    right: Key


def lacking_in_entries(invoice: Invoice) -> dict[Key, Any]:
    """Return by category and rate what the lines, charges and allowances have more than the entries of the breakdown.

    An amount is absent if one of its summands is missing or malformed.
    """
    left = {key: _sum(items) for key, items in _items(invoice).items()}
    for row in invoice.vat_breakdown:
        key = entry_key(row)
        left[key] = left.get(key, Decimal(0)) - row.taxable_amount.number
    return left


def entry_key(row: Any) -> Key:
    """Return category and rate of an entry of the breakdown: one with VAT is not that of a category without."""
    category, rate = key_of(row)
    stated = row.rate.number
    return category, stated if category not in RATED and stated is not absent and row.tax_amount.number else rate


def misplaced(invoice: Invoice) -> Misplaced | None:
    """Return the entry or the items whose category or rate is wrong, as all amounts say; None if they do not.

    One category has the amount too much that another one lacks. If no item belongs to an entry, and no entry to the
    items, the tax amount says which of them is right.
    """
    rows = {entry_key(vat): vat for vat in invoice.vat_breakdown}
    items, left = _items(invoice), lacking_in_entries(invoice)
    wrong = [key for key, amount in left.items() if amount]
    if len(rows) < len(invoice.vat_breakdown) or absent in (*left.values(), *(rate for _, rate in left)):
        return None
    if len(wrong) != 2 or left[wrong[0]] + left[wrong[1]]:
        return None
    for surplus, lacking in (wrong, wrong[::-1]):
        if lacking not in rows or surplus not in items:
            continue
        row, stated = rows[lacking], items[surplus]
        if surplus not in rows and lacking not in items and _fits(row, surplus):
            return None if _fits(row, lacking) else Misplaced([row], lacking, surplus)
        amount = left[surplus]
        moved = stated if _sum(stated) == amount else [it for it in stated if it[0] == amount]
        if _fits(row, lacking) and (len(moved) == 1 or moved is stated):
            return Misplaced([tax for _, tax in moved], surplus, lacking)
    return None


def _items(invoice: Invoice) -> dict[Key, list[tuple[Any, Any]]]:
    """Return the signed amounts of lines, charges and allowances with their taxes, by category and rate."""
    items: dict[Key, list[tuple[Any, Any]]] = {}
    for item in taxed_items(invoice):
        for tax in item.taxes:
            items.setdefault(key_of(tax), []).append((signed_amount(item), tax))
    return items


def _sum(items: Sequence[tuple[Any, Any]]) -> Any:
    return total(amount for amount, _ in items)


def _fits(row: Any, key: Key) -> bool:
    """Return whether the tax amount of an entry is that of a category and rate."""
    rate = key[1] if key[0] in RATED else 0
    tax = round2(row.taxable_amount.number * rate / 100)
    return bool(tax is not absent and tax == row.tax_amount.number)
