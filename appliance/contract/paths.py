"""Paths of the interface."""

from collections.abc import Mapping
from typing import Final

from appliance.contract.values import ArtifactKind

API: Final = "/api/external"
ARTIFACTS: Final = f"{API}/artifacts"

ARTIFACT_FILES: Final[Mapping[ArtifactKind, str]] = {
    "validation_report_pdf": "report.pdf",
    "readable_invoice_pdf": "invoice.pdf",
    "zugferd_pdf": "zugferd.pdf",
}
"""File name of each kind of artifact, the last segment of its link."""


def artifact_path(token: str, kind: ArtifactKind) -> str:
    """Return the path of an artifact link."""
    return f"{ARTIFACTS}/{token}/{ARTIFACT_FILES[kind]}"
