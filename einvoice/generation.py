"""Generates an invoice from a draft and validates it; each finding points to the field of the draft that causes it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from einvoice.errors import LetterheadError
from einvoice.localization.options import language
from einvoice.model.invoice import Invoice
from einvoice.result import Language, ValidationResult
from einvoice.syntax.writer import write
from einvoice.validation import validate

if TYPE_CHECKING:
    from einvoice.draft import Draft, Format, Source
    from einvoice.pdf.writer.attachments import Source as ToAttach
    from einvoice.pdf.writer.embed import HybridPdf

ArtifactType: TypeAlias = Literal["xml", "pdf"]


@dataclass(frozen=True, slots=True)
class EmbeddedXml:
    """The invoice embedded in a PDF: whether there is one, its syntax, and its file name."""

    available: bool = False
    syntax: str | None = None
    filename: str | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Generated:
    """An invoice generated from a draft, and its validation result.

    Attributes:
        schema_version: version of the draft schema.
        format: "UBL", "CII" or "ZUGFERD".
        primary_artifact_type: "xml" or "pdf".
        xml: the invoice as XML; None for ZUGFERD, where it is embedded in the PDF.
        pdf: the PDF; None unless the format is ZUGFERD.
        embedded_xml: the XML embedded in the PDF.
        invoice: the invoice built from the draft.
        omitted_terms: business terms of the invoice that the Factur-X profile does not contain, so that they appear
            only in the visualization of the PDF; empty unless the profile is smaller than EN 16931.
        attached: names of the files attached to the PDF beside the XML: those of BG-24, and those of `attach`.
        validation: the validation result of the generated file; each finding has its `draft_pointer`.
        lang: default language of the texts.
    """

    schema_version: str
    format: Format
    primary_artifact_type: ArtifactType
    xml: str | None
    pdf: bytes | None
    embedded_xml: EmbeddedXml
    invoice: Invoice
    omitted_terms: tuple[str, ...]
    validation: ValidationResult
    lang: Language = "de"
    attached: tuple[str, ...] = ()

    @property
    def is_valid(self) -> bool:
        """Whether the generated invoice is valid."""
        return self.validation.is_valid

    @property
    def data(self) -> bytes:
        """The generated file: the PDF, or the XML in UTF-8."""
        return self.pdf if self.pdf is not None else (self.xml or "").encode("utf-8")

    def to_dict(self, lang: Language | None = None) -> dict[str, Any]:
        """Return the invoice and its validation result as plain data, ready for JSON."""
        return {
            "status": "done",
            "schema_version": self.schema_version,
            "format": self.format,
            "primary_artifact_type": self.primary_artifact_type,
            "is_valid": self.is_valid,
            "xml": self.xml,
            "embedded_xml": dataclasses.asdict(self.embedded_xml),
            "validation": self.validation.to_dict(lang or self.lang),
        }

    def __repr__(self) -> str:
        return f"<Generated {self.format}: {self.validation!r}>"


def generate(
    draft: Source,
    format: Format | str | None = None,
    *,
    lang: Language | None = None,
    attach: Sequence[ToAttach] = (),
    logo: bytes | None = None,
    accent: str | None = None,
) -> Generated:
    """Generate an invoice from a draft and validate it.

    The output is deterministic. An invoice that violates rules is generated too; its `is_valid` is then false.

    Args:
        draft: a `Draft`; a mapping; JSON as text or bytes; the path of a JSON file; or a binary file.
        format: "UBL", "CII" or "ZUGFERD", in any case; overrides the format of the draft.
        lang: language of the texts and of the visualization, such as "de"; default: `einvoice.options.lang`.
        attach: further files to attach to the PDF: paths, or `einvoice.AttachedFile` with a relationship and a
            description. The attachments of the draft (BG-24) are in the XML, and attached to the PDF as well.
        logo: image for the letterhead of the PDF: PNG, JPEG, GIF, TIFF or WebP, at most 10 MB, or SVG of shapes.
        accent: colour of lines and headings of the PDF, such as "#005a9c".

    Raises:
        DraftError: the draft is not JSON, has invalid fields, or has totals that differ from the calculated ones.
        NotAttachable: there are files to attach and the format is not ZUGFERD; one cannot be attached; or the PDF would
            be too large.
        LetterheadError: the logo is not an image, the accent is not a colour, or the format is not ZUGFERD.
        ValueError: the language is not supported.
        OSError: a file cannot be opened.
        MissingDependency: the format is ZUGFERD, and the extra "pdf" is not installed.
    """
    from einvoice.draft import SCHEMA_VERSION, read

    lang = language(lang)
    checked = read(draft, format=format.upper() if format else None)
    invoice = checked.invoice(lang).in_language(lang)
    pdf: bytes | None = None
    embedded, omitted, attached = EmbeddedXml(), tuple[str, ...](), tuple[str, ...]()
    if checked.format == "ZUGFERD":
        hybrid, omitted = _hybrid(checked, invoice, lang, attach, logo, accent)
        pdf, attached, embedded = hybrid.pdf, hybrid.attached, EmbeddedXml(True, "CII", hybrid.filename)
    elif attach:
        from einvoice.pdf.writer.attachments import NotAttachable

        raise NotAttachable("format", format=checked.format)
    elif logo or accent:
        raise LetterheadError(f"a logo or an accent colour needs the format ZUGFERD, not {checked.format}")
    xml = b"" if pdf else write(invoice, checked.root)
    declared = checked.specification
    # BT-24 alone does not declare a specification that refines another one.
    profile: dict[str, Any] = {"profile": declared.rulesets[-1]} if declared.refines else {}
    result = _with_draft_pointers(validate(pdf or xml, lang=lang, **profile), checked)
    return Generated(
        schema_version=SCHEMA_VERSION,
        format=checked.format,
        primary_artifact_type="xml" if pdf is None else "pdf",
        xml=xml.decode("utf-8") if pdf is None else None,
        pdf=pdf,
        embedded_xml=embedded,
        invoice=invoice,
        omitted_terms=omitted,
        validation=result,
        lang=lang,
        attached=attached,
    )


def _hybrid(
    draft: Draft, invoice: Invoice, lang: Language, attach: Sequence[ToAttach], logo: bytes | None, accent: str | None
) -> tuple[HybridPdf, tuple[str, ...]]:
    """Return the PDF with the embedded XML, and the terms omitted from the XML."""
    from einvoice.facturx.business_terms import restrict, unsupported_terms
    from einvoice.facturx.profile import SMALLER, profile_named
    from einvoice.pdf.writer.attachments import files_of_invoice, files_to_attach
    from einvoice.pdf.writer.embed import embed
    from einvoice.visualization import invoice_pdf

    profile = profile_named(draft.embedded_profile)
    omitted = unsupported_terms(invoice, profile) if profile in SMALLER else ()
    embedded = restrict(invoice, profile) if omitted else invoice
    further = [*files_of_invoice(invoice), *files_to_attach(attach)]
    page, xml = invoice_pdf(invoice, lang, logo=logo, accent=accent), write(embedded, draft.root)
    return embed(page, xml, profile=profile.name, lang=lang, attach=further), omitted


def _with_draft_pointers(result: ValidationResult, draft: Draft) -> ValidationResult:
    """Return the result with the `draft_pointer` of each finding."""
    from einvoice.draft.pointers import Pointers

    if not result.findings:
        return result
    pointers = Pointers(draft, result.invoice)
    findings = tuple(dataclasses.replace(finding, draft_pointer=pointers.of(finding)) for finding in result.findings)
    return dataclasses.replace(result, findings=findings)
