"""Reads the invoice from a PDF: finds the attachments, inspects them and selects the invoice.

`read` opens the PDF in the calling process. For untrusted files use `einvoice.pdf.sandbox`.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from einvoice import errors
from einvoice.pdf import container
from einvoice.pdf.hybrid import LIMIT, Fault, Hybrid
from einvoice.pdf.reader import streams
from einvoice.pdf.reader.attachment_sources import embedded_files
from einvoice.pdf.reader.file_spec import FileSpec
from einvoice.pdf.reader.metadata import read_metadata, software_of
from einvoice.pdf.reader.opened_pdf import OpenedPdf
from einvoice.pdf.reader.signatures import is_signed
from einvoice.quotation import quote

if TYPE_CHECKING:
    import pikepdf

NAMES: Final = ("factur-x.xml", "xrechnung.xml", "zugferd-invoice.xml", "order-x.xml", "cida.xml")
"""Names of the embedded invoice, case-insensitive, in order of preference."""

_RELATIONSHIPS: Final = ("Alternative", "Data", "Source")
_MAX_UNPACKED: Final = 16
_MAX_NAMES: Final = 5


def read(data: bytes) -> Hybrid:
    """Return the invoice embedded in a PDF, with the results of the container checks.

    Raises:
        errors.PdfDamaged: the PDF cannot be opened.
        errors.PdfEncrypted: the PDF requires a password.
        errors.PdfWithoutXml: no attachment can be an invoice.
        errors.EmbeddedXmlUnreadable: the invoice attachment cannot be decoded.
        ImportError: pikepdf is not installed.
    """
    import pikepdf

    try:
        pdf = pikepdf.open(io.BytesIO(data), suppress_warnings=True)
    except pikepdf.PasswordError:
        raise errors.PdfEncrypted from None
    except (pikepdf.PdfError, RuntimeError, ValueError) as error:
        raise errors.PdfDamaged(reason=quote(streams.message(error), limit=100)) from None
    with pdf:
        found = embedded_files(pdf)
        candidates = _candidates(pdf, found)
        if not candidates:
            names = ", ".join(quote(file.name) for file in found[:_MAX_NAMES])
            raise errors.PdfWithoutXml(found=names + ", …" * (len(found) > _MAX_NAMES) if names else "–")
        chosen = candidates[0]
        if chosen.content is None:
            raise errors.EmbeddedXmlUnreadable(name=quote(chosen.name), reason=chosen.problem)
        opened = OpenedPdf(data, pdf, chosen, found)
        faults, checks = container.check(opened)
        return Hybrid(
            chosen.content,
            tuple(file.plain() for file in candidates),
            tuple(file.plain() for file in found),
            (*faults, *_ambiguous(candidates)),
            checks,
            is_signed(pdf),
            software_of(pdf, opened.metadata),
        )


def _candidates(pdf: pikepdf.Pdf, found: Sequence[FileSpec]) -> list[FileSpec]:
    """Return the files that may be the invoice, best first; unreadable ones only if there are no others."""
    likely = [file for file in found if _may_be_invoice(file)]
    declared = read_metadata(pdf).invoice.get("DocumentFileName", "") if len(likely) > 1 else ""
    likely.sort(key=lambda it: _preference(it, declared))
    for file in likely[:_MAX_UNPACKED]:
        file.unpack(LIMIT)
    readable = sorted((file for file in likely if file.kind), key=_by_kind)
    return readable or [file for file in likely[:_MAX_UNPACKED] if _is_known(file) or file.is_broken][:1]


def _is_known(file: FileSpec) -> bool:
    return file.name.casefold() in NAMES


def _may_be_invoice(file: FileSpec) -> bool:
    name = file.name.casefold()
    return file.stream is not None and (name.endswith(".xml") or file.mime.endswith("xml") or name in NAMES)


def _by_name(file: FileSpec) -> int:
    name = file.name.casefold()
    return NAMES.index(name) if name in NAMES else len(NAMES)


def _preference(file: FileSpec, declared: str) -> tuple[int, bool, bool, bool]:
    """Sort by name; among names that differ in case only, or not at all, the one as prescribed comes first.

    Args:
        file: the file.
        declared: the file name that the XMP metadata give (DocumentFileName).
    """
    return _by_name(file), file.name not in NAMES, file.name != declared, file.relationship not in _RELATIONSHIPS


def _by_kind(file: FileSpec) -> tuple[bool, bool]:
    """Sort CII first, then its predecessors, then UBL (not allowed in a PDF); within each kind, keep the order."""
    return file.kind != "CII", file.kind == "UBL"


def _ambiguous(candidates: Sequence[FileSpec]) -> list[Fault]:
    """Return a fault if candidates differ in content, since another reader may choose another one."""
    contents = {hashlib.sha256(file.content or b"").digest() for file in candidates}
    if len(contents) < 2:
        return []
    names = ", ".join(quote(file.name) for file in candidates[:_MAX_NAMES])
    return [Fault("PDF-SEVERAL-INVOICES", {"names": names, "chosen": quote(candidates[0].name)})]
