"""Rule files: read, and the parts of a rule put together for one syntax and version. Proving them is ``proof``'s.

A file holds one rule (``code``) or a family of rules (``[variants]``), whose members differ in constants and in single
keys. Later words win: the file, the member, ``[ubl]``/``[cii]``, the member's ``ubl``/``cii``, ``[[history]]``.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from einvoice.errors import RuleError
from einvoice.rulebook.files.notes import DEVIATION, NOTES, Note, check_notes, notes
from einvoice.rulebook.files.versions import RuleSet
from einvoice.rulebook.rule import SEVERITIES, SYNTAXES

LANGUAGES: Final = ("de", "en")
_NOT_RULES: Final = ("ruleset.toml", "contexts.toml", "profiles.toml")
TEXTS: Final = ("title", "explanation", "fix")
_SENTENCE: Final = {
    "for": str,
    "let": dict,
    "when": str,
    "assert": str,
    "terms": list,
    "severity": str,
    "not_applicable": str,
}
_OVERLAY: Final = {**_SENTENCE, "code": str}
_EXAMPLE: Final = {"name": str, "set": dict, "drop": list, "syntax": str, "variants": list, "ubl": dict, "cii": dict}
_HISTORY: Final = {**_SENTENCE, "until": str, "variants": list, "ubl": dict, "cii": dict}
_FILE: Final = {
    **_OVERLAY,
    "variants": dict, "layer": str, "section": str, "since": str, "until": str, "replaces": list, "aliases": list,
    "renamed_from": dict, "source": str, "ubl": dict, "cii": dict, "de": dict, "en": dict, "history": list, "deviation": list,
    "notes": list, "valid": list, "invalid": list, "examples": dict,
}  # fmt: skip
_RENAMED_FROM: Final = {"code": str, "until": str, "syntax": str}
_ENTRIES: Final[dict[str, Mapping[str, type[Any]]]] = {
    "history": _HISTORY,
    "deviation": DEVIATION,
    "notes": NOTES,
    "valid": _EXAMPLE,
    "invalid": _EXAMPLE,
}
_SPOKEN: Final = {"str": "a text", "list": "a list", "dict": "a table"}
_NAMED: Final = re.compile(r"\{(\w+)\}")

Parameters = Mapping[str, "str | Decimal | tuple[str, ...]"]


@dataclass(frozen=True)
class Sentence:
    """A rule in one syntax and version: for each …, let …, when …, assert …; ``keys`` says where each part stands."""

    code: str
    severity: str
    terms: tuple[str, ...]
    context: str
    let: Mapping[str, str]
    when: str
    assertion: str
    not_applicable: str
    parameters: Parameters
    keys: Mapping[str, str]

    def key(self, name: str) -> str:
        """The full key of a part, such as ``cii.assert``."""
        return self.keys.get(name, name)


@dataclass(frozen=True)
class Example:
    """An invoice that keeps or breaks the rule: the base invoice with fields dropped and set."""

    name: str
    set: Mapping[str, Any] = field(default_factory=dict)
    drop: tuple[str, ...] = ()
    syntaxes: tuple[str, ...] = SYNTAXES
    #: By syntax: XML that no path of the model can say, under the XPath of the element that it is put into.
    insert: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Definition:
    """Everything that a rule file says of one code."""

    code: str
    file: str
    ruleset: RuleSet
    member: Mapping[str, Any]  # what [variants] says of it
    data: Mapping[str, Any]

    @property
    def layer(self) -> str:
        """The layer that the rule belongs to."""
        return str(self.data.get("layer", self.ruleset.layer))

    @property
    def texts(self) -> dict[str, dict[str, str]]:
        """Title, explanation and fix in each language, the constants of the family filled in."""
        return {language: self._texts(language) for language in LANGUAGES}

    def _texts(self, language: str) -> dict[str, str]:
        constants = self._constants(language)
        return {key: fill(self.data[language][key], constants) for key in TEXTS}

    def _constants(self, language: str) -> dict[str, Any]:
        """The constants of the family, those with a text for each language in one of them."""
        spoken = {name: content.get(language) for name, content in self.member.items() if isinstance(content, dict)}
        return {**self.member, **spoken}

    def examples(self, kind: str) -> list[Example]:
        """The ``valid`` or ``invalid`` examples of this code."""
        chosen = (entry for entry in self.data.get(kind, ()) if self.code in entry.get("variants", [self.code]))
        return [_example(fill(entry, self.member)) for entry in chosen]

    @property
    def told(self) -> dict[str, tuple[str, ...]]:
        """Examples that the file tells in words, where its ``invalid`` ones do not say enough; empty without."""
        said = self.data.get("examples", {})
        return {language: tuple(fill(texts, self._constants(language))) for language, texts in said.items()}

    @property
    def notes(self) -> list[Note]:
        """What is to be known of the rule itself."""
        own = [note for note, codes in notes(self.data) if codes is None or self.code in codes]
        german, english = map(self._constants, LANGUAGES)
        return [note._replace(de=fill(note.de, german), en=fill(note.en, english)) for note in own]

    def notes_for(self, syntax: str, version: str) -> dict[int, Note]:
        """By their numbers the notes that a finding may tell in a syntax and version."""
        return {
            number: note
            for number, note in enumerate(self.notes)
            if note.told and note.syntax in ("", syntax) and self.ruleset.has(note.since, note.until, version)
        }

    def texts_of_notes(self, language: str) -> dict[str, str]:
        """What the notes say, by their keys."""
        return {f"notes.{number}": note._asdict()[language] for number, note in enumerate(self.notes)}

    def in_version(self, version: str) -> bool:
        """Whether the rule is part of a version of its rule set."""
        return self.ruleset.has(self.bound("since"), self.bound("until"), version)

    def bound(self, key: str) -> str:
        """The first version that has the rule (``since``), or the first that no longer has it (``until``), or ''."""
        return str(self.member.get(key, self.data.get(key, "")))

    @property
    def renamed_from(self) -> Mapping[str, str]:
        """The ``code`` that the rule had before release ``until``, perhaps in one ``syntax`` only; empty without."""
        known: Mapping[str, str] = self.member.get("renamed_from", self.data.get("renamed_from", {}))
        return known

    @property
    def aliases(self) -> tuple[str, ...]:
        """Other codes of the rule, those of older releases included."""
        return (*self.data.get("aliases", ()), *([self.renamed_from["code"]] if self.renamed_from else ()))

    @property
    def versions(self) -> list[str]:
        """The newest version that has the rule, and one for each older way in which it reads."""
        known = [version.name for version in self.ruleset.versions if self.in_version(version.name)]
        if "history" not in self.data:
            return known[-1:]
        read: dict[str, str] = {}
        for version in reversed(known):
            read.setdefault(repr([self.sentence(syntax, version) for syntax in SYNTAXES]), version)
        return list(read.values())

    def sentence(self, syntax: str, version: str) -> Sentence:
        """The rule as it reads in a syntax and version; ``not_applicable`` says why it cannot be broken there."""
        own = syntax.lower()
        parts = [("", self.data), ("variants", self.member)]
        parts += [(f"{prefix}.{own}".lstrip("."), part[own]) for prefix, part in parts if own in part]
        own_wordings = [it for it in self.data.get("history", ()) if self.code in it.get("variants", [self.code])]
        wordings = [it for it in own_wordings if _is_about(it, own) and self.ruleset.has("", it["until"], version)]
        if wordings:
            earlier = min(wordings, key=lambda wording: self.ruleset.index_of(wording["until"]))
            parts += [("history", earlier)] + ([(f"history.{own}", earlier[own])] if own in earlier else [])
        return _sentence(self._code(own, version), parts)

    def _code(self, syntax: str, version: str) -> str:
        known = self.renamed_from
        if known and known.get("syntax", syntax) == syntax and self.ruleset.has("", known["until"], version):
            return known["code"]
        return self.code


def _is_about(wording: Mapping[str, Any], syntax: str) -> bool:
    """Whether an older wording holds in a syntax: one that has words for the other syntax alone does not."""
    return syntax in wording or wording.keys() - {"until", "variants"} not in ({"ubl"}, {"cii"})


def read_definitions(folder: Path, ruleset: RuleSet) -> list[Definition]:
    """Every rule of a folder, in the order of their codes. Raises ``RuleError`` for the first file that is wrong."""
    found: list[Definition] = []
    for path in rule_files(folder):
        found += read_file(path, ruleset)
    codes: dict[str, str] = {}
    for definition in found:
        other = codes.setdefault(definition.code, definition.file)
        if other != definition.file:
            raise RuleError(f"{definition.code} stands in {other} already", file=definition.file, key="code")
    return sorted(found, key=lambda definition: natural(definition.code))


def rule_files(folder: Path) -> list[Path]:
    """Return the rule files of a folder: its TOML files, except those that describe the folder."""
    return sorted(path for path in folder.glob("*.toml") if path.name not in _NOT_RULES)


def read_file(path: Path, ruleset: RuleSet) -> list[Definition]:
    """The rules of one file; ``RuleError`` names file, key and what to write instead."""
    file = f"{path.parent.name}/{path.name}"
    try:
        data = tomllib.loads(path.read_text("utf-8"), parse_float=Decimal)
    except tomllib.TOMLDecodeError as error:
        raise RuleError(str(error), file=file, hint="texts stand in quotes; a table is [name]") from None
    _check_file(data, file)
    members = data["variants"] if "variants" in data else {data["code"]: {}}
    definitions = [Definition(code, file, ruleset, member, data) for code, member in members.items()]
    for definition in definitions:
        _check_definition(definition)
    return definitions


def natural(code: str) -> tuple[str | int, ...]:
    """A key that puts BR-9 before BR-10.

    >>> sorted(["BR-10", "BR-9", "BR-CO-1"], key=natural)
    ['BR-9', 'BR-10', 'BR-CO-1']
    """
    return tuple(f"{int(part):09}" if part.isdigit() else part for part in re.split(r"(\d+)", code))


def fill(content: Any, constants: Mapping[str, Any]) -> Any:
    """Put the constants of a family into texts, at ``{name}``; other braces are left for the finding."""
    if isinstance(content, dict):
        return {fill(key, constants): fill(value, constants) for key, value in content.items()}
    if isinstance(content, list):
        return [fill(value, constants) for value in content]
    if isinstance(content, str) and constants:
        return _NAMED.sub(lambda found: _constant(found, constants), content)
    return content


def _constant(found: re.Match[str], constants: Mapping[str, Any]) -> str:
    constant = constants.get(found[1])
    if isinstance(constant, list):
        return ", ".join(constant)
    return found[0] if constant is None or isinstance(constant, dict) else str(constant)


def _sentence(code: str, parts: list[tuple[str, Mapping[str, Any]]]) -> Sentence:
    said: dict[str, Any] = {"code": code}
    keys: dict[str, str] = {}
    constants: dict[str, Any] = {}
    for prefix, part in parts:
        if "assert" in part and prefix:
            said.pop("not_applicable", None)  # a condition says that it can be broken after all
        for name, content in part.items():
            if name in _SENTENCE or (name == "code" and prefix):
                said[name] = content
                keys[name] = f"{prefix}.{name}".lstrip(".")
            elif prefix.startswith("variants") and not isinstance(content, dict) and name not in ("since", "until"):
                constants[name] = content
    said = fill(said, constants)
    return Sentence(
        said["code"],
        said["severity"],
        tuple(said.get("terms", ())),
        said.get("for", ""),
        said.get("let", {}),
        said.get("when", ""),
        said.get("assert", ""),
        said.get("not_applicable", ""),
        {name: _parameter(content) for name, content in constants.items()},
        keys,
    )


def _parameter(content: Any) -> str | Decimal | tuple[str, ...]:
    if isinstance(content, list):
        return tuple(content)
    return content if isinstance(content, str) else Decimal(content)


def _example(entry: Mapping[str, Any]) -> Example:
    only: tuple[str, ...] = (entry["syntax"].upper(),) if "syntax" in entry else SYNTAXES
    insert = {syntax: entry[syntax.lower()].get("insert", {}) for syntax in only if syntax.lower() in entry}
    if insert:
        only = tuple(insert)
    return Example(entry["name"], entry.get("set", {}), tuple(entry.get("drop", ())), only, insert)


# ------------------------------------------------------------------------------------------- what a file must look like


def _check_file(data: Mapping[str, Any], file: str) -> None:
    check_keys(data, _FILE, file)
    if ("code" in data) == ("variants" in data):
        raise RuleError("a file has either a code or [variants]", file=file, key="code")
    for key in ("severity", *LANGUAGES):
        if key not in data:
            raise RuleError("is missing", file=file, key=key)
    for syntax in map(str.lower, SYNTAXES):
        _check_overlay(data, data.get(syntax, {}), file, syntax)
    for code, member in data.get("variants", {}).items():
        if not isinstance(member, dict):
            raise RuleError("is a table of constants", file=file, key=f"variants.{code}", hint="{} for none")
        _check_overlay(data, {key: member[key] for key in _SENTENCE if key in member}, file, f"variants.{code}")
    for kind, keys in _ENTRIES.items():
        for entry in data.get(kind, []):
            check_keys(entry, keys, file, kind)
    for kind in ("valid", "invalid"):
        for entry in data.get(kind, []):
            if "name" not in entry:
                raise RuleError("says in words what the example is", file=file, key=f"[[{kind}]].name")
            for syntax in map(str.lower, SYNTAXES):
                check_keys(entry.get(syntax, {}), {"insert": dict}, file, f"[[{kind}]].{syntax}")
            if entry.get("syntax", "ubl") not in map(str.lower, SYNTAXES):
                raise RuleError("is ubl or cii", file=file, key=f"[[{kind}]].syntax")
    for entry in data.get("history", []):
        if "until" not in entry:
            raise RuleError("says until which version it held", file=file, key="history.until")
    check_notes(data, file)
    check_texts(data, file)
    check_examples(data, file)


def check_examples(data: Mapping[str, Any], file: str) -> None:
    """Examples in words, if there are any: as many in one language as in the other; ``RuleError`` otherwise."""
    if "examples" not in data:
        return
    told = data["examples"]
    check_keys(told, dict.fromkeys(LANGUAGES, list), file, "examples")
    one, other = (len(told.get(language, ())) for language in LANGUAGES)
    if one != other or not one:
        raise RuleError("has the same examples in both languages", file=file, key="examples")


def check_texts(data: Mapping[str, Any], file: str) -> None:
    """Title, explanation and fix, in both languages and not empty; ``RuleError`` otherwise."""
    for language in LANGUAGES:
        texts = data.get(language, {})
        check_keys(texts, dict.fromkeys(TEXTS, str), file, language)
        for key in TEXTS:
            if not texts.get(key, "").strip():
                raise RuleError("is missing", file=file, key=f"{language}.{key}")


def check_keys(data: Mapping[str, Any], known: Mapping[str, type[Any]], file: str, inside: str = "") -> None:
    """Only known keys, each of its type; ``RuleError`` otherwise."""
    for key, content in data.items():
        full = f"{inside}.{key}".lstrip(".")
        if key not in known:
            near = get_close_matches(key, known, 1)
            hint = f"did you mean '{near[0]}'?" if near else f"known are {', '.join(known)}"
            raise RuleError("there is no such key", file=file, key=full, hint=hint)
        if not isinstance(content, known[key]):
            name = _SPOKEN[known[key].__name__]
            raise RuleError(f"has to be {name}", file=file, key=full)
    if data.get("severity", SEVERITIES[0]) not in SEVERITIES:
        raise RuleError("is one of " + ", ".join(SEVERITIES), file=file, key=f"{inside}.severity".lstrip("."))


def _check_overlay(data: Mapping[str, Any], overlay: Mapping[str, Any], file: str, name: str) -> None:
    """An overlay replaces single keys; one that says the same again is a mistake that nobody would notice later."""
    check_keys(overlay, _OVERLAY, file, name)
    for key, content in overlay.items():
        if content == data.get(key):
            raise RuleError("says the same as the rule itself", file=file, key=f"{name}.{key}", hint="leave it out")


def _check_definition(definition: Definition) -> None:
    """Versions that exist, and examples of both kinds for every syntax in which the rule can be broken."""
    data, file = definition.data, definition.file
    for key in ("since", "until"):
        if definition.bound(key):
            _check_version(definition, definition.bound(key), key)
    for entry in data.get("history", []):
        _check_version(definition, entry["until"], "history.until")
    if definition.renamed_from:
        check_keys(definition.renamed_from, _RENAMED_FROM, file, "renamed_from")
        _check_version(definition, definition.renamed_from.get("until", ""), "renamed_from.until")
    for note in definition.notes:
        for key, version in (("since", note.since), ("until", note.until)):
            if version:
                _check_version(definition, version, f"notes.{key}")
    if not definition.versions:
        raise RuleError("no version has the rule", file=file, key="until")
    for syntax in SYNTAXES:
        sentence = definition.sentence(syntax, definition.ruleset.newest)
        if not sentence.assertion and not sentence.not_applicable:
            hint = "a rule that nobody can break says why with not_applicable"
            raise RuleError("is missing", file=file, key="assert", hint=hint)
        for kind in () if sentence.not_applicable else ("valid", "invalid"):
            if not any(syntax in example.syntaxes for example in definition.examples(kind)):
                raise RuleError(f"{definition.code} needs an example for {syntax}", file=file, key=f"[[{kind}]]")


def _check_version(definition: Definition, version: str, key: str) -> None:
    try:
        definition.ruleset.index_of(version)
    except LookupError as error:
        raise RuleError(str(error), file=definition.file, key=key) from None
