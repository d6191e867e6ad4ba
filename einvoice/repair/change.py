"""A change of a document, with the findings that it resolves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from einvoice.errors import quote
from einvoice.localization import Language, Messages
from einvoice.model.terms import name, terms
from einvoice.repair.display import proof
from einvoice.repair.edits import (
    Edit,
    Insert,
    Move,
    Remove,
    RemoveAttribute,
    Rename,
    RenameAttribute,
    SetAttribute,
    SetNamespace,
    SetText,
)  # fmt: skip
from einvoice.result import Finding

_TEXTS: Final = Messages("einvoice.repair", "changes")
MAX_QUOTED: Final = 60
"""Maximum number of characters of a quoted value, identifier or name."""
_LISTED: Final = 5
"""Maximum number of lines that a text lists."""
_LISTED_PLACES: Final = 3
"""Maximum number of places with the same change that a text lists."""


@dataclass(frozen=True, slots=True)
class Step:
    """One edit as texts describe it.

    Attributes:
        kind: "set", "fill", "add", "remove", "move", "rename", "namespace", "whole" (a group).
        term: business term; "" if there is none.
        element: name of the element or attribute, shortened.
        lines: identifiers of the invoice lines, shortened; empty outside of lines.
        before: previous text.
        after: new text.
    """

    kind: str
    term: str
    element: str
    lines: tuple[str, ...] = ()
    before: str = ""
    after: str = ""

    def place(self, lang: Language) -> str:
        """Return the name of the place, such as "Net amount (BT-131) of line 2"."""
        known = self.term in terms()
        label = _TEXTS[lang]["term"].format(name=name(self.term, lang), term=self.term) if known else self.element
        if not self.lines:
            return label
        words = _TEXTS[lang]
        listed, more = ", ".join(self.lines[:_LISTED]), len(self.lines) - _LISTED
        if more > 0:
            listed = words["more"].format(lines=listed, count=more)
        return words["in_line" if len(self.lines) == 1 else "in_lines"].format(place=label, line=listed)

    def text(self, lang: Language, table: str = "change") -> str:
        """Return what the edit does, as a clause that begins with the place."""
        before, after = _quotable(self.before, self.after)
        return _TEXTS[lang][f"{table}_{self.kind}"].format(place=self.place(lang), before=before, after=after)


def clauses(steps: Sequence[Step], lang: Language, table: str = "change") -> str:
    """Return what several steps do; steps that write the same at many places are one clause."""
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
    return words["and"].join(texts)


def _quotable(before: str, after: str) -> tuple[str, str]:
    """Return two texts escaped and shortened, so that their first difference is shown.

    >>> _quotable("urn:cen.eu:en16931:2017#compliant#urn:xeinkauf.de:kosit:xrechnung_9.9", "")[0]
    'urn:cen.eu:en16931:2017#compliant#urn:xeinkauf.de:kosit:xre…'
    """
    if max(len(before), len(after)) > MAX_QUOTED and before and after:
        shared = next((at for at, (one, other) in enumerate(zip(before, after, strict=False)) if one != other), 0)
        if start := max(0, shared - MAX_QUOTED // 2):
            before, after = f"…{before[start:]}", f"…{after[start:]}"
    return quote(before, limit=MAX_QUOTED), quote(after, limit=MAX_QUOTED)


@dataclass(frozen=True, slots=True)
class Change:
    """A change of the document that was tried: the changed document was validated.

    Attributes:
        edits: the edits of the XML.
        steps: the edits as texts describe them, without `prior`.
        prior: edits of other causes that the change needs to have its effect; part of `edits`.
        terms: business terms that it changes, the leading one first; may be empty.
        safe: whether it changes only the form of a value, or an amount that follows from other amounts. Other changes
            need someone who knows the transaction.
        resolves: the findings that it resolves.
        remaining: the findings of the document that remain.
        lang: default language of the texts.
    """

    edits: tuple[Edit, ...]
    steps: tuple[Step, ...]
    terms: tuple[str, ...]
    safe: bool
    resolves: tuple[Finding, ...]
    remaining: tuple[Finding, ...]
    lang: Language = "de"
    prior: tuple[Step, ...] = ()

    def text(self, lang: Language | None = None) -> str:
        """Return what to change, in one sentence."""
        language = lang or self.lang
        words = _TEXTS[language]
        own, prior = (clauses(steps, language) for steps in (self.steps, self.prior))
        text = words["prior"].format(text=own, prior=prior) if prior else own
        is_name = ":" in text.partition(" ")[0]  # names of elements have no capital letter
        return words["sentence"].format(text=text if is_name else text[0].upper() + text[1:])

    def to_dict(self, lang: Language | None = None) -> dict[str, Any]:
        """Return the change as plain data, ready for JSON."""
        return {
            "text": self.text(lang),
            "proof": proof(self, lang or self.lang),
            "terms": list(self.terms),
            "safe": self.safe,
            "resolves": len(self.resolves),
            "edits": [edit_dict(edit) for edit in self.edits],
        }


def edit_dict(edit: Edit) -> dict[str, Any]:
    """Return an edit as plain data: its kind, XPath and new content."""
    match edit:
        case SetText():
            return {"edit": "set_text", "xpath": edit.xpath, "text": edit.text}
        case SetAttribute():
            return {"edit": "set_attribute", "xpath": edit.xpath, "name": edit.name, "value": edit.value}
        case RemoveAttribute():
            return {"edit": "remove_attribute", "xpath": edit.xpath, "name": edit.name}
        case Remove():
            return {"edit": "remove", "xpath": edit.xpath}
        case Rename():
            return {"edit": "rename", "xpath": edit.xpath, "name": edit.name}
        case RenameAttribute():
            return {"edit": "rename_attribute", "xpath": edit.xpath, "name": edit.name, "new": edit.new}
        case SetNamespace():
            return {"edit": "set_namespace", "xpath": edit.xpath, "prefix": edit.prefix, "uri": edit.uri}
        case Move():
            return {"edit": "move", "xpath": edit.xpath}
        case Insert():
            attributes: Mapping[str, str] = dict(edit.attributes)
            return {"edit": "insert", "xpath": edit.parent, "path": list(edit.path), "text": edit.text,
                    "attributes": attributes}  # fmt: skip
