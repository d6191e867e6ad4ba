"""Writes the XMP metadata of a PDF: PDF/A and PDF/UA claims, and the Factur-X properties.

All properties are in one `rdf:RDF`, since readers ignore a second one (ISO 16684-1, 7.4). An existing packet is kept,
except for the properties of an earlier Factur-X invoice. Sources: ISO 19005-3, 6.6 and annex on extension schemas; ISO
14289-1, 5; Factur-X 1.0.07, 6.3.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from lxml import etree

RDF: Final = "http://www.w3.org/1999/02/22-rdf-syntax-ns#"
FX: Final = "urn:factur-x:pdfa:CrossIndustryDocument:invoice:1p0#"
NAMESPACES: Final[Mapping[str, str]] = {
    "dc": "http://purl.org/dc/elements/1.1/",
    "pdf": "http://ns.adobe.com/pdf/1.3/",
    "xmp": "http://ns.adobe.com/xap/1.0/",
    "pdfaid": "http://www.aiim.org/pdfa/ns/id/",
    "pdfuaid": "http://www.aiim.org/pdfua/ns/id/",
    "fx": FX,
    "pdfaExtension": "http://www.aiim.org/pdfa/ns/extension/",
    "pdfaSchema": "http://www.aiim.org/pdfa/ns/schema#",
    "pdfaProperty": "http://www.aiim.org/pdfa/ns/property#",
}

# Namespaces of Factur-X, ZUGFeRD 1 and 2, and Order-X.
_INVOICE_NAMESPACE: Final = re.compile(r"urn:[a-z-]+:pdfa:CrossIndustryDocument:.*", re.I)
_LANG: Final = "{http://www.w3.org/XML/1998/namespace}lang"
_BEGIN: Final = '<?xpacket begin="\ufeff" id="W5M0MpCehiHzreSzNTczkc9d"?>\n'
_END: Final = '\n<?xpacket end="w"?>'
#: Padding, so that other programs can change the packet in place, as ISO 16684-1 recommends.
_PADDING: Final = (" " * 99 + "\n") * 20

_FX_PROPERTIES: Final = {
    "DocumentFileName": "The name of the embedded XML document",
    "DocumentType": "The type of the hybrid document in capital letters",
    "Version": "The version of the standard that the embedded XML document follows",
    "ConformanceLevel": "The conformance level of the embedded XML document",
}


class Packet:
    """An XMP packet that can be changed. Properties are named with their prefix, such as `dc:title`."""

    def __init__(self, data: bytes | None = None) -> None:
        """Read `data`; None or invalid XMP results in an empty packet."""
        self._rdf: Any = _read(data) if data else None
        self.is_new = self._rdf is None
        if self._rdf is None:
            self._rdf = etree.Element(_tag("rdf:RDF"), nsmap={"rdf": RDF})

    @property
    def part(self) -> str:
        """The claimed part of ISO 19005 (PDF/A); "" if there is no claim."""
        return self.get("pdfaid:part")

    @property
    def conformance(self) -> str:
        """The claimed conformance level, "A", "B" or "U"; "" if there is none."""
        return self.get("pdfaid:conformance").upper()

    def get(self, name: str) -> str:
        """Return the text of a property, or that of the first item if it is a list; "" if it is missing."""
        for description in self._descriptions():
            if (text := description.get(_tag(name))) is not None:
                return str(text).strip()
            for element in description.iterchildren(_tag(name)):
                return "".join(element.itertext()).strip()
        return ""

    def put(self, **properties: Mapping[str, str]) -> None:
        """Set properties by prefix, replacing existing ones: `put(pdf={"Producer": "…"})`."""
        for prefix, block in properties.items():
            for name in block:
                self.drop(f"{prefix}:{name}")
            description = self._description(prefix)
            for name, text in block.items():
                etree.SubElement(description, _tag(f"{prefix}:{name}")).text = _clean(text)

    def put_document(self, title: str, authors: tuple[str, ...], description: str) -> None:
        """Set title, authors and description."""
        for name, kind, texts in (
            ("dc:title", "Alt", (title,)),
            ("dc:creator", "Seq", authors),
            ("dc:description", "Alt", (description,)),
        ):
            self.drop(name)
            if any(texts):
                self._list(name, kind, texts)

    def drop(self, name: str) -> None:
        """Remove a property, written as an element or as an attribute."""
        for description in list(self._descriptions()):
            description.attrib.pop(_tag(name), None)
            for element in list(description.iterchildren(_tag(name))):
                description.remove(element)

    def drop_claims(self) -> None:
        """Remove the PDF/A claim; a PDF/UA claim does not depend on attachments."""
        for name in ("part", "conformance", "amd", "corr", "rev"):
            self.drop(f"pdfaid:{name}")

    def claim_pdfua(self) -> None:
        """Claim PDF/UA-1, and describe the property in an extension schema, as PDF/A requires."""
        self.put(pdfuaid={"part": "1"})
        part = {"part": "Indicates which part of ISO 14289 the file follows"}
        self._describe("pdfuaid", "PDF/UA identification schema", part, kind="Integer", category="internal")

    def put_factur_x(self, conformance_level: str, filename: str, version: str = "1.0") -> None:
        """Set the Factur-X properties, replacing those of any earlier invoice."""
        self._drop_invoices()
        properties = {
            "DocumentType": "INVOICE",
            "DocumentFileName": filename,
            "Version": version,
            "ConformanceLevel": conformance_level,
        }
        self.put(fx=properties)
        self._describe("fx", "Factur-X PDFA Extension Schema", _FX_PROPERTIES, kind="Text", category="external")

    def put_dates(self, when: datetime.datetime, *, created: bool) -> None:
        """Set the modification date and, if `created` is true, the creation date."""
        moment = when.isoformat(timespec="seconds")
        names = ("CreateDate", "ModifyDate", "MetadataDate") if created else ("ModifyDate", "MetadataDate")
        self.put(xmp=dict.fromkeys(names, moment))

    def data(self) -> bytes:
        """Return the packet in UTF-8, with one `rdf:RDF` and the properties in the order in which they were set."""
        for description in list(self._descriptions()):
            if not len(description) and set(description.attrib) <= {_tag("rdf:about")}:
                self._rdf.remove(description)
        meta = etree.Element("{adobe:ns:meta/}xmpmeta", nsmap={"x": "adobe:ns:meta/"})
        meta.append(self._rdf)
        etree.cleanup_namespaces(meta, keep_ns_prefixes=["rdf"])
        body = etree.tostring(meta, encoding="unicode")
        return (_BEGIN + body + "\n" + _PADDING + _END).encode()

    # ------------------------------------------------------------ the tree

    def _descriptions(self) -> Iterator[Any]:
        yield from self._rdf.iterchildren(_tag("rdf:Description"))

    def _description(self, prefix: str) -> Any:
        """Return the rdf:Description for properties with a prefix: the existing one, or a new one."""
        own = f"{{{NAMESPACES[prefix]}}}"
        for description in self._descriptions():
            if any(str(child.tag).startswith(own) for child in description):
                return description
        nsmap: Any = {prefix: NAMESPACES[prefix]}
        return etree.SubElement(self._rdf, _tag("rdf:Description"), {_tag("rdf:about"): ""}, nsmap=nsmap)

    def _list(self, name: str, kind: str, texts: tuple[str, ...]) -> None:
        prefix, _, _ = name.partition(":")
        items = etree.SubElement(etree.SubElement(self._description(prefix), _tag(name)), _tag(f"rdf:{kind}"))
        for text in texts:
            item = etree.SubElement(items, _tag("rdf:li"), {_LANG: "x-default"} if kind == "Alt" else {})
            item.text = _clean(text)

    def _drop_invoices(self) -> None:
        for description in self._descriptions():
            for element in list(description):
                if _is_invoice_property(element.tag):
                    description.remove(element)
            for name in [name for name in description.attrib if _is_invoice_property(name)]:
                del description.attrib[name]
        for schema in self._extension_schemas():
            if _INVOICE_NAMESPACE.fullmatch(_uri(schema)):
                schema.getparent().remove(schema)

    def _extension_schemas(self) -> list[Any]:
        """Return the extension schemas, which describe properties that XMP does not define."""
        bag = f"{_tag('pdfaExtension:schemas')}/{_tag('rdf:Bag')}/{_tag('rdf:li')}"
        return [item for description in self._descriptions() for item in description.iterfind(bag)]

    def _describe(self, prefix: str, title: str, properties: Mapping[str, str], *, kind: str, category: str) -> None:
        for schema in self._extension_schemas():
            if _uri(schema) == NAMESPACES[prefix]:
                schema.getparent().remove(schema)
        item = _resource(self._bag())
        for name, text in (("schema", title), ("namespaceURI", NAMESPACES[prefix]), ("prefix", prefix)):
            etree.SubElement(item, _tag(f"pdfaSchema:{name}")).text = text
        listed = etree.SubElement(etree.SubElement(item, _tag("pdfaSchema:property")), _tag("rdf:Seq"))
        for name, description in properties.items():
            entry = _resource(listed)
            values = (("name", name), ("valueType", kind), ("category", category), ("description", description))
            for key, text in values:
                etree.SubElement(entry, _tag(f"pdfaProperty:{key}")).text = text

    def _bag(self) -> Any:
        for description in self._descriptions():
            if (bag := description.find(f"{_tag('pdfaExtension:schemas')}/{_tag('rdf:Bag')}")) is not None:
                return bag
        names = {prefix: uri for prefix, uri in NAMESPACES.items() if prefix.startswith("pdfa") and prefix != "pdfaid"}
        nsmap: Any = names
        block = etree.SubElement(self._rdf, _tag("rdf:Description"), {_tag("rdf:about"): ""}, nsmap=nsmap)
        return etree.SubElement(etree.SubElement(block, _tag("pdfaExtension:schemas")), _tag("rdf:Bag"))


def _read(data: bytes) -> Any:
    """Return the first `rdf:RDF` of a packet, or None."""
    parser = etree.XMLParser(resolve_entities=False, load_dtd=False, no_network=True, remove_blank_text=True)
    try:
        root = etree.fromstring(data.strip(b"\0 \t\r\n"), parser)
    except (etree.XMLSyntaxError, ValueError):
        return None
    tree: Any = root.getroottree()
    if tree.docinfo.doctype:
        return None
    return next(iter(root.iter(_tag("rdf:RDF"))), None)


def _tag(name: str) -> str:
    prefix, _, local = name.partition(":")
    return f"{{{RDF if prefix == 'rdf' else NAMESPACES[prefix]}}}{local}"


def _resource(parent: Any) -> Any:
    return etree.SubElement(parent, _tag("rdf:li"), {_tag("rdf:parseType"): "Resource"})


def _uri(schema: Any) -> str:
    """Return the namespace of an extension schema."""
    return (schema.findtext(f".//{_tag('pdfaSchema:namespaceURI')}") or "").strip()


def _is_invoice_property(name: object) -> bool:
    return isinstance(name, str) and bool(_INVOICE_NAMESPACE.fullmatch(etree.QName(name).namespace or ""))


def _clean(text: str) -> str:
    """Return `text` without characters that XML does not allow."""
    return re.sub("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", "", text)
