"""Moves the terms of an invoice to the places of another syntax, before the invoice is written."""

from __future__ import annotations

from typing import Any, TypeVar

from einvoice.model.group import Group
from einvoice.model.invoice import Invoice
from einvoice.model.values import Value, absent
from einvoice.syntax.mapping.groups import GROUPS
from einvoice.syntax.mapping.once import ONCE
from einvoice.syntax.mapping.terms import TERMS
from einvoice.syntax.mapping.values import with_attributes

G = TypeVar("G", bound=Group)


def place(invoice: Invoice, syntax: str, root: str) -> Invoice:
    """Return a copy of `invoice` with each term at its place in documents of `syntax` and `root`.

    The terms of the invoice may be at the places of either syntax. A term that the standard allows once is kept once;
    a term without a place in the other syntax is omitted.
    """
    result = copy_of(invoice)
    result.__dict__.update(syntax=invoice.syntax, root=invoice.root)
    taken = [(term, term.take(result)) for term in TERMS]
    for term, content in taken:
        if content is not absent:
            (term.to_cii if syntax == "CII" else term.to_ubl)(result, content, root)
    for groups in (*ONCE, *GROUPS) if invoice.syntax else GROUPS:
        for group in groups.select(result):
            (groups.to_cii if syntax == "CII" else groups.to_ubl)(group)
    return result


def copy_of(group: G) -> G:
    """Return a deep copy that shares the values, without further occurrences of a single term or group."""
    result = type(group).__new__(type(group))
    for name, content in vars(group).items():
        if content is absent or name == "more" or name not in group.fields:
            continue
        if isinstance(content, Group | Value):
            result.__dict__[name] = _single(content)
        else:
            result.__dict__[name] = [_single(item) for item in content]
    return result


def _single(content: Any) -> Any:
    if isinstance(content, Group):
        return copy_of(content)
    return with_attributes(content) if content.more else content
