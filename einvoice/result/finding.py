"""A finding: a rule that an invoice violates at one location."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple, TypeAlias

from einvoice.code_catalog import entry
from einvoice.localization import Messages, choose
from einvoice.model.terms import bt_field
from einvoice.quotation import quote
from einvoice.result.languages import Language
from einvoice.result.location import NOWHERE, Location
from einvoice.rulebook.rule import LEADING

if TYPE_CHECKING:
    from einvoice.code_catalog import CatalogEntry, Values
    from einvoice.result.advice import Advice
    from einvoice.syntax.severity_overrides import Override

Severity: TypeAlias = Literal["fatal", "warning", "information"]

UNKNOWN_RULE: Final = "REFERENCE-RULE"
"""Catalog entry shared by those rules of the official Schematron that have no separate entry."""

_AROUND: Final = ("misnamed", "surplus", "emptied", "left_empty")
"""Names of values, and keys of texts around the fix if a finding has the value."""
_MESSAGES: Final = Messages("einvoice.result", "finding")
_CODE_IN_MESSAGE: Final = r"^\[[^\]]+\][\s:–-]*(?=\S)"
"""The code in front of a message, which is shown beside it."""
_MAX_TITLE: Final = 160
"""Characters of a message of a sheet in a title."""


class Note(NamedTuple):
    """Background information on the rule of a finding; it does not affect the verdict.

    Attributes:
        kind: "stricter" (the official Schematron rejects what the standard allows), "laxer" (that of the Factur-X
            profile accepts what EN 16931 forbids), "conflict" (with another rule), "rounding", "hidden" (a
            violation of the XML schema that another one hides) or "more" (violations that are not listed).
        text: the note in one language.
        source: reference to its origin; "" if it comes from einvoice.
    """

    kind: str
    text: str
    source: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Finding:
    """A violation of a rule at one location of an invoice.

    Attributes:
        code: key of the catalog entry, such as "BR-CO-10".
        severity: effective severity: "fatal", "warning" or "information".
        flag: severity defined by the rule; differs from `severity` only if a published override changed it.
        layer: "schema", "file" or "pdf", or the name of the rule set, such as "en16931" or "xrechnung".
        section: part of the invoice, such as "seller".
        terms: business terms, the leading one first; may be empty.
        location: line, column and XPath, computed on first access.
        values: compared values ("expected", "actual", "difference") and other values quoted in the texts.
        indicative: True if the document violates its XML schema, which may have caused the finding.
        override: published override that changed the severity; None if there is none.
        note_indices: indices of the notes of the catalog entry that apply to this finding.
        situation: key of the situation whose texts replace those of the rule; "" for none.
        suppressed: number of further findings with the same code that are not reported.
        reported: message of the official Schematron if it reported the finding; `values` is then empty.
        draft_pointer: JSON pointer (RFC 6901) to the draft field that causes the finding, present or missing; "" is
            the whole draft. None if the invoice was not generated from a draft.
        lang: default language of the texts.
        kind: of the rule set: "en16931", "cius", "extension", "profile" or "imported"; "" for the other layers.
        described_by: catalog entry of a rule in an added rule set, or of a check in a Factur-X profile that has several
            checks under one number; None if `code` is sufficient.
        standard: name of the declared specification if that is none of EN 16931 and has no rules here, so that the rule
            says only what an invoice under EN 16931 would lack; "" otherwise.
        advice: what the numbers of the invoice say about a finding on its arithmetic; None for other findings.
    """

    code: str
    severity: Severity
    flag: Severity
    layer: str
    section: str
    terms: tuple[str, ...] = ()
    location: Location = NOWHERE
    values: Mapping[str, Any] = field(default_factory=dict, hash=False)
    indicative: bool = False
    override: Override | None = None
    note_indices: tuple[int, ...] = ()
    situation: str = ""
    suppressed: int = 0
    reported: str = ""
    draft_pointer: str | None = None
    lang: Language = "de"
    kind: str = ""
    standard: str = ""
    described_by: CatalogEntry | None = field(default=None, compare=False)
    advice: Advice | None = field(default=None, compare=False)

    @property
    def validation_layer(self) -> str:
        """Kind of layer: "schema", "en16931", "cius", "extension", "profile", "imported", "pdf" or "file"."""
        return self.kind or self.layer

    @property
    def entry(self) -> CatalogEntry:
        """Catalog entry that describes the rule."""
        if self.described_by is not None:
            return self.described_by
        try:
            return entry(self.code)
        except KeyError:
            if not self.reported:
                raise
            return entry(UNKNOWN_RULE)

    def title(self, lang: Language | None = None) -> str:
        """Return the problem in a few words."""
        title = self.entry.title(lang or self.lang, self._text_values, self.situation)
        is_of_base = self._is_permitted or self.standard
        return _MESSAGES[lang or self.lang]["permitted_title"].format(title=title) if is_of_base else title

    def explanation(self, lang: Language | None = None) -> str:
        """Return the cause, with the compared values."""
        if self._is_permitted:
            return f"{self.override_reason(lang)} {_MESSAGES[lang or self.lang]['permitted']}"
        return self.entry.explanation(lang or self.lang, self._text_values, self.situation)

    def fix(self, lang: Language | None = None) -> str:
        """Return how to fix the problem."""
        language = lang or self.lang
        if self._is_permitted:
            return _MESSAGES[language]["no_action"]
        advised = self.advice.text(language) if self.advice else ""
        text = advised or self.entry.fix(language, self._text_values, self.situation)
        for key in _AROUND:
            if key in self.values:
                text = _MESSAGES[language][key].format(fix=text, **self.values)
        return _MESSAGES[language]["only_if"].format(standard=self.standard, fix=text) if self.standard else text

    @property
    def _is_permitted(self) -> bool:
        """Whether the declared specification permits what the rule of its base forbids."""
        return self.override is not None and self.override.severity == "information"

    def explains(self, name: str) -> bool:
        """Return whether the explanation quotes the value `name`."""
        return f"{{{name}}}" in self.entry.text("explanation", self.lang, self.situation)

    def override_reason(self, lang: Language | None = None) -> str:
        """Return why `severity` differs from `flag`; "" if it does not."""
        if self.override is None:
            return ""
        return choose(self.override.reasons, lang or self.lang)

    def notes(self, lang: Language | None = None) -> tuple[Note, ...]:
        """Return background information that applies to this finding; usually empty."""
        known, language = self.entry, lang or self.lang
        value = self.values.get("found")
        notes = [
            Note(note["kind"], known.note(index, language, self.values), note["source"])
            for index, note in enumerate(known.notes)
            if index in self.note_indices or value in note["values"]
        ]
        if "hidden_by" in self.values:
            notes.append(Note("hidden", _MESSAGES[language]["hidden"].format_map(self.values)))
        if self.suppressed:
            notes.append(Note("more", _MESSAGES[language]["suppressed"].format(count=self.suppressed)))
        return tuple(notes)

    @property
    def line(self) -> int | None:
        """Line in the document, counted from 1; None if there is no location."""
        return self.location.line

    @property
    def column(self) -> int | None:
        """Column in that line, counted from 1 in characters; None if unknown."""
        return self.location.column

    @property
    def xpath(self) -> str:
        """XPath that selects exactly this location (prefixes: `einvoice.NAMESPACES`); "" if there is no location."""
        return self.location.xpath

    @property
    def bt_field(self) -> str:
        """Leading business term (`BT-<number>`), for a group its first term; "" if EN 16931 has none."""
        return bt_field(self.terms)

    def to_dict(self, lang: Language | None = None) -> dict[str, Any]:
        """Return the finding as plain data, ready for JSON; numbers are decimal text."""
        from einvoice.render.json import finding_dict

        return finding_dict(self, lang or self.lang)

    @property
    def _text_values(self) -> Values:
        """Values quoted in the texts; None for a reported rule, whose values are unknown."""
        if not self.reported:
            return {**self.values, LEADING: self.terms[0]} if self.terms else self.values
        known = self.entry
        if known.code != UNKNOWN_RULE:
            return None
        short = quote(re.sub(_CODE_IN_MESSAGE, "", self.reported), limit=_MAX_TITLE)
        return {"rule": self.code, "reported": self.reported, "short": short}

    def __str__(self) -> str:
        from einvoice.render.text import finding_line

        return finding_line(self, self.lang)

    def __repr__(self) -> str:
        return f"<Finding {self.code}: {self.severity}, line {self.line}>"

    def _repr_html_(self) -> str:
        from einvoice.render.html import finding_html

        return finding_html(self, self.lang)
