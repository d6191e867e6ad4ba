"""Maps libxml2's errors to catalog entries: code, values of the texts, and element.

The kind of an error is the name of its number in libxml2 (`etree.ErrorTypes`); its message is parsed for names and
values only. The texts are in `rules/schema/<CODE>.toml`; their placeholders are in `values`.
"""

import re
from collections.abc import Callable, Collection, Mapping
from difflib import get_close_matches
from typing import Final, NamedTuple, TypeAlias

from lxml import etree

from einvoice.likeness import likeness
from einvoice.model.location import NAMESPACES, line
from einvoice.quotation import quote
from einvoice.syntax.mapping.tables import table_of
from einvoice.syntax.schema.content_model import ContentModels, Sequence


class SchemaViolation(NamedTuple):
    """A violation of the XML schema.

    Attributes:
        code: code of the catalog entry, `SCHEMA-…`.
        values: values of the texts.
        element: the element; for a missing child its parent.
        line: line of the element, counted from 1.
        message: libxml2's message, for experts.
        missing: required children of `element` that are missing, with names as lxml writes them.
    """

    code: str
    values: Mapping[str, object]
    element: etree._Element | None
    line: int
    message: str
    missing: tuple[str, ...] = ()


class SchemaError(NamedTuple):
    """An error of libxml2: the name of its kind, its message, and its element."""

    kind: str
    message: str
    element: etree._Element
    line: int


class _Explanation(NamedTuple):
    code: str
    element: etree._Element
    values: dict[str, object]
    missing: tuple[str, ...] = ()


_Explain: TypeAlias = Callable[[SchemaError, ContentModels], _Explanation]

_QUOTED: Final = 80
_MESSAGE: Final = 500
_ALIKE: Final = 0.85
"""Least similarity (0 to 1) of an unknown name and the one that it probably means."""


def explain(error: SchemaError, models: ContentModels, hidden_by: etree._Element | None = None) -> SchemaViolation:
    """Return the violation that corresponds to an error of libxml2.

    Args:
        error: the error.
        models: content models of the schema.
        hidden_by: the child because of which only a further validation found the error.
    """
    code, element, values, missing = _EXPLAIN.get(error.kind, _other)(error, models)
    values = {"element": _name(element.tag, element)} | values
    if hidden_by is not None:
        values |= {"hidden_by": _name(hidden_by.tag, hidden_by), "hidden_by_line": str(line(hidden_by) or 1)}
    return SchemaViolation(code, values, element, line(element) or error.line, error.message[:_MESSAGE], missing)


# Names

_PREFIXES: Final = {uri: "" if prefix in ("ubl", "cn") else prefix for prefix, uri in NAMESPACES.items()} | {
    "http://www.w3.org/XML/1998/namespace": "xml",
    "http://www.w3.org/2001/XMLSchema": "xs",
    "http://www.w3.org/2001/XMLSchema-instance": "xsi",
}


def _name(tag: str, element: etree._Element | None = None) -> str:
    """Return a name with its usual prefix, else the one in scope at `element`; `tag` is the name as lxml writes it."""
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


def _order(parent: etree._Element, tags: list[str]) -> dict[str, str]:
    """Return the value with the right order of the elements, if several of them are in the wrong place."""
    stated = [tags.index(it.tag) for it in parent.iterchildren("*") if it.tag in tags]
    late = [rank for at, rank in enumerate(stated) if any(other < rank for other in stated[at + 1 :])]
    return {"order": _names([tags[rank] for rank in sorted({*stated})])} if len({*late}) > 1 else {}


# Elements that are missing, misplaced or unknown


def _content(error: SchemaError, models: ContentModels) -> _Explanation:
    element = error.element
    if "Missing child element" in error.message:
        return _incomplete(error, models.sequence_of(element))
    parent = element.getparent()
    sequence = () if parent is None else models.sequence_of(parent)
    previous = next(element.itersiblings("*", preceding=True), None)
    tags = [particle.tag for particle in sequence]
    if element.tag in tags and (previous is None or previous.tag in tags):
        return _misplaced(element, previous, sequence)
    if tags:
        return _unknown(element, tags, models)
    values: dict[str, object] = {"parent": _parent_name(element)}
    expected = _expected(error.message)
    if not expected:
        return _Explanation("SCHEMA-SURPLUS-ELEMENT", element, values)
    if other := _in_wrong_namespace(element, expected):
        return _Explanation("SCHEMA-WRONG-NAMESPACE", element, values | other)
    return _Explanation("SCHEMA-UNEXPECTED-ELEMENT", element, values | {"expected": _listed(expected)})


def _expected(message: str) -> list[str]:
    """Return the names that libxml2 expected, at most ten."""
    _, found, names = message.rpartition(" ( ")
    return names.removesuffix(" ).").split(", ") if found else []


def _listed(tags: Collection[str]) -> str:
    """Return names for texts; a wildcard is an asterisk."""
    return ", ".join("*" if tag.endswith("*") else _name(tag) for tag in tags)


def _incomplete(error: SchemaError, sequence: Sequence) -> _Explanation:
    """Explain an element that ends too early; its children are in order."""
    tags = [particle.tag for particle in sequence]
    last = next(error.element.iterchildren("*", reversed=True), None)
    missing = _required(sequence[tags.index(last.tag) + 1 if last is not None and last.tag in tags else 0 :])
    if missing:
        return _missing_children(error.element, missing)
    expected = _expected(error.message)
    return _Explanation("SCHEMA-MISSING-CONTENT", error.element, {"expected": _listed(expected)}, tuple(expected[:1]))


def _missing_children(parent: etree._Element, tags: list[str]) -> _Explanation:
    return _Explanation("SCHEMA-MISSING-ELEMENT", parent, {"expected": _names(tags)}, tuple(tags))


def _required(sequence: Sequence) -> list[str]:
    return [particle.tag for particle in sequence if particle.min_occurs]


def _unknown(element: etree._Element, tags: list[str], models: ContentModels) -> _Explanation:
    values: dict[str, object] = {"parent": _parent_name(element)}
    if models.added_later(element):
        return _Explanation("SCHEMA-LATER-ELEMENT", element, values)
    if other := _in_wrong_namespace(element, tags):
        return _Explanation("SCHEMA-WRONG-NAMESPACE", element, values | other)
    if similar := _similar(element, tags):
        values["similar"] = similar
    elif required := _required_at(element, models):
        values["required"] = required
    return _Explanation("SCHEMA-UNKNOWN-ELEMENT", element, values | _right_place(element, models))


def _right_place(element: etree._Element, models: ContentModels) -> dict[str, object]:
    """Return the values for the only parent that may have an element, and for the line where that states the same.

    Nothing is returned if several elements may contain it, since it is then unknown what it means, or if the parent
    already states something else.
    """
    root = element.getroottree().getroot()
    parents = models.parents_of(element.tag, root.tag, table_of(root.tag).tags)
    own = element.getparent()
    if len(parents) != 1 or (own is not None and own.tag == parents[0]):
        return {}
    values: dict[str, object] = {"belongs_in": _name(parents[0])}
    copy = _copy_in(parents[0], element)
    if copy is not None:
        return values | {"stated_in_line": str(line(copy))}
    present = list(root.iter(parents[0]))
    return values if not present or any(_has_room(it, element.tag, models) for it in present) else {}


def _has_room(parent: etree._Element, tag: str, models: ContentModels) -> bool:
    """Return whether a parent may have another child with this name."""
    limit = next((it.max_occurs for it in models.sequence_of(parent) if it.tag == tag), None)
    return limit is None or len(parent.findall(tag)) < limit


def _copy_in(parent: str, element: etree._Element) -> etree._Element | None:
    """Return an element with the same content that is in a parent with this name; None if there is none.

    If a parent with this name lacks such an element, there is none: the element may belong there. Otherwise, it is
    searched in the smallest part of the document around the element that has such parents: an element in an invoice
    line is not the copy of one in another line.
    """
    content = _words_of(element)
    for ancestor in element.iterancestors():
        stated = [it.findall(element.tag) for it in ancestor.iter(parent)]
        if any(stated):
            copies = (it for found in stated for it in found if _words_of(it) == content)
            return next(copies, None) if all(stated) and content else None
    return None


def _words_of(element: etree._Element) -> list[tuple[str, str, list[tuple[str, str]]]]:
    """Return the elements in an element, itself included, with texts and attributes; empty if it has no text."""
    found = []
    for it in element.iter(etree.Element):
        attributes = sorted((str(key), str(value)) for key, value in it.attrib.items())
        found.append((str(it.tag), (it.text or "").strip(), attributes))
    return found if any(text for _, text, _ in found) else []


def _in_wrong_namespace(element: etree._Element, tags: Collection[str]) -> dict[str, object]:
    """Return the values for an element that has the name of an expected one in another namespace, else nothing."""
    local = etree.QName(element).localname
    meant = next((tag for tag in tags if not tag.endswith("*") and etree.QName(tag).localname == local), None)
    if meant is None:
        return {}
    return {"namespace": _namespace(element.tag), "expected": _name(meant), "meant": _namespace(meant)}


def _similar(element: etree._Element, tags: Collection[str]) -> str:
    """Return the name of an element that the parent may have and lacks, and that is spelt alike; "" for none."""
    parent = element.getparent()
    present = set() if parent is None else {child.tag for child in parent}
    names = {etree.QName(tag).localname: tag for tag in tags if tag not in present}
    close = get_close_matches(etree.QName(element).localname, names, n=1, cutoff=_ALIKE)
    return _name(names[close[0]]) if close else ""


def _required_at(element: etree._Element, models: ContentModels) -> str:
    """Return the name of the only element that the schema requires at the place of another one; "" if it has others."""
    parent = element.getparent()
    assert parent is not None  # only a parent has a sequence
    required = [it.tag for it in models.allowed_at(element) if it.min_occurs and parent.find(it.tag) is None]
    is_like = len(required) == 1 and models.has_children(parent, required[0]) == bool(len(element))
    return _name(required[0]) if is_like else ""


def _misplaced(element: etree._Element, previous: etree._Element | None, sequence: Sequence) -> _Explanation:
    """Explain an element in the wrong place in its parent; its preceding siblings are in the correct order."""
    tags = [particle.tag for particle in sequence]
    position = tags.index(element.tag)
    last = -1 if previous is None else tags.index(previous.tag)
    parent = element.getparent()
    assert parent is not None  # only a parent has a sequence
    values: dict[str, object] = {"parent": _name(parent.tag, parent)}
    if position == last:
        equal = {"equal": True} if previous is not None and _content_of(previous) == _content_of(element) else {}
        max_occurs = {"max_occurs": sequence[position].max_occurs}
        return _Explanation("SCHEMA-REPEATED-ELEMENT", element, values | max_occurs | equal)
    if position < last:
        after = next(child for child in parent.iterchildren("*") if tags.index(child.tag) > position)
        return _Explanation(
            "SCHEMA-ELEMENT-ORDER", element, values | {"before": _name(after.tag), **_order(parent, tags)}
        )
    missing = _required(sequence[last + 1 : position])
    late = next((sibling for sibling in element.itersiblings("*") if sibling.tag in missing), None)
    if late is not None:
        return _Explanation(
            "SCHEMA-ELEMENT-ORDER", late, values | {"before": _name(element.tag), **_order(parent, tags)}
        )
    later = [tag for tag in _required(sequence[position:]) if parent.find(tag) is None]
    return _missing_children(parent, [*missing, *later])


def _content_of(element: etree._Element) -> bytes:
    return etree.tostring(element, method="c14n", with_tail=False)


def _no_declaration(error: SchemaError, _models: ContentModels) -> _Explanation:
    return _Explanation("SCHEMA-ROOT", error.element, {"namespace": _namespace(error.element.tag)})


def _children_in_text(error: SchemaError, _models: ContentModels) -> _Explanation:
    child = next(error.element.iterchildren("*"))
    return _Explanation("SCHEMA-NO-CHILDREN", error.element, {"child": _name(child.tag, child)})


def _text_between(error: SchemaError, _models: ContentModels) -> _Explanation:
    texts = [error.element.text, *(child.tail for child in error.element)]
    found = next((text.strip() for text in texts if text and text.strip()), "")
    return _Explanation("SCHEMA-NO-TEXT", error.element, {"found": quote(found, limit=_QUOTED)})


# Values of elements and attributes

_DATATYPES: Final = {
    "date": "SCHEMA-VALUE-DATE",
    "dateTime": "SCHEMA-VALUE-TIME",
    "time": "SCHEMA-VALUE-TIME",
    "decimal": "SCHEMA-VALUE-NUMBER",
    "boolean": "SCHEMA-VALUE-BOOLEAN",
    "base64Binary": "SCHEMA-VALUE-BINARY",
}
_ATTRIBUTE: Final = re.compile(r"Element '[^']*', attribute '([^']*)':")


def _value(error: SchemaError) -> tuple[str, dict[str, object]]:
    """Return the invalid value, and the text values that describe it and its place."""
    element = error.element
    place = _name(element.tag, element)
    attribute = _ATTRIBUTE.match(error.message)
    value = element.get(attribute[1]) if attribute else element.text
    if attribute:
        place += f"/@{_name(attribute[1], element)}"
    return value or "", {"place": place, "found": quote(value or "", limit=_QUOTED)}


def _datatype(error: SchemaError, models: ContentModels) -> _Explanation:
    value, values = _value(error)
    if _ATTRIBUTE.match(error.message):
        code = "SCHEMA-VALUE-ATTRIBUTE"
    elif not value.strip():
        code = "SCHEMA-VALUE-EMPTY"
    else:
        values["type"] = models.datatype_of(error.element) or "–"
        code = _DATATYPES.get(str(values["type"]), "SCHEMA-VALUE-OTHER")
        if other := likeness(value):
            values[f"like_{other}"] = True
        values |= _number_as_country(error.element, value)
        if code == "SCHEMA-VALUE-BOOLEAN" and _is_charge_indicator(error.element):
            values["charge"] = True
    return _Explanation(code, error.element, values)


def _number_as_country(element: etree._Element, value: str) -> dict[str, object]:
    """Return number and line of the first country that is a number, if a text looks like a country code."""
    if not re.fullmatch(r"\s*[A-Z]{2}\s*", value):
        return {}
    countries = element.getroottree().iter("{*}CountryID", "{*}IdentificationCode")
    found = next((it for it in countries if (it.text or "").strip().isdecimal()), None)
    return {} if found is None else {"number": quote((found.text or "").strip()), "number_line": line(found)}


def _is_charge_indicator(element: etree._Element) -> bool:
    """Return whether an element says that its parent is a charge or an allowance; CII has a child for the value."""
    return any(etree.QName(it).localname == "ChargeIndicator" for it in (element, *element.iterancestors()))


def _facet(code: str, pattern: str) -> _Explain:
    """Return the explanation of a facet: a pattern parses the message, and its groups provide further values."""

    def explain_facet(error: SchemaError, _models: ContentModels) -> _Explanation:
        regex = re.compile(pattern, re.DOTALL)
        match = regex.search(error.message)
        groups = match.groupdict() if match else dict.fromkeys(regex.groupindex, "–")
        return _Explanation(code, error.element, _value(error)[1] | groups)

    return explain_facet


# Attributes, and the rest


def _attribute(error: SchemaError) -> str:
    match = re.search(r"The attribute '([^']*)'", error.message)
    return _name(match[1], error.element) if match else "–"


def _unknown_attribute(error: SchemaError, _models: ContentModels) -> _Explanation:
    return _Explanation("SCHEMA-ATTRIBUTE-UNKNOWN", error.element, {"attribute": _attribute(error)})


def _missing_attribute(error: SchemaError, _models: ContentModels) -> _Explanation:
    """Explain a missing attribute; a value for the texts says what it is: a currency, a unit, or the type of a file."""
    attribute = _attribute(error)
    values: dict[str, object] = {"attribute": attribute}
    if kind := {"currencyID": "currency", "mimeCode": "media_type", "unitCode": "unit"}.get(attribute):
        values[kind] = True
    return _Explanation("SCHEMA-ATTRIBUTE-MISSING", error.element, values)


def _other(error: SchemaError, _models: ContentModels) -> _Explanation:
    message = re.sub(r"\{[^{}]*\}[\w.-]*", lambda name: _name(name[0], error.element), error.message)
    return _Explanation("SCHEMA-OTHER", error.element, {"message": quote(message, limit=_MESSAGE)})


_LENGTH: Final = r"a length of '(?P<length>\d+)'.* length of '(?P<limit>\d+)'"

_EXPLAIN: Final[Mapping[str, _Explain]] = {
    "SCHEMAV_CVC_ELT_1": _no_declaration,
    "SCHEMAV_ELEMENT_CONTENT": _content,
    "SCHEMAV_CVC_COMPLEX_TYPE_2_2": _children_in_text,
    "SCHEMAV_CVC_COMPLEX_TYPE_2_3": _text_between,
    "SCHEMAV_CVC_COMPLEX_TYPE_3_2_1": _unknown_attribute,
    "SCHEMAV_CVC_COMPLEX_TYPE_4": _missing_attribute,
    "SCHEMAV_CVC_DATATYPE_VALID_1_2_1": _datatype,
    "SCHEMAV_CVC_AU": _facet("SCHEMA-VALUE-FIXED", r"fixed value constraint '(?P<expected>.*)'\."),
    "SCHEMAV_CVC_ENUMERATION_VALID": _facet("SCHEMA-VALUE-CODE", r"element of the set \{(?P<expected>[^}]{1,500})"),
    "SCHEMAV_CVC_MINLENGTH_VALID": _facet("SCHEMA-VALUE-SHORT", _LENGTH),
    "SCHEMAV_CVC_MAXLENGTH_VALID": _facet("SCHEMA-VALUE-LONG", _LENGTH),
    "SCHEMAV_CVC_PATTERN_VALID": _facet("SCHEMA-VALUE-PATTERN", r"accepted by the pattern '(?P<expected>.*)'\."),
}
