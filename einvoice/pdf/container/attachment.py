"""Checks of the invoice attachment and of other attachments (ISO 19005-3, 6.8; Factur-X 1.0)."""

from __future__ import annotations

import hashlib
import re
from typing import Final

from einvoice.pdf.container.check import Faults, check
from einvoice.pdf.reader.attachment_sources import associated
from einvoice.pdf.reader.opened_pdf import OpenedPdf
from einvoice.pdf.reader.release import file_names
from einvoice.pdf.reader.streams import identity, text
from einvoice.quotation import quote

_RELATIONSHIPS: Final = ("Alternative", "Data", "Source")
_DATE: Final = re.compile(
    r"D:\d{4}((0[1-9]|1[0-2])((0[1-9]|[12]\d|3[01])(([01]\d|2[0-3])([0-5]\d([0-5]\d)?)?)?)?)?"
    r"(Z(00'?(00'?)?)?|[+-][01]\d'?([0-5]\d'?)?)?"
)
"""ISO 32000-1, 7.9.4, with or without the final apostrophe: both forms are in use."""


@check("PDF-NAME-UNKNOWN")
def name_unknown(opened: OpenedPdf) -> Faults:
    """The name is the one that the release prescribes for the conformance level, in the same case."""
    release = opened.release
    if opened.chosen.name not in release.names:
        yield {"name": quote(opened.chosen.name), "known": ", ".join(release.names), "release": release.title}


@check("PDF-NAME-TREE")
def name_tree(opened: OpenedPdf) -> Faults:
    """The invoice is in the EmbeddedFiles name tree, which PDF viewers display."""
    if "names" not in opened.chosen.sources:
        yield {"name": quote(opened.chosen.name)}


@check("PDF-ASSOCIATED")
def is_associated(opened: OpenedPdf) -> Faults:
    """The document's associated files and the EmbeddedFiles tree refer to the invoice by the same object (6.8)."""
    own = identity(opened.chosen.spec)
    if own is None or own not in map(identity, associated(opened.pdf.Root)):
        yield {"name": quote(opened.chosen.name)}


@check("PDF-ASSOCIATED-TWICE")
def associated_twice(opened: OpenedPdf) -> Faults:
    """The document lists the invoice once as an associated file."""
    own = identity(opened.chosen.spec)
    count = sum(identity(spec) == own for spec in associated(opened.pdf.Root)) if own else 1
    if count > 1:
        yield {"name": quote(opened.chosen.name), "count": count}


@check("PDF-NAME-MISSING")
def name_missing(opened: OpenedPdf) -> Faults:
    """The file specification has the entries F and UF (6.8)."""
    missing = [key for key in ("F", "UF") if not text(opened.chosen.spec.get(f"/{key}"))]
    if missing:
        yield {"missing": ", ".join(missing)}


@check("PDF-NAME-DIFFERS")
def name_differs(opened: OpenedPdf) -> Faults:
    """F and UF contain the same name."""
    names = [text(opened.chosen.spec.get(key)) for key in ("/F", "/UF")]
    if all(names) and names[0] != names[1]:
        yield {"f": quote(names[0]), "uf": quote(names[1])}


@check("PDF-RELATIONSHIP")
def relationship(opened: OpenedPdf) -> Faults:
    """AFRelationship is present and allowed for an invoice."""
    if opened.chosen.relationship not in _RELATIONSHIPS:
        yield {"actual": quote(opened.chosen.relationship) or "–", "known": ", ".join(_RELATIONSHIPS)}


@check("PDF-LEVEL-RELATIONSHIP")
def relationship_of_level(opened: OpenedPdf) -> Faults:
    """MINIMUM and BASIC WL are no complete invoices: since ZUGFeRD 2.1 their AFRelationship is Data."""
    actual, known = opened.chosen.relationship, opened.release.relationships
    if actual in _RELATIONSHIPS and actual not in known:
        yield {"level": opened.level, "actual": quote(actual), "known": ", ".join(known)}


@check("PDF-MIME-MISSING")
def mime_missing(opened: OpenedPdf) -> Faults:
    """The embedded file has a media type (6.8)."""
    if not opened.chosen.mime:
        yield {}


@check("PDF-MIME")
def mime(opened: OpenedPdf) -> Faults:
    """The media type is text/xml."""
    if opened.chosen.mime not in ("", "text/xml"):
        yield {"actual": quote(opened.chosen.mime)}


@check("PDF-DATE-MISSING")
def date_missing(opened: OpenedPdf) -> Faults:
    """The embedded file has a modification date (6.8)."""
    if not text(opened.chosen.parameter("/ModDate")):
        yield {}


@check("PDF-DATE")
def date(opened: OpenedPdf) -> Faults:
    """The dates of the embedded file follow the PDF date format (ISO 32000-1, 7.9.4)."""
    for key in ("ModDate", "CreationDate"):
        found = text(opened.chosen.parameter(f"/{key}"))
        if found and not _DATE.fullmatch(found):
            yield {"key": key, "actual": quote(found)}


@check("PDF-OTHER-ATTACHMENT")
def other_attachment(opened: OpenedPdf) -> Faults:
    """Other attachments have a relationship and a media type, and are associated files (6.8)."""
    for file in opened.files:
        if file is opened.chosen or file.stream is None:
            continue
        missing = [
            key
            for key, value in (
                ("AFRelationship", file.relationship),
                ("Subtype", file.mime),
                ("AF", {"catalog", "page"} & set(file.sources)),
            )
            if not value
        ]
        if missing:
            yield {"name": quote(file.name), "missing": ", ".join(missing)}


@check("PDF-OTHER-UNREADABLE")
def other_unreadable(opened: OpenedPdf) -> Faults:
    """Other attachments with an invoice's name can be unpacked and are well-formed XML."""
    for file in opened.files:
        if file is not opened.chosen and file.problem and file.name.casefold() in map(str.casefold, file_names()):
            yield {"name": quote(file.name), "reason": file.problem}


@check("PDF-SIZE")
def size(opened: OpenedPdf) -> Faults:
    """The declared size is the actual size."""
    declared, content = opened.chosen.parameter("/Size"), opened.chosen.content or b""
    if declared is not None and declared != len(content):
        yield {"expected": len(content), "actual": quote(str(declared))}


@check("PDF-CHECKSUM")
def checksum(opened: OpenedPdf) -> Faults:
    """The declared MD5 checksum matches the unfiltered content (ISO 32000-1, table 46).

    It has 16 bytes; many programs write the same number as 32 hexadecimal digits, which nothing reads in another way.
    """
    declared, content = opened.chosen.parameter("/CheckSum"), opened.chosen.content or b""
    actual = hashlib.md5(content, usedforsecurity=False)
    if declared is None or bytes(declared) == actual.digest() or text(declared).lower() == actual.hexdigest():
        return
    yield {}
