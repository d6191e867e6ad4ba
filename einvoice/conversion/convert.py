"""Converts an invoice between UBL and CII: `einvoice.convert`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from einvoice.comparison.diff import InvoiceDiff, diff
from einvoice.conversion.changes import TermChange, changes_of
from einvoice.conversion.meaning import with_meaning
from einvoice.conversion.refusal import check_convertible
from einvoice.conversion.specification import target_specification
from einvoice.conversion.text import change_dict, text
from einvoice.errors import TooLarge, TooManyElements
from einvoice.localization import Language
from einvoice.localization.options import language
from einvoice.model.invoice import Invoice
from einvoice.result import ValidationResult
from einvoice.syntax import reader, xml
from einvoice.syntax.mapping.placement import place
from einvoice.syntax.writer import root_of, write
from einvoice.validation import validate

Syntax: TypeAlias = Literal["UBL", "CII"]


@dataclass(frozen=True, slots=True, repr=False)
class Converted:
    """A converted document, and what happened to its terms.

    Attributes:
        xml: the document (UTF-8).
        syntax: its syntax.
        changes: the terms that are not the same as before, from the comparison of both documents.
        before: the validation result of the source.
        after: the validation result of the converted document; None if it is larger than a file may be.
        diff: the comparison of both documents.
        lang: default language of the texts.
    """

    xml: bytes = field(repr=False)
    syntax: Syntax
    changes: tuple[TermChange, ...]
    before: ValidationResult
    after: ValidationResult | None
    diff: InvoiceDiff
    lang: Language = "de"

    @property
    def losses(self) -> tuple[TermChange, ...]:
        """The content that the converted document does not have, or has another value for."""
        return tuple(it for it in self.changes if it.is_loss)

    @property
    def is_faithful(self) -> bool:
        """Whether no term of EN 16931 was lost, and the document is valid if the source was."""
        return not any(it.term for it in self.losses) and (self._is_valid_after is True or not self.before.is_valid)

    @property
    def _is_valid_after(self) -> bool | None:
        return None if self.after is None else self.after.is_valid

    def to_text(self, lang: Language | None = None) -> str:
        """Return what happened as text: both verdicts, then each changed term with its value and XPath.

        Raises:
            ValueError: the language is not supported.
        """
        return text(self.syntax, self.before, self.after, self.changes, self.lang if lang is None else language(lang))

    def to_dict(self, lang: Language | None = None) -> dict[str, Any]:
        """Return what happened as plain data, ready for JSON: both verdicts, and the changed terms.

        Raises:
            ValueError: the language is not supported.
        """
        lang = self.lang if lang is None else language(lang)
        return {
            "syntax": self.syntax,
            "is_faithful": self.is_faithful,
            "valid_before": self.before.is_valid,
            "valid_after": self._is_valid_after,
            "changes": [change_dict(it, lang) for it in self.changes],
        }

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        return f"<Converted to {self.syntax}: {len(self.losses)} losses>"


def convert(
    source: xml.Source,
    to: Syntax | None = None,
    *,
    specification: str | None = None,
    lang: Language | None = None,
) -> Converted:
    """Convert an invoice to the other syntax; validate it before and after, and compare both documents.

    What the target cannot hold as it is, is joined (several texts of one term), moved (a logistics charge becomes a
    charge, BG-21) or omitted; `changes` has it all. Only values that the target requires are calculated. The UBL root
    element is CreditNote if the type code (BT-3) requires it.

    Args:
        source: a path, bytes, or a binary file; UBL, CII, or a hybrid PDF.
        to: "UBL" or "CII"; by default the other syntax.
        specification: what the result declares (BT-24): an identifier, or "EN16931" or "XRECHNUNG". By default the same
            as before, but EN 16931 for a profile of Factur-X, which UBL does not have.
        lang: default language of the texts; default: `einvoice.options.lang`.

    Raises:
        UnreadableDocument: the file is not an invoice; raised as one of its subclasses (see `einvoice.errors`).
        ConversionRefused: the source is no full invoice (MINIMUM, BASIC WL), or has a date that the target cannot hold.
        ValueError: `to` is neither "UBL" nor "CII", or the language is not supported.
        OSError: the file cannot be opened.
    """
    if to not in (None, "UBL", "CII"):
        raise ValueError(f"argument 'to' must be 'UBL' or 'CII', not {to!r}")
    selected = language(lang)
    before = validate(source, lang=selected)
    if before.container:  # what is wrong with the PDF says nothing about the invoice
        before = validate(before.document.data, lang=selected)
    invoice = before.invoice
    target: Syntax = to or ("CII" if invoice.syntax == "UBL" else "UBL")
    written = _written(invoice, target, specification)
    after = _validated(written, selected)
    compared = diff(invoice, _reread(written) if after is None else after.invoice, lang=selected)
    return Converted(written, target, tuple(changes_of(compared)), before, after, compared, selected)


def _written(invoice: Invoice, target: Syntax, specification: str | None) -> bytes:
    declared = target_specification(invoice, target, specification)
    if target == invoice.syntax and declared is None:
        return write(invoice, invoice.root)
    check_convertible(invoice, target)
    root = root_of(invoice, target)
    result = with_meaning(invoice, target, declared)
    return write(place(result, target, root) if target == invoice.syntax else result, root)


def _validated(written: bytes, lang: Language) -> ValidationResult | None:
    try:
        return validate(written, lang=lang)
    except (TooLarge, TooManyElements):
        return None


def _reread(written: bytes) -> Invoice:
    """Read a document that was written here: it may exceed the limits for files, as its source did not."""
    size = len(written)
    return reader.read(xml.parse(written, xml.Limits(bytes=size, elements=size)).getroot())
