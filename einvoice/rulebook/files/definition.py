"""Rule definitions: what a rule file defines for each code, and the rule in one syntax and release.

A file holds one rule (``code``) or a family of rules (``[variants]``), which differ in constants and individual keys.
Later definitions override earlier ones: the file, the variant, ``[ubl]``/``[cii]``, ``ubl``/``cii`` of the variant,
``[[history]]``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final

from einvoice.rulebook.files.keys import LANGUAGES, OF_SENTENCE, TEXTS
from einvoice.rulebook.files.notes import Note, notes
from einvoice.rulebook.files.versions import RuleSet
from einvoice.rulebook.rule import SYNTAXES

_PLACEHOLDER: Final = re.compile(r"\{(\w+)\}")

Parameters = Mapping[str, "str | Decimal | tuple[str, ...]"]


@dataclass(frozen=True)
class Sentence:
    """A rule in one syntax and release: for …, let …, when …, assert ….

    ``parameters`` are the constants of a variant, ``keys`` the full key of each part.
    """

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
        """Return the full key of a part, such as ``cii.assert``."""
        return self.keys.get(name, name)


@dataclass(frozen=True)
class Example:
    """An invoice that satisfies or violates the rule: the base invoice with fields dropped and set."""

    name: str
    set: Mapping[str, Any] = field(default_factory=dict)
    drop: tuple[str, ...] = ()
    syntaxes: tuple[str, ...] = SYNTAXES
    #: By syntax: XML that the model cannot express, by the XPath of the parent element.
    insert: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Definition:
    """The definition of one code in a rule file; ``variant`` is its table in ``[variants]``."""

    code: str
    file: str
    ruleset: RuleSet
    variant: Mapping[str, Any]
    data: Mapping[str, Any]

    @property
    def layer(self) -> str:
        """Layer of the rule: the name of its rule set."""
        return self.ruleset.name

    @property
    def texts(self) -> dict[str, dict[str, str]]:
        """Title, explanation and fix in each language, with the constants filled in."""
        return {language: self._texts(language) for language in LANGUAGES}

    def _texts(self, language: str) -> dict[str, str]:
        constants = self._constants(language)
        return {key: fill(self.data[language][key], constants) for key in TEXTS}

    def _constants(self, language: str) -> dict[str, Any]:
        """Return the constants of the variant; constants with a text for each language have the one in ``language``."""
        translated = {
            name: content.get(language) for name, content in self.variant.items() if isinstance(content, dict)
        }
        return {**self.variant, **translated}

    def examples(self, kind: str) -> list[Example]:
        """Return the ``valid`` or ``invalid`` examples of this code."""
        selected = (entry for entry in self.data.get(kind, ()) if self.code in entry.get("variants", [self.code]))
        return [_example(fill(entry, self.variant)) for entry in selected]

    @property
    def example_texts(self) -> dict[str, tuple[str, ...]]:
        """Example texts from the file, by language; empty if the catalog composes them."""
        examples = self.data.get("examples", {})
        return {language: tuple(fill(texts, self._constants(language))) for language, texts in examples.items()}

    @property
    def notes(self) -> list[Note]:
        """Notes about the rule."""
        own = [note for note, codes in notes(self.data) if codes is None or self.code in codes]
        german, english = map(self._constants, LANGUAGES)
        return [note._replace(de=fill(note.de, german), en=fill(note.en, english)) for note in own]

    def notes_for(self, syntax: str, version: str) -> dict[int, Note]:
        """Return the notes that findings can show in a syntax and release, by index."""
        return {
            number: note
            for number, note in enumerate(self.notes)
            if note.is_shown and note.syntax in ("", syntax) and self.ruleset.has(note.since, note.until, version)
        }

    def texts_of_notes(self, language: str) -> dict[str, str]:
        """Return the texts of the notes, by key."""
        return {f"notes.{number}": note._asdict()[language] for number, note in enumerate(self.notes)}

    def in_version(self, version: str) -> bool:
        """Return whether a release has the rule."""
        return self.ruleset.has(self.bound("since"), self.bound("until"), version)

    def bound(self, key: str) -> str:
        """Return the first release with the rule (``since``), or the first without it (``until``), or ''."""
        return str(self.variant.get(key, self.data.get(key, "")))

    @property
    def renamed_from(self) -> Mapping[str, str]:
        """The ``code`` of the rule before release ``until``, possibly in one ``syntax`` only; empty if not renamed."""
        former: Mapping[str, str] = self.variant.get("renamed_from", self.data.get("renamed_from", {}))
        return former

    @property
    def aliases(self) -> tuple[str, ...]:
        """Other codes of the rule, including those in older releases."""
        return (*self.data.get("aliases", ()), *([self.renamed_from["code"]] if self.renamed_from else ()))

    @property
    def versions(self) -> list[str]:
        """The newest release with the rule, and one release for each older definition."""
        known = [version.name for version in self.ruleset.versions if self.in_version(version.name)]
        if "history" not in self.data:
            return known[-1:]
        releases: dict[str, str] = {}
        for version in reversed(known):
            releases.setdefault(repr([self.sentence(syntax, version) for syntax in SYNTAXES]), version)
        return list(releases.values())

    def sentence(self, syntax: str, version: str) -> Sentence:
        """Return the rule in a syntax and release; ``not_applicable`` is the reason why it cannot be violated there."""
        own = syntax.lower()
        parts = [("", self.data), ("variants", self.variant)]
        parts += [(f"{prefix}.{own}".lstrip("."), part[own]) for prefix, part in parts if own in part]
        own_history = [it for it in self.data.get("history", ()) if self.code in it.get("variants", [self.code])]
        entries = [it for it in own_history if _applies_to(it, own) and self.ruleset.has("", it["until"], version)]
        if entries:
            oldest = min(entries, key=lambda entry: self.ruleset.index_of(entry["until"]))
            parts += [("history", oldest)] + ([(f"history.{own}", oldest[own])] if own in oldest else [])
        return _sentence(self._code(own, version), parts)

    def _code(self, syntax: str, version: str) -> str:
        known = self.renamed_from
        if known and known.get("syntax", syntax) == syntax and self.ruleset.has("", known["until"], version):
            return known["code"]
        return self.code


def _applies_to(entry: Mapping[str, Any], syntax: str) -> bool:
    """Return whether a history entry applies to a syntax, which it does unless all its keys are for the other one."""
    return syntax in entry or entry.keys() - {"until", "variants"} not in ({"ubl"}, {"cii"})


def fill(content: Any, constants: Mapping[str, Any]) -> Any:
    """Replace ``{name}`` in texts with the constants of a variant; other placeholders are left for the finding."""
    if isinstance(content, dict):
        return {fill(key, constants): fill(value, constants) for key, value in content.items()}
    if isinstance(content, list):
        return [fill(value, constants) for value in content]
    if isinstance(content, str) and constants:
        return _PLACEHOLDER.sub(lambda match: _constant(match, constants), content)
    return content


def _constant(match: re.Match[str], constants: Mapping[str, Any]) -> str:
    constant = constants.get(match[1])
    if isinstance(constant, list):
        return ", ".join(constant)
    return match[0] if constant is None or isinstance(constant, dict) else str(constant)


def _sentence(code: str, parts: list[tuple[str, Mapping[str, Any]]]) -> Sentence:
    merged: dict[str, Any] = {"code": code}
    keys: dict[str, str] = {}
    constants: dict[str, Any] = {}
    for prefix, part in parts:
        if "assert" in part and prefix:
            merged.pop("not_applicable", None)  # a later condition makes the rule applicable
        for name, content in part.items():
            if name in OF_SENTENCE or (name == "code" and prefix):
                merged[name] = content
                keys[name] = f"{prefix}.{name}".lstrip(".")
            elif prefix.startswith("variants") and not isinstance(content, dict) and name not in ("since", "until"):
                constants[name] = content
    merged = fill(merged, constants)
    return Sentence(
        merged["code"],
        merged["severity"],
        tuple(merged.get("terms", ())),
        merged.get("for", ""),
        merged.get("let", {}),
        merged.get("when", ""),
        merged.get("assert", ""),
        merged.get("not_applicable", ""),
        {name: _parameter(content) for name, content in constants.items()},
        keys,
    )


def _parameter(content: Any) -> str | Decimal | tuple[str, ...]:
    if isinstance(content, list):
        return tuple(content)
    return content if isinstance(content, str) else Decimal(content)


def _example(entry: Mapping[str, Any]) -> Example:
    syntaxes: tuple[str, ...] = (entry["syntax"].upper(),) if "syntax" in entry else SYNTAXES
    insert = {syntax: entry[syntax.lower()].get("insert", {}) for syntax in syntaxes if syntax.lower() in entry}
    if insert:
        syntaxes = tuple(insert)
    return Example(entry["name"], entry.get("set", {}), tuple(entry.get("drop", ())), syntaxes, insert)
