"""Combines the entries of the VAT breakdown that have the same category and rate: EN 16931 has one entry for each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from lxml import etree

from einvoice.causes.applicability import UNSAFE
from einvoice.editing.edits import Edit, Insert, Remove
from einvoice.model.calculation import RATED
from einvoice.model.invoice import Invoice
from einvoice.model.location import name
from einvoice.model.money import VatBreakdown
from einvoice.model.values import absent
from einvoice.reconciliation.amounts import category_of, key_of, total
from einvoice.repair.case import Case, decimal_text
from einvoice.repair.proposal import Combine, Proposal

_GROUP: Final = "BG-23"
_TERMS: Final = {_GROUP, "BT-116", "BT-117", "BT-118", "BT-119"}
_AMOUNTS: Final = ("taxable_amount", "tax_amount")

_Leaves: TypeAlias = Mapping[tuple[str, ...], tuple[str, Mapping[str, str]]]
"""Text and attributes of the elements without children, by the names on the path to them."""


def proposals(case: Case) -> Iterator[Proposal]:
    """Yield a proposal for each category and rate that has several entries, if a finding is about the breakdown."""
    if any(_TERMS.intersection(finding.terms) for finding in case.findings):
        for rows in split_entries(case.invoice):
            yield from combined(case, rows)


def split_entries(invoice: Invoice) -> list[list[VatBreakdown]]:
    """Return the entries that have category and rate in common with another one, together."""
    found: dict[tuple[Any, ...], list[VatBreakdown]] = {}
    for row in invoice.vat_breakdown:
        category, rate = key_of(row)
        if category and rate is not absent and row.node is not None:
            found.setdefault((row.node.getparent(), category, rate), []).append(row)
    return [rows for rows in found.values() if len(rows) > 1]


def combined(case: Case, rows: Sequence[VatBreakdown]) -> Iterator[Proposal]:
    """Yield the proposal that makes one entry of several.

    It gets the sums of the taxable amounts (BT-116) and of the tax amounts (BT-117), and what only another entry
    states, such as the exemption reason. There is no proposal if the entries contradict each other, or if their VAT is
    not that of the category and rate, which are wrong then.
    """
    first, *others = rows
    sums = {field: total(getattr(row, field).number for row in rows) for field in _AMOUNTS}
    if category_of(first)[0] not in RATED and any(row.tax_amount.number for row in rows):
        return
    if any(row.rate.number == 0 and row.tax_amount.number for row in rows):
        return
    if absent in sums.values() or (stated := _joint([_leaves(row) for row in rows])) is None:
        return
    edits: list[Edit] = [case.set(getattr(first, field), decimal_text(sums[field], 2)) for field in _AMOUNTS]
    own = _leaves(first) or {}
    edits += [Insert(case.xpath(first.node), path, *leaf) for path, leaf in stated.items() if path not in own]
    edits += [Remove(case.xpath(row.node)) for row in others]
    yield Proposal(tuple(edits), UNSAFE, (_GROUP,), Combine(len(rows)))


def _joint(rows: Sequence[_Leaves | None]) -> _Leaves | None:
    """Return what the entries state together; None if one of them states it otherwise, or something twice."""
    stated: dict[tuple[str, ...], tuple[str, Mapping[str, str]]] = {}
    for leaves in rows:
        if leaves is None or any(stated.setdefault(path, leaf) != leaf for path, leaf in leaves.items()):
            return None
    return stated


def _leaves(row: VatBreakdown) -> _Leaves | None:
    """Return what an entry states besides its amounts, whose currencies count; None if it has an element twice."""
    amounts = {getattr(row, field).node for field in _AMOUNTS}
    rate = row.rate.node if row.rate.number is not absent else None
    found: dict[tuple[str, ...], tuple[str, Mapping[str, str]]] = {}
    for element in row.node.iter(etree.Element):
        if len(element):
            continue
        path = _path(element, row.node)
        if path in found:
            return None
        text = (element.text or "").strip()
        text = "" if element in amounts else decimal_text(row.rate.number.normalize()) if element is rate else text
        found[path] = text, dict(element.attrib)
    return found


def _path(element: Any, ancestor: Any) -> tuple[str, ...]:
    names = [name(element.tag)]
    while (element := element.getparent()) is not ancestor:
        names.append(name(element.tag))
    return tuple(reversed(names))
