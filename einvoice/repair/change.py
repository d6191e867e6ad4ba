"""A change of a document, with the findings that it resolves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from einvoice.localization import Language, Messages
from einvoice.model.terms import name, terms
from einvoice.repair.edits import Edit, Insert, Remove, RemoveAttribute, SetAttribute, SetText
from einvoice.result import Finding

_TEXTS: Final = Messages("einvoice.repair", "changes")
_QUOTED: Final = 60
"""Maximum number of characters of a quoted value."""


@dataclass(frozen=True, slots=True)
class Step:
    """One edit as texts describe it.

    Attributes:
        kind: "set", "fill", "add", "remove".
        term: business term; "" if there is none.
        element: name of the element or attribute.
        line: identifier of the invoice line; "" outside of lines.
        before: previous text.
        after: new text.
    """

    kind: str
    term: str
    element: str
    line: str = ""
    before: str = ""
    after: str = ""

    def place(self, lang: Language) -> str:
        """Return the name of the place, such as "Net amount (BT-131) of line 2"."""
        known = self.term in terms()
        label = _TEXTS[lang]["term"].format(name=name(self.term, lang), term=self.term) if known else self.element
        return _TEXTS[lang]["in_line"].format(place=label, line=self.line) if self.line else label

    def text(self, lang: Language, table: str = "change") -> str:
        """Return what the edit does, as a clause that begins with the place."""
        quoted = {"before": _short(self.before), "after": _short(self.after)}
        return _TEXTS[lang][f"{table}_{self.kind}"].format(place=self.place(lang), **quoted)


def _short(text: str) -> str:
    return text if len(text) <= _QUOTED else text[: _QUOTED - 1] + "…"


@dataclass(frozen=True, slots=True)
class Change:
    """A change of the document that was tried: the changed document was validated.

    Attributes:
        edits: the edits of the XML.
        steps: the edits as texts describe them.
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

    def text(self, lang: Language | None = None) -> str:
        """Return what to change, in one sentence."""
        language = lang or self.lang
        clauses = [step.text(language) for step in self.steps]
        return _TEXTS[language]["sentence"].format(text=_TEXTS[language]["and"].join(clauses))

    def to_dict(self, lang: Language | None = None) -> dict[str, Any]:
        """Return the change as plain data, ready for JSON."""
        return {
            "text": self.text(lang),
            "terms": list(self.terms),
            "safe": self.safe,
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
        case Insert():
            attributes: Mapping[str, str] = dict(edit.attributes)
            return {"edit": "insert", "xpath": edit.parent, "path": list(edit.path), "text": edit.text,
                    "attributes": attributes}  # fmt: skip
