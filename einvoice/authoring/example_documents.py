"""Documents with the content of the examples of rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from lxml import etree

from einvoice.model.location import NAMESPACES
from einvoice.resources import RuleData, shipped
from einvoice.rulebook.files.example import Example
from einvoice.rulebook.files.examples import invoice_of
from einvoice.syntax.writer import write
from einvoice.syntax.xml import parse

#: The root element in each syntax, if the example does not name another one.
ROOTS: Final = {"UBL": "Invoice", "CII": "CrossIndustryInvoice"}


def document_of(example: Example, file: str, syntax: str, data: RuleData | None = None) -> etree._Element:
    """Return the root of a document with the content of an example in a rule `file`.

    Raises:
        RuleError: a path or value of the example does not fit the model.
    """
    root = parse(written(example, file, syntax, data or shipped())).getroot()
    insert(root, example.insert.get(syntax, {}))
    return root


def written(example: Example, file: str, syntax: str, data: RuleData) -> bytes:
    """Return the document of an example before its XML is inserted; raise `RuleError` as `document_of`."""
    name = example.root if example.root and syntax == "UBL" else ROOTS[syntax]
    return write(invoice_of(example, data, file), name)


def insert(root: etree._Element, content: Mapping[str, str]) -> None:
    """Append XML to elements of a document, by their XPath.

    Raises:
        ValueError: an XPath does not select exactly one element.
        lxml.etree.LxmlError: an invalid XPath, or XML that is not well-formed.
    """
    declared = " ".join(f'xmlns:{prefix}="{uri}"' for prefix, uri in NAMESPACES.items())
    for path, xml in content.items():
        found = root.xpath(path, namespaces=NAMESPACES)
        if not isinstance(found, list) or len(found) != 1 or not isinstance(found[0], etree._Element):
            raise ValueError(f"'{path}' does not select exactly one element")
        found[0].extend(etree.fromstring(f"<x {declared}>{xml}</x>"))
