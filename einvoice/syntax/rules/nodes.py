"""Small looks at elements, as XPath takes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from einvoice.syntax.binding import qualified


def text(element: Any) -> str:
    """All text in an element: what XPath calls its string value."""
    return "".join(element.itertext()) if len(element) else element.text or ""


def below(element: Any, path: str) -> Iterator[Any]:
    """The elements that ``cac:TaxScheme/cbc:ID`` leads to from ``element``, in the order of the document."""
    step, _, rest = path.partition("/")
    for child in element.iterchildren(qualified(step)):
        if rest:
            yield from below(child, rest)
        else:
            yield child


def texts(element: Any, path: str) -> list[str]:
    """The texts of the elements that ``path`` leads to."""
    return [text(node) for node in below(element, path)]
