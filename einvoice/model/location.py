"""Line and XPath of an element, computed on demand.

This module imports no XML library; it uses the parent, tag and siblings of an element as lxml provides them.
"""

from __future__ import annotations

from collections import Counter
from typing import Any, Final

AMBIGUOUS: Final = ("ID", "Indicator", "TypeCode")
"""Names of elements that say nothing without that of their parent."""
_PARTY: Final = "Party"
"""Ending of the names of parties: cac:PayeeParty, ram:InvoicerTradeParty."""
MAX_XPATH_LENGTH: Final = 1000
"""Maximum number of characters of an XPath that names its elements. Invoices with extensions need less than 500."""

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
    """Return the line of `node` in the document, counted from 1; None if there is no node."""
    return None if node is None else node.sourceline


def xpath(node: Any, attribute: str | None = None, steps: dict[Any, str] | None = None) -> str:
    """Return an XPath that selects only `node`, or one attribute of it; "" if there is no node.

    The prefixes are those of `NAMESPACES`; elements of other namespaces are named by `local-name()`. A path longer
    than `MAX_XPATH_LENGTH` consists of positions instead, such as `/*/*[3]`: names may have megabytes.

    Args:
        node: an element.
        attribute: name of the attribute.
        steps: cache for calls on the same document, so that each element is visited once.
    """
    if node is None:
        return ""
    steps = {} if steps is None else steps
    path: list[str] = []
    element = node
    while element is not None:
        if element not in steps:
            _add_step(element, steps)
        path.append(steps[element])
        element = element.getparent()
    result = "/" + "/".join(reversed(path))
    if len(result) > MAX_XPATH_LENGTH:
        result = _positions(node)
    return f"{result}/@{attribute}" if attribute else result


def _positions(node: Any) -> str:
    """Return an XPath that selects `node` by its position and those of its ancestors."""
    path: list[str] = []
    while (parent := node.getparent()) is not None:
        path.append(f"*[{parent.index(node) + 1}]")
        node = parent
    return "/".join(("", "*", *reversed(path)))


def _add_step(node: Any, steps: dict[Any, str]) -> None:
    """Add the steps of `node` and all its siblings; those of the same name are numbered together.

    A parent is read once, since a document can have hundreds of thousands of siblings, each with its own name.
    """
    parent = node.getparent()
    siblings = [(child, child.tag) for child in ([node] if parent is None else parent)]
    totals = Counter(tag for _, tag in siblings)
    names = {tag: name(tag) for tag in totals}
    numbers: Counter[str] = Counter()
    for child, tag in siblings:
        numbers[tag] += 1
        steps[child] = names[tag] if totals[tag] == 1 else f"{names[tag]}[{numbers[tag]}]"


def name(tag: str) -> str:
    """Return the XPath step of an element with the usual prefix; `tag` is the name as lxml writes it."""
    uri, _, local = tag.rpartition("}")
    prefix = _PREFIXES.get(uri[1:])
    if prefix:
        return f"{prefix}:{local}"
    return f"*[local-name()='{local}' and namespace-uri()={_literal(uri[1:])}]"


def labelled(element: Any) -> list[str]:
    """Return the name of an element, as texts quote it, after those of the elements around it that a reader needs.

    These are its parent if its own name says nothing, and the outermost party: in UBL, that of a role is cac:Party.
    """
    steps, parent = [element], element.getparent()
    if element.tag.rpartition("}")[2] in AMBIGUOUS and parent is not None:
        steps.insert(0, parent)
    names = [name(it.tag) for it in steps]
    outer = [it for it in steps[0].iterancestors() if it.tag.endswith(_PARTY)]
    if not outer:
        return names
    return [name(outer[-1].tag), *(() if outer[-1] is steps[0].getparent() else ("…",)), *names]


def _literal(text: str) -> str:
    """Return a text as an XPath 1.0 literal, which has no escapes."""
    if "'" not in text:
        return f"'{text}'"
    parts = ', "\'", '.join(f"'{part}'" for part in text.split("'"))
    return f"concat({parts})"
