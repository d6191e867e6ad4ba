"""The invoice out of a hybrid PDF, unjudged: `einvoice.extract`."""

from __future__ import annotations

from dataclasses import dataclass, field

from einvoice import errors
from einvoice.pdf.document import open_hybrid, parse
from einvoice.pdf.hybrid import Attachment, Hybrid
from einvoice.syntax import xml
from einvoice.syntax.detect import identify


@dataclass(frozen=True, slots=True)
class Extracted:
    """What a hybrid PDF (ZUGFeRD, Factur-X) holds.

    Attributes:
        xml: the embedded invoice, byte for byte.
        name: of its attachment, such as "factur-x.xml".
        relationship: how it stands to the pages (AFRelationship), such as "Alternative"; "" where it is missing.
        profile: what it declares, such as "Factur-X BASIC" or "XRechnung"; "unknown" where that is nothing known, ""
            where it is no invoice that can be judged.
        problem: why it cannot be judged (not well-formed, UBL, ZUGFeRD 1.x, Order-X …); None if it can.
        candidates: the attachments that may be the invoice; the first one is it.
        attachments: all attachments, as the PDF describes them.
        filename: of the PDF without its folder; "" where it has no name.
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
    """Return the invoice embedded in a PDF, whether it can be judged or not.

    Where several attachments may be the invoice, CII goes before its forerunners, and names in the order factur-x.xml,
    xrechnung.xml, zugferd-invoice.xml, order-x.xml; all are in `candidates`.

    Args:
        source: a path, bytes, or a binary file.

    Raises:
        UnreadableDocument: it is no PDF, is damaged, encrypted or too complex, or has no invoice embedded; one of its
            subclasses, see `einvoice.errors`.
        OSError: the file cannot be opened.
    """
    data, filename = xml.source_bytes(source)
    hybrid = open_hybrid(data)
    if hybrid is None:
        found = xml.sniff(data)
        raise errors.NotAPdf(found="XML" if found == "xml" else found)
    profile, problem = _identified(hybrid)
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


def _identified(hybrid: Hybrid) -> tuple[str, errors.UnreadableDocument | None]:
    try:
        return identify(parse(hybrid)).profile, None
    except errors.UnreadableDocument as error:
        return "", error
