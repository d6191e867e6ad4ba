"""The keys of rule files with their types, and checks of types and required texts.

The loader and the JSON Schemas of rule files (`json_schema`) use these tables. Types are written as in annotations:
`str`, `list[str]`, `dict[str, str]` for a table of texts, or a union.
"""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from types import UnionType
from typing import Any, Final, TypeAlias, get_args, get_origin

from einvoice.errors import RuleError
from einvoice.localization import Language, languages
from einvoice.model.terms import terms
from einvoice.rulebook.files.notes import DEVIATION, NOTES, check_notes
from einvoice.rulebook.files.situations import KEY as SITUATIONS
from einvoice.rulebook.files.situations import SITUATION, SITUATION_OF_TEXTS, check_situations
from einvoice.rulebook.rule import SEVERITIES, SYNTAXES

Keys: TypeAlias = Mapping[str, Any]
"""The keys of a table, each with its type."""

TEXTS: Final = ("title", "explanation", "fix")
VARYING: Final[Keys] = {
    "for": str,
    "let": dict[str, str],
    "when": str,
    "assert": str,
    "terms": list[str],
    "severity": str,
    "not_applicable": str,
}
OVERLAY: Final[Keys] = {**VARYING, "code": str}
#: The constant of a variant: in expressions and texts, or a text for each language.
CONSTANT: Final = str | int | list[str] | dict[str, str]
_OF_SYNTAX: Final[Keys] = {"ubl": dict, "cii": dict}
#: Keys of a variant; all others are constants.
MEMBER: Final[Keys] = {
    **VARYING, "since": str, "until": str, "renamed_from": dict, "yields_to": list[str], **_OF_SYNTAX,
}  # fmt: skip
_OF_SCHEMATRON_MEMBER: Final[Keys] = {
    key: kind for key, kind in MEMBER.items() if key not in ("since", "until", "yields_to")
}
#: The content of a field: its text in the document, or a table or list that `files.examples` reads.
FIELD: TypeAlias = str | dict[str, Any] | list[Any]
#: Keys of an example; all others are fields of the invoice with their content.
EXAMPLE: Final[Keys] = {"drop": list[str], "root": str, "syntax": str, "variants": list[str], **_OF_SYNTAX}
INSERT: Final[Keys] = {"insert": dict[str, str]}
#: What an example may state as `root`; any other document has the root Invoice or CrossIndustryInvoice.
CREDIT_NOTE: Final = "CreditNote"
HISTORY: Final[Keys] = {**VARYING, "until": str, "variants": list[str], **_OF_SYNTAX}
_TABLES: Final = list[dict[str, Any]]
_NAMED: Final = dict[str, dict[str, Any]]
#: The rule file whose keys hold for a twin, too, except for those that the twin states.
LIKE: Final = "like"
KINDS_OF_EXAMPLES: Final = ("valid", "invalid")
#: Changes of the base invoice that the examples of a rule have in common.
CHANGES: Final = "base"
FILE: Final[Keys] = {
    **OVERLAY,
    "variants": dict[str, dict[str, Any]], "section": str, "since": str, "until": str, "replaces": list[str],
    "yields_to": list[str], "aliases": list[str], "renamed_from": dict, "source": str, **_OF_SYNTAX,
    LIKE: str, "history": _TABLES, "deviation": _TABLES, "notes": _TABLES,
    SITUATIONS: _TABLES, CHANGES: dict[str, FIELD], "valid": _NAMED, "invalid": _NAMED, "examples": dict,
}  # fmt: skip
#: The folder that states what the official Schematron does otherwise, and the keys of its files.
SCHEMATRON: Final = "schematron"
_OF_SCHEMATRON: Final[Keys] = {
    **VARYING,
    "variants": dict[str, dict[str, Any]], "renamed_from": dict, **_OF_SYNTAX, "history": _TABLES, "deviation": _TABLES,
    SITUATIONS: _TABLES, "valid": _NAMED, "invalid": _NAMED,
}  # fmt: skip
#: Keys of such a file for a rule that the rule set adopts.
ADOPTED: Final[Keys] = {**_OF_SCHEMATRON, "code": str, "source": str, "since": str, "until": str}
#: Keys of a file about the copy of a rule in another rule set.
COPY: Final[Keys] = {
    **VARYING,
    "variants": list[str], **_OF_SYNTAX, "deviation": _TABLES,
    CHANGES: dict[str, FIELD], "valid": _NAMED, "invalid": _NAMED,
}  # fmt: skip
RELEASE: Final[Keys] = {
    "release": str, "rules": list[str], "deviation": _TABLES, "valid": _NAMED, "invalid": _NAMED,
}  # fmt: skip
RENAMED_FROM: Final[Keys] = {"code": str, "until": str, "syntax": str}
#: Keys of a file that has texts without a rule.
TEXT_FILE: Final[Keys] = {
    "code": str, "severity": str, "section": str, "terms": list[str], "source": str,
    "variants": dict[str, dict[str, Any]], "examples": dict, "deviation": _TABLES, SITUATIONS: _TABLES,
}  # fmt: skip
ENTRIES: Final[Mapping[str, Keys]] = {
    "history": HISTORY,
    "deviation": DEVIATION,
    "notes": NOTES,
    SITUATIONS: SITUATION,
}
#: The type of the texts of an entry in each language.
OF_LANGUAGE: Final[Keys] = {"deviation": str, "notes": str, SITUATIONS: dict}
_TYPE_NAMES: Final = {str: "text", list: "list", dict: "table", int: "integer", bool: "boolean"}


def check_file(data: Mapping[str, Any], file: str) -> None:
    """Check the keys, texts and examples of a rule file; raise `RuleError` for an invalid one."""
    if (key := listed_examples(data)) is not None:
        raise outdated_examples(file, key)
    check_keys(data, {**FILE, **dict.fromkeys(languages(), dict)}, file)
    if ("code" in data) == ("variants" in data):
        raise RuleError("must have either code or [variants]", file=file, key="code")
    if "severity" not in data:
        raise RuleError("is missing", file=file, key="severity")
    for syntax in map(str.lower, SYNTAXES):
        _check_overlay(data, data.get(syntax, {}), file, syntax)
    for code, member in data.get("variants", {}).items():
        check_keys(member, {**dict.fromkeys(member, CONSTANT), **MEMBER}, file, f"variants.{code}")
        _check_overlay(data, {key: member[key] for key in VARYING if key in member}, file, f"variants.{code}")
        _check_syntaxes(member, file, f"variants.{code}", constants=True)
    _check_entries(data, file)
    check_texts(data, file)
    check_examples(data, file)


def listed_examples(data: Mapping[str, Any]) -> str | None:
    """Return the key of examples that are a list of tables, as until release 0.2.0; None if there are none."""
    return next((key for key in KINDS_OF_EXAMPLES if isinstance(data.get(key), list)), None)


def outdated_examples(file: str, key: str, others: int = 0) -> RuleError:
    """Return the error for examples as until release 0.2.0, which as many other files have, too."""
    also = f", as {others} more file{'s have' if others > 1 else ' has'}" if others else ""
    hint = (
        f'write [{key}] once, and below it "NAME" = {{ … }} in place of each [[{key}]] with name = "NAME" and '
        "set = { … }; drop, syntax, root and inserted XML go between the braces, too"
    )
    message = f"has examples in the form of einvoice 0.2.0{also}; now the name of an example is its key"
    return RuleError(message, file=file, key=key, hint=hint)


def check_schematron(
    schematron: Mapping[str, Any], data: Mapping[str, Any], file: str, *, adopted: bool = False
) -> None:
    """Check the file that states what the official Schematron does otherwise than `data`, the rule file.

    `adopted` says whether it is that of a rule set that adopts the rule. Raise `RuleError` for an invalid one, and
    for a key that repeats the rule file.
    """
    check_keys(schematron, {**ADOPTED, **dict.fromkeys(languages(), dict)} if adopted else _OF_SCHEMATRON, file)
    for language in languages_of(schematron):
        check_keys(schematron[language], dict.fromkeys(TEXTS, str), file, language)
    _check_overlay(data, {key: schematron[key] for key in VARYING if key in schematron}, file, "")
    both = {**data, **schematron, "let": data.get("let", {}) | schematron.get("let", {})}
    for syntax in map(str.lower, SYNTAXES):
        _check_overlay(both, schematron.get(syntax, {}), file, syntax)
    for code, member in schematron.get("variants", {}).items():
        if code not in data.get("variants", {}):
            raise RuleError(f"{code} is not in the rule file", file=file, key=f"variants.{code}")
        constants = {**dict.fromkeys(data["variants"][code], CONSTANT), "code": str} if adopted else {}
        check_keys(member, {**constants, **(MEMBER if adopted else _OF_SCHEMATRON_MEMBER)}, file, f"variants.{code}")
        _check_overlay({}, {key: member[key] for key in VARYING if key in member}, file, f"variants.{code}")
        _check_syntaxes(member, file, f"variants.{code}", constants=True)
    _check_entries(schematron, file)


def check_text_file(data: Mapping[str, Any], file: str) -> None:
    """Check a file that has texts without a rule; raise `RuleError` for an invalid one."""
    check_keys(data, {**TEXT_FILE, **dict.fromkeys(languages(), dict)}, file)
    check_texts(data, file)
    check_examples(data, file)
    for situation in data.get(SITUATIONS, ()):
        check_keys(situation, {**SITUATION_OF_TEXTS, **dict.fromkeys(languages(), dict)}, file, SITUATIONS)
    check_situations(data, file, TEXTS)
    if ("code" in data) == ("variants" in data):
        raise RuleError("must have either code or [variants]", file=file, key="code")
    for key in ("severity", "section"):
        if key not in data:
            raise RuleError("is missing", file=file, key=key)
    for code, constants in data.get("variants", {}).items():
        check_keys(constants, {**dict.fromkeys(constants, CONSTANT), "terms": list[str]}, file, f"variants.{code}")
    for key, table in (
        ("terms", data),
        *((f"variants.{it}.terms", its) for it, its in data.get("variants", {}).items()),
    ):
        for number in table.get("terms", ()):
            if number not in terms():
                raise RuleError(f"'{number}' is not a business term", file=file, key=key)


def check_copy(data: Mapping[str, Any], file: str) -> None:
    """Check the file that states what the copy of a rule in another rule set does otherwise.

    It can repeat the definition of the rule, from which the copied release may differ.
    """
    check_keys(data, COPY, file)
    check_schematron({key: content for key, content in data.items() if key != "variants"}, {}, file)


def check_release(data: Mapping[str, Any], file: str) -> None:
    """Check the table of the rules that another rule set copied from a release."""
    check_keys(data, RELEASE, file, "copied")
    _check_entries(data, file)


def _check_entries(data: Mapping[str, Any], file: str) -> None:
    """Check notes, examples and history."""
    for kind, keys in ENTRIES.items():
        of_languages = dict.fromkeys(languages(), OF_LANGUAGE[kind]) if kind in OF_LANGUAGE else {}
        for entry in data.get(kind, []):
            check_keys(entry, {**keys, **of_languages}, file, kind)
    for kind in KINDS_OF_EXAMPLES:
        for name, entry in data.get(kind, {}).items():
            _check_example(entry, file, f'{kind}."{name}"')
    for entry in data.get("history", []):
        if "until" not in entry:
            raise RuleError("is missing", file=file, key="history.until")
        _check_syntaxes(entry, file, "history")
    check_notes(data, file)
    check_situations(data, file, TEXTS)


def _check_example(entry: Mapping[str, Any], file: str, key: str) -> None:
    check_keys(entry, {**dict.fromkeys(entry, FIELD), **EXAMPLE}, file, key)
    for syntax in map(str.lower, SYNTAXES):
        check_keys(entry.get(syntax, {}), INSERT, file, f"{key}.{syntax}")
    if entry.get("syntax", "ubl") not in map(str.lower, SYNTAXES):
        raise RuleError("must be ubl or cii", file=file, key=f"{key}.syntax")
    if entry.get("root", CREDIT_NOTE) != CREDIT_NOTE:
        raise RuleError(f"must be {CREDIT_NOTE} or omitted", file=file, key=f"{key}.root")


def languages_of(data: Mapping[str, Any]) -> list[Language]:
    """Return the languages in which a table has texts."""
    return [language for language in languages() if language in data]


def check_examples(data: Mapping[str, Any], file: str) -> None:
    """Check that example texts, if any, are complete in each language; raise `RuleError` otherwise."""
    if "examples" not in data:
        return
    texts = data["examples"]
    check_keys(texts, dict.fromkeys(languages(), list[str]), file, "examples")
    if len(set(map(len, texts.values()))) != 1 or not all(texts.values()):
        raise RuleError("must have the same number of examples in each language", file=file, key="examples")


def check_texts(data: Mapping[str, Any], file: str) -> None:
    """Check that there are title, explanation and fix in each language given; raise `RuleError` otherwise."""
    if not languages_of(data):
        hint = f"add a table such as [en] with {', '.join(TEXTS)}"
        raise RuleError("has no texts", file=file, hint=hint)
    for language in languages_of(data):
        texts = data[language]
        check_keys(texts, dict.fromkeys(TEXTS, str), file, language)
        for key in TEXTS:
            if not texts.get(key, "").strip():
                raise RuleError("is missing", file=file, key=f"{language}.{key}")


def check_keys(data: Mapping[str, Any], known: Keys, file: str, inside: str = "") -> None:
    """Check that all keys are known and have the right type; raise `RuleError` otherwise."""
    for key, content in data.items():
        full = f"{inside}.{key}".lstrip(".")
        if key not in known:
            near = get_close_matches(key, known, 1)
            hint = f"did you mean '{near[0]}'?" if near else f"valid keys are {', '.join(known)}"
            raise RuleError("is not a known key", file=file, key=full, hint=hint)
        if not _fits(content, known[key]):
            raise RuleError(f"must be {_named(known[key])}", file=file, key=full)
    if data.get("severity", SEVERITIES[0]) not in SEVERITIES:
        raise RuleError("must be one of " + ", ".join(SEVERITIES), file=file, key=f"{inside}.severity".lstrip("."))


def _fits(content: Any, kind: Any) -> bool:
    """Return whether content has a type, as in the tables of keys."""
    if kind is Any:
        return True
    if isinstance(kind, UnionType):
        return any(_fits(content, one) for one in get_args(kind))
    if not isinstance(content, get_origin(kind) or kind) or isinstance(content, bool):
        return isinstance(content, bool) and kind is bool
    items = content.values() if isinstance(content, dict) else content
    return all(_fits(item, one) for one in get_args(kind)[-1:] for item in items)


def _named(kind: Any) -> str:
    """Return a type with its article.

    >>> _named(list[str]), _named(dict[str, str]), _named(str | int)
    ('a list of texts', 'a table of texts', 'a text or an integer')
    """
    if isinstance(kind, UnionType):
        return " or ".join(map(_named, get_args(kind)))
    name = _TYPE_NAMES[get_origin(kind) or kind]
    items = [_TYPE_NAMES[get_origin(item) or item] + "s" for item in get_args(kind)[-1:] if _is_single(item)]
    return " of ".join([f"{'an' if name[0] in 'aeiou' else 'a'} {name}", *items])


def _is_single(kind: Any) -> bool:
    return kind is not Any and not isinstance(kind, UnionType)


def _check_overlay(data: Mapping[str, Any], overlay: Mapping[str, Any], file: str, name: str) -> None:
    """Check an overlay; repeating the definition of the rule is an error."""
    check_keys(overlay, OVERLAY, file, name)
    values = overlay.get("let", {}).items()
    repeated = [f"let.{value}" for value, content in values if content == data.get("let", {}).get(value)]
    repeated += [key for key, content in overlay.items() if key != "let" and content == data.get(key)]
    if repeated:
        key = f"{name}.{repeated[0]}".lstrip(".")
        raise RuleError("repeats the definition of the rule", file=file, key=key, hint="remove it")


def _check_syntaxes(data: Mapping[str, Any], file: str, inside: str, *, constants: bool = False) -> None:
    """Check the keys of the overlays in a table, such as `history.ubl`; those of a variant can have constants."""
    for syntax in map(str.lower, SYNTAXES):
        overlay = data.get(syntax, {})
        known = {**dict.fromkeys(overlay if constants else (), CONSTANT), **OVERLAY}
        check_keys(overlay, known, file, f"{inside}.{syntax}")
