"""Business terms of the elements of a document."""

from __future__ import annotations

import functools
from typing import Any

from einvoice.model.group import Group, terms_of
from einvoice.model.invoice import Invoice


def terms_of_elements(invoice: Invoice) -> dict[Any, tuple[str, ...]]:
    """Return the business term of each element of the document, unless it is ambiguous."""
    terms: dict[Any, tuple[str, ...]] = {}
    groups: list[Group] = [invoice]
    for group in groups:  # nested groups come later, and overwrite the terms of their elements
        cls: Any = type(group)
        unambiguous = _unambiguous(cls)
        for name, content in vars(group).items():
            for it in content if isinstance(content, list) else (content,):
                if isinstance(it, Group):
                    groups.append(it)
                if name in unambiguous and not getattr(it, "attribute", None):
                    terms[it.node] = unambiguous[name]
    return terms


@functools.cache
def _unambiguous(cls: type[Group]) -> dict[str, tuple[str]]:
    """Return the fields of a class that have exactly one business term, with that term."""
    numbers = {name: tuple(dict.fromkeys(terms_of(cls, name))) for name in cls.fields}
    return {name: (one[0],) for name, one in numbers.items() if len(one) == 1}
