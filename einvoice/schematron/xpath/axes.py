"""The axes of XPath: the nodes that a step reaches from a node, and the test of their names."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, TypeAlias

from einvoice.schematron.errors import NotCompilable
from einvoice.schematron.tree import NOTHING, Attribute, Element, Node, Text, below, local_name, siblings

Reach: TypeAlias = Callable[[Node], Sequence[Any]]
Test: TypeAlias = Callable[[Node], bool]

_WITH_TEXTS: Final = ("child", "descendant", "following", "following-sibling", "preceding", "preceding-sibling")
"""Axes that reach texts, which are left out here unless they are asked for: all that remains are elements."""
REVERSE: Final = frozenset(("parent", "ancestor", "ancestor-or-self", "preceding-sibling", "preceding"))
"""Axes whose nodes come in the reverse of document order."""


def _parent(node: Node) -> Sequence[Node]:
    return NOTHING if node.parent is None else (node.parent,)


def _preceding(node: Node) -> Sequence[Node]:
    around = set(map(id, node.ancestors()))
    before = node.document.elements[: int(node.order) if isinstance(node, Element) else int(node.order) + 1]
    return [it for it in reversed(before) if id(it) not in around]


def _following(node: Node) -> Sequence[Node]:
    return node.document.elements[int(node.end) if isinstance(node, Element) else int(node.order) + 1 :]


AXES: Final[Mapping[str, Reach]] = {
    "child": lambda node: node.children,
    "descendant": lambda node: below(node),
    "descendant-or-self": lambda node: [node, *below(node)],
    "parent": _parent,
    "ancestor": lambda node: [*node.ancestors()],
    "ancestor-or-self": lambda node: [node, *node.ancestors()],
    "self": lambda node: (node,),
    "attribute": lambda node: [*node.attributes.values()],
    "following-sibling": lambda node: siblings(node, following=True),
    "preceding-sibling": lambda node: siblings(node, following=False),
    "following": _following,
    "preceding": _preceding,
}


def clark(name: str, namespaces: Mapping[str, str]) -> str:
    """Return a name with a prefix as "{namespace}local"; without one, as it is.

    Raises:
        NotCompilable: the prefix is not declared.
    """
    prefix, colon, local = name.rpartition(":")
    if not colon:
        return name
    if prefix not in namespaces:
        raise NotCompilable(f"the prefix '{prefix}' is not declared")
    return f"{{{namespaces[prefix]}}}{local}"


def is_plain_name(test: str) -> bool:
    """Return whether a test is for one name."""
    return "*" not in test and not test.endswith("()")


def full_name(axis: str, test: str, namespaces: Mapping[str, str], default: str) -> str:
    """Return the name of a plain test as "{namespace}local"; arguments as of `reach`."""
    is_default = default and not axis.endswith("attribute") and ":" not in test
    return f"{{{default}}}{test}" if is_default else clark(test, namespaces)


def reach(axis: str, test: str, namespaces: Mapping[str, str], default: str = "") -> Reach:
    """Return the function of the nodes that a step reaches, in the order of the axis.

    Args:
        axis: the axis; "descendant-attribute" for the attributes of a document with a plain name.
        test: its test, as in `nodes.Step`.
        namespaces: namespaces by prefix.
        default: namespace of elements without a prefix (`xpath-default-namespace`).

    Raises:
        NotCompilable: the test is not supported on this axis.
    """
    if test == "text()":
        return _texts(axis)
    if test == "node()" and axis in _WITH_TEXTS:
        raise NotCompilable(f"{axis}::node() is not supported, as it has texts and comments; write {axis}::*")
    if is_plain_name(test):
        return _named(axis, full_name(axis, test, namespaces, default))
    matches, nodes = name_test(test, namespaces), AXES[axis]
    if matches is None or (test in ("*", "element()") and axis in _WITH_TEXTS):
        return nodes
    return lambda node: [it for it in nodes(node) if matches(it)]


def _texts(axis: str) -> Reach:
    if axis == "child":
        return lambda node: node.texts
    if axis in ("descendant", "descendant-or-self"):
        return lambda node: [text for it in (node, *below(node)) for text in it.texts]
    if axis == "self":
        return lambda node: (node,) if isinstance(node, Text) else NOTHING
    raise NotCompilable(f"text() on the axis {axis} is not supported")


def _named(axis: str, name: str) -> Reach:
    if axis == "child":
        return lambda node: node.named.get(name, NOTHING)
    if axis == "descendant":
        return lambda node: below(node, name)
    if axis == "descendant-attribute":
        return lambda node: node.document.attributes(name)
    if axis == "attribute":

        def attribute(node: Node) -> Sequence[Attribute]:
            found = node.attributes.get(name)
            return NOTHING if found is None else (found,)

        return attribute
    nodes = AXES[axis]
    return lambda node: [it for it in nodes(node) if it.name == name]


def name_test(test: str, namespaces: Mapping[str, str]) -> Test | None:
    """Return the function that tests a node; None if all nodes pass."""
    if test == "node()":
        return None
    if test in ("*", "element()"):
        return lambda node: bool(node.name)
    if test == "attribute()":
        return lambda node: isinstance(node, Attribute) and not isinstance(node, Text)
    if test == "document-node()":
        return lambda node: isinstance(node, Element) and node.source is None
    if test in ("comment()", "processing-instruction()"):
        raise NotCompilable(f"{test} is not supported")
    if test.startswith("*:"):
        return lambda node: local_name(node) == test[2:]
    if test.endswith(":*"):
        start = clark(test, namespaces)[:-1]
        return lambda node: node.name.startswith(start)
    if test == "text()":
        return lambda node: isinstance(node, Text)
    raise NotCompilable(f"the test '{test}' is not supported")
