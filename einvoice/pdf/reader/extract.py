"""The invoice out of a PDF: find the attachments wherever they may hang, look into them, choose.

`read` opens the PDF in the process that calls it. Untrusted files belong into `einvoice.pdf.sandbox`.
"""

from __future__ import annotations

import hashlib
import io
from collections.abc import Sequence
from typing import Final

from einvoice import errors
from einvoice.pdf import container
from einvoice.pdf.hybrid import LIMIT, Fault, Hybrid
from einvoice.pdf.reader import streams
from einvoice.pdf.reader.attachment_sources import embedded_files
from einvoice.pdf.reader.file_spec import Embedded
from einvoice.pdf.reader.opened import Opened

NAMES: Final = ("factur-x.xml", "xrechnung.xml", "zugferd-invoice.xml", "order-x.xml", "cida.xml")
"""Names of the embedded invoice in any spelling of capitals, in the order in which they are preferred."""

_MOST_UNPACKED: Final = 16
_NAMED: Final = 5


def read(data: bytes) -> Hybrid:
    """Return the invoice that a PDF holds, and what the checks of the container say.

    Raises:
        errors.PdfDamaged: the PDF cannot be opened.
        errors.PdfEncrypted: it opens with a password only.
        errors.PdfWithoutXml: no attachment may be an invoice.
        errors.EmbeddedXmlUnreadable: one is, but its bytes cannot be had.
        ImportError: pikepdf is not installed.
    """
    import pikepdf

    try:
        pdf = pikepdf.open(io.BytesIO(data), suppress_warnings=True)
    except pikepdf.PasswordError:
        raise errors.PdfEncrypted from None
    except (pikepdf.PdfError, RuntimeError, ValueError) as error:
        raise errors.PdfDamaged(reason=errors.quote(streams.message(error), limit=100)) from None
    with pdf:
        found = embedded_files(pdf)
        candidates = _candidates(found)
        if not candidates:
            names = ", ".join(errors.quote(file.name) for file in found[:_NAMED])
            raise errors.PdfWithoutXml(found=names + ", …" * (len(found) > _NAMED) if names else "–")
        chosen = candidates[0]
        if chosen.content is None:
            raise errors.EmbeddedXmlUnreadable(name=errors.quote(chosen.name), reason=chosen.problem)
        faults, checks = container.check(Opened(data, pdf, chosen, found))
        return Hybrid(
            chosen.content,
            tuple(file.plain() for file in candidates),
            tuple(file.plain() for file in found),
            (*faults, *_several(candidates)),
            checks,
        )


def _candidates(found: Sequence[Embedded]) -> list[Embedded]:
    """The files that may be the invoice, the best first; what cannot be read only where nothing else is."""
    likely = sorted((file for file in found if _may_be_invoice(file)), key=_by_name)
    for file in likely[:_MOST_UNPACKED]:
        file.unpack(LIMIT)
    readable = sorted((file for file in likely if file.kind), key=_by_kind)
    return readable or [file for file in likely[:_MOST_UNPACKED] if _is_known(file) or file.is_broken][:1]


def _is_known(file: Embedded) -> bool:
    return file.name.casefold() in NAMES


def _may_be_invoice(file: Embedded) -> bool:
    name = file.name.casefold()
    return file.stream is not None and (name.endswith(".xml") or file.mime.endswith("xml") or name in NAMES)


def _by_name(file: Embedded) -> int:
    name = file.name.casefold()
    return NAMES.index(name) if name in NAMES else len(NAMES)


def _by_kind(file: Embedded) -> tuple[bool, bool, int]:
    """CII before its forerunners, those before UBL, which does not belong into a PDF; then the better name."""
    return file.kind != "CII", file.kind == "UBL", _by_name(file)


def _several(candidates: Sequence[Embedded]) -> list[Fault]:
    """Where candidates differ in content, recipients may read another one than we do."""
    contents = {hashlib.sha256(file.content or b"").digest() for file in candidates}
    if len(contents) < 2:
        return []
    names = ", ".join(errors.quote(file.name) for file in candidates[:_NAMED])
    return [Fault("PDF-SEVERAL-INVOICES", {"names": names, "chosen": errors.quote(candidates[0].name)})]
