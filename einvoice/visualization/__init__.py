"""Visualization of invoices and validation reports: accessible PDF, HTML, and text for a terminal.

- `invoice`: the invoice page, built from sections that take their values from a `PageContext`
- `report`: the validation report
- `typesetting`: HTML to PDF/A-3a and PDF/UA-1
- `text`: HTML to plain text

All of them are imported on first use.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from einvoice.localization.options import language
from einvoice.model.invoice import Invoice
from einvoice.result import Language, ValidationResult
from einvoice.result.languages import check_language

if TYPE_CHECKING:
    import datetime

    from einvoice.assessment import Assessment


def invoice_pdf(
    invoice: Invoice,
    lang: Language | None = None,
    *,
    logo: bytes | None = None,
    accent: str | None = None,
    when: datetime.datetime | None = None,
) -> bytes:
    """Render an invoice as a human-readable PDF: A4, PDF/A-3a and PDF/UA-1.

    It shows every value of the invoice. The output is deterministic.

    Args:
        invoice: from `einvoice.read` or built in Python; it need not be valid.
        lang: language of labels, numbers and dates, such as "de"; default: `einvoice.options.lang`.
        logo: image for the letterhead: PNG, JPEG, GIF, TIFF or WebP, at most 10 MB, or SVG of shapes.
        accent: colour of lines and headings, such as "#005a9c"; a light one is that of lines only.
        when: creation date of the PDF, with a time zone; by default noon UTC on the issue date (BT-2).

    Raises:
        MissingDependency: Babel, weasyprint, or a system library that it needs, is not installed.
        TypeError: the invoice is not an `Invoice`.
        LetterheadError: the logo is not an image, or the accent is not a colour.
        ValueError: the language is not supported.
    """
    lang = _checked(invoice, lang)
    from einvoice.visualization.invoice import page as page

    return page.invoice_pdf(invoice, lang, logo=logo, accent=accent, when=when)


def invoice_html(invoice: Invoice, lang: Language | None = None) -> str:
    """Render an invoice as an HTML document with the content of `invoice_pdf`, without scripts.

    Args:
        invoice: from `einvoice.read` or built in Python.
        lang: language of labels, numbers and dates; default: `einvoice.options.lang`.

    Raises:
        MissingDependency: Babel is not installed.
        TypeError: the invoice is not an `Invoice`.
        ValueError: the language is not supported.
    """
    lang = _checked(invoice, lang)
    from einvoice.visualization.invoice import page as page

    return page.invoice_document(invoice, lang)


def invoice_text(invoice: Invoice, lang: Language | None = None, *, width: int = 100) -> str:
    """Render an invoice as plain text with the content of `invoice_pdf`, in lines of at most `width` characters.

    A table that needs more is wider. Raises the same errors as `invoice_html`.
    """
    lang = _checked(invoice, lang)
    from einvoice.visualization.invoice import page as page

    return page.invoice_text(invoice, lang, width)


def _checked(invoice: Invoice, lang: Language | None) -> Language:
    if not isinstance(invoice, Invoice):
        raise TypeError(f"argument 'invoice' must be an invoice from einvoice.read, not {type(invoice).__name__}")
    return language(lang)


def report_pdf(
    result: ValidationResult,
    lang: Language | None = None,
    *,
    when: datetime.datetime | None = None,
    causes: Sequence[Any] | None = None,
    assessment: Assessment | None = None,
) -> bytes:
    """Render a validation result as a PDF: A4, PDF/A-3a and PDF/UA-1.

    The report shows the result, the validated document with its hash, the causes of the findings with the changes that
    resolve them, the findings with their fixes, and the rule sets with version and hash. As a record to keep, it has
    the result as JSON attached (`validation-result.json`, AFRelationship Data). Equal arguments give equal bytes.

    Args:
        result: from `einvoice.validate`.
        lang: language of the report, such as "de"; by default that of the result.
        when: date of the validation, with a time zone; by default now, or that of the environment variable
            SOURCE_DATE_EPOCH.
        causes: from `result.causes()`; by default they are searched for, which takes at most about 10 seconds. An
            empty sequence omits them, and the report says so.
        assessment: from `result.assessment()`: what errors mean for the recipient; by default the report omits it.

    Raises:
        MissingDependency: Babel, weasyprint, or a system library that it needs, is not installed.
        TypeError: the result is not a `ValidationResult`.
        ValueError: the language is not supported.
    """
    lang = _checked_result(result, lang)
    from einvoice.visualization.report import page as page

    return page.report_pdf(result, lang, when=when, causes=causes, assessment=assessment)


def report_html(
    result: ValidationResult,
    lang: Language | None = None,
    *,
    when: datetime.datetime | None = None,
    causes: Sequence[Any] | None = None,
    assessment: Assessment | None = None,
) -> str:
    """Render a validation result as an HTML document with the content of `report_pdf`, without scripts.

    The arguments are those of `report_pdf`.

    Raises:
        MissingDependency: Babel is not installed.
        TypeError: the result is not a `ValidationResult`.
        ValueError: the language is not supported.
    """
    lang = _checked_result(result, lang)
    from einvoice.visualization.report import page as page

    return page.report_document(result, lang, when=when, causes=causes, assessment=assessment)


def report_text(
    result: ValidationResult,
    lang: Language | None = None,
    *,
    when: datetime.datetime | None = None,
    causes: Sequence[Any] | None = None,
    assessment: Assessment | None = None,
    width: int = 100,
) -> str:
    """Render a validation result as plain text with the content of `report_pdf`; see `report_html`."""
    lang = _checked_result(result, lang)
    from einvoice.visualization.report import page as page

    return page.report_text(result, lang, when=when, causes=causes, assessment=assessment, width=width)


def _checked_result(result: ValidationResult, lang: Language | None) -> Language:
    if not isinstance(result, ValidationResult):
        raise TypeError(f"argument 'result' must be a result of einvoice.validate, not {type(result).__name__}")
    lang = lang or result.lang
    check_language(lang)
    return lang


__all__ = ["invoice_html", "invoice_pdf", "invoice_text", "report_html", "report_pdf", "report_text"]
