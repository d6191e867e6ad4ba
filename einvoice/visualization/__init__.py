"""Visualization of invoices and validation reports as accessible PDF.

- ``invoice``: the invoice page, built from sections that take their values from a ``PageContext``
- ``report``: the validation report
- ``typesetting``: HTML to PDF/A-3a and PDF/UA-1

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


def invoice_pdf(
    invoice: Invoice, lang: Language | None = None, *, logo: bytes | None = None, when: datetime.datetime | None = None
) -> bytes:
    """Render an invoice as a human-readable PDF: A4, PDF/A-3a and PDF/UA-1.

    It shows every value of the invoice. The output is deterministic.

    Args:
        invoice: from ``einvoice.read`` or built in Python; it need not be valid.
        lang: language of labels, numbers and dates, such as "de"; default: `einvoice.options.lang`.
        logo: image for the letterhead: PNG, JPEG, or another format that Pillow reads.
        when: creation date of the PDF, with a time zone; by default noon UTC on the issue date (BT-2).

    Raises:
        MissingDependency: Babel, weasyprint, or a system library that it needs, is not installed.
        TypeError: the invoice is not an `Invoice`.
        ValueError: the logo is not an image, or the language is not supported.
    """
    if not isinstance(invoice, Invoice):
        raise TypeError(f"argument 'invoice' must be an invoice from einvoice.read, not {type(invoice).__name__}")
    lang = language(lang)
    from einvoice.visualization.invoice import page as page

    return page.invoice_pdf(invoice, lang, logo=logo, when=when)


def report_pdf(
    result: ValidationResult,
    lang: Language | None = None,
    *,
    when: datetime.datetime | None = None,
    causes: Sequence[Any] | None = None,
) -> bytes:
    """Render a validation result as a PDF: A4, PDF/A-3a and PDF/UA-1.

    The report shows the result, the validated document, the causes of the findings with the changes that resolve them,
    the findings with their fixes, and the rule sets. The output is deterministic for a given result, date and causes.

    Args:
        result: from ``einvoice.validate``.
        lang: language of the report, such as "de"; by default that of the result.
        when: date of the validation, with a time zone; by default now.
        causes: from ``result.causes()``; by default they are searched for, which takes at most about 10 seconds. An
            empty sequence omits them, and the report says so.

    Raises:
        MissingDependency: Babel, weasyprint, or a system library that it needs, is not installed.
        TypeError: the result is not a `ValidationResult`.
        ValueError: the language is not supported.
    """
    if not isinstance(result, ValidationResult):
        raise TypeError(f"argument 'result' must be a result of einvoice.validate, not {type(result).__name__}")
    lang = lang or result.lang
    check_language(lang)
    from einvoice.visualization.report import page as page

    return page.report_pdf(result, lang, when=when, causes=causes)


__all__ = ["invoice_pdf", "report_pdf"]
