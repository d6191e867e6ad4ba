"""Edits of a document, as stored with a case.

An edit is a list: its kind, an XPath, and what it writes.

* ``["remove", xpath]``: every element that the XPath selects
* ``["repeat", xpath]``: a copy after each element
* ``["text", xpath, text]``: the text of each element
* ``["attribute", xpath, name, value]``: an attribute of each element; null removes it
* ``["insert", xpath, position, xml]``: a child of each element, before the child of that number
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any, Final

from lxml import etree

from einvoice.model.location import NAMESPACES

PARSER: Final = etree.XMLParser(remove_blank_text=True, resolve_entities=False)
_DECLARED: Final = " ".join(f'xmlns:{prefix}="{uri}"' for prefix, uri in NAMESPACES.items())


def edited(base: bytes, edits: Iterable[list[Any]]) -> bytes:
    """Return the document after the edits, in their order."""
    root = etree.fromstring(base, PARSER)
    for edit in edits:
        apply(root, edit)
    return serialize(root)


def apply(root: Any, edit: list[Any]) -> None:
    """Edit a document in place.

    Raises:
        ValueError: the edit has an unknown kind, or its XPath selects nothing.
    """
    kind, path, *content = edit
    elements = root.xpath(path, namespaces=NAMESPACES)
    if kind not in _APPLY or not elements:
        raise ValueError(f"the edit does not apply: {edit}")
    for element in elements:
        _APPLY[kind](element, *content)


def serialize(root: Any) -> bytes:
    """Return an indented document, so that findings have different lines."""
    etree.indent(root)
    return etree.tostring(root, encoding="utf-8", xml_declaration=True) + b"\n"


def _remove(element: Any) -> None:
    element.getparent().remove(element)


def _repeat(element: Any) -> None:
    element.addnext(copy.deepcopy(element))


def _text(element: Any, text: str) -> None:
    element.text = text


def _attribute(element: Any, name: str, value: str | None) -> None:
    element.attrib.pop(name, None)
    if value is not None:
        element.set(name, value)


def _insert(element: Any, position: int, xml: str) -> None:
    (child,) = etree.fromstring(f"<x {_DECLARED}>{xml}</x>")
    element.insert(position, child)
    etree.cleanup_namespaces(child)


_APPLY: Final[dict[str, Any]] = {
    "remove": _remove, "repeat": _repeat, "text": _text, "attribute": _attribute, "insert": _insert,
}  # fmt: skip
