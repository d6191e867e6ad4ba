"""Texts and descendants of elements, as XPath selects them."""

from __future__ import annotations

import functools
from typing import Any

from einvoice.syntax.mapping.binding import qualified


def text(element: Any) -> str:
    """Return the string value of an element, as XPath defines it: all text inside the element."""
    return "".join(element.itertext()) if len(element) else element.text or ""


def below(element: Any, path: str) -> list[Any]:
    """Return the elements that a path such as `cac:TaxScheme/cbc:ID` leads to, in document order."""
    nodes = [element]
    for tag in _tags(path):
        nodes = [child for node in nodes for child in node if child.tag == tag]
    return nodes


def texts(element: Any, path: str) -> list[str]:
    """Return the texts of the elements that `path` selects."""
    return [text(node) for node in below(element, path)]


@functools.cache
def _tags(path: str) -> tuple[str, ...]:
    return tuple(qualified(step) for step in path.split("/"))
