"""Compares the content of elements."""

from __future__ import annotations

from typing import Any, TypeAlias

from lxml import etree

Content: TypeAlias = tuple[tuple[str, str, tuple[tuple[str, str], ...]], ...]


def is_within(node: Any, ancestor: Any) -> bool:
    """Return whether an element is `ancestor` or one of its descendants."""
    return node is ancestor or ancestor in node.iterancestors()


def is_copy(element: Any) -> bool:
    """Return whether an element before it with the same parent states exactly the same, apart from white space."""
    content = content_of(element)
    return any(content_of(it) == content for it in element.itersiblings(element.tag, preceding=True))


def content_of(element: Any) -> Content:
    """Return the elements in an element in document order, each with its tag, text and attributes."""
    found = element.iter(etree.Element)
    return tuple((it.tag, (it.text or "").strip(), tuple(sorted(it.attrib.items()))) for it in found)
