"""Rule definitions: what a rule file defines for each code, and the rule in one syntax and release.

A file holds one rule (`code`) or a family of rules (`[variants]`), which differ in constants and individual keys.
It states the rule as in the standard. A file of the same name in the folder `schematron` states what the official
Schematron does otherwise; `files.resolve` says which definition overrides which.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from einvoice.localization import languages
from einvoice.rulebook.files.example import Example, example_of
from einvoice.rulebook.files.keys import CHANGES, TEXTS, languages_of
from einvoice.rulebook.files.notes import KINDS, Note, note_of
from einvoice.rulebook.files.resolve import (
    PLACEHOLDER,
    ResolvedRule,
    Source,
    fill,
    history_of,
    in_language,
    names_in,
    overlays_of,
    resolve,
)
from einvoice.rulebook.files.situations import KEY as SITUATIONS
from einvoice.rulebook.files.situations import Situation, situation_of
from einvoice.rulebook.files.versions import RuleSet
from einvoice.rulebook.rule import EXPECTED, SYNTAXES


@dataclass(frozen=True)
class Copy:
    """What the Schematron of another rule set, which contains a copy of a rule, does otherwise.

    Attributes:
        ruleset: the rule set with the copy.
        file: the file that describes it.
        data: its content, with the keys of a file in the folder `schematron`.
        release: the release of the rule that was copied; "" for the selected one.
    """

    ruleset: str
    file: str
    data: Mapping[str, Any] = field(default_factory=dict)
    release: str = ""


@dataclass(frozen=True)
class Definition:
    """The definition of one code.

    Attributes:
        code: of the rule.
        file: the rule file.
        ruleset: the rule set.
        variant: the table of the code in `[variants]`.
        data: the content of the rule file.
        schematron: the files of that name in the folders `schematron`, with their content: that of the rule set which
            states the rule, and that of the one which adopts it.
        copies: the copies of the rule in other rule sets.
        copied_by: the rule set whose copy this definition describes; "" for the rule itself.
        stated_as: the code in the rule file, if the rule set adopts the rule under another one.
        own_texts: names of the texts that the rule set states itself for an adopted rule.
    """

    code: str
    file: str
    ruleset: RuleSet
    variant: Mapping[str, Any]
    data: Mapping[str, Any]
    schematron: tuple[Source, ...] = ()
    copies: tuple[Copy, ...] = ()
    copied_by: str = ""
    stated_as: str = ""
    own_texts: frozenset[str] = frozenset()

    @property
    def sources(self) -> tuple[Source, ...]:
        """The rule file, then those in the folders `schematron`."""
        return (Source(self.file, self.data), *self.schematron)

    def copy_in(self, ruleset: str) -> Definition:
        """Return the definition of the copy in another rule set; this definition if it has none."""
        if not any(it.ruleset == ruleset for it in self.copies):
            return self
        if ruleset not in self._copies_in:
            self._copies_in[ruleset] = replace(self, copied_by=ruleset)
        return self._copies_in[ruleset]

    def with_copies(self, copies: tuple[Copy, ...]) -> Definition:
        """Return the definition with these copies in other rule sets.

        For equal copies this is the same definition, which keeps what has been derived from it: every added rule set
        reads the shipped ones again.
        """
        names = tuple(it.ruleset for it in copies)
        known = self._with_copies.get(names)
        if known is None or known.copies != copies:
            known = self._with_copies[names] = replace(self, copies=copies)
        return known

    @cached_property
    def _copies_in(self) -> dict[str, Definition]:
        return {}

    @cached_property
    def _with_copies(self) -> dict[tuple[str, ...], Definition]:
        return {}

    @property
    def _copy(self) -> Copy | None:
        return next((copy for copy in self.copies if copy.ruleset == self.copied_by), None)

    def entries(self, kind: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Yield the entries of `[[kind]]` that apply to this code, each with its file."""
        for file, data in self.sources:
            for entry in data.get(kind, ()):
                if self.code in entry.get("variants", [self.code]):
                    yield file, entry

    @property
    def layer(self) -> str:
        """Layer of the rule: the name of its rule set."""
        return self.ruleset.name

    @property
    def is_adopted(self) -> bool:
        """Whether another rule set states the rule."""
        return not self.file.startswith(f"{self.layer}/")

    @property
    def texts(self) -> dict[str, dict[str, str]]:
        """Title, explanation and fix in each language, with the constants filled in."""
        return {language: self._texts(language) for language in languages_of(self.data)}

    def _texts(self, language: str) -> dict[str, str]:
        constants = self._constants(language)
        return {key: fill(self.data[language][key], constants) for key in TEXTS}

    def _constants(self, language: str) -> dict[str, Any]:
        return in_language(self.variant, language)

    def examples(self, kind: str) -> list[Example]:
        """Return the `valid` or `invalid` examples of this code; for a copy, those of its file."""
        copy = self._copy
        tables = [Source(copy.file, copy.data)] if copy else self.sources
        base = fill(tables[0][1].get(CHANGES, {}), self.variant)
        home = tables[0][0].partition("/")[0]  # another rule set has another base invoice
        return [
            example_of(fill(name, self.variant), fill(entry, self.variant), base if folder == home else {}, file)
            for file, data in tables
            for folder in [file.partition("/")[0]]
            for name, entry in data.get(kind, {}).items()
            if self.code in entry.get("variants", [self.code])
        ]

    @property
    def example_texts(self) -> dict[str, tuple[str, ...]]:
        """Example texts from the file, by language; empty if the catalog composes them."""
        examples = self.data.get("examples", {})
        return {language: tuple(fill(texts, self._constants(language))) for language, texts in examples.items()}

    @cached_property
    def notes(self) -> tuple[Note, ...]:
        """Notes about the rule, then those about its copies."""
        own = [note_of(kind, self._filled(entry)) for kind in KINDS for _, entry in self.entries(kind)]
        of_copies = [
            note_of(kind, self._filled(entry))._replace(ruleset=copy.ruleset)
            for copy in self.copies
            for kind in KINDS
            for entry in copy.data.get(kind, ())
        ]
        return (*own, *of_copies)

    def _filled(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        """Return an entry with the constants filled in, its texts with those of their language."""
        return {
            key: fill(content, self._constants(key) if key in languages() else self.variant)
            for key, content in entry.items()
        }

    def notes_for(self, syntax: str, version: str) -> dict[int, Note]:
        """Return the notes that findings can show in a syntax and release, by index."""
        return {
            number: note
            for number, note in enumerate(self.notes)
            if note.is_shown
            and note.syntax in ("", syntax)
            and note.ruleset in ("", self.copied_by)
            and self.ruleset.has(note.since, note.until, version)
        }

    @cached_property
    def situations(self) -> tuple[Situation, ...]:
        """Situations with texts of their own, with the constants filled in."""
        return tuple(situation_of(self._filled(entry)) for _, entry in self.entries(SITUATIONS))

    def situations_for(self, syntax: str, version: str) -> tuple[Situation, ...]:
        """Return the situations that findings can have in a syntax and release."""
        return tuple(
            it for it in self.situations if it.syntax in ("", syntax) and self.ruleset.has(it.since, it.until, version)
        )

    def texts_of_notes(self, language: str) -> dict[str, str]:
        """Return the texts of the notes, by key."""
        return {f"notes.{number}": note.texts.get(language, "") for number, note in enumerate(self.notes)}

    def in_version(self, version: str) -> bool:
        """Return whether a release has the rule."""
        return self.ruleset.has(self.bound("since"), self.bound("until"), version)

    def bound(self, key: str) -> str:
        """Return the first release with the rule (`since`), or the first without it (`until`), or ''."""
        sources = (self.variant, *(data for _, data in self.schematron), self.data)
        return str(next((data[key] for data in sources if key in data), ""))

    @property
    def renamed_from(self) -> Mapping[str, str]:
        """The `code` of the rule before release `until`, possibly in one `syntax` only; empty if not renamed."""
        schematron = [data for _, data in reversed(self.schematron)]
        sources = (*(data.get("variants", {}).get(self.code, {}) for data in schematron), *schematron)
        return next((data["renamed_from"] for data in sources if "renamed_from" in data), {})

    @property
    def yields_to(self) -> frozenset[str]:
        """Codes of rules beside which this one does not apply, since they check the same."""
        return frozenset(self.variant.get("yields_to", self.data.get("yields_to", ())))

    @property
    def aliases(self) -> tuple[str, ...]:
        """Other codes of the rule, including those in older releases."""
        return (*self.data.get("aliases", ()), *([self.renamed_from["code"]] if self.renamed_from else ()))

    @cached_property
    def versions(self) -> tuple[str, ...]:
        """The newest release with the rule, and one release for each older definition."""
        known = [version.name for version in self.ruleset.versions if self.in_version(version.name)]
        if not any("history" in data for _, data in self.sources):
            return tuple(known[-1:])
        releases: dict[str, str] = {}
        for version in reversed(known):
            releases.setdefault(repr([self.resolved(syntax, version) for syntax in SYNTAXES]), version)
        return tuple(releases.values())

    @cached_property
    def _known(self) -> dict[tuple[str, str], ResolvedRule]:
        """Resolved rules by syntax and release: loading, checking and testing a rule ask for the same ones."""
        return {}

    @cached_property
    def checked(self) -> dict[str, list[tuple[Any, Any]]]:
        """What `check_rule` checked in each syntax, with its results."""
        return {}

    def resolved(self, syntax: str, version: str) -> ResolvedRule:
        """Return the rule of the official Schematron in a syntax and release.

        `not_applicable` is the reason why it cannot be violated there.
        """
        key = syntax, version
        if key not in self._known:
            own, copy = syntax.lower(), self._copy
            version = copy.release or version if copy else version
            overlays = [it for source in self.sources for it in overlays_of(source, self.code, own)]
            overlays += history_of(self.entries("history"), self.ruleset, own, version)
            overlays += overlays_of(Source(copy.file, copy.data), self.code, own) if copy else ()
            self._known[key] = resolve(self._code(own, version), self.file, overlays, self._shown(syntax))
        return self._known[key]

    @cached_property
    def standard(self) -> ResolvedRule:
        """The rule of the standard, in both syntaxes; the official Schematron may deviate from it.

        A rule set that adopts the rule states there what its own standard has otherwise in both syntaxes.
        """
        adopting = [it for it in self.schematron if self.is_adopted and it.file.startswith(f"{self.layer}/")]
        overlays = [it for source in (self.sources[0], *adopting) for it in overlays_of(source, self.code)]
        return resolve(self.code, self.file, overlays, self._shown(""))

    def _shown(self, syntax: str) -> frozenset[str]:
        """Return the names that texts use, and the notes of a syntax."""
        conditions = [note.when for note in self.notes if note.syntax in ("", syntax)]
        for situation in self.situations:
            if situation.syntax in ("", syntax):
                conditions += [situation.when, *situation.let.values()]
        return self._quoted.union(*map(names_in, conditions))

    @cached_property
    def _quoted(self) -> frozenset[str]:
        texts = [text for by_key in self.texts.values() for text in by_key.values()]
        texts += [text for note in self.notes for text in note.texts.values()]
        texts += [text for it in self.situations for by_key in it.texts.values() for text in by_key.values()]
        return frozenset({EXPECTED}).union(*map(PLACEHOLDER.findall, texts))

    def _code(self, syntax: str, version: str) -> str:
        known = self.renamed_from
        if known and known.get("syntax", syntax) == syntax and self.ruleset.has("", known["until"], version):
            return known["code"]
        return self.code
