"""An invoice as plain data, ready for JSON."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from decimal import Decimal
from typing import Any, Final

from einvoice.model.group import Group
from einvoice.model.invoice import Invoice
from einvoice.model.values import Value, absent

_ATTRIBUTES: Final = ("scheme", "list_id", "unit", "currency", "mime", "filename")
"""Properties of values that hold an XML attribute."""


def invoice_dict(invoice: Invoice) -> dict[str, Any]:
    """Return the invoice as plain data; see `Invoice.to_dict`."""
    return _group(invoice)


def _group(group: Group) -> dict[str, Any]:
    names = (name for name in group.fields if name != "more")
    return {key: content for name in names for key, content in _field(name, getattr(group, name))}


def _field(name: str, content: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(content, list | tuple):
        if content:
            yield name, [_plain(it) for it in content]
            for attribute in _ATTRIBUTES:
                texts = [_attribute(it, attribute) for it in content]
                if any(texts):
                    yield f"{name}_{attribute}", texts
    elif content is not absent:
        yield name, _plain(content)
        for attribute in _ATTRIBUTES:
            if text := _attribute(content, attribute):
                yield f"{name}_{attribute}", text
        if content.more:
            yield f"{name}_more", [_plain(it) for it in content.more]


def _attribute(content: Any, name: str) -> str | None:
    text = getattr(content, name, absent) if isinstance(content, Value) else absent
    return None if text is absent else str(text)


def _plain(content: Any) -> Any:
    if isinstance(content, Group):
        return _group(content)
    if isinstance(content.value, Decimal):
        return format(content.value, "f")
    return content.value.isoformat() if isinstance(content.value, datetime.date) else content.raw
