"""Making the PDFs of an answer: what a worker process does when a link is first fetched."""

import dataclasses
import datetime
from typing import Literal

import einvoice


def report(
    document: bytes,
    *,
    filename: str,
    lang: Literal["de", "en"],
    mode: Literal["current", "compatibility"],
    judged_at: float,
) -> bytes:
    """Return the report on a file that has been judged: it is judged once more, by the same rules.

    Raises:
        einvoice.EinvoiceError: nobody can read the file, or what makes PDFs is not installed.
    """
    result = einvoice.validate(document, lang=lang, mode=mode)
    when = datetime.datetime.fromtimestamp(judged_at, datetime.UTC)
    return einvoice.report_pdf(dataclasses.replace(result, filename=filename), lang, when=when)


def invoice(document: bytes, *, lang: Literal["de", "en"]) -> bytes:
    """Return an invoice for people to read.

    Raises:
        einvoice.EinvoiceError: as above.
    """
    return einvoice.invoice_pdf(einvoice.read(document), lang)
