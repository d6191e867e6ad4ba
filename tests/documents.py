"""Documents made of the examples of the rules."""

from __future__ import annotations

from collections.abc import Mapping

from lxml import etree

from einvoice.model.location import NAMESPACES
from einvoice.resources import rules_folder
from einvoice.rulebook.files.examples import invoice_of
from einvoice.rulebook.files.load import Example
from einvoice.syntax.writer import write
from einvoice.syntax.xml import parse

ROOTS = {"UBL": "Invoice", "CII": "CrossIndustryInvoice"}


def document_of(example: Example, file: str, syntax: str) -> etree._Element:
    """The root of a document that says what the example of a rule file says."""
    root = parse(write(invoice_of(example, rules_folder(), file), ROOTS[syntax])).getroot()
    insert(root, example.insert.get(syntax, {}))
    return root


def insert(root: etree._Element, content: Mapping[str, str]) -> None:
    """Put XML into elements of a document, behind what they have."""
    declared = " ".join(f'xmlns:{prefix}="{uri}"' for prefix, uri in NAMESPACES.items())
    for path, xml in content.items():
        (parent,) = root.xpath(path, namespaces=NAMESPACES)
        parent.extend(etree.fromstring(f"<x {declared}>{xml}</x>"))
