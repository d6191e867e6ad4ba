"""What people read, as PDF: the invoice and the report on it, on pages that are printed, kept and read aloud.

``invoice`` puts the page together from its parts (``head``, ``lines``, ``sums``, ``payment``, ``rest``), each of which
takes values from the ``sheet``; ``report`` does so from ``findings``; ``render`` makes the PDFs of them. All of that is
imported when it is first needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from einvoice.model.invoice import Invoice
from einvoice.result import Language, ValidationResult
from einvoice.result.languages import check_language

if TYPE_CHECKING:
    import datetime


def invoice_pdf(
    invoice: Invoice, lang: Language = "de", *, logo: bytes | None = None, when: datetime.datetime | None = None
) -> bytes:
    """The invoice as a PDF that people can read: A4, PDF/A-3a and PDF/UA-1.

    It shows every value the invoice holds. The same invoice gives the same bytes.

    Args:
        invoice: from ``einvoice.read`` or made by hand; it need not be valid.
        lang: language of labels, numbers and dates, "de" or "en".
        logo: a picture for the letterhead: PNG, JPEG, or another format that Pillow reads.
        when: when the PDF was made, with a time zone; by default noon UTC on the issue date (BT-2).

    Raises:
        MissingDependency: weasyprint, or what it needs of the system, is not installed.
        TypeError: the invoice is something else, such as a path.
        ValueError: the logo is no picture, or another language.
    """
    if not isinstance(invoice, Invoice):
        raise TypeError(f"Expected an invoice from einvoice.read, not {type(invoice).__name__}.")
    check_language(lang)
    from einvoice.visualization.invoice import page as page

    return page.invoice_pdf(invoice, lang, logo=logo, when=when)


def report_pdf(
    result: ValidationResult, lang: Language | None = None, *, when: datetime.datetime | None = None
) -> bytes:
    """The result of a validation as a PDF for people to read, print and keep: A4, PDF/A-3a and PDF/UA-1.

    It has the verdict, what was judged and by which rules, and the findings with what to do about them. The same result
    at the same time gives the same bytes.

    Args:
        result: from ``einvoice.validate``.
        lang: language of the report, "de" or "en"; by default that of the result.
        when: when the document was judged, with a time zone; now where it is None.

    Raises:
        MissingDependency: weasyprint, or what it needs of the system, is not installed.
        TypeError: the result is something else, such as a path.
        ValueError: another language.
    """
    if not isinstance(result, ValidationResult):
        raise TypeError(f"Expected a result of einvoice.validate, not {type(result).__name__}.")
    lang = lang or result.lang
    check_language(lang)
    from einvoice.visualization.report import page as page

    return page.report_pdf(result, lang, when=when)


__all__ = ["invoice_pdf", "report_pdf"]
