"""JSON Schemas of the TOML files of a rule set, so that editors complete and check them.

They are made from the tables of keys that the loader uses. The folder `json-schema` of the rule data holds them for
`.taplo.toml` and `#:schema` lines; `einvoice rules schema --write` renews it. A schema accepts every file that
the loader accepts; the loader checks more, such as expressions.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import UnionType
from typing import Any, Final, TypeAlias, get_args, get_origin, get_type_hints

from einvoice.authoring.json_schema.descriptions import description
from einvoice.localization import languages
from einvoice.model.terms import terms
from einvoice.rulebook.files import contexts, keys, notes, situations, versions
from einvoice.rulebook.rule import SEVERITIES, SYNTAXES
from einvoice.rulebook.sections import SECTIONS
from einvoice.syntax.specifications import Specification

Schema: TypeAlias = dict[str, Any]

FOLDER: Final = "json-schema"
_JSON_TYPES: Final = {str: "string", list: "array", dict: "object", int: "integer", bool: "boolean"}
_OF_SYNTAX: Final = tuple(map(str.lower, SYNTAXES))
_NOT_BLANK: Final[Schema] = {"type": "string", "pattern": r"\S"}
_TERMS: Final[Schema] = {"type": "array", "items": {"$ref": "#/definitions/term"}}
#: The contents of keys that have the same restriction in every table.
_RESTRICTED: Final[Mapping[str, Schema]] = {
    "severity": {"enum": list(SEVERITIES)},
    "section": {"enum": list(SECTIONS)},
    "syntax": {"enum": list(_OF_SYNTAX)},
    "root": {"const": keys.CREDIT_NOTE},
    "direction": {"enum": list(notes.CLASSES["direction"])},
    "kind": {"enum": list(notes.CLASSES["kind"])},
    "terms": _TERMS,
}


def schema(kind: str) -> Schema:
    """Return the JSON Schema (draft 7) of a kind of file, one of `KINDS`. Raise `KeyError` for another one."""
    title, build = _KINDS[kind]
    content = build()
    head = {"$schema": "http://json-schema.org/draft-07/schema#", "title": title}
    term: Schema = {"anyOf": [{"enum": list(terms())}, {"type": "string", "pattern": r"\{\w+\}"}]}
    return {**head, **content, "definitions": {"term": term}} if "definitions/term" in repr(content) else head | content


def text(kind: str) -> str:
    """Return the JSON Schema of a kind of file as text. Raise `KeyError` for an unknown kind."""
    return json.dumps(schema(kind), indent=1, ensure_ascii=False) + "\n"


def _rule() -> Schema:
    entries = _entries("deviation", "notes", situations.KEY, "history")
    variants = {"variants": _members("rule", keys.MEMBER)}
    known = {**keys.FILE, **dict.fromkeys(languages(), dict)}
    one = [{"required": ["code"]}, {"required": ["variants"]}]
    nested = {
        **_overlays(),
        **entries,
        **_named_examples(),
        **variants,
        **_texts(),
        "examples": _examples(),
        "renamed_from": _renamed(),
    }
    return {**_table("rule", known, nested, ["severity"]), "allOf": [{"oneOf": one}, _some_language()]}


def _schematron() -> Schema:
    entries = _entries("deviation", situations.KEY, "history")
    variants = {"variants": _members("schematron", keys.MEMBER)}
    known = {**keys.ADOPTED, **dict.fromkeys(languages(), dict)}
    nested = {
        **_overlays(),
        **entries,
        **_named_examples(),
        **variants,
        **_texts(required=()),
        "renamed_from": _renamed(),
    }
    return _table("schematron", known, nested)


def _copy() -> Schema:
    return _table("copy", keys.COPY, {**_overlays(), **_entries("deviation"), **_named_examples()})


def _copies() -> Schema:
    entry = _table("copies", keys.RELEASE, {**_entries("deviation"), **_named_examples()}, ["release", "rules"])
    return _table("copies", {"copied": list}, {"copied": {"type": "array", "items": entry}})


def _text_file() -> Schema:
    of_texts = {
        "deviation": _deviation(notes.DEVIATION_OF_TEXTS),
        situations.KEY: _situation(situations.SITUATION_OF_TEXTS),
    }
    entries = {name: {"type": "array", "items": entry} for name, entry in of_texts.items()}
    known = {**keys.TEXT_FILE, **dict.fromkeys(languages(), dict)}
    one = [{"required": ["code"]}, {"required": ["variants"]}]
    variants = _members("text", {"terms": list[str]})
    nested = {**_texts(), **entries, "examples": _examples(), "variants": variants}
    return {**_table("text", known, nested, ["severity", "section"]), "allOf": [{"oneOf": one}, _some_language()]}


def _ruleset() -> Schema:
    version = _table("versions", versions.VERSION_KEYS, required=["version"])
    title = _table("", dict.fromkeys(languages(), str), dict.fromkeys(languages(), _NOT_BLANK))
    nested = {
        "kind": {"enum": list(versions.KINDS)},
        "name": _NOT_BLANK,
        "title": {**title, "minProperties": 1},
        "syntaxes": {"type": "array", "items": {"enum": list(SYNTAXES)}},
        "versions": {"type": "array", "items": version, "minItems": 1},
        "adopted": _of_type(dict[str, list[str]]),
        "adopted_title": title,
    }
    return _table("ruleset", versions.KEYS, nested, ["kind", "name", "title"])


def _contexts() -> Schema:
    location = {"location": {"enum": list(contexts.LOCATIONS)}}
    lists = (contexts.HISTORY, contexts.DEVIATION)
    older = dict.fromkeys((*contexts.SYNTAX_KEYS, "not_applicable"), str)
    overlays = dict.fromkeys(_OF_SYNTAX, _table("contexts", dict.fromkeys(contexts.SYNTAX_KEYS, str), location))
    history = _table(
        "history",
        {"until": str, **dict.fromkeys(_OF_SYNTAX, dict)},
        dict.fromkeys(_OF_SYNTAX, _table("contexts", older, location)),
        ["until"],
    )
    context = _table(
        "contexts",
        {**dict.fromkeys(contexts.KEYS, str), **dict.fromkeys(_OF_SYNTAX, dict), **dict.fromkeys(lists, list)},
        {**location, **overlays, contexts.HISTORY: {"type": "array", "items": history}, **_entries(contexts.DEVIATION)},
    )
    return {"type": "object", "additionalProperties": context}


def _specifications() -> Schema:
    known = {name: it for name, it in get_type_hints(Specification).items() if name != "name"}
    types = {name: list[str] if get_origin(it) is tuple else int if it is int else str for name, it in known.items()}
    required = ["identifiers", "profile", "version", "kind", "family", "rulesets"]
    nested: dict[str, Schema] = {
        "kind": {"enum": list(get_args(known["kind"]))},
        "syntaxes": {"type": "array", "items": {"enum": list(SYNTAXES)}},
        "conditions": {"type": "object", "additionalProperties": {"type": "string"}},
    }
    return {"type": "object", "additionalProperties": _table("specifications", types, nested, required)}


_KINDS: Final[Mapping[str, tuple[str, Callable[[], Schema]]]] = {
    "rule": ("A rule", _rule),
    "schematron": ("What the official Schematron does otherwise than a rule", _schematron),
    "copy": ("What the copy of a rule in the Schematron of another rule set does otherwise", _copy),
    "copies": ("Rules that another rule set copied from older releases", _copies),
    "text": ("Texts without a rule", _text_file),
    "ruleset": ("A rule set", _ruleset),
    "contexts": ("Contexts of rules", _contexts),
    "specifications": ("Specifications that invoices declare", _specifications),
}
KINDS: Final = tuple(_KINDS)


def _entries(*names: str) -> dict[str, Schema]:
    """Return the schemas of lists of tables, such as `[[notes]]`."""
    build: Mapping[str, Callable[[], Schema]] = {
        "deviation": lambda: _deviation(notes.DEVIATION),
        "notes": lambda: _note("notes", notes.NOTES, ["kind"]),
        situations.KEY: lambda: _situation(situations.SITUATION),
        "history": lambda: _table("history", keys.HISTORY, _overlays(), ["until"]),
    }
    return {name: {"type": "array", "items": build[name]()} for name in names}


def _deviation(known: keys.Keys) -> Schema:
    """Return the schema of a deviation: no finding shows a laxer one; of a syntax rule, the others list values."""
    laxer: Schema = {"properties": {"direction": {"const": notes.LAXER}}, "required": ["direction"]}
    content = {**_note("deviation", known, ["direction", "source"]), "if": laxer}
    if "when" in known:
        return {**content, "then": {"properties": {"when": False}}}
    listed: Schema = {"type": "array", "minItems": 1}
    return {**content, "else": {"required": ["values"], "properties": {"values": listed, "syntax": False}}}


def _note(table: str, known: keys.Keys, required: Iterable[str]) -> Schema:
    texts = dict.fromkeys(languages(), _NOT_BLANK)
    content = _table(table, {**known, **dict.fromkeys(languages(), str)}, texts, required)
    return {**content, **_some_language()}


def _situation(known: keys.Keys) -> Schema:
    texts = dict.fromkeys(
        languages(), _table("", dict.fromkeys(keys.TEXTS, str), dict.fromkeys(keys.TEXTS, _NOT_BLANK))
    )
    nested: dict[str, Schema] = {**texts, "name": {"type": "string", "minLength": 1}}
    return {**_table("situations", {**known, **dict.fromkeys(languages(), dict)}, nested), **_some_language()}


def _example() -> Schema:
    insert = _table("example", keys.INSERT)
    example = _table("example", keys.EXAMPLE, dict.fromkeys(_OF_SYNTAX, insert))
    return {**example, "additionalProperties": _of_type(keys.FIELD)}


def _named_examples() -> dict[str, Schema]:
    return {kind: {"type": "object", "additionalProperties": _example()} for kind in keys.KINDS_OF_EXAMPLES}


def _members(table: str, known: keys.Keys) -> Schema:
    """Return the schema of `[variants]`: a table for each code, with constants and keys of the rule."""
    constants = {"additionalProperties": _of_type(keys.CONSTANT)}
    overlays = {syntax: {**overlay, **constants} for syntax, overlay in _overlays().items()}
    member = _table(table, known, {**overlays, "renamed_from": _renamed()})
    return {"type": "object", "additionalProperties": {**member, **constants}}


def _overlays() -> dict[str, Schema]:
    return dict.fromkeys(_OF_SYNTAX, _table("overlay", keys.OVERLAY))


def _renamed() -> Schema:
    return _table("renamed_from", keys.RENAMED_FROM, required=["code", "until"])


def _texts(required: Sequence[str] = keys.TEXTS) -> dict[str, Schema]:
    known = dict.fromkeys(keys.TEXTS, str)
    return dict.fromkeys(languages(), _table("", known, dict.fromkeys(keys.TEXTS, _NOT_BLANK), required))


def _examples() -> Schema:
    return _table("", dict.fromkeys(languages(), list[str]))


def _some_language() -> Schema:
    return {"anyOf": [{"required": [language]} for language in languages()]}


def _table(table: str, known: keys.Keys, nested: Mapping[str, Schema] = {}, required: Iterable[str] = ()) -> Schema:
    """Return the schema of a table with these keys; `nested` has the contents of some of them."""
    properties = {name: _content(table, name, kind, nested) for name, kind in known.items()}
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}


def _content(table: str, name: str, kind: Any, nested: Mapping[str, Schema]) -> Schema:
    content = nested.get(name) or _RESTRICTED.get(name) or _of_type(kind)
    return content if name in languages() else {"description": description(table, name), **content}


def _of_type(kind: Any) -> Schema:
    """Return the schema of a type, as in the tables of keys.

    >>> _of_type(list[str])
    {'type': 'array', 'items': {'type': 'string'}}
    """
    if kind is Any:
        return {}
    if isinstance(kind, UnionType):
        return {"anyOf": [_of_type(one) for one in get_args(kind)]}
    content: Schema = {"type": _JSON_TYPES[get_origin(kind) or kind]}
    for item in get_args(kind)[-1:]:
        content["items" if content["type"] == "array" else "additionalProperties"] = _of_type(item)
    return content
