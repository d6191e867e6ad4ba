"""A change of a document, with the findings that it resolves."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from typing import Any, Final, NamedTuple, TypeAlias

from einvoice.causes.applicability import QUESTION, SAFE, Applicability
from einvoice.editing.edits import Edit, as_dict
from einvoice.localization import Language, Messages
from einvoice.localization.formatting import format_date, format_number
from einvoice.model.iteration import owner
from einvoice.model.terms import is_plural, name, term, terms
from einvoice.model.values import Value
from einvoice.quotation import MAX_IDENTIFIER_LENGTH, excerpt, visible
from einvoice.reconciliation.readings import readings
from einvoice.render.text import LABELS as RESULT_LABELS
from einvoice.result import Finding

_TEXTS: Final = Messages("einvoice.causes", "changes")
_PROOF: Final = Messages("einvoice.causes", "display")
MAX_QUOTED: Final = 60
"""Maximum number of characters of a quoted identifier or name."""
_SHARED: Final = 20
"""Number of characters before the first difference of two long values that are quoted."""
_CURRENCY: Final = "currencyID"
_BREAKDOWN: Final = "BG-23"
_AMOUNT: Final = "Amount"
_NUMBERS: Final = (_AMOUNT, "Unit price amount", "Quantity", "Percentage")
"""Datatypes of EN 16931 whose content is a number."""
_LISTED: Final = 5
"""Maximum number of lines, and of clauses, that a text lists."""
_LISTED_PLACES: Final = 3
"""Maximum number of places with the same change that a text lists."""
_MAX_XPATHS: Final = 20
"""Maximum number of places that a text for the clipboard lists."""
_PLAIN: Final = re.compile(r"[+-]?[0-9]{1,30}(\.[0-9]{1,30})?", re.ASCII)
"""A number as XML has it."""
_DATE: Final = "Date"
_CALENDAR: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{8}", re.ASCII)
"""A date as UBL or CII has it."""
_WITHOUT_VALUES: Final = ("combine", "move", "whole")
"""Kinds of steps that are described in words instead of with the text before and after."""


Content: TypeAlias = tuple[tuple[str, str], ...]
"""Terms of a group that is added, each with its text."""


class Row(NamedTuple):
    """A VAT breakdown as texts name it: its position from 1, its category and rate, None if it lacks one."""

    position: int
    category: str
    rate: Decimal | None

    def text(self, lang: Language) -> str:
        """Return the position with category and rate.

        >>> Row(2, "S", Decimal("19.5")).text("de"), Row(1, "", None).text("en")
        ('2 (S, 19,5 %)', '1')
        """
        rate = "" if self.rate is None else f"{format_number(self.rate, lang)} %"
        parts = [it for it in (self.category, rate) if it]
        return f"{self.position} ({', '.join(parts)})" if parts else str(self.position)


@dataclass(frozen=True, slots=True)
class Step:
    """One edit as texts describe it.

    Attributes:
        kind: "set", "fill", "add", "remove", "move", "rename", "namespace", "whole" (a group), "combine"
            (several groups), "swap" (two values).
        term: business term; "" if there is none.
        element: name of the element or attribute, shortened.
        lines: identifiers of the invoice lines, shortened; empty outside of lines.
        rows: VAT breakdowns that are changed; empty outside of them, or if there is one.
        same: VAT breakdowns with the same content, if one of them is removed for that reason.
        before: previous text; of combined groups their number.
        after: new text.
        reason: why an element is removed, if that can be seen from it: "empty", "repeated", or "same" if another
            group has the same content; "further" if a group is added to others of its kind; "allowance" or "charge"
            if the charge indicator is changed so that its group is one; "gross" if a net amount is changed that is the
            new one plus VAT; otherwise "".
        contents: what each added or combined group contains; amount and reason of the group of a charge indicator.
        other: business term whose value is exchanged with that of `term`; "" for other edits.
    """

    kind: str
    term: str
    element: str
    lines: tuple[str, ...] = ()
    before: str = ""
    after: str = ""
    reason: str = ""
    contents: tuple[Content, ...] = ()
    other: str = ""
    rows: tuple[Row, ...] = ()
    same: tuple[Row, ...] = ()

    def place(self, lang: Language) -> str:
        """Return the name of the place, such as "net amount (BT-131) of line 2"."""
        key = "as_row" if self.term == _BREAKDOWN else "in_row"
        place = self._label(lang)
        if self.rows:
            key = key if len(self.rows) == 1 else f"{key}s"
            place = _TEXTS[lang][key].format(place=place, line=row_list(self.rows, lang))
        return in_lines(place, self.lines, lang)

    def copy_text(self, lang: Language) -> str:
        """Return the step for the clipboard, such as "BT-131 (2): 9.00 -> 10.00"."""
        if self.kind in _WITHOUT_VALUES:
            return self.text(lang)
        place = f"{self.term}/@{self.attribute}" if self.attribute else self.term or self.element
        lines = f" ({', '.join(self.lines)})" if self.lines else ""
        return f"{place}{lines}: {visible(self.before).strip() or '–'} -> {self.after or '–'}"

    def _label(self, lang: Language) -> str:
        if self.term not in terms():
            return self.element
        label = term_label(self.term, lang)
        if not self.attribute:
            return label
        words = _TEXTS[lang]
        pattern = words["currency" if self.attribute == _CURRENCY else "attribute"]
        return pattern.format(place=label, attribute=self.attribute)

    @property
    def attribute(self) -> str:
        """Name of the edited attribute of the element of the term; "" if the term is what is edited."""
        attribute = self.element.partition("/@")[2]
        return attribute if self.term in terms() and not owner(self.term) else ""

    @property
    def _datatype(self) -> str:
        """Datatype of the term; "" if an attribute is edited, or what is no term."""
        return "" if self.attribute or self.term not in terms() else term(self.term).datatype

    @property
    def is_number(self) -> bool:
        """Whether the edited value is a number."""
        return self._datatype in _NUMBERS

    def text(self, lang: Language, table: str = "change") -> str:
        """Return what the edit does, as a clause that begins with the place."""
        if self.kind == "whole":
            return self._whole(lang, table)
        if self.kind == "combine":
            return self._combined(lang, table)
        words = _TEXTS[lang]
        before, after = self._readable(lang)
        if self.kind == "swap":
            other = replace(self, term=self.other).place(lang)
            return words[f"{table}_swap"].format(place=self._label(lang), other=other, before=before, after=after)
        if self.same and table == "cause":
            rows, label = row_list(self.same, lang), term_label(self.term, lang)
            return words["cause_remove_same_rows"].format(place=label, rows=rows, before=before)
        reason = self.reason or ("number" if self.is_number and table == "cause" and self.kind == "set" else "")
        key = f"{table}_{self.kind}_{reason}" if reason else f"{table}_{self.kind}"
        if is_plural(self.term, lang) and f"{key}_plural" in words:
            key = f"{key}_plural"
        place = self._marked(lang) if self.kind == "set" and self.contents else self.place(lang)
        return words[key].format(place=place, before=before, after=after)

    def _readable(self, lang: Language) -> tuple[str, str]:
        """Return the texts before and after, escaped; numbers and dates as prose unless only their form changes."""
        texts = [it.strip() for it in (self.before, self.after) if it.strip()]
        datatype = self._datatype
        values: set[object] = set()
        if texts and datatype in _NUMBERS and _PLAIN.fullmatch(texts[-1]) and not readings(Value(texts[0])):
            texts = texts[1:]  # what stands there is no number in any form
        if datatype in _NUMBERS and all(map(_PLAIN.fullmatch, texts)):
            values = {*map(Decimal, texts)}
        elif datatype == _DATE:
            values = {day for it in texts if (day := _day(it))}
        if not values or len(values) < len(texts):
            return _quotable(self.before, self.after)
        before, after = (_prose(self.term, it.strip(), lang) for it in (self.before, self.after))
        return before, after

    def _marked(self, lang: Language) -> str:
        """Return the amount of the allowance or charge whose indicator is changed, with its reason and its line."""
        ((amount, *reason),) = [[text for _, text in content] for content in self.contents]
        words, amount = _TEXTS[lang], _formatted(amount, lang, decimals=2)
        text = words["because"].format(amount=amount, reason=reason[0]) if reason else amount
        return in_lines(text, self.lines, lang)

    def _whole(self, lang: Language, table: str) -> str:
        """Return the clause about an added group: what it contains, or for a further one which of them is missing."""
        words, place = _TEXTS[lang], self.place(lang)
        if table == "cause":
            entries = [_entry(it, f"entry_{self.term}", lang) for it in self.contents]
            if self.reason and all(entries):
                return words[f"cause_further_{self.term}"].format(place=place, entries=words["and"].join(entries))
            key = "cause_whole_plural" if is_plural(self.term, lang) else "cause_whole"
            return words[key].format(place=place)
        text = words["change_whole"].format(place=place)
        listed = "; ".join(_content(it, f"content_{self.term}", lang) for it in self.contents)
        return words["contents"].format(text=text, contents=listed) if listed else text

    def _combined(self, lang: Language, table: str) -> str:
        """Return the clause about groups that become one: which they are, or what the one contains."""
        (content,) = self.contents
        entry, listed = _entry(content, f"entry_{self.term}", lang), _content(content, f"content_{self.term}", lang)
        pattern = _TEXTS[lang][f"{table}_combine_{self.term}"]
        return pattern.format(place=self.place(lang), count=self.before, entries=entry, contents=listed)


def _entry(content: Content, key: str, lang: Language) -> str:
    """Return the text of a group in a pattern; "" if the group lacks a term of the pattern, or there is none."""
    try:
        texts = {number: _prose(number, text, lang) for number, text in content}
        return _TEXTS[lang].get(key, "").format_map(texts)
    except KeyError:
        return ""


def _prose(number: str, text: str, lang: Language) -> str:
    """Return the text of a term as prose has it: numbers and dates as the language writes them, other texts escaped.

    >>> _prose("BT-9", "20261231", "de"), _prose("BT-106", "498.00", "de"), _prose("BT-9", "31.12.26", "de")
    ('31.12.2026', '498,00', '31.12.26')
    """
    datatype = term(number).datatype
    if datatype == _DATE and (day := _day(text)):
        return format_date(day, lang)
    decimals = 2 if datatype == _AMOUNT else 0
    prose = _formatted(text, lang, decimals=decimals) if datatype in _NUMBERS else text
    return visible(excerpt(text)) if prose == text else prose  # the blanks in a formatted number are ours


def _day(text: str) -> datetime.date | None:
    """Return the calendar date that a text is in UBL or CII; None for any other text."""
    try:
        return datetime.date.fromisoformat(text) if _CALENDAR.fullmatch(text) else None
    except ValueError:
        return None


def _formatted(text: str, lang: Language, *, decimals: int) -> str:
    """Return a number with the marks of the language; any other text as it is."""
    try:
        value = Decimal(text)
    except InvalidOperation:
        return text
    return format_number(value, lang, decimals=decimals) if value.is_finite() else text


def _content(content: Content, key: str, lang: Language) -> str:
    """Return all terms of a group with their texts, those of the pattern first."""
    words = _TEXTS[lang]
    first = _entry(content, key, lang)
    others = [it for it in content if not first or f"{{{it[0]}}}" not in words[key]]
    named = (words["content"].format(name=name(it, lang), text=_prose(it, text, lang)) for it, text in others)
    return ", ".join((*filter(None, (first,)), *named))


def term_label(number: str, lang: Language) -> str:
    """Return the name of a term with its number, as it is written in the middle of a sentence.

    >>> term_label("BT-23", "en"), term_label("BT-151", "de")
    ('business process type (BT-23)', 'Umsatzsteuerkategorie der Position (BT-151)')
    """
    label = name(number, lang)
    if _TEXTS[lang]["names"] == "lower" and not label[1:2].isupper():
        label = label[0].lower() + label[1:]
    return _TEXTS[lang]["term"].format(name=label, term=number)


def in_lines(place: str, lines: Sequence[str], lang: Language, key: str = "in_line") -> str:
    """Return a place, or with another key a sentence, with the invoice lines that it is about."""
    words = _TEXTS[lang]
    if not lines:
        return place
    if key == "in_line":
        place = place.replace(words["of_line"], "", 1)
    shown = (RESULT_LABELS[lang]["quote"].format(it) if " " in it else it for it in lines[:_LISTED])
    listed, more = ", ".join(shown), len(lines) - _LISTED
    if more > 0:
        listed = words["more"].format(lines=listed, count=more)
    return words[key if len(lines) == 1 else f"{key}s"].format(place=place, line=listed)


def row_list(rows: Sequence[Row], lang: Language) -> str:
    """Return rows of the VAT breakdown as a list, such as "1 (S, 19 %) and 2 (E, 0 %)"."""
    return _list([it.text(lang) for it in rows], lang)


def _list(texts: Sequence[str], lang: Language) -> str:
    words = _TEXTS[lang]
    if len(texts) > _LISTED:
        return words["more"].format(lines=", ".join(texts[:_LISTED]), count=len(texts) - _LISTED)
    *others, last = texts
    return words["last"].format(others=", ".join(others), last=last) if others else last


def capitalized(text: str) -> str:
    """Return a text that begins with a capital letter, unless it begins with the name of an element.

    >>> capitalized("add x"), capitalized("cbc:ID is empty")
    ('Add x', 'cbc:ID is empty')
    """
    return text if ":" in text.partition(" ")[0] else text[0].upper() + text[1:]


def fault(change: Change, lang: Language) -> str:
    """Return what is wrong, as a clause: for a removal, what the finding says that demands it.

    It names the other values that have to change, too, for the findings to disappear.
    """
    text = _fault(change, lang)
    places = dict.fromkeys(in_lines(it.term, it.lines, lang) if it.term else it.place(lang) for it in change.prior)
    return _TEXTS[lang]["along"].format(text=text, places=_list(list(places), lang)) if places else text


def _fault(change: Change, lang: Language) -> str:
    removes = all(step.kind == "remove" and step.reason not in ("empty", "same") for step in change.steps)
    if change.refused is None or not removes:
        return clauses(change.steps, lang, "cause")
    lines = dict.fromkeys(line for step in change.steps for line in step.lines)
    return in_lines(change.refused.title(lang), tuple(lines), lang, "about_line")


def clauses(steps: Sequence[Step], lang: Language, table: str = "change") -> str:
    """Return what several steps do; steps that write the same at many places are one clause.

    More than two clauses, or clauses that contain "and" themselves, are separated by semicolons; of many, the first
    ones are listed.
    """
    words = _TEXTS[lang]
    same: dict[tuple[str, str, str], list[Step]] = {}
    for step in steps:
        same.setdefault((step.kind, step.before, step.after), []).append(step)
    texts: list[str] = []
    for group in same.values():
        first, *others = group
        if len(group) <= _LISTED_PLACES or not first.before or not first.after:
            texts += [step.text(lang, table) for step in group]
        else:
            texts.append(words["elsewhere"].format(text=first.text(lang, table), count=len(others)))
    listed, more = texts[:_LISTED], len(texts) - _LISTED
    has_and = any(words["and"] in text for text in listed)
    text = words["parts" if has_and or len(listed) > 2 else "and"].join(listed)
    return words["further"].format(text=text, count=more) if more > 1 else words["parts"].join((text, *texts[_LISTED:]))


def _quotable(before: str, after: str) -> tuple[str, str]:
    """Return two texts escaped and shortened, so that their first difference is shown.

    >>> _quotable("a" * 200 + "b", "a" * 200 + "c")
    ('…aaaaaaaaaaaaaaaaaaaab', '…aaaaaaaaaaaaaaaaaaaac')
    """
    if max(len(before), len(after)) > MAX_IDENTIFIER_LENGTH and before and after:
        shared = next((at for at, (one, other) in enumerate(zip(before, after, strict=False)) if one != other), 0)
        if start := max(0, shared - _SHARED):
            before, after = f"…{before[start:]}", f"…{after[start:]}"
    return visible(excerpt(before)), visible(excerpt(after))


@dataclass(frozen=True, slots=True)
class Change:
    """A change of the document that was tried: the changed document was validated.

    Attributes:
        edits: the edits of the XML.
        steps: the edits as texts describe them, without `prior`.
        prior: edits of other causes that the change needs to have its effect; part of `edits`.
        terms: business terms that it changes, the leading one first; may be empty.
        applicability: whether it is made without asking, on request, or never, as only the issuer knows what is right.
        resolves: the findings that it resolves.
        remaining: the findings of the document that remain.
        lang: default language of the texts.
        refused: for a removal, the finding that says that the element or attribute must not be there.
    """

    edits: tuple[Edit, ...]
    steps: tuple[Step, ...]
    terms: tuple[str, ...]
    applicability: Applicability
    resolves: tuple[Finding, ...]
    remaining: tuple[Finding, ...]
    lang: Language = "de"
    prior: tuple[Step, ...] = ()
    refused: Finding | None = None

    @property
    def safe(self) -> bool:
        """Whether it changes only the form of a value, or a number that the rest of the invoice proves."""
        return self.applicability is SAFE

    @property
    def is_doubtful(self) -> bool:
        """Whether it replaces a number, or takes an element for another one, which the invoice does not prove."""
        numbers = [it for it in self.steps if it.kind == "set" and it.is_number and it.reason != "gross"]
        is_open = numbers or any(it.kind == "rename" for it in self.steps)
        return self.applicability is QUESTION and bool(is_open)

    def text(self, lang: Language | None = None) -> str:
        """Return what to change, in one sentence."""
        language = lang or self.lang
        words = _TEXTS[language]
        own, prior = (clauses(steps, language) for steps in (self.steps, self.prior))
        text = words["prior"].format(text=own, prior=prior) if prior else own
        return words["sentence"].format(text=capitalized(text))

    def proof(self, lang: Language | None = None) -> str:
        """Return what the validation of the changed document shows."""
        resolved, total = len(self.resolves), len(self.resolves) + len(self.remaining)
        key = "proof" if resolved > 1 else "proof_one"
        if resolved == total:
            key = {1: "proof_only", 2: "proof_both"}.get(total, "proof_all")
        return _PROOF[lang or self.lang][key].format(resolved=resolved, total=total)

    def copy_text(self, lang: Language | None = None) -> str:
        """Return the change as text for the clipboard: what is changed, then where.

        Each edit is a line such as "BT-116: 261.00 -> 260.00", then follow the XPaths, one per line.
        """
        edits = [it.copy_text(lang or self.lang) for it in (*self.prior, *self.steps)]
        xpaths = dict.fromkeys(getattr(it, "parent", "") or getattr(it, "xpath", "") for it in self.edits)
        omitted = [f"… + {len(xpaths) - _MAX_XPATHS}"] if len(xpaths) > _MAX_XPATHS else []
        return "\n".join([*edits, *list(xpaths)[:_MAX_XPATHS], *omitted])

    def to_dict(self, lang: Language | None = None) -> dict[str, Any]:
        """Return the change as plain data, ready for JSON."""
        return {
            "text": self.text(lang),
            "proof": self.proof(lang),
            "copy_text": self.copy_text(lang),
            "terms": list(self.terms),
            "safe": self.safe,
            "resolves": len(self.resolves),
            "edits": [as_dict(edit) for edit in self.edits],
        }
