"""Terms that stand at another place in the other syntax, moved there before an invoice is written."""

from __future__ import annotations

from typing import Any, TypeVar

from einvoice.model.group import Group
from einvoice.model.invoice import Invoice
from einvoice.model.values import Value, absent
from einvoice.syntax.mapping.groups import SHAPES
from einvoice.syntax.mapping.terms import MOVES
from einvoice.syntax.mapping.values import restated

G = TypeVar("G", bound=Group)


def placed(invoice: Invoice, syntax: str, root: str) -> Invoice:
    """A copy of ``invoice`` with each term where documents of ``syntax`` and ``root`` have it.

    The invoice itself stays as it is; it may have its terms at the places of either syntax. What the norm allows once
    is kept once, and what has no place in the other syntax is left out.
    """
    result = _copied(invoice)
    result.__dict__.update(syntax=invoice.syntax, root=invoice.root)
    taken = [(move, move.take(result)) for move in MOVES]
    for move, content in taken:
        if content is not absent:
            (move.to_cii if syntax == "CII" else move.to_ubl)(result, content, root)
    for shape in SHAPES:
        for group in shape.where(result):
            (shape.to_cii if syntax == "CII" else shape.to_ubl)(group)
    return result


def _copied(group: G) -> G:
    """A copy down to the values, which are shared, without further occurrences of a single term or group."""
    twin = type(group).__new__(type(group))
    for name in group.fields:
        content = vars(group).get(name, absent)
        if content is absent or name == "more":
            continue
        if isinstance(content, Group | Value):
            twin.__dict__[name] = _alone(content)
        else:
            twin.__dict__[name] = [_alone(item) for item in content]
    return twin


def _alone(content: Any) -> Any:
    if isinstance(content, Group):
        return _copied(content)
    return restated(content) if content.more else content
