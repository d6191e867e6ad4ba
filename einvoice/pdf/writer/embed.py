"""An invoice into a PDF: the XML attached and announced, so that the file is a hybrid invoice.

The page must already be there; whatever made it, its claim to be PDF/A is kept if nothing is seen that belies it, and
never added. Sources: Factur-X 1.0.07 / ZUGFeRD 2.3, 6.2; ISO 19005-3, 6.8; ISO 32000-1, 7.11.
"""

from __future__ import annotations

import datetime
import hashlib
import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from einvoice.errors import MissingDependency, PdfNotEmbeddable
from einvoice.facturx import business_terms
from einvoice.facturx.business_terms import Profile
from einvoice.model.invoice import Invoice
from einvoice.pdf.writer.pdfa_precheck import Reason, obstacles, reason
from einvoice.pdf.writer.xmp import Packet
from einvoice.result.languages import Language, check_language
from einvoice.syntax import reader, xml
from einvoice.syntax.detect import identify
from einvoice.syntax.writer import write

#: Names under which invoices lie in PDFs; one that is there already is replaced.
INVOICE_NAMES: Final = ("factur-x.xml", "xrechnung.xml", "zugferd-invoice.xml", "ZUGFeRD-invoice.xml", "cida.xml")

_DESCRIPTION: Final = {"de": "Rechnung als XML (Factur-X/ZUGFeRD)", "en": "Invoice as XML (Factur-X/ZUGFeRD)"}
_MOST_FILES: Final = 10_000


@dataclass(frozen=True, slots=True)
class Embedded:
    """A hybrid PDF and what is to be said of it.

    ``pdfa`` tells whether the file claims PDF/A-3 and nothing was seen that belies it; ``reasons`` say why not. That is
    no full validation. ``warnings`` are about other things, such as a signature that the change has broken.
    ``filename`` and ``profile`` tell how the XML is attached.
    """

    pdf: bytes = field(repr=False)
    pdfa: bool
    reasons: tuple[Reason, ...]
    warnings: tuple[Reason, ...]
    profile: Profile
    xml: bytes = field(repr=False)

    @property
    def filename(self) -> str:
        """The name under which the XML is attached."""
        return self.profile.filename


def embed(
    pdf: xml.Source,
    invoice: xml.Source | Invoice,
    *,
    profile: str | None = None,
    lang: Language = "de",
    relationship: str | None = None,
    when: datetime.datetime | None = None,
) -> Embedded:
    """Attach an invoice to a PDF, as Factur-X and ZUGFeRD want it.

    The same input gives the same bytes. Other attachments stay; an invoice that is attached already is replaced.

    Args:
        pdf: the readable page: a path, bytes, or a binary file. PDF/A-3 makes a hybrid that is PDF/A-3; any other PDF
            works, and ``reasons`` say what it lacks.
        invoice: CII, attached byte for byte: a path, bytes, or a binary file; or an invoice of the model, which is
            written as CII.
        profile: name of a profile, see ``einvoice.facturx.business_terms``; by default what the invoice declares
            in BT-24.
            An invoice of the model that declares another is narrowed to it.
        lang: language of the reasons and of the attachment's description, "de" or "en".
        relationship: AFRelationship, where the one that the profile has as usual is not wanted.
        when: date of the attachment and of the change, with a time zone; by default noon UTC on the issue date (BT-2).

    Raises:
        PdfNotEmbeddable: the PDF is encrypted or damaged.
        UnreadableDocument: the XML is no invoice.
        ValueError: the XML is UBL, the relationship is none the profile allows, ``when`` has no time zone, or another
            language.
        OSError: a file cannot be opened.
        LookupError: there is no such profile.
        MissingDependency: pikepdf is not installed.
    """
    check_language(lang)
    page = _bytes(pdf)
    given = invoice if isinstance(invoice, Invoice) else _bytes(invoice)
    model, data, chosen, warnings = _invoice(given, profile, lang)
    wanted = _relationship(chosen, model, relationship)
    moment = _moment(model) if when is None else when
    if moment.tzinfo is None:
        raise ValueError("when needs a time zone")
    with opened(page) as document:
        found = obstacles(document, lang)
        if "/AcroForm" in document.Root and _is_signed(document):
            warnings.append(reason("signed", lang))
        _attach(document, data, chosen, wanted, _DESCRIPTION[lang], moment)
        _announce(document, chosen, moment, claims=not found)
        return Embedded(saved(document), not found, tuple(found), tuple(warnings), chosen, data)


def opened(data: bytes) -> Any:
    """The PDF, opened by pikepdf (use it with ``with``). Raises ``PdfNotEmbeddable``, ``MissingDependency``."""
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


def saved(document: Any) -> bytes:
    """The PDF as bytes that depend on nothing but its content."""
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
    """Put an XMP packet into a PDF, in the clear, as PDF/A asks."""
    from pikepdf import Name

    document.Root.Metadata = document.make_stream(packet.data(), Type=Name.Metadata, Subtype=Name.XML)


def metadata(document: Any) -> Packet:
    """The XMP packet of a PDF; an empty one where it has none that can be read."""
    stream = document.Root.get("/Metadata")
    try:
        return Packet(bytes(stream.read_bytes()))
    except (AttributeError, ValueError, RuntimeError):  # no stream, or one that cannot be decoded
        return Packet()


# ---------------------------------------------------------------- the invoice


def _invoice(given: bytes | Invoice, name: str | None, lang: Language) -> tuple[Invoice, bytes, Profile, list[Reason]]:
    """The invoice, its XML, the profile, and what is to be said of them."""
    model = given if isinstance(given, Invoice) else _read(given)
    declared = business_terms.of_specification(model.specification.text or "")
    chosen = business_terms.named(name) if name else declared or business_terms.EN16931
    if isinstance(given, bytes):
        return model, given, chosen, [] if chosen is declared else [reason("declares", lang, level=chosen.level)]
    if chosen is not declared:
        model = business_terms.narrowed(model, chosen)
    return model, write(model, "CrossIndustryInvoice"), chosen, []


def _bytes(source: xml.Source) -> bytes:
    return source if isinstance(source, bytes) else xml.source_bytes(source)[0]


def _read(data: bytes) -> Invoice:
    document = xml.parse(data)
    if identify(document).syntax != "CII":
        raise ValueError("hybrid PDFs carry CII: convert the UBL, or give the invoice of the model")
    return reader.read(document.getroot())


def _relationship(profile: Profile, invoice: Invoice, wanted: str | None) -> str:
    allowed = profile.relationships(invoice.seller.address.country_code.text or "")
    if wanted is not None and wanted not in allowed:
        raise ValueError(f"the relationship of {profile.level} is {' or '.join(allowed)}, not {wanted!r}")
    return wanted or profile.relationship


def _moment(invoice: Invoice) -> datetime.datetime:
    """Noon, so that it is the same day in most places."""
    day = invoice.issue_date.value
    if not isinstance(day, datetime.date):
        return datetime.datetime.now(datetime.UTC).replace(microsecond=0)
    return datetime.datetime.combine(day, datetime.time(12), datetime.UTC)


# ---------------------------------------------------------------- the attachment


def _attach(
    document: Any, data: bytes, profile: Profile, relationship: str, description: str, when: datetime.datetime
) -> None:
    """Attach the XML, beside what is attached already, and associate every file with the document."""
    from pikepdf import Array, Dictionary, Name, String

    date = String(_pdf_date(when))
    checksum = String(hashlib.md5(data, usedforsecurity=False).digest())
    params = Dictionary(Size=len(data), CheckSum=checksum, CreationDate=date, ModDate=date)
    stream = document.make_stream(data, Type=Name.EmbeddedFile, Subtype=Name("/text/xml"), Params=params)
    filename = String(profile.filename)
    file = document.make_indirect(
        Dictionary(
            Type=Name.Filespec,
            F=filename,
            UF=filename,
            Desc=String(description),
            AFRelationship=Name("/" + relationship),
            EF=Dictionary(F=stream, UF=stream),
        )
    )
    files = [(name, it) for name, it in _files(document) if _name(name, it) not in INVOICE_NAMES]
    for _, other in files:
        _complete(other)
    files.append((profile.filename, file))
    files.sort(key=lambda it: bytes(String(it[0])))
    root = document.Root
    if "/Names" not in root:
        root.Names = Dictionary()
    listed = Array([part for name, it in files for part in (String(name), it)])
    root.Names.EmbeddedFiles = document.make_indirect(Dictionary(Names=listed))
    root.AF = Array([file, *(other for _, other in files if other.objgen != file.objgen)])


def _files(document: Any) -> list[tuple[str, Any]]:
    """The files in the name tree and those associated with the document, each once, by name."""
    from pikepdf import Dictionary, NameTree, Object

    found: dict[tuple[int, int], tuple[str, Any]] = {}
    root = document.Root

    def add(name: str, file: Object) -> None:
        if isinstance(file, Dictionary) and "/EF" in file and len(found) < _MOST_FILES:
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
        yield from list(array)[:_MOST_FILES]


def _name(name: str, file: Any) -> str:
    return str(file.get("/UF", file.get("/F", name)))


def _complete(file: Any) -> None:
    """Give a file that was attached before what PDF/A-3 wants of it (6.8), where it lacks that."""
    from pikepdf import Dictionary, Name, Stream, String

    name = file.get("/UF", file.get("/F", String("")))
    file.F, file.UF = file.get("/F", name), name
    if "/AFRelationship" not in file:
        file.AFRelationship = Name.Unspecified
    streams = file.EF if isinstance(file.EF, Dictionary) else Dictionary()
    for _, stream in streams.items():
        if isinstance(stream, Stream) and "/Subtype" not in stream:
            stream.Subtype = Name("/application/octet-stream")


def _is_signed(document: Any) -> bool:
    from pikepdf import Dictionary

    form = document.Root.AcroForm
    flags = form.get("/SigFlags", 0) if isinstance(form, Dictionary) else 0
    return bool(int(flags) & 1)


# ---------------------------------------------------------------- the metadata


def _announce(document: Any, profile: Profile, when: datetime.datetime, *, claims: bool) -> None:
    """Say in the metadata that the invoice is there; keep the claim to be PDF/A only if it ``claims`` rightly."""
    from pikepdf import String

    packet = metadata(document)
    info = document.docinfo
    if packet.is_new:
        author = str(info.get("/Author", ""))
        packet.put_document(str(info.get("/Title", "")), (author,) if author else (), str(info.get("/Subject", "")))
    if claims:
        packet.put(pdfaid={"part": "3", "conformance": packet.conformance})
    else:
        packet.drop_claims()
    packet.put_dates(when, created=False)
    packet.put_factur_x(profile.level, profile.filename)
    info["/ModDate"] = String(_pdf_date(when))
    set_metadata(document, packet)


def _pdf_date(when: datetime.datetime) -> str:
    return when.astimezone(datetime.UTC).strftime("D:%Y%m%d%H%M%SZ")
