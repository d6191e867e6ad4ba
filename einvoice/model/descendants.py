"""Lookup of all groups of an invoice by class, including those of sub-lines and misplaced ones."""

from __future__ import annotations

import functools
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from einvoice.model.group import Group, types_of
from einvoice.model.invoice import Invoice

GroupsByClass: TypeAlias = Mapping[Any, list[Any]]
"""Groups by class; `Any`, because mypy treats a class as unhashable if its instances are."""


def descendants_of(
    invoice: Invoice, groups: GroupsByClass | None = None
) -> Callable[[str, Sequence[Any]], Sequence[Any]]:
    """Return a lookup of an invoice's groups by class name; its second argument is the result for unused classes.

    Args:
        invoice: the invoice, which is one of the groups.
        groups: its groups, if the reader has just collected them.
    """
    by_name: dict[str, Any] = {}
    for cls, found in (_collected(invoice) if groups is None else groups).items():
        for name in _names(cls):
            by_name[name] = [*by_name[name], *found] if name in by_name else found
    if len(by_name.get("Line", ())) == len(invoice.lines):
        by_name["Line"] = invoice.lines  # the same lines, so that rules find them in the same index
    return by_name.get


def _collected(invoice: Invoice) -> GroupsByClass:
    """Return the groups by class, in the order of the model, then those at places that the standard does not define."""
    by_class: defaultdict[Any, list[Any]] = defaultdict(list)
    pending: list[Group] = [group for groups in invoice.misplaced.values() for group in groups]
    pending.reverse()
    pending.append(invoice)
    while pending:
        group = pending.pop()
        cls: Any = type(group)
        by_class[cls].append(group)
        content = group.__dict__
        for field in _holders(cls):
            below = content.get(field) or ()
            pending += below[::-1] if isinstance(below, list | tuple) else (below,)
    return by_class


@functools.cache
def _names(cls: type[Group]) -> tuple[str, ...]:
    """Return the names of a group class and its bases."""
    return tuple(base.__name__ for base in cls.__mro__ if issubclass(base, Group) and base is not Group)


@functools.cache
def _holders(cls: type[Group]) -> tuple[str, ...]:
    """Return the fields of a class that hold groups, from the last to the first, as groups are taken from a stack."""
    types = types_of(cls)
    return ("more", *(name for name in cls.fields if name != "more" and issubclass(types[name][0], Group)))[::-1]
