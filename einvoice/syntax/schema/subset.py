"""A subset of an XML schema, which libxml2 compiles in a tenth of the time or less.

Optional elements that no business term uses are left out, and all declarations that only they need; years have four
digits. So a document that is valid in the subset is valid in the schema. A document that is not valid in the subset may
be valid in the schema.
"""

from collections.abc import Collection, Iterable, Iterator
from typing import Final

from lxml import etree

_XSD: Final = "{http://www.w3.org/2001/XMLSchema}"
_ELEMENT: Final = f"{_XSD}element"
_IMPORT: Final = f"{_XSD}import"
_TYPES: Final = (f"{_XSD}complexType", f"{_XSD}simpleType")
_DATE: Final = f"{_XSD}date"
_DATES: Final = {"minInclusive": "0001-01-01", "maxInclusive": "9999-12-31"}
"""Facets of dates: libxml2 allows years that Xerces does not (`einvoice.syntax.lexical`)."""
_TYPE_REFERENCES: Final = ("type", "base", "itemType", "memberTypes")
_WILDCARDS: Final = (f"{_XSD}any", f"{_XSD}anyAttribute")

_Component = tuple[str, str]
"""Kind and name of a global component; simple and complex types share one kind."""


def subset(schemas: dict[str, etree._Element], root: str, used: Collection[str]) -> dict[str, bytes]:
    """Return the files of the subset, the main file first.

    Args:
        schemas: root element of each file of the schema, by file name, the main file first. They are changed.
        root: root element of the documents, as lxml writes it.
        used: elements that business terms use, as lxml writes them.

    Raises:
        ValueError: the subset contains a wildcard; what it accepts may depend on declarations that are left out.
    """
    for schema in schemas.values():
        _remove_unused(schema, used)
    components = dict(_components(schemas.values()))
    needed = _reachable((_ELEMENT, root), components)
    for component, element in components.items():
        if component not in needed:
            _parent(element).remove(element)
        elif next(element.iter(*_WILDCARDS), None) is not None:
            raise ValueError(f"{component} has a wildcard")
    for schema in schemas.values():
        _limit_dates(schema)
    return {name: etree.tostring(schema) for name, schema in _without_empty(schemas).items()}


def _remove_unused(schema: etree._Element, used: Collection[str]) -> None:
    """Remove the optional elements of sequences, and the elements of choices, that are not used."""
    target = schema.get("targetNamespace")
    for group in schema.iter(f"{_XSD}sequence", f"{_XSD}choice"):
        for element in group.findall(_ELEMENT):
            ref = element.get("ref", "")
            tag = _qualified(element, ref) if ref else f"{{{target}}}{element.get('name')}"
            if (group.tag.endswith("choice") or element.get("minOccurs") == "0") and tag not in used:
                group.remove(element)


def _limit_dates(schema: etree._Element) -> None:
    """Turn the complex types that consist of a date into simple types of years with four digits."""
    for kind in schema.findall(_TYPES[0]):
        extension = kind.find(f"{_XSD}simpleContent/{_XSD}extension")
        if extension is None or len(extension):
            continue
        base = extension.get("base", "")
        if _qualified(extension, base) == _DATE:
            kind.tag = _TYPES[1]
            del kind[:]
            restriction = etree.SubElement(kind, f"{_XSD}restriction", base=base)
            for facet, value in _DATES.items():
                etree.SubElement(restriction, f"{_XSD}{facet}", value=value)


def _components(schemas: Iterable[etree._Element]) -> Iterator[tuple[_Component, etree._Element]]:
    for schema in schemas:
        for element in schema.iterchildren("{*}*"):
            if name := element.get("name"):
                yield (_kind(element), f"{{{schema.get('targetNamespace')}}}{name}"), element


def _kind(element: etree._Element) -> str:
    return _TYPES[0] if element.tag in _TYPES else element.tag


def _reachable(start: _Component, components: dict[_Component, etree._Element]) -> set[_Component]:
    """Return the components that a component refers to, directly or through others, and itself."""
    reached: set[_Component] = set()
    waiting = [start]
    while waiting:
        component = waiting.pop()
        if component not in reached and component in components:
            reached.add(component)
            waiting += _references(components[component])
    return reached


def _references(component: etree._Element) -> Iterator[_Component]:
    for element in component.iter("{*}*"):
        if ref := element.get("ref"):
            yield element.tag, _qualified(element, ref)
        for attribute in _TYPE_REFERENCES:
            for name in element.get(attribute, "").split():
                yield _TYPES[0], _qualified(element, name)


def _qualified(element: etree._Element, name: str) -> str:
    prefix, _, local = name.rpartition(":")
    return f"{{{element.nsmap.get(prefix or None)}}}{local}"


def _without_empty(schemas: dict[str, etree._Element]) -> dict[str, etree._Element]:
    """Return the files that have components, and remove the imports of the others."""
    kept = {name: it for name, it in schemas.items() if any(child.get("name") for child in it)}
    namespaces = {schema.get("targetNamespace") for schema in kept.values()}
    for schema in kept.values():
        for element in schema.findall(_IMPORT):
            if element.get("namespace") not in namespaces:
                schema.remove(element)
    return kept


def _parent(element: etree._Element) -> etree._Element:
    parent = element.getparent()
    assert parent is not None
    return parent
