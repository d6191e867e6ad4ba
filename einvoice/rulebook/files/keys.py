"""The keys of rule files, and checks of their types and required texts."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any, Final

from einvoice.errors import RuleError
from einvoice.localization import Language, languages
from einvoice.rulebook.files.notes import DEVIATION, NOTES, check_notes
from einvoice.rulebook.files.situations import KEY as SITUATIONS
from einvoice.rulebook.files.situations import SITUATION, check_situations
from einvoice.rulebook.rule import SEVERITIES, SYNTAXES

TEXTS: Final = ("title", "explanation", "fix")
OF_SENTENCE: Final = {
    "for": str,
    "let": dict,
    "when": str,
    "assert": str,
    "terms": list,
    "severity": str,
    "not_applicable": str,
}
_OVERLAY: Final = {**OF_SENTENCE, "code": str}
_MEMBER: Final = {**OF_SENTENCE, "renamed_from": dict, "ubl": dict, "cii": dict}
_EXAMPLE: Final = {
    "name": str, "set": dict, "drop": list, "root": str, "syntax": str, "variants": list, "ubl": dict, "cii": dict,
}  # fmt: skip
#: What an example may state as ``root``; any other document has the root Invoice or CrossIndustryInvoice.
_CREDIT_NOTE: Final = "CreditNote"
_HISTORY: Final = {**OF_SENTENCE, "until": str, "variants": list, "ubl": dict, "cii": dict}
_FILE: Final = {
    **_OVERLAY,
    "variants": dict, "section": str, "since": str, "until": str, "replaces": list, "aliases": list,
    "renamed_from": dict, "source": str, "ubl": dict, "cii": dict, "history": list,
    "deviation": list, "notes": list, SITUATIONS: list, "valid": list, "invalid": list, "examples": dict,
}  # fmt: skip
#: The folder that states what the official Schematron does otherwise, and the keys of its files.
SCHEMATRON: Final = "schematron"
_QUIRKS: Final = {
    **OF_SENTENCE,
    "variants": dict, "renamed_from": dict, "ubl": dict, "cii": dict, "history": list, "deviation": list,
    SITUATIONS: list, "valid": list, "invalid": list,
}  # fmt: skip
#: Keys of such a file for a rule that the rule set adopts.
_ADOPTED: Final = {**_QUIRKS, "since": str, "until": str}
#: Keys of a file about the copy of a rule in another rule set.
_COPY: Final = {
    **OF_SENTENCE,
    "variants": list, "ubl": dict, "cii": dict, "deviation": list, "valid": list, "invalid": list,
}  # fmt: skip
_RELEASE: Final = {"release": str, "rules": list, "deviation": list, "valid": list, "invalid": list}
_ADOPTED_MEMBER: Final[Mapping[str, type[Any]]] = {**_MEMBER, "since": str, "until": str}
RENAMED_FROM: Final = {"code": str, "until": str, "syntax": str}
_ENTRIES: Final[dict[str, Mapping[str, type[Any]]]] = {
    "history": _HISTORY,
    "deviation": DEVIATION,
    "notes": NOTES,
    SITUATIONS: SITUATION,
    "valid": _EXAMPLE,
    "invalid": _EXAMPLE,
}
_TYPE_NAMES: Final = {"str": "a text", "list": "a list", "dict": "a table"}


def check_file(data: Mapping[str, Any], file: str) -> None:
    """Check the keys, texts and examples of a rule file; raise ``RuleError`` for an invalid one."""
    check_keys(data, {**_FILE, **dict.fromkeys(languages(), dict)}, file)
    if ("code" in data) == ("variants" in data):
        raise RuleError("must have either code or [variants]", file=file, key="code")
    if "severity" not in data:
        raise RuleError("is missing", file=file, key="severity")
    for syntax in map(str.lower, SYNTAXES):
        _check_overlay(data, data.get(syntax, {}), file, syntax)
    for code, member in data.get("variants", {}).items():
        if not isinstance(member, dict):
            raise RuleError("must be a table of constants", file=file, key=f"variants.{code}", hint="write {} for none")
        _check_overlay(data, {key: member[key] for key in OF_SENTENCE if key in member}, file, f"variants.{code}")
    _check_entries(data, file)
    check_texts(data, file)
    check_examples(data, file)


def check_quirks(quirks: Mapping[str, Any], data: Mapping[str, Any], file: str, *, adopted: bool = False) -> None:
    """Check the file that states what the official Schematron does otherwise than ``data``, the rule file.

    ``adopted`` says whether it is that of a rule set that adopts the rule. Raise ``RuleError`` for an invalid one, and
    for a key that repeats the rule file.
    """
    check_keys(quirks, _ADOPTED if adopted else _QUIRKS, file)
    _check_overlay(data, {key: quirks[key] for key in OF_SENTENCE if key in quirks}, file, "")
    both = {**data, **quirks, "let": data.get("let", {}) | quirks.get("let", {})}
    for syntax in map(str.lower, SYNTAXES):
        _check_overlay(both, quirks.get(syntax, {}), file, syntax)
    for code, member in quirks.get("variants", {}).items():
        if code not in data.get("variants", {}):
            raise RuleError(f"{code} is not in the rule file", file=file, key=f"variants.{code}")
        constants: dict[str, type[Any]] = {name: type(content) for name, content in data["variants"][code].items()}
        known: Mapping[str, type[Any]] = {**constants, **_ADOPTED_MEMBER} if adopted else _MEMBER
        check_keys(member, known, file, f"variants.{code}")
        _check_overlay({}, {key: member[key] for key in OF_SENTENCE if key in member}, file, f"variants.{code}")
    _check_entries(quirks, file)


def check_copy(data: Mapping[str, Any], file: str) -> None:
    """Check the file that states what the copy of a rule in another rule set does otherwise.

    It can repeat the definition of the rule, from which the copied release may differ.
    """
    check_keys(data, _COPY, file)
    check_quirks({key: content for key, content in data.items() if key != "variants"}, {}, file)


def check_release(data: Mapping[str, Any], file: str) -> None:
    """Check the table of the rules that another rule set copied from a release."""
    check_keys(data, _RELEASE, file, "copied")
    _check_entries(data, file)


def _check_entries(data: Mapping[str, Any], file: str) -> None:
    """Check notes, examples and history."""
    texts = {"deviation": str, "notes": str, SITUATIONS: dict}
    for kind, keys in _ENTRIES.items():
        of_languages = dict.fromkeys(languages(), texts[kind]) if kind in texts else {}
        for entry in data.get(kind, []):
            check_keys(entry, {**keys, **of_languages}, file, kind)
    for kind in ("valid", "invalid"):
        for entry in data.get(kind, []):
            if "name" not in entry:
                raise RuleError("is missing", file=file, key=f"[[{kind}]].name")
            for syntax in map(str.lower, SYNTAXES):
                check_keys(entry.get(syntax, {}), {"insert": dict}, file, f"[[{kind}]].{syntax}")
            if entry.get("syntax", "ubl") not in map(str.lower, SYNTAXES):
                raise RuleError("must be ubl or cii", file=file, key=f"[[{kind}]].syntax")
            if entry.get("root", _CREDIT_NOTE) != _CREDIT_NOTE:
                raise RuleError(f"must be {_CREDIT_NOTE} or omitted", file=file, key=f"[[{kind}]].root")
    for entry in data.get("history", []):
        if "until" not in entry:
            raise RuleError("is missing", file=file, key="history.until")
    check_notes(data, file)
    check_situations(data, file, TEXTS)


def languages_of(data: Mapping[str, Any]) -> list[Language]:
    """Return the languages in which a table has texts."""
    return [language for language in languages() if language in data]


def check_examples(data: Mapping[str, Any], file: str) -> None:
    """Check that example texts, if any, are complete in each language; raise ``RuleError`` otherwise."""
    if "examples" not in data:
        return
    texts = data["examples"]
    check_keys(texts, dict.fromkeys(languages(), list), file, "examples")
    if len(set(map(len, texts.values()))) != 1 or not all(texts.values()):
        raise RuleError("must have the same number of examples in each language", file=file, key="examples")


def check_texts(data: Mapping[str, Any], file: str) -> None:
    """Check that there are title, explanation and fix in each language given; raise ``RuleError`` otherwise."""
    if not languages_of(data):
        hint = f"add a table such as [en] with {', '.join(TEXTS)}"
        raise RuleError("has no texts", file=file, hint=hint)
    for language in languages_of(data):
        texts = data[language]
        check_keys(texts, dict.fromkeys(TEXTS, str), file, language)
        for key in TEXTS:
            if not texts.get(key, "").strip():
                raise RuleError("is missing", file=file, key=f"{language}.{key}")


def check_keys(data: Mapping[str, Any], known: Mapping[str, type[Any]], file: str, inside: str = "") -> None:
    """Check that all keys are known and have the right type; raise ``RuleError`` otherwise."""
    for key, content in data.items():
        full = f"{inside}.{key}".lstrip(".")
        if key not in known:
            near = get_close_matches(key, known, 1)
            hint = f"did you mean '{near[0]}'?" if near else f"valid keys are {', '.join(known)}"
            raise RuleError("is not a known key", file=file, key=full, hint=hint)
        if not isinstance(content, known[key]):
            name = _TYPE_NAMES[known[key].__name__]
            raise RuleError(f"must be {name}", file=file, key=full)
    if data.get("severity", SEVERITIES[0]) not in SEVERITIES:
        raise RuleError("must be one of " + ", ".join(SEVERITIES), file=file, key=f"{inside}.severity".lstrip("."))


def _check_overlay(data: Mapping[str, Any], overlay: Mapping[str, Any], file: str, name: str) -> None:
    """Check an overlay; repeating the definition of the rule is an error."""
    check_keys(overlay, _OVERLAY, file, name)
    values = overlay.get("let", {}).items()
    repeated = [f"let.{value}" for value, content in values if content == data.get("let", {}).get(value)]
    repeated += [key for key, content in overlay.items() if key != "let" and content == data.get(key)]
    if repeated:
        key = f"{name}.{repeated[0]}".lstrip(".")
        raise RuleError("repeats the definition of the rule", file=file, key=key, hint="remove it")
