"""The document as XPath sees it: elements and attributes in document order, each with its text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, TypeAlias

NOTHING: Final[Sequence[Any]] = ()


class Element:
    """An element, or the document node (which has no name, no parent and no lxml element).

    Attributes:
        name: its name as lxml writes it: "{namespace}local".
        parent: the element around it; None for the document node.
        children: the elements directly inside it.
        named: the same by name.
        order: its place in document order; -1 for the document node.
        end: the place of the first element after it and all inside it.
        source: the lxml element.
        document: the document that it is in.
    """

    def __init__(self, document: Document, name: str, parent: Element | None, order: int, source: Any) -> None:
        self.document = document
        self.name = name
        self.parent = parent
        self.order = order
        self.source = source
        self.children: list[Element] = []
        self.named: dict[str, list[Element]] = {}
        self.end = order + 1

    @cached_property
    def text(self) -> str:
        """The text of it and all inside it, without comments and processing instructions."""
        if self.source is None:
            return self.children[0].text
        if not len(self.source):
            return self.source.text or ""
        return "".join(self.source.itertext("*"))

    @cached_property
    def attributes(self) -> Mapping[str, Attribute]:
        """Its attributes by name."""
        if self.source is None or not self.source.attrib:
            return {}
        return {name: Attribute(name, value, self) for name, value in self.source.attrib.items()}

    @cached_property
    def texts(self) -> Sequence[Text]:
        """Its text nodes; comments divide them, as in the data model of XPath."""
        if self.source is None:
            return NOTHING
        parts = [self.source.text, *(child.tail for child in self.source)]
        return [Text(it, self) for it in parts if it]

    def ancestors(self) -> Iterator[Element]:
        """Yield the elements around it, from the inside to the document node."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent


class Attribute:
    """An attribute."""

    __slots__ = ("children", "name", "named", "order", "parent", "source", "text")

    def __init__(self, name: str, text: str, parent: Element) -> None:
        self.name = name
        self.text = text
        self.parent = parent
        self.order = parent.order + 0.5
        self.source = parent.source
        self.children: Sequence[Element] = NOTHING
        self.named: Mapping[str, list[Element]] = {}

    @property
    def attributes(self) -> Mapping[str, Attribute]:
        """Nothing: an attribute has no attributes."""
        return {}

    @property
    def texts(self) -> Sequence[Text]:
        """Nothing: an attribute has no text nodes."""
        return NOTHING

    @property
    def document(self) -> Document:
        """The document that it is in."""
        return self.parent.document

    @property
    def end(self) -> float:
        """The place of the first element after it."""
        return self.order

    def ancestors(self) -> Iterator[Element]:
        """Yield its element and those around that."""
        yield self.parent
        yield from self.parent.ancestors()


class Text(Attribute):
    """A text node."""

    __slots__ = ()

    def __init__(self, text: str, parent: Element) -> None:
        super().__init__("", text, parent)
        self.order = parent.order + 0.25


Node: TypeAlias = Element | Attribute


class Document:
    """A document.

    Attributes:
        node: the document node.
        elements: all elements in document order.
        named: the same by name.
    """

    def __init__(self, root: Any) -> None:
        self.elements: list[Element] = []
        self.named: dict[str, list[Element]] = {}
        self.node = Element(self, "", None, -1, None)
        self._add(root, self.node)
        self.node.end = len(self.elements)

    def _add(self, root: Any, document: Element) -> None:
        """Add an element and all inside it, without recursion: documents may be deep."""
        stack = [(root, document)]
        opened: list[Element] = []
        while stack:
            source, parent = stack.pop()
            element = Element(self, source.tag, parent, len(self.elements), source)
            while opened and opened[-1] is not parent:
                opened.pop().end = element.order
            opened.append(element)
            self.elements.append(element)
            self.named.setdefault(element.name, []).append(element)
            parent.children.append(element)
            parent.named.setdefault(element.name, []).append(element)
            stack.extend((it, element) for it in reversed(source) if isinstance(it.tag, str))
        for element in opened:
            element.end = len(self.elements)


def below(node: Node, name: str = "") -> Sequence[Element]:
    """Return the elements inside a node in document order; all, or those with a name."""
    if not isinstance(node, Element):
        return NOTHING
    document = node.document
    if not name:
        return document.elements[node.order + 1 : node.end]
    found = document.named.get(name, NOTHING)
    return found if node is document.node else [it for it in found if node.order < it.order < node.end]


def siblings(node: Node, *, following: bool) -> Sequence[Element]:
    """Return the siblings after an element, or before it from the nearest on."""
    if node.parent is None or not isinstance(node, Element):
        return NOTHING
    around = node.parent.children
    place = next(index for index, it in enumerate(around) if it is node)
    return around[place + 1 :] if following else around[:place][::-1]


def in_order(nodes: Sequence[Any]) -> Sequence[Any]:
    """Return the nodes in document order, each once."""
    if len(nodes) < 2:
        return nodes
    return list({id(it): it for it in sorted(nodes, key=lambda it: it.order)}.values())


def local_name(node: Node) -> str:
    """Return the name of a node without its namespace."""
    return node.name.rpartition("}")[2]


def namespace(node: Node) -> str:
    """Return the namespace of the name of a node; "" for none."""
    return node.name[1:].partition("}")[0] if node.name.startswith("{") else ""


def lexical_name(node: Node) -> str:
    """Return the name of a node with the prefix of the document."""
    if node.source is None:
        return ""
    if isinstance(node, Element):
        return f"{node.source.prefix}:{local_name(node)}" if node.source.prefix else local_name(node)
    prefix = next((key for key, uri in node.source.nsmap.items() if uri == namespace(node) and key), "")
    return f"{prefix}:{local_name(node)}" if prefix else local_name(node)
