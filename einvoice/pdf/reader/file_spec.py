"""One file embedded in an open PDF."""

from __future__ import annotations

import io
from typing import Any, Final, Literal, TypeAlias

from lxml import etree

from einvoice import errors
from einvoice.model.location import NAMESPACES
from einvoice.pdf.hybrid import Attachment, Place
from einvoice.pdf.reader.streams import NotUnpacked, entry, text, unpacked

Kind: TypeAlias = Literal["CII", "other", "UBL", ""]

_STREAMS: Final = ("/UF", "/F", "/Unix", "/DOS", "/Mac")
_KINDS: Final[dict[str, Kind]] = {
    "CrossIndustryInvoice": "CII",
    "CrossIndustryDocument": "other",
    "SCRDMCCBDACIOMessageStructure": "other",
    "SCRDMCCBDACIODAMessageStructure": "other",
}
_LONGEST: Final = 200


class Embedded:
    """A file specification (ISO 32000-1, 7.11.3), and what was made out of its content.

    Attributes:
        spec: the dictionary; `stream` what it embeds, None if nothing.
        content: the unpacked bytes, once asked for by `unpack`, if they can be had; `problem` says why they cannot.
        kind: "CII"; "other" for an order and for the forerunners of CII; "UBL"; "" for what is no invoice.
        is_broken: XML that is not well-formed at its very beginning.
    """

    def __init__(self, spec: Any, key: str = "") -> None:
        import pikepdf

        self.spec = spec
        found = (entry(spec, "/EF", name) for name in _STREAMS)
        self.stream = next((it for it in found if isinstance(it, pikepdf.Stream)), None)
        path = next(filter(None, (*(text(spec.get(name)) for name in _STREAMS), key)), "")
        self.name = path.replace("\\", "/").rpartition("/")[2][:_LONGEST]
        self.relationship = text(spec.get("/AFRelationship")).lstrip("/")[:_LONGEST]
        self.mime = text(entry(self.stream, "/Subtype")).lstrip("/")[:_LONGEST]
        self.places: list[Place] = []
        self.content: bytes | None = None
        self.problem = ""
        self.kind: Kind = ""
        self.root = ""
        self.guideline = ""
        self.is_broken = False

    def parameter(self, name: str) -> Any:
        """What /Params of the stream has under a name; None where it has nothing."""
        return entry(self.stream, "/Params", name)

    def unpack(self, limit: int) -> None:
        """Read the content, and what it is."""
        if self.stream is None:
            return
        try:
            self.content = unpacked(self.stream, limit)
        except NotUnpacked as reason:
            self.problem = str(reason)
            return
        try:
            self._look_into(self.content)
        except (etree.XMLSyntaxError, UnicodeDecodeError, ValueError) as error:
            self.is_broken = True
            self.problem = f"not well-formed: {errors.quote(str(error), limit=100)}"

    def plain(self) -> Attachment:
        """The file as plain data."""
        return Attachment(
            self.name,
            tuple(self.places),
            self.relationship,
            self.mime,
            text(self.parameter("/CreationDate"))[:_LONGEST],
            text(self.parameter("/ModDate"))[:_LONGEST],
            None if self.content is None else len(self.content),
            self.root,
            self.guideline,
            self.problem,
        )

    def _look_into(self, content: bytes) -> None:
        """Find root element and guideline, reading no further than that."""
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
                self.root = errors.quote(name.localname)
                self.kind = _kind(name)
            elif event == "end" and name.localname == "CustomizationID":
                self.guideline = _declared(element)
                return
            elif event == "end" and name.localname == "GuidelineSpecifiedDocumentContextParameter":
                self.guideline = _declared(element.find("{*}ID"))
                return
            elif name.localname in ("ExchangedDocument", "HeaderExchangedDocument"):
                return  # behind the part that declares the guideline


def _kind(name: etree.QName) -> Kind:
    if name.namespace in (NAMESPACES["ubl"], NAMESPACES["cn"]):
        return "UBL"
    if name.localname == "Invoice" and "uncefact" in (name.namespace or ""):  # the release candidate of ZUGFeRD 1
        return "other"
    return _KINDS.get(name.localname, "")


def _declared(element: etree._Element | None) -> str:
    found = "" if element is None else (element.text or "").strip()
    return errors.quote(found, limit=_LONGEST)
