"""Creates hybrid invoices: attaches the XML to an existing PDF and describes it in the XMP metadata.

A PDF/A claim of the existing PDF is kept unless a violation is found; a missing one is never added. Sources: Factur-X
1.0.07 / ZUGFeRD 2.3, 6.2; ISO 19005-3, 6.8; ISO 32000-1, 7.11.
"""

from __future__ import annotations

import datetime
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from einvoice.errors import MissingDependency, PdfNotEmbeddable
from einvoice.facturx.business_terms import restrict
from einvoice.facturx.profile import EN16931, Profile, declared_profile, profile_named
from einvoice.localization import Messages
from einvoice.localization.options import language
from einvoice.model.invoice import Invoice
from einvoice.pdf.embedded_invoice import NAMES
from einvoice.pdf.reader.release import releases
from einvoice.pdf.reader.signatures import is_signed
from einvoice.pdf.writer.attachments import (
    LIMIT,
    AttachedFile,
    NotAttachable,
    Source,
    file_specification,
    files_of_invoice,
    files_to_attach,
    pdf_date,
    renamed,
)
from einvoice.pdf.writer.pdfa_precheck import Reason, pdfa_violations, reason
from einvoice.pdf.writer.xmp import Packet
from einvoice.quotation import quote
from einvoice.result.languages import Language
from einvoice.syntax import reader, xml
from einvoice.syntax.detect import identify
from einvoice.syntax.writer import write

#: Names of embedded invoices in lower case; an existing attachment with such a name is replaced.
INVOICE_NAMES: Final = tuple(it for it in NAMES if it != "order-x.xml")

_MESSAGES: Final = Messages("einvoice.pdf", "embed")
_MAX_FILES: Final = 10_000
_MAX_QUOTED: Final = 200


@dataclass(frozen=True, slots=True)
class HybridPdf:
    """A hybrid invoice.

    Attributes:
        pdf: the PDF file.
        pdfa: whether the file claims PDF/A-3 and no violation was found; this is not a full PDF/A validation.
        reasons: why `pdfa` is false.
        warnings: other problems, such as a signature that embedding has invalidated.
        profile: profile of the attached XML.
        xml: the attached XML.
        attached: names of the files attached beside it: those of BG-24, and those of the argument `attach`.
    """

    pdf: bytes = field(repr=False)
    pdfa: bool
    reasons: tuple[Reason, ...]
    warnings: tuple[Reason, ...]
    profile: Profile
    xml: bytes = field(repr=False)
    attached: tuple[str, ...] = ()

    @property
    def filename(self) -> str:
        """Name of the XML attachment."""
        return self.profile.filename


def embed(
    pdf: xml.Source,
    invoice: xml.Source | Invoice,
    *,
    profile: str | None = None,
    lang: Language | None = None,
    relationship: str | None = None,
    when: datetime.datetime | None = None,
    attach: Iterable[Source] = (),
) -> HybridPdf:
    """Attach an invoice to a PDF as Factur-X and ZUGFeRD require.

    The output is deterministic. Other attachments are kept; an attached invoice is replaced. The files that the invoice
    contains (BG-24) are attached, too, so that PDF viewers show them; one that the PDF has already is not repeated.

    Args:
        pdf: the human-readable invoice: a path, bytes, or a binary file. A PDF/A-3 file results in PDF/A-3; for any
            other PDF, `reasons` lists the violations.
        invoice: CII, attached unchanged: a path, bytes, or a binary file; or an `Invoice`, which is written as CII.
        profile: name of a profile (see `einvoice.facturx.profile`); by default the one declared in BT-24. An
            `Invoice` that declares another profile is restricted to the terms of this one.
        lang: language of the reasons and of the attachment's description, such as "de";
            default: `einvoice.options.lang`.
        relationship: AFRelationship; by default the usual one for the profile.
        when: date of the attachment and of the change, with a time zone; by default noon UTC on the issue date (BT-2).
        attach: further files: paths, or `AttachedFile` with a relationship and a description. A name that is taken gets
            a number.

    Raises:
        PdfNotEmbeddable: the PDF is encrypted, damaged or none, or the invoice is a PDF.
        UnreadableDocument: the XML is not an invoice.
        NotAttachable: a file cannot be attached, or the PDF would be larger than the limit of input files.
        ValueError: the XML is UBL, the profile does not allow the relationship, `when` has no time zone, or the
            language is not supported.
        OSError: a file cannot be opened.
        LookupError: there is no such profile.
        MissingDependency: pikepdf is not installed.
    """
    lang = language(lang)
    page = _bytes(pdf)
    content = invoice if isinstance(invoice, Invoice) else _bytes(invoice)
    _check_kinds(page, content)
    model, data, selected, warnings = _invoice(content, profile, lang)
    selected_relationship = _relationship(selected, model, relationship)
    moment = _noon_of_issue_date(model) if when is None else when
    if moment.tzinfo is None:
        raise ValueError("argument 'when' must have a time zone")
    contained = list(files_of_invoice(content if isinstance(content, Invoice) else model))
    further = files_to_attach(attach)
    with open_pdf(page) as document:
        violations = pdfa_violations(document, lang)
        if is_signed(document):
            warnings.append(reason("signed", lang))
        own = AttachedFile(
            selected.filename, data, selected_relationship, _MESSAGES[lang]["description"], mime="text/xml"
        )
        attached = _attach(document, own, contained, further, pdf_date(moment))
        version = _version(selected, model)
        _update_metadata(document, selected, version, moment, keep_claim=not violations)
        made = save_pdf(document)
    if attached and len(made) > LIMIT:
        raise NotAttachable("pdf_size", names=quote(", ".join(attached), limit=_MAX_QUOTED), limit=LIMIT)
    return HybridPdf(made, not violations, tuple(violations), tuple(warnings), selected, data, attached)


def _check_kinds(page: bytes, content: Invoice | bytes) -> None:
    """Raise PdfNotEmbeddable unless the first is a PDF, and only the first."""
    is_invoice_pdf = isinstance(content, bytes) and xml.is_pdf(content)
    if not xml.is_pdf(page):
        raise PdfNotEmbeddable("exchanged" if is_invoice_pdf else "no_pdf")
    if is_invoice_pdf:
        raise PdfNotEmbeddable("invoice_pdf")


def open_pdf(data: bytes) -> Any:
    """Open a PDF with pikepdf, as a context manager.

    Raises:
        PdfNotEmbeddable: the PDF is encrypted or damaged.
        MissingDependency: pikepdf is not installed.
    """
    try:
        import pikepdf
    except ImportError as error:
        raise MissingDependency("pikepdf", extra="pdf") from error
    try:
        document = pikepdf.open(io.BytesIO(data))
    except pikepdf.PasswordError as error:
        raise PdfNotEmbeddable("encrypted") from error
    except pikepdf.PdfError as error:
        raise PdfNotEmbeddable("damaged") from error
    if document.is_encrypted:
        document.close()
        raise PdfNotEmbeddable("encrypted")
    return document


def save_pdf(document: Any) -> bytes:
    """Return the bytes of a PDF; they depend only on its content."""
    import pikepdf

    out = io.BytesIO()
    document.save(
        out,
        min_version="1.7",
        deterministic_id=True,
        fix_metadata_version=False,
        object_stream_mode=pikepdf.ObjectStreamMode.generate,
    )
    return out.getvalue()


def set_metadata(document: Any, packet: Packet) -> None:
    """Set the XMP packet of a PDF, uncompressed, as PDF/A requires."""
    from pikepdf import Name

    document.Root.Metadata = document.make_stream(packet.data(), Type=Name.Metadata, Subtype=Name.XML)


def read_metadata(document: Any) -> Packet:
    """Return the XMP packet of a PDF; an empty one if it is missing or unreadable."""
    stream = document.Root.get("/Metadata")
    try:
        return Packet(bytes(stream.read_bytes()))
    except (AttributeError, ValueError, RuntimeError):  # not a stream, or not decodable
        return Packet()


# ---------------------------------------------------------------- the invoice


def _invoice(
    content: bytes | Invoice, name: str | None, lang: Language
) -> tuple[Invoice, bytes, Profile, list[Reason]]:
    """Return the invoice, its XML, the profile, and warnings."""
    model = content if isinstance(content, Invoice) else _read(content)
    declared = declared_profile(model.specification.text or "")
    profile = profile_named(name) if name else declared or EN16931
    if isinstance(content, bytes):
        differs = [] if profile is declared else [reason("declares", lang, profile=profile.conformance_level)]
        return model, content, profile, differs
    if profile is not declared:
        model = restrict(model, profile)
    return model, write(model, "CrossIndustryInvoice"), profile, []


def _bytes(source: xml.Source) -> bytes:
    return source if isinstance(source, bytes) else xml.source_bytes(source)[0]


def _read(data: bytes) -> Invoice:
    document = xml.parse(data)
    if identify(document).syntax != "CII":
        raise ValueError("argument 'invoice' must be CII, not UBL; convert it with einvoice.convert")
    return reader.read(document.getroot())


def _relationship(profile: Profile, invoice: Invoice, relationship: str | None) -> str:
    allowed = profile.relationships(invoice.seller.address.country_code.text or "")
    if relationship is not None and relationship not in allowed:
        raise ValueError(
            f"argument 'relationship' must be {' or '.join(map(repr, allowed))} for {profile.conformance_level}, "
            f"not {relationship!r}"
        )
    return relationship or profile.relationship


def _noon_of_issue_date(invoice: Invoice) -> datetime.datetime:
    """Return noon UTC on the issue date, which is the same day in most time zones; now if there is no date."""
    day = invoice.issue_date.value
    if not isinstance(day, datetime.date):
        return datetime.datetime.now(datetime.UTC).replace(microsecond=0)
    return datetime.datetime.combine(day, datetime.time(12), datetime.UTC)


# ---------------------------------------------------------------- the attachment


def _attach(
    document: Any, invoice: AttachedFile, contained: Sequence[AttachedFile], further: Sequence[AttachedFile], date: str
) -> tuple[str, ...]:
    """Attach the XML, the files that it contains, and further ones; return the names of those beside the XML.

    A contained file that the PDF has already, under whatever name, is not repeated. All attachments are associated with
    the document.
    """
    files = [(name, it) for name, it in _files(document) if not _is_invoice(_name(name, it))]
    for _, other in files:
        _complete(other)
    taken = [(_name(*it), _content(it[1]) if contained or further else None) for it in files]
    there = {content for _, content in taken}
    added = renamed([*(it for it in contained if it.data not in there), *further], taken, NAMES)
    own = file_specification(document, invoice, date)
    files += [(it.name, file_specification(document, it, date)) for it in added]
    _set_files(document, [(invoice.name, own), *files])
    return tuple(it.name for it in added)


def attach_to_new(document: Any, file: AttachedFile, when: datetime.datetime) -> None:
    """Attach a file to a PDF without attachments, and associate it with the document."""
    _set_files(document, [(file.name, file_specification(document, file, pdf_date(when)))])


def _set_files(document: Any, files: Sequence[tuple[str, Any]]) -> None:
    """List files by name, and associate them with the document in the given order."""
    from pikepdf import Array, Dictionary, String

    root = document.Root
    if "/Names" not in root:
        root.Names = Dictionary()
    by_name = sorted(files, key=lambda it: bytes(String(it[0])))
    listed = Array([part for name, it in by_name for part in (String(name), it)])
    root.Names.EmbeddedFiles = document.make_indirect(Dictionary(Names=listed))
    root.AF = Array([files[0][1], *(it for _, it in by_name if it.objgen != files[0][1].objgen)])


def _content(file: Any) -> bytes | None:
    """Return the content of an existing attachment; None if it cannot be decoded."""
    try:
        return bytes(file.EF.get("/UF", file.EF.get("/F")).read_bytes())
    except (AttributeError, ValueError, RuntimeError):
        return None


def _files(document: Any) -> list[tuple[str, Any]]:
    """Return the files in the name tree and the associated files of the document, each once, with their names."""
    from pikepdf import Dictionary, NameTree, Object

    found: dict[tuple[int, int], tuple[str, Any]] = {}
    root = document.Root

    def add(name: str, file: Object) -> None:
        if isinstance(file, Dictionary) and "/EF" in file and len(found) < _MAX_FILES:
            indirect = file if file.is_indirect else document.make_indirect(file)
            found.setdefault(indirect.objgen, (name, indirect))

    tree = root.get("/Names", Dictionary()).get("/EmbeddedFiles")
    if isinstance(tree, Dictionary):
        for name, file in NameTree(tree).items():
            add(str(name), file)
    for file in _items(root.get("/AF")):
        add(str(file.get("/UF", file.get("/F", ""))) if isinstance(file, Dictionary) else "", file)
    return list(found.values())


def _items(array: Any) -> Iterator[Any]:
    from pikepdf import Array

    if isinstance(array, Array):
        yield from list(array)[:_MAX_FILES]


def _name(name: str, file: Any) -> str:
    return str(file.get("/UF", file.get("/F", name)))


def _is_invoice(name: str) -> bool:
    """Return whether a reader takes a file of this name for the invoice; it disregards folders and case."""
    return name.replace("\\", "/").rpartition("/")[2].casefold() in INVOICE_NAMES


def _complete(file: Any) -> None:
    """Add the entries that PDF/A-3 requires (6.8) to an existing attachment."""
    from pikepdf import Dictionary, Name, Stream, String

    name = file.get("/UF", file.get("/F", String("")))
    file.F, file.UF = file.get("/F", name), name
    if "/AFRelationship" not in file:
        file.AFRelationship = Name.Unspecified
    streams = file.EF if isinstance(file.EF, Dictionary) else Dictionary()
    for _, stream in streams.items():
        if isinstance(stream, Stream) and "/Subtype" not in stream:
            stream.Subtype = Name("/application/octet-stream")


# ---------------------------------------------------------------- the metadata


def _version(profile: Profile, invoice: Invoice) -> str:
    """Return the version for the XMP metadata: that of the schema, for XRECHNUNG that of XRechnung."""
    return releases()[0].at(profile.conformance_level, invoice.specification.text or "").versions[0]


def _update_metadata(
    document: Any, profile: Profile, version: str, when: datetime.datetime, *, keep_claim: bool
) -> None:
    """Describe the invoice in the XMP metadata; remove the PDF/A claim unless `keep_claim`."""
    from pikepdf import String

    packet = read_metadata(document)
    info = document.docinfo
    if packet.is_new:
        author = str(info.get("/Author", ""))
        packet.put_document(str(info.get("/Title", "")), (author,) if author else (), str(info.get("/Subject", "")))
    if keep_claim:
        packet.put(pdfaid={"part": "3", "conformance": packet.conformance})
    else:
        packet.drop_claims()
    packet.put_dates(when, created=False)
    packet.put_factur_x(profile.conformance_level, profile.filename, version)
    info["/ModDate"] = String(pdf_date(when))
    set_metadata(document, packet)
