"""A file embedded in an open PDF."""

from __future__ import annotations

import io
from typing import Any, Final, Literal, TypeAlias

from lxml import etree

from einvoice.model.location import NAMESPACES
from einvoice.pdf.hybrid import Attachment, AttachmentSource
from einvoice.pdf.reader.streams import StreamUnreadable, entry, read_stream, text
from einvoice.quotation import quote

Kind: TypeAlias = Literal["CII", "other", "UBL", ""]

_STREAMS: Final = ("/UF", "/F", "/Unix", "/DOS", "/Mac")
_KINDS: Final[dict[str, Kind]] = {
    "CrossIndustryInvoice": "CII",
    "CrossIndustryDocument": "other",
    "SCRDMCCBDACIOMessageStructure": "other",
    "SCRDMCCBDACIDAMessageStructure": "other",
}
_MAX_LENGTH: Final = 200


class FileSpec:
    """A file specification (ISO 32000-1, 7.11.3), and what was found in its content.

    Attributes:
        spec: the dictionary.
        stream: the embedded file stream; None if there is none.
        sources: where the PDF refers to it.
        content: the unpacked bytes after `unpack`; None if that failed, in which case `problem` says why.
        kind: "CII" or "UBL"; "other" for orders and predecessors of CII; "" if it is not an invoice.
        is_broken: whether it is XML that is not well-formed at its start.
    """

    def __init__(self, spec: Any, key: str = "") -> None:
        import pikepdf

        self.spec = spec
        streams = (entry(spec, "/EF", name) for name in _STREAMS)
        self.stream = next((it for it in streams if isinstance(it, pikepdf.Stream)), None)
        path = next(filter(None, (*(text(spec.get(name)) for name in _STREAMS), key)), "")
        self.name = path.replace("\\", "/").rpartition("/")[2][:_MAX_LENGTH]
        self.relationship = text(spec.get("/AFRelationship")).lstrip("/")[:_MAX_LENGTH]
        self.mime = text(entry(self.stream, "/Subtype")).lstrip("/")[:_MAX_LENGTH]
        self.sources: list[AttachmentSource] = []
        self.content: bytes | None = None
        self.problem = ""
        self.kind: Kind = ""
        self.root = ""
        self.guideline = ""
        self.is_broken = False

    def parameter(self, name: str) -> Any:
        """Return an entry of the stream's /Params; None if it is missing."""
        return entry(self.stream, "/Params", name)

    def unpack(self, limit: int) -> None:
        """Read and inspect the content, at most `limit` bytes."""
        if self.stream is None:
            return
        try:
            self.content = read_stream(self.stream, limit)
        except StreamUnreadable as reason:
            self.problem = str(reason)
            return
        try:
            self._inspect(self.content)
        except (etree.XMLSyntaxError, UnicodeDecodeError, ValueError) as error:
            self.is_broken = True
            self.problem = f"not well-formed: {quote(str(error), limit=100)}"

    def plain(self) -> Attachment:
        """Return the file as plain data."""
        return Attachment(
            self.name,
            tuple(self.sources),
            self.relationship,
            self.mime,
            text(self.parameter("/CreationDate"))[:_MAX_LENGTH],
            text(self.parameter("/ModDate"))[:_MAX_LENGTH],
            None if self.content is None else len(self.content),
            self.root,
            self.guideline,
            self.problem,
        )

    def _inspect(self, content: bytes) -> None:
        """Find the root element and the guideline (BT-24), without parsing the rest."""
        for event, element in etree.iterparse(
            io.BytesIO(content),
            events=("start", "end"),
            resolve_entities=False,
            no_network=True,
            load_dtd=False,
            huge_tree=False,
            remove_comments=True,
            remove_pis=True,
        ):
            name = etree.QName(element)
            if not self.root:
                self.root = quote(name.localname)
                self.kind = _kind(name)
            elif event == "end" and name.localname == "CustomizationID":
                self.guideline = _text(element)
                return
            elif event == "end" and name.localname == "GuidelineSpecifiedDocumentContextParameter":
                self.guideline = _text(element.find("{*}ID"))
                return
            elif name.localname in ("ExchangedDocument", "HeaderExchangedDocument"):
                return  # the guideline precedes this element


def _kind(name: etree.QName) -> Kind:
    if name.namespace in (NAMESPACES["ubl"], NAMESPACES["cn"]):
        return "UBL"
    if name.localname == "Invoice" and "uncefact" in (name.namespace or ""):  # release candidate of ZUGFeRD 1
        return "other"
    return _KINDS.get(name.localname, "")


def _text(element: etree._Element | None) -> str:
    content = "" if element is None else (element.text or "").strip()
    return quote(content, limit=_MAX_LENGTH)
