"""The hybrid PDF container and its own validation result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from einvoice.result.finding import Finding
from einvoice.result.languages import Language


@dataclass(frozen=True, slots=True)
class Container:
    """A hybrid PDF (ZUGFeRD, Factur-X).

    Attributes:
        name: filename of the invoice attachment, such as "factur-x.xml".
        relationship: its AFRelationship, such as "Alternative"; "" if missing.
        candidates: filenames of all attachments that qualify as the invoice, the selected one first.
        findings: findings about the PDF; they are also part of the findings of the result.
        title: name of the applied checks, by language.
        lang: default language of the texts.
        signed: whether the PDF has a signature.
        sha256: hash of the PDF, hexadecimal; "" if it is not known.
        software: the program that made the PDF, as its metadata name it; "" if they do not.
    """

    name: str
    relationship: str
    candidates: tuple[str, ...]
    findings: tuple[Finding, ...]
    title: Mapping[str, str]
    lang: Language = "de"
    signed: bool = False
    sha256: str = field(default="", repr=False)
    software: str = field(default="", repr=False)

    @property
    def is_valid(self) -> bool:
        """Whether no check of the container reported an error or a warning."""
        return all(finding.severity == "information" for finding in self.findings)

    def to_dict(self, lang: Language) -> dict[str, Any]:
        """Return the container as plain data, ready for JSON."""
        from einvoice.render.json import container_dict

        return container_dict(self, lang)

    def _repr_html_(self) -> str:
        from einvoice.render.html import container_html

        return container_html(self, self.lang)
