"""Line and XPath of an element, computed on demand.

This module imports no XML library; it uses the parent, tag and siblings of an element as lxml provides them.
"""

from __future__ import annotations

from typing import Any, Final

_UBL = "urn:oasis:names:specification:ubl:schema:xsd:"
_CII = "urn:un:unece:uncefact:data:"

#: Namespace prefixes of all XPaths of einvoice; an XPath engine needs this table.
NAMESPACES: Final[dict[str, str]] = {
    "ubl": _UBL + "Invoice-2",
    "cn": _UBL + "CreditNote-2",
    "cac": _UBL + "CommonAggregateComponents-2",
    "cbc": _UBL + "CommonBasicComponents-2",
    "ext": _UBL + "CommonExtensionComponents-2",
    "rsm": _CII + "standard:CrossIndustryInvoice:100",
    "ram": _CII + "standard:ReusableAggregateBusinessInformationEntity:100",
    "udt": _CII + "standard:UnqualifiedDataType:100",
    "qdt": _CII + "standard:QualifiedDataType:100",
}
_PREFIXES = {uri: prefix for prefix, uri in NAMESPACES.items()}


def line(node: Any) -> int | None:
    """Return the line of ``node`` in the document, counted from 1; None if there is no node."""
    return None if node is None else node.sourceline


def xpath(node: Any, attribute: str | None = None, steps: dict[Any, str] | None = None) -> str:
    """Return an XPath that selects only ``node``, or one attribute of it; "" if there is no node.

    The prefixes are those of ``NAMESPACES``; elements of other namespaces are named by ``local-name()``.

    Args:
        node: an element.
        attribute: name of the attribute.
        steps: cache for calls on the same document, so that each element is visited once.
    """
    if node is None:
        return ""
    steps = {} if steps is None else steps
    path: list[str] = []
    while node is not None:
        if node not in steps:
            _add_step(node, steps)
        path.append(steps[node])
        node = node.getparent()
    result = "/" + "/".join(reversed(path))
    return f"{result}/@{attribute}" if attribute else result


def _add_step(node: Any, steps: dict[Any, str]) -> None:
    """Add the steps of ``node`` and its siblings of the same name, which are numbered together."""
    step, parent = name(node.tag), node.getparent()
    same = [node] if parent is None else [child for child in parent if child.tag == node.tag]
    for index, child in enumerate(same, 1):
        steps[child] = step if len(same) == 1 else f"{step}[{index}]"


def name(tag: str) -> str:
    """Return the XPath step of an element with the usual prefix; ``tag`` is the name as lxml writes it."""
    uri, _, local = tag.rpartition("}")
    prefix = _PREFIXES.get(uri[1:])
    if prefix:
        return f"{prefix}:{local}"
    return f"*[local-name()='{local}' and namespace-uri()={_literal(uri[1:])}]"


def _literal(text: str) -> str:
    """Return a text as an XPath 1.0 literal, which has no escapes."""
    if "'" not in text:
        return f"'{text}'"
    parts = ', "\'", '.join(f"'{part}'" for part in text.split("'"))
    return f"concat({parts})"
