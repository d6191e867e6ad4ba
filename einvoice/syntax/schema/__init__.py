"""XML schema validation: UBL 2.1, CII D16B with uncoupled code lists, Factur-X profiles.

libxml2 validates (XSD 1.0). To compile the UBL schema takes longer than everything else that the first validation of a
process does, so documents are first validated against a subset. The content models that explain violations are loaded
on the first violation.
"""

import functools
import re
import threading
from collections.abc import Callable, Collection
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from lxml import etree

from einvoice import cache
from einvoice.model.location import line, name
from einvoice.syntax import mapping
from einvoice.syntax.lexical import collapsed, long_years, wrong_binaries
from einvoice.syntax.mapping.tables import table_of
from einvoice.syntax.schema.content_model import ContentModels, Particle
from einvoice.syntax.schema.d16b import D16B, SchemaFilesError, added_later
from einvoice.syntax.schema.files import PROFILES, ROOTS, SchemaFiles, StoredFiles

if TYPE_CHECKING:
    from einvoice.syntax.schema.messages import SchemaError, SchemaViolation

__all__ = ["LIMIT", "SchemaFilesError", "content_models", "is_required", "is_valid", "sha256", "violations"]

LIMIT: Final = 100
"""Maximum number of violations reported per document."""
UNSEEN: Final = "SCHEMA-UNSEEN"
"""Code of the information that violations may remain hidden."""

_DATATYPE: Final = "SCHEMAV_CVC_DATATYPE_VALID_1_2_1"
_BINARY: Final = "The value has characters that are not of base64."
_YEAR: Final = "The year has more than 32 bits."


def violations(document: etree._ElementTree, root: str) -> "list[SchemaViolation]":
    """Return the violations of the XML schema, in the order of the document; none for a valid one.

    At most `LIMIT` are returned; if there are more, `SCHEMA-MORE` follows. After a child that is not expected, libxml2
    does not validate the remaining children of its parent: further validations do, with values `hidden_by` and
    `hidden_by_line` for that child. They are left out for a document with many elements or siblings.

    Args:
        document: parsed by `einvoice.syntax.xml`, without comments and processing instructions.
        root: "Invoice", "CreditNote" or "CrossIndustryInvoice"; or a Factur-X profile: "minimum", "basicwl", "basic",
            "en16931" or "extended".

    Raises:
        SchemaFilesError: the installed schemas are incomplete or damaged.
        ValueError: unknown root element or profile.
    """
    schema = _known(root)
    errors = schema.errors(document)
    binaries = list(islice(wrong_binaries(document), LIMIT + 1))
    if not errors and not binaries:
        return []
    from einvoice.syntax.schema.messages import SchemaError, SchemaViolation, explain  # imported on the first violation

    found = _at_elements(document, errors)
    causes, unseen = {}, None
    others = [SchemaError(_DATATYPE, _BINARY, it, 1) for it in binaries]
    if not _is_large(document):
        from einvoice.syntax.schema.hidden import hidden

        hidden_errors, unseen = hidden(document, found, schema.models, lambda it: _at_elements(it, schema.errors(it)))
        causes = dict(hidden_errors)
        others += causes
    if others:
        found = _in_order(document, found, others)
    result = [explain(error, schema.models, causes.get(error)) for error in found[:LIMIT]]
    if len(found) > LIMIT:
        top = document.getroot()
        result.append(SchemaViolation("SCHEMA-MORE", {"limit": LIMIT}, top, line(top) or 1, ""))
    elif unseen is not None and (parent := unseen.getparent()) is not None:
        values = {"element": name(unseen.tag), "parent": name(parent.tag)}
        result.append(SchemaViolation(UNSEEN, values, unseen, line(unseen) or 1, ""))
    return result


def _at_elements(document: etree._ElementTree, errors: "list[Any]") -> "list[SchemaError]":
    """Return libxml2's errors with their elements; no more than are needed to know whether there are too many."""
    from einvoice.syntax.schema.messages import SchemaError

    paths = _Paths(document)
    return [
        SchemaError(it.type_name, it.message or "", paths.element(it.path or ""), it.line) for it in errors[: LIMIT + 1]
    ]


def _in_order(
    document: etree._ElementTree, errors: "list[SchemaError]", others: "list[SchemaError]"
) -> "list[SchemaError]":
    """Return errors and others in the order of the document, without others of a kind known at their element."""
    positions = {element: position for position, element in enumerate(document.iter())}
    known = {(it.element, it.kind) for it in errors}
    added = [it for it in others if (it.element, it.kind) not in known]
    return sorted([*errors, *added], key=lambda it: positions[it.element])


def is_valid(document: etree._ElementTree, root: str, utf8: Callable[[], bytes]) -> bool:
    """Return whether `violations` would return none; without explanations it takes less time.

    `utf8` returns the document in UTF-8, from which a large one is read.
    """
    return not _known(root).errors(document, utf8) and next(wrong_binaries(document), None) is None


def sha256(root: str) -> str:
    """Return the SHA-256 of all schema files for a root element, in hexadecimal digits.

    Raises:
        SchemaFilesError: the installed schemas are incomplete or damaged.
    """
    return _schema(root).sha256


def first_profile(element: etree._Element) -> str:
    """Return the smallest Factur-X profile whose schema allows an element at its place; "" if none does.

    Raises:
        SchemaFilesError: the installed schemas are incomplete or damaged.
    """
    return next((profile for profile in PROFILES if _schema(profile).models.allows(element)), "")


def content_models(root: str) -> ContentModels:
    """Return the content models of the schema for a root element or Factur-X profile.

    Raises:
        SchemaFilesError: the installed schemas are incomplete or damaged.
        ValueError: unknown root element or profile.
    """
    return _known(root).models


def is_required(element: etree._Element) -> bool:
    """Return whether the XML schema of the document requires an element, even without content, in its parent.

    Raises:
        SchemaFilesError: the installed schemas are incomplete or damaged.
    """
    return any(it.min_occurs for it in _particles(element))


def is_optional(element: etree._Element) -> bool:
    """Return whether the XML schema of the document allows an element at its place, and does not require it.

    Raises:
        SchemaFilesError: the installed schemas are incomplete or damaged.
    """
    return any(not it.min_occurs for it in _particles(element))


def _particles(element: etree._Element) -> list[Particle]:
    """Return what the schema says about an element in its parent; empty if it does not allow it."""
    root = etree.QName(element.getroottree().getroot()).localname
    parent = element.getparent()
    if root not in ROOTS or parent is None:
        return []
    return [it for it in content_models(root).sequence_of(parent) if it.tag == element.tag]


def _known(root: str) -> "_Schema":
    """Return the schema of a known root element or profile."""
    if root not in ROOTS and root not in PROFILES:
        raise ValueError(f"no XML schema for {root!r}; use one of {', '.join(ROOTS)}")
    return _schema(root)


_loading: Final = threading.Lock()


def _schema(root: str) -> "_Schema":
    """Return the schema. The first call compiles it; a lock keeps other threads from compiling it too."""
    with _loading:
        return _compiled(root)


@functools.cache
def _compiled(root: str) -> "_Schema":
    return _Schema(root)


_WIDTH: Final = 1000
_ELEMENTS: Final = 50_000
_CHUNK: Final = 8192
_is_long = etree.XPath(f"boolean(/descendant::*[{_WIDTH + 1}])")  # a quick test that settles most documents
_is_large = etree.XPath(f"boolean(/descendant::*[{_ELEMENTS + 1}]) or boolean(//*[{_WIDTH + 1}])")


class _Schema:
    """A compiled schema.

    That of a root element begins as its subset. It is compiled completely for the first document that is not valid in
    the subset.
    """

    def __init__(self, root: str) -> None:
        self._root = root
        self._files = SchemaFiles(root)
        self._lock = threading.RLock()
        self._subset: etree.XMLSchema | None = None
        if root in ROOTS:
            self.sha256, contents = self._stored(root)
            self._subset = StoredFiles(contents).compile()
        else:
            self._compile()  # finds the files
            self.sha256 = self._files.sha256

    def _stored(self, root: str) -> tuple[str, dict[str, bytes]]:
        """Return the digest of the complete schema, and the files of the subset; stored until a file changes."""

        def derive() -> tuple[str, dict[str, bytes]]:
            from einvoice.syntax.schema.subset import subset  # imported on use: usually the subset is stored

            self._compile()  # finds the files
            documents = self._files.documents()
            tag = f"{{{next(iter(documents.values())).get('targetNamespace')}}}{root}"
            return self._files.sha256, subset(documents, tag, table_of(tag).tags)

        code = [*cache.listed(Path(__file__).parent, ".py"), *cache.listed(Path(mapping.__file__).parent, ".py")]
        return cache.derived(f"schema-{root}", [*self._files.paths, D16B, *code], derive)

    def _compile(self) -> etree.XMLSchema:
        """Compile the complete schema unless that is done, and return it."""
        with self._lock:
            return self._compiled

    @cached_property
    def _compiled(self) -> etree.XMLSchema:
        self._subset = None
        return self._files.compile()

    @cached_property
    def models(self) -> ContentModels:
        """Content models, read from the files on first use."""
        self._compile()  # finds the files
        later = added_later() if self._files.is_converted else ()
        return ContentModels(self._files.documents().values(), later)

    def errors(self, document: etree._ElementTree, utf8: Callable[[], bytes] | None = None) -> list[Any]:
        """Return libxml2's errors, except that white space around dates and times is allowed.

        For a document with many elements or siblings, only the first ones are returned.
        """
        found = self._errors(document, utf8)
        if any(it.type_name == _DATATYPE for it in found):
            with collapsed(document) as is_changed:
                return self._errors(document, None) if is_changed else found
        return found

    def _errors(self, document: etree._ElementTree, utf8: Callable[[], bytes] | None) -> list[Any]:
        """Return libxml2's errors.

        lxml keeps all errors. To build the path of an element, it counts all preceding siblings: 10 MB of invalid
        siblings would take minutes. So such documents are first streamed, which needs no paths, until there are enough
        errors. `utf8` returns the document in UTF-8, in less time than it takes to serialize it.
        """
        if not _is_long(document) or not (len(document.getroot()) > _WIDTH or _is_large(document)):
            return [] if self._is_in_subset(document) else self._validated(document)
        data = utf8() if utf8 else etree.tostring(document, encoding="utf-8")  # ASCII would break names with umlauts
        subset = self._subset
        if subset is not None and not _count_errors(subset, data)[0]:
            return []
        count, end = _count_errors(self._compile(), data)
        if count > LIMIT:
            parser = etree.XMLParser(
                encoding="utf-8", recover=True, huge_tree=True, resolve_entities=False, no_network=True
            )
            document = etree.fromstring(data[:end], parser).getroottree()
        return self._validated(document) if count else self._long_years(document)

    def _is_in_subset(self, document: etree._ElementTree) -> bool:
        with self._lock:
            try:
                return self._subset is not None and self._subset.validate(document)
            except etree.XMLSchemaValidateError:  # a year of 64 bits that libxml2 cannot compare
                return False

    def _validated(self, document: etree._ElementTree) -> list[Any]:
        # The error log belongs to the schema, so only one thread may use it.
        with self._lock:
            complete = self._compile()
            valid = complete.validate(document)
            log: Any = complete.error_log
            errors: list[Any] = [] if valid else list(log)
        return errors + self._long_years(document, {it.path for it in errors})

    def _long_years(self, document: etree._ElementTree, known: Collection[str] = ()) -> list[Any]:
        """Return the errors of dates with years of more than 32 bits, but of those with known paths.

        Documents that are valid in the subset have none, and so have Factur-X profiles, which have no dates.
        """
        found = ((it, document.getpath(it)) for it in long_years(document)) if self._root in ROOTS else ()
        return [
            _Error(_DATATYPE, _YEAR, path, line(it) or 1)
            for it, path in found
            if path not in known and self.models.datatype_of(it) in ("date", "dateTime")
        ]


class _Error(NamedTuple):
    """An error like those of libxml2."""

    type_name: str
    message: str
    path: str
    line: int


class _NoTarget:
    """Parser target that takes no events, so that a parser only validates and builds no tree."""

    def close(self) -> None:
        """Return nothing."""


def _count_errors(schema: etree.XMLSchema, data: bytes) -> tuple[int, int]:
    """Validate a stream until there are more than `LIMIT` errors; return their number, and that of the bytes read."""
    target: Any = _NoTarget()
    parser = etree.XMLParser(
        encoding="utf-8", schema=schema, target=target, huge_tree=True, resolve_entities=False, no_network=True
    )
    for end in range(_CHUNK, len(data) + _CHUNK, _CHUNK):
        parser.feed(data[end - _CHUNK : end])
        if len(parser.feed_error_log) > LIMIT:
            return len(parser.feed_error_log), end
    parser.close()
    return len(parser.feed_error_log), len(data)


_STEP: Final = r"/(?P<name>[^/\[]+)(?:\[(?P<position>\d+)\])?"


class _Paths:
    """Finds elements by libxml2's paths: names with the document's prefixes, `*` for a default namespace.

    Lists of siblings are cached, since many violations often have the same parent.
    """

    def __init__(self, document: etree._ElementTree) -> None:
        self._root = document.getroot()
        self._siblings: dict[tuple[etree._Element, str], list[etree._Element]] = {}

    def element(self, path: str) -> etree._Element:
        """Return the element at a path; if there is none, its last ancestor on the path."""
        element = self._root
        for step in islice(re.finditer(_STEP, path), 1, None):
            siblings = self._children(element, step["name"])
            position = int(step["position"] or 1)
            if position > len(siblings):
                break
            element = siblings[position - 1]
        return element

    def _children(self, parent: etree._Element, name: str) -> list[etree._Element]:
        key = (parent, name)
        if key not in self._siblings:
            self._siblings[key] = [child for child in parent.iterchildren("*") if name in ("*", _written(child))]
        return self._siblings[key]


def _written(element: etree._Element) -> str:
    """Return the name with the document's prefix; libxml2 never names elements in a default namespace."""
    return f"{element.prefix}:{element.tag.rpartition('}')[2]}" if element.prefix else element.tag
