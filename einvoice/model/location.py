"""Where a value stands in its document: line and XPath, worked out when somebody asks.

The model knows no XML library; it only asks a node for its parent, its name and its neighbours, as lxml's elements
can answer.
"""

from __future__ import annotations

from typing import Any, Final

_UBL = "urn:oasis:names:specification:ubl:schema:xsd:"
_CII = "urn:un:unece:uncefact:data:"

#: The prefixes of every XPath that einvoice gives; an engine that evaluates one needs this table.
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
    """The line of the document that ``node`` stands in, counted from 1; None without a node."""
    return None if node is None else node.sourceline


def is_inside(node: Any, whole: Any) -> bool:
    """Whether ``node`` is the element ``whole`` or stands somewhere inside it."""
    return node is not None and (node is whole or whole in node.iterancestors())


def xpath(node: Any, attribute: str | None = None, steps: dict[Any, str] | None = None) -> str:
    """An XPath that selects ``node``, or one attribute of it, and nothing else; '' without a node.

    The prefixes are those of ``NAMESPACES``, whatever the document uses; elements of other namespaces are named by
    ``local-name()``, so that the path needs no further prefix. ``steps`` is what earlier calls for the same document
    worked out; with it many paths of a long document take no more than one look at each element.
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
    where = "/" + "/".join(reversed(path))
    return f"{where}/@{attribute}" if attribute else where


def _add_step(node: Any, steps: dict[Any, str]) -> None:
    """Add the step to ``node``, and to all of its name beside it, since they are counted together."""
    step, parent = name(node.tag), node.getparent()
    same = [node] if parent is None else [child for child in parent if child.tag == node.tag]
    for index, child in enumerate(same, 1):
        steps[child] = step if len(same) == 1 else f"{step}[{index}]"


def name(tag: str) -> str:
    """An element's name as an XPath step with the usual prefix; ``tag`` is the name with its namespace in braces."""
    uri, _, local = tag.rpartition("}")
    prefix = _PREFIXES.get(uri[1:])
    if prefix:
        return f"{prefix}:{local}"
    return f"*[local-name()='{local}' and namespace-uri()={_literal(uri[1:])}]"


def _literal(text: str) -> str:
    """A text as an XPath 1.0 literal, which knows no escapes."""
    if "'" not in text:
        return f"'{text}'"
    parts = ', "\'", '.join(f"'{part}'" for part in text.split("'"))
    return f"concat({parts})"
