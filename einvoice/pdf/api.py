"""Extracts the invoice from a hybrid PDF, without validating it: `einvoice.extract`."""

from __future__ import annotations

from dataclasses import dataclass, field

from einvoice import errors
from einvoice.pdf.document import parse
from einvoice.pdf.hybrid import Attachment, Hybrid
from einvoice.pdf.sandbox import read_hybrid
from einvoice.syntax import xml
from einvoice.syntax.detect import identify


@dataclass(frozen=True, slots=True)
class Extracted:
    """The invoice of a hybrid PDF (ZUGFeRD, Factur-X), and the attachments of the PDF.

    Attributes:
        xml: the embedded invoice, unchanged.
        name: file name of its attachment, such as "factur-x.xml".
        relationship: its AFRelationship, such as "Alternative"; "" if missing.
        profile: the declared profile or specification, such as "Factur-X BASIC" or "XRechnung"; "unknown" for an
            unknown specification, "" if the invoice cannot be validated.
        problem: why the invoice cannot be validated (not well-formed, UBL, ZUGFeRD 1.x, Order-X …); None if it can.
        candidates: the attachments that may be the invoice; the first one was chosen.
        attachments: all attachments, as the PDF describes them.
        filename: file name of the PDF without its folder; "" if it has none.
    """

    xml: bytes = field(repr=False)
    name: str
    relationship: str
    profile: str
    problem: errors.UnreadableDocument | None
    candidates: tuple[Attachment, ...]
    attachments: tuple[Attachment, ...]
    filename: str = ""


def extract(source: xml.Source) -> Extracted:
    """Return the invoice embedded in a PDF, even if it cannot be validated.

    If several attachments may be the invoice, CII takes precedence over its predecessors, then the name decides:
    factur-x.xml, xrechnung.xml, zugferd-invoice.xml, order-x.xml. All of them are in `candidates`.

    Args:
        source: a path, bytes, or a binary file.

    Raises:
        UnreadableDocument: the file is not a PDF, is damaged, encrypted or too complex, or embeds no invoice; raised as
            one of its subclasses (see `einvoice.errors`).
        OSError: the file cannot be opened.
    """
    data, filename = xml.source_bytes(source)
    if (found := xml.sniff(data)) != "pdf":
        raise errors.NotAPdf(found="XML" if found == "xml" else found)
    hybrid = read_hybrid(data)
    profile, problem = _identify(hybrid)
    chosen = hybrid.chosen
    return Extracted(
        hybrid.xml,
        chosen.name,
        chosen.relationship,
        profile,
        problem,
        hybrid.candidates,
        hybrid.attachments,
        filename,
    )


def _identify(hybrid: Hybrid) -> tuple[str, errors.UnreadableDocument | None]:
    try:
        return identify(parse(hybrid)).profile, None
    except errors.UnreadableDocument as error:
        return "", error
