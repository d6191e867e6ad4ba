"""Which business terms the elements of a document mean."""

from __future__ import annotations

import functools
from typing import Any

from einvoice.model.group import Group, terms_of
from einvoice.model.invoice import Invoice


def terms_of_elements(invoice: Invoice) -> dict[Any, tuple[str, ...]]:
    """The business terms of the document's elements, where they can mean but one."""
    found: dict[Any, tuple[str, ...]] = {}
    groups: list[Group] = [invoice]
    for group in groups:  # what is in a group is looked at later, and has the last word on its element
        kind: Any = type(group)
        certain = _certain(kind)
        for name, content in vars(group).items():
            for it in content if isinstance(content, list) else (content,):
                if isinstance(it, Group):
                    groups.append(it)
                if name in certain and not getattr(it, "attribute", None):
                    found[it.node] = certain[name]
    return found


@functools.cache
def _certain(kind: type[Group]) -> dict[str, tuple[str]]:
    """The fields of a class of groups that can mean but one business term, with that term."""
    numbers = {name: tuple(dict.fromkeys(terms_of(kind, name))) for name in kind.fields}
    return {name: (one[0],) for name, one in numbers.items() if len(one) == 1}
