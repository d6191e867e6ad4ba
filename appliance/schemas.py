"""The shape of the answers. More fields than the ones promised here may come; none of these will go."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict


class _Answer(BaseModel):
    model_config = ConfigDict(extra="allow")


class Health(_Answer):
    """The process is alive."""

    status: Literal["ok"]


class FindingItem(_Answer):
    """One finding: a rule that the invoice breaks, explained in the language asked for."""

    code: str
    severity: Literal["fatal", "warning", "information"]
    validation_layer: Literal["schema", "en16931", "cius", "extension", "profile", "pdf", "file"]
    section: str
    title: str
    explanation: str
    fix: str
    bt_field: str
    xpath: str


class InvoiceIdentity(_Answer):
    """What the document says it is."""

    syntax: Literal["UBL", "CII"]
    declared_profile: str
    declared_version: str
    customization_id: str | None = None


class ValidationStack(_Answer):
    """Which rules judged it."""

    mode: Literal["current", "compatibility"]
    status: Literal["current", "outdated", "unknown"]
    en16931: str
    xrechnung: str
    layers: list[dict[str, Any]]


class Compatibility(_Answer):
    """How the declared rule set stands to the current one."""

    status: Literal["current", "outdated", "unknown"]
    message: str | None


class ValidationDetails(_Answer):
    """What was judged, and by which rules."""

    invoice_identity: InvoiceIdentity
    validation_stack: ValidationStack
    compatibility: Compatibility


class InvoiceSummary(_Answer):
    """The invoice in three facts."""

    invoice_number: str
    invoice_date: str
    format: Literal["UBL", "CII"]


class Artifact(_Answer):
    """A link to a document that is kept for a short time."""

    available: bool
    url: str | None
    expires_in_seconds: int | None


class ValidationAnswer(_Answer):
    """The verdict on one file."""

    status: Literal["done"]
    validation_mode: Literal["current", "compatibility"]
    is_valid: bool
    xrechnung_version: str
    validation_profile: str
    validation_format: Literal["UBL", "CII"]
    processing_time_ms: int
    errors: list[FindingItem]
    warnings: list[FindingItem]
    validation_details: ValidationDetails
    invoice_summary: InvoiceSummary | None
    artifacts: dict[str, Artifact]


class ProblemAnswer(_Answer):
    """Why a request could not be answered (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    code: str
