"""The PDF around an invoice, and the verdict on it, which is none on the invoice."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from einvoice.result.finding import Finding
from einvoice.result.languages import Language


@dataclass(frozen=True, slots=True)
class Container:
    """A hybrid PDF (ZUGFeRD, Factur-X).

    Attributes:
        name: of the attachment that is the invoice, such as "factur-x.xml".
        relationship: its AFRelationship, such as "Alternative"; "" where it is missing.
        candidates: the names of all attachments that may be the invoice, the chosen one first.
        findings: what is to be said of the PDF; they are among the findings of the result too.
        title: what judged, by language.
        lang: the language of the texts where none is asked for.
    """

    name: str
    relationship: str
    candidates: tuple[str, ...]
    findings: tuple[Finding, ...]
    title: Mapping[str, str]
    lang: Language = "de"

    @property
    def is_valid(self) -> bool:
        """Whether the checks of the container found nothing that counts: notes (`information`) do not."""
        return all(finding.severity == "information" for finding in self.findings)

    def to_dict(self, lang: Language) -> dict[str, Any]:
        """The container as the HTTP interface answers it."""
        return {
            "is_valid": self.is_valid,
            "name": self.name,
            "relationship": self.relationship,
            "candidates": list(self.candidates),
            "findings": len(self.findings),
            "title": self.title[lang],
        }

    def _repr_html_(self) -> str:
        from einvoice.render.html import container_html

        return container_html(self, self.lang)
