"""What an XML schema allows inside an element: read from its files when a violation is to be explained.

libxml2 says which elements it would have taken, optional ones among them and ten at most. To tell a missing element
from a misplaced, repeated or unknown one, the whole sequence has to be known.
"""

from collections.abc import Collection, Iterable
from typing import Final, NamedTuple, TypeAlias

from lxml import etree

_XSD: Final = "{http://www.w3.org/2001/XMLSchema}"


class Particle(NamedTuple):
    """A place in a sequence; `most` is None where there is no bound."""

    tag: str
    least: int
    most: int | None


Sequence: TypeAlias = tuple[Particle, ...]


class ContentModels:
    """The sequences of child elements by type, names as lxml writes them.

    Types that are no plain sequence (a choice, a wildcard) are left out: they are not explained beyond libxml2's
    words. All types of UBL and CII for invoices are plain but a handful, such as the date of CII.

    Args:
        schemas: the root elements of all files of the schema.
        later: what only a later edition of the schema allows, as pairs of type and child.
    """

    def __init__(self, schemas: Iterable[etree._Element], later: Collection[tuple[str, str]] = ()) -> None:
        self._later = later
        self._globals: dict[str, str | None] = {}
        self._sequences: dict[str, Sequence] = {}
        self._children: dict[str, dict[str, str | None]] = {}
        self._bases: dict[str, str | None] = {}
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

    def type_of(self, element: etree._Element) -> str | None:
        """Return the name of the element's type, None if the schema does not know it."""
        parent = element.getparent()
        own = None if parent is None else self._children.get(self.type_of(parent) or "", {}).get(element.tag)
        return own or self._globals.get(element.tag)

    def inside(self, element: etree._Element) -> Sequence:
        """Return what may stand in the element, in order; nothing if that is not known as a plain sequence."""
        return self._sequences.get(self.type_of(element) or "", ())

    def datatype_of(self, element: etree._Element) -> str | None:
        """Return the name of the built-in data type of the element's text, such as "decimal"; None if it has none."""
        kind = self.type_of(element)
        while kind and not kind.startswith(_XSD):
            kind = self._bases.get(kind)
        return kind.removeprefix(_XSD) if kind else None

    def knows(self, element: etree._Element) -> bool:
        """Say whether the schema allows the element where it stands."""
        parent = element.getparent()
        if parent is None:
            return element.tag in self._globals
        return element.tag in self._children.get(self.type_of(parent) or "", {}) and self.knows(parent)

    def came_later(self, element: etree._Element) -> bool:
        """Say whether a later edition of the schema allows the element where it stands."""
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
    """Return the type that this one extends or restricts."""
    derived = next(kind.iter(f"{_XSD}extension", f"{_XSD}restriction"), None)
    return None if derived is None else _name(derived, "base")


def _particle(element: etree._Element, target: str) -> Particle:
    most = element.get("maxOccurs", "1")
    least = int(element.get("minOccurs", "1"))
    return Particle(_tag(element, target), least, None if most == "unbounded" else int(most))


def _tag(element: etree._Element, target: str) -> str:
    return _name(element, "ref") or target + element.get("name", "")


def _name(element: etree._Element, attribute: str) -> str | None:
    """Return the qualified name that an attribute holds, as lxml writes names."""
    prefix, _, local = element.get(attribute, "").rpartition(":")
    return f"{{{element.nsmap.get(prefix or None)}}}{local}" if local else None
