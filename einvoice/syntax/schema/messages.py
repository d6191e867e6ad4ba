"""libxml2's errors told as entries of our own catalog: which code, which numbers and names, at which element.

The kind of an error is the name of its number in libxml2 (`etree.ErrorTypes`); its English is read for names and
values only. The texts stand in `rules/schema/<CODE>.toml`; what they put in braces is in `values`.
"""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Final, NamedTuple, TypeAlias

from lxml import etree

from einvoice.errors import quote
from einvoice.model.location import NAMESPACES, line
from einvoice.syntax.schema.content_model import ContentModels, Sequence


@dataclass(frozen=True, slots=True)
class SchemaViolation:
    """One breach of the XML schema.

    Attributes:
        code: of the catalog, `SCHEMA-…`.
        values: what the texts of the code quote.
        element: where it is; for a missing child its parent.
        line: of that element, counted from 1.
        message: libxml2's own words, for experts.
    """

    code: str
    values: Mapping[str, object]
    element: etree._Element | None
    line: int
    message: str


class Breach(NamedTuple):
    """An error of libxml2: the name of its kind, its words, and the element it is about."""

    kind: str
    message: str
    element: etree._Element
    line: int


class _Explanation(NamedTuple):
    code: str
    element: etree._Element
    values: dict[str, object]


_Explain: TypeAlias = Callable[[Breach, ContentModels], _Explanation]

_QUOTED: Final = 80
_MESSAGE: Final = 500


def explain(breach: Breach, models: ContentModels) -> SchemaViolation:
    """Return what an error of libxml2 means."""
    code, element, values = _EXPLAIN.get(breach.kind, _other)(breach, models)
    name = {"element": _name(element.tag, element)}
    return SchemaViolation(code, name | values, element, line(element) or breach.line, breach.message[:_MESSAGE])


# Names

_PREFIXES: Final = {uri: "" if prefix in ("ubl", "cn") else prefix for prefix, uri in NAMESPACES.items()} | {
    "http://www.w3.org/XML/1998/namespace": "xml",
    "http://www.w3.org/2001/XMLSchema": "xs",
    "http://www.w3.org/2001/XMLSchema-instance": "xsi",
}


def _name(tag: str, element: etree._Element | None = None) -> str:
    """Return a name with its usual prefix, else the one that `element` knows; `tag` is as lxml writes names."""
    namespace, _, local = tag.removeprefix("{").rpartition("}")
    prefix = _PREFIXES.get(namespace)
    if prefix is None and element is not None:
        prefix = next((key for key, uri in element.nsmap.items() if uri == namespace), None)
    return quote(f"{prefix}:{local}" if prefix else local, limit=_QUOTED)


def _names(tags: Collection[str]) -> str:
    return ", ".join(_name(tag) for tag in tags)


def _parent_name(element: etree._Element) -> str:
    parent = element.getparent()
    return "–" if parent is None else _name(parent.tag, parent)


def _namespace(tag: str) -> str:
    return quote(etree.QName(tag).namespace or "–", limit=_QUOTED, keep_end=True)


# Elements that are missing, misplaced or unknown


def _content(breach: Breach, models: ContentModels) -> _Explanation:
    element = breach.element
    if "Missing child element" in breach.message:
        return _incomplete(breach, models.inside(element))
    parent = element.getparent()
    sequence = () if parent is None else models.inside(parent)
    previous = next(element.itersiblings("*", preceding=True), None)
    tags = [particle.tag for particle in sequence]
    if element.tag in tags and (previous is None or previous.tag in tags):
        return _misplaced(element, previous, sequence)
    if tags:
        return _unknown(element, tags, models)
    values: dict[str, object] = {"parent": _parent_name(element)}
    expected = _expected(breach.message)
    if not expected:
        return _Explanation("SCHEMA-SURPLUS-ELEMENT", element, values)
    return _Explanation("SCHEMA-UNEXPECTED-ELEMENT", element, values | {"expected": expected})


def _expected(message: str) -> str:
    """Return the names that libxml2 would have taken, ten of them at most; a wildcard is an asterisk."""
    _, found, names = message.rpartition(" ( ")
    tags = names.removesuffix(" ).").split(", ") if found else []
    return ", ".join("*" if tag.endswith("*") else _name(tag) for tag in tags)


def _incomplete(breach: Breach, sequence: Sequence) -> _Explanation:
    """Explain an element that ends too early; what stands in it was in order."""
    tags = [particle.tag for particle in sequence]
    last = next(breach.element.iterchildren("*", reversed=True), None)
    missing = _required(sequence[tags.index(last.tag) + 1 if last is not None and last.tag in tags else 0 :])
    if missing:
        return _Explanation("SCHEMA-MISSING-ELEMENT", breach.element, {"expected": _names(missing)})
    return _Explanation("SCHEMA-MISSING-CONTENT", breach.element, {"expected": _expected(breach.message)})


def _required(sequence: Sequence) -> list[str]:
    return [particle.tag for particle in sequence if particle.least]


def _unknown(element: etree._Element, tags: list[str], models: ContentModels) -> _Explanation:
    values: dict[str, object] = {"parent": _parent_name(element)}
    if models.came_later(element):
        return _Explanation("SCHEMA-LATER-ELEMENT", element, values)
    local = etree.QName(element).localname
    meant = next((tag for tag in tags if etree.QName(tag).localname == local), None)
    if meant is None:
        return _Explanation("SCHEMA-UNKNOWN-ELEMENT", element, values)
    values |= {"namespace": _namespace(element.tag), "expected": _name(meant), "meant": _namespace(meant)}
    return _Explanation("SCHEMA-WRONG-NAMESPACE", element, values)


def _misplaced(element: etree._Element, previous: etree._Element | None, sequence: Sequence) -> _Explanation:
    """Explain an element that belongs into its parent but not here; what stands before it was in order."""
    tags = [particle.tag for particle in sequence]
    place = tags.index(element.tag)
    last = -1 if previous is None else tags.index(previous.tag)
    parent = element.getparent()
    assert parent is not None  # a sequence is that of a parent
    values: dict[str, object] = {"parent": _name(parent.tag, parent)}
    if place == last:
        return _Explanation("SCHEMA-REPEATED-ELEMENT", element, values | {"most": sequence[place].most})
    if place < last:
        after = next(child for child in parent.iterchildren("*") if tags.index(child.tag) > place)
        return _Explanation("SCHEMA-ELEMENT-ORDER", element, values | {"before": _name(after.tag)})
    missing = _required(sequence[last + 1 : place])
    late = next((sibling for sibling in element.itersiblings("*") if sibling.tag in missing), None)
    if late is not None:
        return _Explanation("SCHEMA-ELEMENT-ORDER", late, values | {"before": _name(element.tag)})
    return _Explanation("SCHEMA-MISSING-ELEMENT", parent, {"expected": _names(missing)})


def _no_declaration(breach: Breach, _models: ContentModels) -> _Explanation:
    return _Explanation("SCHEMA-ROOT", breach.element, {"namespace": _namespace(breach.element.tag)})


def _children_in_text(breach: Breach, _models: ContentModels) -> _Explanation:
    child = next(breach.element.iterchildren("*"))
    return _Explanation("SCHEMA-NO-CHILDREN", breach.element, {"child": _name(child.tag, child)})


def _text_between(breach: Breach, _models: ContentModels) -> _Explanation:
    texts = [breach.element.text, *(child.tail for child in breach.element)]
    found = next((text.strip() for text in texts if text and text.strip()), "")
    return _Explanation("SCHEMA-NO-TEXT", breach.element, {"found": quote(found, limit=_QUOTED)})


# Values of elements and attributes

_DATATYPES: Final = {
    "date": "SCHEMA-VALUE-DATE",
    "dateTime": "SCHEMA-VALUE-TIME",
    "time": "SCHEMA-VALUE-TIME",
    "decimal": "SCHEMA-VALUE-NUMBER",
    "boolean": "SCHEMA-VALUE-BOOLEAN",
    "base64Binary": "SCHEMA-VALUE-BINARY",
}
_MOMENTS: Final = ("SCHEMA-VALUE-DATE", "SCHEMA-VALUE-TIME")
_MOMENT: Final = re.compile(r"(\d{4}-\d\d-\d\d)?(T?\d\d:\d\d:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?", re.ASCII)
_ATTRIBUTE: Final = re.compile(r"Element '[^']*', attribute '([^']*)':")


def _value(breach: Breach) -> tuple[str, dict[str, object]]:
    """Return the value that is refused, and the words for it and its place."""
    element = breach.element
    place = _name(element.tag, element)
    attribute = _ATTRIBUTE.match(breach.message)
    value = element.get(attribute[1]) if attribute else element.text
    if attribute:
        place += f"/@{_name(attribute[1], element)}"
    return value or "", {"place": place, "found": quote(value or "", limit=_QUOTED)}


def _datatype(breach: Breach, models: ContentModels) -> _Explanation:
    value, values = _value(breach)
    bare = value.strip()
    if _ATTRIBUTE.match(breach.message):
        code = "SCHEMA-VALUE-ATTRIBUTE"
    elif not bare:
        code = "SCHEMA-VALUE-EMPTY"
    else:
        values["type"] = models.datatype_of(breach.element) or "–"
        code = _DATATYPES.get(str(values["type"]), "SCHEMA-VALUE-OTHER")
        if bare != value and code in _MOMENTS and _MOMENT.fullmatch(bare):
            # Refused by libxml2 alone: by the standard (XSD 1.0 part 2, 4.3.6) white space around it does not count.
            code = "SCHEMA-VALUE-PADDED"
    return _Explanation(code, breach.element, values)


def _facet(code: str, pattern: str) -> _Explain:
    """Return what explains a facet: the message, read by a pattern whose groups are further values."""
    wanted = re.compile(pattern, re.DOTALL)

    def explain_facet(breach: Breach, _models: ContentModels) -> _Explanation:
        match = wanted.search(breach.message)
        further = match.groupdict() if match else dict.fromkeys(wanted.groupindex, "–")
        return _Explanation(code, breach.element, _value(breach)[1] | further)

    return explain_facet


# Attributes, and the rest


def _attribute(code: str) -> _Explain:
    def explain_attribute(breach: Breach, _models: ContentModels) -> _Explanation:
        match = re.search(r"The attribute '([^']*)'", breach.message)
        return _Explanation(code, breach.element, {"attribute": _name(match[1], breach.element) if match else "–"})

    return explain_attribute


def _other(breach: Breach, _models: ContentModels) -> _Explanation:
    message = re.sub(r"\{[^{}]*\}[\w.-]*", lambda name: _name(name[0], breach.element), breach.message)
    return _Explanation("SCHEMA-OTHER", breach.element, {"message": quote(message, limit=_MESSAGE)})


_LENGTH: Final = r"a length of '(?P<length>\d+)'.* length of '(?P<limit>\d+)'"

_EXPLAIN: Final[Mapping[str, _Explain]] = {
    "SCHEMAV_CVC_ELT_1": _no_declaration,
    "SCHEMAV_ELEMENT_CONTENT": _content,
    "SCHEMAV_CVC_COMPLEX_TYPE_2_2": _children_in_text,
    "SCHEMAV_CVC_COMPLEX_TYPE_2_3": _text_between,
    "SCHEMAV_CVC_COMPLEX_TYPE_3_2_1": _attribute("SCHEMA-ATTRIBUTE-UNKNOWN"),
    "SCHEMAV_CVC_COMPLEX_TYPE_4": _attribute("SCHEMA-ATTRIBUTE-MISSING"),
    "SCHEMAV_CVC_DATATYPE_VALID_1_2_1": _datatype,
    "SCHEMAV_CVC_AU": _facet("SCHEMA-VALUE-FIXED", r"fixed value constraint '(?P<expected>.*)'\."),
    "SCHEMAV_CVC_ENUMERATION_VALID": _facet("SCHEMA-VALUE-CODE", r"element of the set \{(?P<expected>[^}]{1,500})"),
    "SCHEMAV_CVC_MINLENGTH_VALID": _facet("SCHEMA-VALUE-SHORT", _LENGTH),
    "SCHEMAV_CVC_MAXLENGTH_VALID": _facet("SCHEMA-VALUE-LONG", _LENGTH),
    "SCHEMAV_CVC_PATTERN_VALID": _facet("SCHEMA-VALUE-PATTERN", r"accepted by the pattern '(?P<expected>.*)'\."),
}
