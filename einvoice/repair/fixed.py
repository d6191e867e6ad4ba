"""A repaired document: the new XML, the changes made, and the verdict before and after."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from einvoice.causes.cause import Cause
from einvoice.causes.change import Change
from einvoice.causes.display import incomplete
from einvoice.editing.diff import unified
from einvoice.localization import Language, Messages
from einvoice.localization.formatting import format_number, with_colon
from einvoice.model.invoice import Invoice
from einvoice.model.values import absent
from einvoice.quotation import excerpt, visible
from einvoice.reconciliation.amounts import in_currency
from einvoice.render.text import LABELS, counts, verdict
from einvoice.result import ValidationResult

_TEXTS: Final = Messages("einvoice.repair", "fixed")


@dataclass(frozen=True, eq=False, repr=False)
class Fixed:
    """A repaired document.

    Attributes:
        xml: the repaired XML, in the encoding of the original; all bytes outside the changed elements are the same.
        changes: the changes that were made, in their order.
        remaining: the causes that remain: questions to the issuer, changes that need `unsafe`, and findings without a
            known change; with `ended_by`, as those of a result.
        before: the result of the original.
        after: the result of the repaired document; findings about a PDF around the invoice are those of the original.
        lang: default language of the texts.
    """

    xml: bytes = field(repr=False)
    changes: tuple[Change, ...]
    remaining: tuple[Cause, ...]
    before: ValidationResult
    after: ValidationResult
    lang: Language = "de"

    @property
    def is_changed(self) -> bool:
        """Whether a change was made."""
        return bool(self.changes)

    @property
    def unsafe(self) -> tuple[Change, ...]:
        """The remaining changes that are not safe and that `fixed(unsafe=True)` makes."""
        return tuple(it.changes[0] for it in self.remaining if is_applicable(it) and not it.changes[0].safe)

    def diff(self, before_name: str = "", after_name: str = "") -> str:
        """Return the differences of the XML as a unified diff; "" if there are none.

        Args:
            before_name: name of the original in the diff; default: its file name.
            after_name: name of the repaired document in the diff; default: that of the original.
        """
        before_name = before_name or self.before.filename
        return unified(self.before.document.data, self.xml, before_name, after_name or before_name)

    def to_dict(self, lang: Language | None = None) -> dict[str, Any]:
        """Return what was changed as plain data, ready for JSON; amounts are decimal text."""
        return {
            "is_changed": self.is_changed,
            "valid_before": self.before.is_valid,
            "valid_after": self.after.is_valid,
            "stated_before": _plain(self.before.invoice),
            "stated_after": _plain(self.after.invoice),
            "changes": [{**it.to_dict(lang), **_applicability(it)} for it in self.changes],
            "remaining": [{**it.to_dict(lang), **_applicability(*it.changes[:1])} for it in self.remaining],
        }

    def __str__(self) -> str:
        return _text(self, self.lang)

    def __repr__(self) -> str:
        before, after = ("valid" if it.is_valid else "not valid" for it in (self.before, self.after))
        return f"<Fixed: {len(self.changes)} changes, {before} -> {after}, {len(self.remaining)} causes remain>"


def is_applicable(cause: Cause) -> bool:
    """Return whether a cause has a change and is no question, which only the issuer can answer."""
    return bool(cause.changes) and not cause.is_question


def _text(fixed: Fixed, lang: Language) -> str:
    """Return the verdicts, the changes and the causes that remain, one a line."""
    labels = _TEXTS[lang]
    before, after = (f"{verdict(it, lang)} ({counts(it, lang)})" for it in (fixed.before, fixed.after))
    lines = [labels["verdict" if fixed.is_changed else "unchanged"].format(before=before, after=after)]
    if fixed.changes:
        lines += [labels["changes"].format(count=len(fixed.changes)), *(f"  {it.text(lang)}" for it in fixed.changes)]
    if fixed.remaining:
        lines.append(labels["remaining"].format(count=len(fixed.remaining)))
        lines += [f"  {_located(it, lang)}" for it in fixed.remaining]
    if remark := incomplete(fixed.remaining, lang):
        lines.append(remark)
    if fixed.is_changed:
        stated = zip(*(_stated(it.invoice, lang) for it in (fixed.before, fixed.after)), strict=True)
        due, vat, count = (labels["from_to"].format(before=before, after=after) for before, after in stated)
        lines.append(labels["stated"].format(due=due, vat=vat, lines=count))
    return "\n".join(lines)


def _applicability(change: Change | None = None) -> dict[str, str | None]:
    return {"applicability": None if change is None else change.applicability.name.lower()}


def _plain(invoice: Invoice) -> dict[str, Any]:
    due, vat = (None if it is absent else _decimal(it) for it in (invoice.totals.due, _vat(invoice)))
    return {"amount_due": due, "total_vat": vat, "lines": len(invoice.lines)}


def _decimal(value: Any) -> str:
    return f"{value.number:f}" if value.number is not absent else str(value.raw.strip())


def _vat(invoice: Invoice) -> Any:
    return next((it.amount for it in invoice.tax_totals if in_currency(it, invoice)), absent)


def _stated(invoice: Invoice, lang: Language) -> tuple[str, str, str]:
    """Return amount due (BT-115), total VAT amount (BT-110) and number of invoice lines (BG-25)."""
    return _amount(invoice.totals.due, lang), _amount(_vat(invoice), lang), str(len(invoice.lines))


def _amount(value: Any, lang: Language) -> str:
    """Return an amount with the marks of the language, as it is written if it is none, and a dash if it is missing."""
    if value.number is not absent:
        return format_number(value.number, lang, decimals=2)
    return visible(excerpt(value.raw.strip())) if value is not absent else "–"


def _located(cause: Cause, lang: Language) -> str:
    """Return a cause with its line: "line 35: …"."""
    line = cause.location.line
    return with_colon(f"{LABELS[lang]['line']} {line}", lang, cause.text(lang)) if line else cause.text(lang)
