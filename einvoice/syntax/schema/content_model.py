"""Content models of an XML schema, read from its files to explain a violation.

libxml2 names at most ten of the elements it expected, including optional ones. To distinguish a missing element from
a misplaced, repeated or unknown one, the whole sequence is needed.
"""

from collections.abc import Collection, Iterable
from typing import Final, NamedTuple, TypeAlias

from lxml import etree

_XSD: Final = "{http://www.w3.org/2001/XMLSchema}"


class Particle(NamedTuple):
    """An element of a sequence; `max_occurs` is None if unbounded."""

    tag: str
    min_occurs: int
    max_occurs: int | None


Sequence: TypeAlias = tuple[Particle, ...]


class ContentModels:
    """Sequences of child elements by type, with names as lxml writes them.

    Types other than a plain sequence (choice, wildcard) are omitted; their violations have only libxml2's explanation.
    Nearly all types of UBL and CII invoices are plain sequences.

    Args:
        schemas: root elements of all files of the schema.
        later: children that only a later edition of the schema allows, as pairs of type and child.
    """

    def __init__(self, schemas: Iterable[etree._Element], later: Collection[tuple[str, str]] = ()) -> None:
        self._later = later
        self._globals: dict[str, str | None] = {}
        self._sequences: dict[str, Sequence] = {}
        self._children: dict[str, dict[str, str | None]] = {}
        self._bases: dict[str, str | None] = {}
        self._attributes: dict[str, tuple[str, ...]] = {}
        for schema in schemas:
            target = f"{{{schema.get('targetNamespace')}}}"
            for element in schema.iterchildren(f"{_XSD}element"):
                self._globals[target + element.get("name", "")] = _name(element, "type")
            for kind in schema.iterchildren(f"{_XSD}complexType", f"{_XSD}simpleType"):
                name = target + kind.get("name", "")
                self._sequences[name] = _sequence(kind, target)
                self._children[name] = {
                    _tag(child, target): _name(child, "type") for child in kind.iter(f"{_XSD}element")
                }
                self._bases[name] = _base(kind)
                self._attributes[name] = tuple(it.get("name", "") for it in kind.iter(f"{_XSD}attribute"))

    def type_of(self, element: etree._Element) -> str | None:
        """Return the name of the element's type; None if the schema does not define the element."""
        parent = element.getparent()
        own = None if parent is None else self._children.get(self.type_of(parent) or "", {}).get(element.tag)
        return own or self._globals.get(element.tag)

    def is_global(self, tag: str) -> bool:
        """Return whether an element with this name may be the root of a document."""
        return tag in self._globals

    def sequence_of(self, element: etree._Element) -> Sequence:
        """Return the sequence of child elements; empty if the type is not a plain sequence."""
        return self._sequences.get(self.type_of(element) or "", ())

    def allowed_at(self, element: etree._Element) -> list[Particle]:
        """Return what the schema allows at the place of an element with a wrong name, by the elements beside it."""
        parent = element.getparent()
        particles = () if parent is None else self.sequence_of(parent)
        ranks = {particle.tag: rank for rank, particle in enumerate(particles)}
        before = [ranks[it.tag] for it in element.itersiblings("*", preceding=True) if it.tag in ranks]
        after = [ranks[it.tag] for it in element.itersiblings("*") if it.tag in ranks]
        first, last = max(before, default=0), min(after, default=len(particles))
        stated = [] if parent is None else [it.tag for it in parent]
        return [
            it for it in particles[first : last + 1] if it.max_occurs is None or stated.count(it.tag) < it.max_occurs
        ]

    def has_children(self, parent: etree._Element, tag: str) -> bool:
        """Return whether the schema has elements inside of a child with this name."""
        own = self._children.get(self.type_of(parent) or "", {}).get(tag)
        return bool(self._children.get(own or self._globals.get(tag) or ""))

    def datatype_of(self, element: etree._Element) -> str | None:
        """Return the built-in data type of the element's text, such as "decimal"; None if it has none."""
        name = self.type_of(element)
        while name and not name.startswith(_XSD):
            name = self._bases.get(name)
        return name.removeprefix(_XSD) if name else None

    def attributes_of(self, element: etree._Element) -> list[str]:
        """Return the names of the attributes that the element may have, apart from those of other namespaces."""
        name, found = self.type_of(element), list[str]()
        while name:
            found += self._attributes.get(name, ())
            name = self._bases.get(name)
        return [it for it in dict.fromkeys(found) if it]

    def allows(self, element: etree._Element) -> bool:
        """Return whether the schema allows the element at its place."""
        parent = element.getparent()
        if parent is None:
            return element.tag in self._globals
        return element.tag in self._children.get(self.type_of(parent) or "", {}) and self.allows(parent)

    def parents_of(self, tag: str, root: str, among: Collection[str]) -> list[str]:
        """Return the names of the elements that may contain an element, of those that a document can have.

        Args:
            tag: name of the element.
            root: name of the root element.
            among: names of the parents to consider.
        """
        parents: list[str] = []
        known, queue = {root}, [(root, self._globals.get(root))]
        for parent, kind in queue:
            for child, own in self._children.get(kind or "", {}).items():
                if child == tag and parent not in parents:
                    parents.append(parent)
                if child in among and child not in known:
                    known.add(child)
                    queue.append((child, own or self._globals.get(child)))
        return parents

    def added_later(self, element: etree._Element) -> bool:
        """Return whether a later edition of the schema allows the element at its place."""
        parent = element.getparent()
        return parent is not None and (self.type_of(parent), element.tag) in self._later


def _sequence(kind: etree._Element, target: str) -> Sequence:
    content = [child for child in kind if child.tag != f"{_XSD}attribute"]
    if len(content) != 1 or content[0].tag != f"{_XSD}sequence" or content[0].attrib:
        return ()
    if any(child.tag != f"{_XSD}element" for child in content[0]):
        return ()
    return tuple(_particle(child, target) for child in content[0])


def _base(kind: etree._Element) -> str | None:
    """Return the base type."""
    derived = next(kind.iter(f"{_XSD}extension", f"{_XSD}restriction"), None)
    return None if derived is None else _name(derived, "base")


def _particle(element: etree._Element, target: str) -> Particle:
    min_occurs, max_occurs = element.get("minOccurs", "1"), element.get("maxOccurs", "1")
    return Particle(_tag(element, target), int(min_occurs), None if max_occurs == "unbounded" else int(max_occurs))


def _tag(element: etree._Element, target: str) -> str:
    return _name(element, "ref") or target + element.get("name", "")


def _name(element: etree._Element, attribute: str) -> str | None:
    """Return the qualified name in an attribute, as lxml writes it."""
    prefix, _, local = element.get(attribute, "").rpartition(":")
    return f"{{{element.nsmap.get(prefix or None)}}}{local}" if local else None
