"""Small looks at elements, as XPath takes them."""

from __future__ import annotations

import functools
from typing import Any

from einvoice.syntax.mapping.binding import qualified


def text(element: Any) -> str:
    """All text in an element: what XPath calls its string value."""
    return "".join(element.itertext()) if len(element) else element.text or ""


def below(element: Any, path: str) -> list[Any]:
    """The elements that ``cac:TaxScheme/cbc:ID`` leads to from ``element``, in the order of the document."""
    nodes = [element]
    for tag in _tags(path):
        nodes = [child for node in nodes for child in node if child.tag == tag]
    return nodes


def texts(element: Any, path: str) -> list[str]:
    """The texts of the elements that ``path`` leads to."""
    return [text(node) for node in below(element, path)]


@functools.cache
def _tags(path: str) -> tuple[str, ...]:
    return tuple(qualified(step) for step in path.split("/"))
