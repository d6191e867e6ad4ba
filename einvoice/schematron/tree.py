"""The document as XPath sees it: elements and attributes in document order, each with its text."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cached_property
from typing import Any, Final, TypeAlias

NOTHING: Final[Sequence[Any]] = ()
BLANKS: Final = " \t\r\n"
_TO_SPACE: Final = str.maketrans(BLANKS, " " * len(BLANKS))


def words(text: str) -> str:
    """Return a text without blanks around it, and one space for each sequence of blanks inside."""
    if text.isalnum():
        return text
    if text.isascii():  # no other blanks of ASCII may be in XML
        return " ".join(text.split())
    return " ".join(filter(None, text.translate(_TO_SPACE).split(" ")))


_NO_CHILDREN: Final[list[Any]] = []
_NONE: Final[dict[str, Any]] = {}


class Element:
    """An element, or the document node (which has no name, no parent and no lxml element).

    Attributes:
        name: its name as lxml writes it: "{namespace}local".
        lexical_name: its name with the prefix of the document.
        parent: the element around it; None for the document node.
        children: the elements directly inside it.
        named: the same by name.
        order: its place in document order; -1 for the document node.
        end: the place of the first element after it and all inside it.
        text: the text of it and all inside it, without comments and processing instructions.
        attributes: its attributes by name.
        texts: its text nodes; comments divide them, as in the data model of XPath.
        words: its text, normalized as `words` does.
        source: the lxml element.
        document: the document that it is in.
    """

    __slots__ = (
        "attributes",
        "children",
        "document",
        "end",
        "lexical_name",
        "name",
        "named",
        "order",
        "parent",
        "source",
        "text",
        "texts",
        "words",
    )

    attributes: Mapping[str, Attribute]
    end: int
    lexical_name: str
    text: str
    texts: Sequence[Text]
    words: str

    def __init__(self, document: Document, name: str, parent: Element | None, order: int, source: Any) -> None:
        self.document = document
        self.name = name
        self.parent = parent
        self.order = order
        self.source = source
        self.children: list[Element] = _NO_CHILDREN
        self.named: dict[str, list[Element]] = _NONE

    def __getattr__(self, name: str) -> Any:
        """Return an attribute that is asked for first: most elements never need most of them."""
        if name not in _CALCULATED:
            raise AttributeError(name)
        value = _CALCULATED[name](self)
        setattr(self, name, value)
        return value

    def ancestors(self) -> Iterator[Element]:
        """Yield the elements around it, from the inside to the document node."""
        node = self.parent
        while node is not None:
            yield node
            node = node.parent


def _text(element: Element) -> str:
    if element.source is None:
        return element.children[0].text
    if not len(element.source):
        return element.source.text or ""
    return "".join(element.source.itertext("*"))


def _attributes(element: Element) -> Mapping[str, Attribute]:
    if element.source is None or not element.source.attrib:
        return _NONE
    return {name: Attribute(name, value, element) for name, value in element.source.attrib.items()}


def _texts(element: Element) -> Sequence[Text]:
    if element.source is None:
        return NOTHING
    parts = [element.source.text, *(child.tail for child in element.source)]
    return [Text(it, element) for it in parts if it]


def _end(element: Element) -> int:
    last = element
    while last.children:
        last = last.children[-1]
    return last.order + 1


def _lexical_name(element: Element) -> str:
    prefix = None if element.source is None else element.source.prefix
    return f"{prefix}:{local_name(element)}" if prefix else local_name(element)


_CALCULATED: Final[Mapping[str, Callable[[Element], Any]]] = {
    "attributes": _attributes,
    "end": _end,
    "lexical_name": _lexical_name,
    "text": _text,
    "texts": _texts,
    "words": lambda element: words(element.text),
}


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
        self.named: dict[str, list[Element]] = _NONE

    @property
    def attributes(self) -> Mapping[str, Attribute]:
        """Nothing: an attribute has no attributes."""
        return _NONE

    @property
    def texts(self) -> Sequence[Text]:
        """Nothing: an attribute has no text nodes."""
        return NOTHING

    @property
    def words(self) -> str:
        """Its text, normalized as `words` does."""
        return words(self.text)

    @property
    def document(self) -> Document:
        """The document that it is in."""
        return self.parent.document

    @property
    def lexical_name(self) -> str:
        """Its name with the prefix of the document."""
        uri = namespace(self)
        prefix = next((key for key, it in self.source.nsmap.items() if it == uri and key), "") if uri else ""
        return f"{prefix}:{local_name(self)}" if prefix else local_name(self)

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
        self._attributes: dict[str, Sequence[Attribute]] = {}
        by_source = {root.getparent(): self.node}
        for order, source in enumerate(root.iter("*")):
            parent = by_source[source.getparent()]
            name = source.tag
            element = by_source[source] = Element(self, name, parent, order, source)
            self.elements.append(element)
            if parent.children:
                parent.children.append(element)
            else:
                parent.children, parent.named = [element], {}
            for named in (self.named, parent.named):
                if name in named:
                    named[name].append(element)
                else:
                    named[name] = [element]

    @cached_property
    def names(self) -> frozenset[str]:
        """The names of its elements, and of its attributes after an "@"."""
        attributes = {name for it in self.elements for name in it.source.keys()}  # noqa: SIM118 (no dict)
        return frozenset(self.named).union(f"@{name}" for name in attributes)

    @cached_property
    def inside(self) -> Mapping[str, AbstractSet[str]]:
        """The names of the elements that are directly inside elements of a name."""
        found: dict[str, set[str]] = {}
        for element in self.elements:
            if element.children:
                found.setdefault(element.name, set()).update(it.name for it in element.children)
        return found

    def attributes(self, name: str) -> Sequence[Attribute]:
        """Return all attributes with a name, in document order."""
        if f"@{name}" not in self.names:
            return NOTHING
        if name not in self._attributes:
            self._attributes[name] = [it.attributes[name] for it in self.elements if it.source.get(name) is not None]
        return self._attributes[name]


def below(node: Node, name: str = "") -> Sequence[Element]:
    """Return the elements inside a node in document order; all, or those with a name."""
    if not isinstance(node, Element):
        return NOTHING
    document = node.document
    if not name:
        return document.elements[node.order + 1 : node.end]
    found = document.named.get(name, NOTHING)
    is_of_all = node is document.node or (node.parent is document.node and node.name != name)
    return found if is_of_all else [it for it in found if node.order < it.order < node.end]


def siblings(node: Node, *, following: bool) -> Sequence[Element]:
    """Return the siblings after an element, or before it from the nearest on."""
    if node.parent is None or not isinstance(node, Element):
        return NOTHING
    around = node.parent.children
    place = next(index for index, it in enumerate(around) if it is node)
    return around[place + 1 :] if following else around[:place][::-1]


_ORDER: Final = operator.attrgetter("order")


def in_order(nodes: Sequence[Any]) -> Sequence[Any]:
    """Return the nodes in document order, each once."""
    if len(nodes) < 2:
        return nodes
    return list({id(it): it for it in sorted(nodes, key=_ORDER)}.values())


def local_name(node: Node) -> str:
    """Return the name of a node without its namespace."""
    return node.name.rpartition("}")[2]


def namespace(node: Node) -> str:
    """Return the namespace of the name of a node; "" for none."""
    return node.name[1:].partition("}")[0] if node.name.startswith("{") else ""
