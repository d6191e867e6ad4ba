"""Documents from the examples of rules."""

from __future__ import annotations

from collections.abc import Mapping

from lxml import etree

from einvoice.model.location import NAMESPACES
from einvoice.resources import shipped
from einvoice.rulebook.files.definition import Example
from einvoice.rulebook.files.examples import invoice_of
from einvoice.syntax.writer import write
from einvoice.syntax.xml import parse

ROOTS = {"UBL": "Invoice", "CII": "CrossIndustryInvoice"}


def document_of(example: Example, file: str, syntax: str) -> etree._Element:
    """Return the root of a document with the content of an example."""
    name = example.root if example.root and syntax == "UBL" else ROOTS[syntax]
    root = parse(write(invoice_of(example, shipped(), file), name)).getroot()
    insert(root, example.insert.get(syntax, {}))
    return root


def insert(root: etree._Element, content: Mapping[str, str]) -> None:
    """Append XML to elements of a document."""
    declared = " ".join(f'xmlns:{prefix}="{uri}"' for prefix, uri in NAMESPACES.items())
    for path, xml in content.items():
        (parent,) = root.xpath(path, namespaces=NAMESPACES)
        parent.extend(etree.fromstring(f"<x {declared}>{xml}</x>"))
