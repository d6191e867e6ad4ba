"""Documents from the examples of rules."""

from dataclasses import replace

from lxml import etree

from einvoice.authoring.example_documents import ROOTS, insert, written
from einvoice.resources import shipped
from einvoice.rulebook.files.example import Example
from einvoice.syntax.xml import parse

__all__ = ["ROOTS", "document_of", "insert"]

_written: dict[str, bytes] = {}
"""Documents before XML is inserted: rules share examples, and several tests run all of them."""


def document_of(example: Example, file: str, syntax: str) -> etree._Element:
    """Return the root of a document with the content of an example in a rule ``file``."""
    ruleset = file.partition("/")[0]  # which can have a base invoice of its own
    key = repr((syntax, ruleset, replace(example, name="", file="", syntaxes=(), insert={})))
    if key not in _written:
        _written[key] = written(example, file, syntax, shipped())
    root = parse(_written[key]).getroot()
    insert(root, example.insert.get(syntax, {}))
    return root
