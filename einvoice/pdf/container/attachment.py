"""How the invoice is attached (ISO 19005-3, 6.8; Factur-X 1.0), and what else is."""

from __future__ import annotations

import hashlib
import re
from typing import Final

from einvoice import errors
from einvoice.pdf.container.check import Faults, check
from einvoice.pdf.reader.attachment_sources import associated
from einvoice.pdf.reader.opened import Opened
from einvoice.pdf.reader.streams import identity, text

NAMES: Final = (
    "factur-x.xml",
    "xrechnung.xml",
    "zugferd-invoice.xml",
    "ZUGFeRD-invoice.xml",
    "order-x.xml",
    "cida.xml",
)
_RELATIONSHIPS: Final = ("Alternative", "Data", "Source")
_DATE: Final = re.compile(
    r"D:\d{4}((0[1-9]|1[0-2])((0[1-9]|[12]\d|3[01])(([01]\d|2[0-3])([0-5]\d([0-5]\d)?)?)?)?)?"
    r"(Z(00'?(00'?)?)?|[+-][01]\d'?([0-5]\d'?)?)?"
)
"""ISO 32000-1, 7.9.4, and the forms with and without a last apostrophe that are about."""


@check("PDF-NAME-UNKNOWN")
def name_unknown(opened: Opened) -> Faults:
    """The name is one that Factur-X or ZUGFeRD define, in their spelling."""
    if opened.chosen.name not in NAMES:
        yield {"name": errors.quote(opened.chosen.name), "known": "factur-x.xml, xrechnung.xml"}


@check("PDF-NAME-TREE")
def name_tree(opened: Opened) -> Faults:
    """The invoice is in the list of embedded files, where PDF programs show it."""
    if "names" not in opened.chosen.places:
        yield {"name": errors.quote(opened.chosen.name)}


@check("PDF-ASSOCIATED")
def is_associated(opened: Opened) -> Faults:
    """The document names the invoice as an associated file, by the same object as the list of embedded files (6.8)."""
    own = identity(opened.chosen.spec)
    if own is None or own not in map(identity, associated(opened.pdf.Root)):
        yield {"name": errors.quote(opened.chosen.name)}


@check("PDF-ASSOCIATED-TWICE")
def associated_twice(opened: Opened) -> Faults:
    """It does so once."""
    own = identity(opened.chosen.spec)
    times = sum(identity(spec) == own for spec in associated(opened.pdf.Root)) if own else 1
    if times > 1:
        yield {"name": errors.quote(opened.chosen.name), "count": times}


@check("PDF-NAME-MISSING")
def name_missing(opened: Opened) -> Faults:
    """The file specification has its name under F and under UF (6.8)."""
    missing = [key for key in ("F", "UF") if not text(opened.chosen.spec.get(f"/{key}"))]
    if missing:
        yield {"missing": ", ".join(missing)}


@check("PDF-NAME-DIFFERS")
def name_differs(opened: Opened) -> Faults:
    """Both names are the same."""
    names = [text(opened.chosen.spec.get(key)) for key in ("/F", "/UF")]
    if all(names) and names[0] != names[1]:
        yield {"f": errors.quote(names[0]), "uf": errors.quote(names[1])}


@check("PDF-RELATIONSHIP")
def relationship(opened: Opened) -> Faults:
    """AFRelationship says how the invoice stands to the pages."""
    if opened.chosen.relationship not in _RELATIONSHIPS:
        yield {"actual": errors.quote(opened.chosen.relationship) or "–", "known": ", ".join(_RELATIONSHIPS)}


@check("PDF-MIME-MISSING")
def mime_missing(opened: Opened) -> Faults:
    """The embedded file has a media type (6.8)."""
    if not opened.chosen.mime:
        yield {}


@check("PDF-MIME")
def mime(opened: Opened) -> Faults:
    """The media type is text/xml."""
    if opened.chosen.mime not in ("", "text/xml"):
        yield {"actual": errors.quote(opened.chosen.mime)}


@check("PDF-DATE-MISSING")
def date_missing(opened: Opened) -> Faults:
    """The embedded file has the date of its last change (6.8)."""
    if not text(opened.chosen.parameter("/ModDate")):
        yield {}


@check("PDF-DATE")
def date(opened: Opened) -> Faults:
    """Its dates are written as PDF writes dates."""
    for key in ("ModDate", "CreationDate"):
        found = text(opened.chosen.parameter(f"/{key}"))
        if found and not _DATE.fullmatch(found):
            yield {"key": key, "actual": errors.quote(found)}


@check("PDF-OTHER-ATTACHMENT")
def other_attachment(opened: Opened) -> Faults:
    """Other attachments too have relationship and media type, and belong to something (6.8)."""
    for file in opened.files:
        if file is opened.chosen or file.stream is None:
            continue
        lacks = [
            key
            for key, there in (
                ("AFRelationship", file.relationship),
                ("Subtype", file.mime),
                ("AF", {"catalog", "page"} & set(file.places)),
            )
            if not there
        ]
        if lacks:
            yield {"name": errors.quote(file.name), "missing": ", ".join(lacks)}


@check("PDF-OTHER-UNREADABLE")
def other_unreadable(opened: Opened) -> Faults:
    """What else is named like an invoice can be unpacked and is well-formed XML."""
    for file in opened.files:
        if file is not opened.chosen and file.problem and file.name.casefold() in map(str.casefold, NAMES):
            yield {"name": errors.quote(file.name), "reason": file.problem}


@check("PDF-SIZE")
def size(opened: Opened) -> Faults:
    """The size that is told is the size."""
    told, content = opened.chosen.parameter("/Size"), opened.chosen.content or b""
    if told is not None and told != len(content):
        yield {"expected": len(content), "actual": errors.quote(str(told))}


@check("PDF-CHECKSUM")
def checksum(opened: Opened) -> Faults:
    """The MD5 checksum that is told is that of the content (ISO 32000-1, table 46)."""
    told, content = opened.chosen.parameter("/CheckSum"), opened.chosen.content or b""
    if told is not None and bytes(told) != hashlib.md5(content, usedforsecurity=False).digest():
        yield {}
