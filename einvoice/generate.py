"""From a draft to an invoice, judged at once: every finding points at the field of the draft that causes it."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from einvoice.model.invoice import Invoice
from einvoice.result import Language, ValidationResult
from einvoice.result.languages import check_language
from einvoice.syntax.writer import write
from einvoice.validation import validate

if TYPE_CHECKING:
    from einvoice.draft import Draft, Format, Source

ArtifactType: TypeAlias = Literal["xml", "pdf"]


@dataclass(frozen=True, slots=True)
class EmbeddedXml:
    """The invoice inside a PDF: whether there is one, in which syntax, under which name."""

    available: bool = False
    syntax: str | None = None
    filename: str | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Generated:
    """An invoice made from a draft, and the verdict on it.

    Attributes:
        schema_version: of the draft.
        format: "UBL", "CII" or "ZUGFERD".
        primary_artifact_type: what the invoice is, "xml" or "pdf".
        xml: the invoice as XML; None for ZUGFERD, where it stands in the PDF.
        pdf: the PDF; None unless the format is ZUGFERD.
        embedded_xml: what the PDF holds.
        invoice: the invoice of the draft.
        left_out: the business terms of the invoice that a smaller profile of Factur-X has no place for, so that only
            the page shows them; empty for all other profiles.
        validation: the verdict on what was written; each finding has its `draft_pointer`.
        lang: the language of the texts where none is asked for.
    """

    schema_version: str
    format: Format
    primary_artifact_type: ArtifactType
    xml: str | None
    pdf: bytes | None
    embedded_xml: EmbeddedXml
    invoice: Invoice
    left_out: tuple[str, ...]
    validation: ValidationResult
    lang: Language = "de"

    @property
    def is_valid(self) -> bool:
        """The verdict of the validation."""
        return self.validation.is_valid

    @property
    def data(self) -> bytes:
        """The invoice as the bytes of a file."""
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


def generate(draft: Source, format: Format | None = None, *, lang: Language = "de") -> Generated:
    """Make an invoice from a draft, and judge what was made.

    The same draft gives the same bytes. Findings are no errors here: an invoice that breaks rules is made all the
    same, and `is_valid` is false.

    Args:
        draft: a `Draft`; a mapping; JSON as text or bytes; the path of a JSON file; or a binary file.
        format: "UBL", "CII" or "ZUGFERD", in place of what the draft says.
        lang: language of the texts, "de" or "en"; and of the page that people read.

    Raises:
        DraftError: no JSON, wrong fields, or sums that are others than those of the lines; it has the places.
        ValueError: another language.
        OSError: the file cannot be opened.
        ImportError: ZUGFERD without the extra "pdf".
    """
    from einvoice.draft import SCHEMA_VERSION, read

    check_language(lang)
    known = read(draft, format=format)
    invoice = known.invoice().in_language(lang)
    pdf: bytes | None = None
    embedded, left_out = EmbeddedXml(), tuple[str, ...]()
    if known.format == "ZUGFERD":
        pdf, embedded, left_out = _hybrid(known, invoice, lang)
    xml = b"" if pdf else write(invoice, known.root)
    result = _pointing(validate(pdf or xml, lang=lang), known)
    return Generated(
        schema_version=SCHEMA_VERSION,
        format=known.format,
        primary_artifact_type="xml" if pdf is None else "pdf",
        xml=xml.decode("utf-8") if pdf is None else None,
        pdf=pdf,
        embedded_xml=embedded,
        invoice=invoice,
        left_out=left_out,
        validation=result,
        lang=lang,
    )


def _hybrid(draft: Draft, invoice: Invoice, lang: Language) -> tuple[bytes, EmbeddedXml, tuple[str, ...]]:
    """The page that people read, with the XML inside as far as the profile can say it, and what it cannot."""
    from einvoice.facturx import business_terms
    from einvoice.pdf.writer.embed import embed
    from einvoice.visualization import invoice_pdf

    profile = business_terms.named(draft.declared_profile)
    left_out = business_terms.beyond(invoice, profile) if profile in business_terms.SMALLER else ()
    said = business_terms.narrowed(invoice, profile) if left_out else invoice
    made = embed(invoice_pdf(invoice, lang), write(said, draft.root), profile=profile.name, lang=lang)
    return made.pdf, EmbeddedXml(True, "CII", made.filename), left_out


def _pointing(result: ValidationResult, draft: Draft) -> ValidationResult:
    """The same verdict, with the field of the draft beside each finding."""
    from einvoice.draft.pointers import Pointers

    if not result.findings:
        return result
    pointers = Pointers(draft, result.invoice)
    findings = tuple(dataclasses.replace(finding, draft_pointer=pointers.of(finding)) for finding in result.findings)
    return dataclasses.replace(result, findings=findings)
