"""The shape of what goes in and out. More fields than the ones promised here may come; none of these will go."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from appliance.plans import Entitlements

CODE = Field(description="Code of the rule, as in the error catalog.", examples=["BR-CO-10"])
SEVERITY = Field(examples=["fatal"])
SECTION = Field(description="Part of the invoice.", examples=["totals"])
TERM = Field(description='Business term, such as "BT-106"; "" where there is none.', examples=["BT-106"])
XPATH = Field(description='Place in the XML; "" where there is none.', examples=["/*/cac:LegalMonetaryTotal[1]"])
XRECHNUNG = Field(description="Version of XRechnung whose rules are installed.", examples=["3.0.2"])

Mode = Literal["current", "compatibility"]
Engine = Literal["native", "reference", "both"]
Standing = Literal["current", "outdated", "unknown"]


class _Answer(BaseModel):
    model_config = ConfigDict(extra="allow")


class Health(_Answer):
    """The process is alive."""

    status: Literal["ok"]


class Readiness(_Answer):
    """Whether documents can be judged."""

    status: Literal["ready", "degraded", "not_ready"] = Field(
        description="`degraded`: documents are judged, but the answers have no links to PDFs."
    )
    checks: dict[str, bool] = Field(examples=[{"workers": True, "artifacts": True}])


class FindingItem(_Answer):
    """One finding: a rule that the invoice breaks, explained in the language asked for."""

    code: str = CODE
    severity: Literal["fatal", "warning", "information"] = SEVERITY
    validation_layer: Literal["schema", "en16931", "cius", "extension", "profile", "pdf", "file"] = Field(
        examples=["cius"]
    )
    section: str = SECTION
    title: str
    explanation: str
    fix: str = Field(description="What to do.")
    bt_field: str = TERM
    xpath: str = XPATH
    line: int | None = Field(default=None, description="Line in the XML, counted from 1.")
    column: int | None = Field(default=None, description="Column in the line, counted from 1.")
    terms: list[str] = Field(default=[], description="All business terms, the leading one first.")
    values: dict[str, Any] = Field(default={}, description="What was compared, such as expected and actual.")
    doc_url: str = Field(default="", description='Page that describes the rule; "" where those are turned off.')
    draft_pointer: str | None = Field(
        default=None, description="Generated invoices: JSON pointer of the draft's field."
    )


class InvoiceIdentity(_Answer):
    """What the document says it is."""

    syntax: Literal["UBL", "CII", ""]
    declared_profile: str = Field(examples=["XRechnung"])
    declared_version: str = Field(examples=["3.0"])
    customization_id: str | None = None


class ValidationStack(_Answer):
    """Which rules judged it."""

    mode: Mode
    scenario_id: str = Field(examples=["xrechnung-3.0-ubl"])
    status: Standing
    en16931: str = Field(description="Release of the rules of EN 16931.")
    xrechnung: str = Field(description="Release of the rules of XRechnung, or that they were not applied.")
    layers: list[dict[str, Any]]


class Compatibility(_Answer):
    """How the declared rule set stands to the current one."""

    status: Standing
    message: str | None


class ValidationDetails(_Answer):
    """What was judged, and by which rules."""

    invoice_identity: InvoiceIdentity
    validation_stack: ValidationStack
    compatibility: Compatibility


class InvoiceSummary(_Answer):
    """The invoice in three facts."""

    invoice_number: str = Field(examples=["R-2026-0001"])
    invoice_date: str = Field(examples=["2026-11-20"])
    format: Literal["UBL", "CII"]


class Artifact(_Answer):
    """A link to a PDF that is kept for a short time; fetching it takes the same API key."""

    available: bool
    url: str | None
    expires_in_seconds: int | None = Field(examples=[3600])


UNAVAILABLE = Artifact(available=False, url=None, expires_in_seconds=None)


class Artifacts(_Answer):
    """The links of one result."""

    validation_report_pdf: Artifact
    readable_invoice_pdf: Artifact


class ValidationAnswer(_Answer):
    """The verdict on one file."""

    status: Literal["done"]
    validation_mode: Mode
    is_valid: bool
    xrechnung_version: str = XRECHNUNG
    validation_profile: str = Field(examples=["XRechnung"])
    validation_format: Literal["UBL", "CII"]
    processing_time_ms: int
    errors: list[FindingItem]
    warnings: list[FindingItem]
    validation_details: ValidationDetails
    invoice_summary: InvoiceSummary | None
    artifacts: Artifacts


class BatchItem(ValidationAnswer):
    """The verdict on one file of several; one that nobody can read has an error that says why."""

    filename: str = Field(examples=["invoice.xml"])
    validation_format: Literal["UBL", "CII", ""]  # type: ignore[assignment]
    invoice_summary: None


class BatchAnswer(_Answer):
    """The verdicts on several files, in the order in which they came."""

    status: Literal["done"]
    count: int = Field(examples=[2])
    items: list[BatchItem]


class EmbeddedXml(_Answer):
    """The invoice inside a PDF."""

    available: bool
    syntax: Literal["CII"] | None
    filename: str | None = Field(examples=["factur-x.xml"])


class GeneratedArtifacts(Artifacts):
    """The links of a generated invoice; the last two are there for ZUGFERD only."""

    zugferd_pdf: Artifact | None = None
    embedded_xml: EmbeddedXml | None = None


class GeneratedValidation(_Answer):
    """The verdict on a generated invoice."""

    is_valid: bool
    xrechnung_version: str = XRECHNUNG
    validation_profile: str = Field(examples=["XRechnung"])
    validation_format: Literal["UBL", "CII"]
    errors: list[FindingItem]
    warnings: list[FindingItem]
    validation_details: ValidationDetails | None = None


class GenerateAnswer(_Answer):
    """An invoice made from a draft, and the verdict on it."""

    status: Literal["done"]
    schema_version: str = Field(examples=["1.1.0"])
    format: Literal["UBL", "CII", "ZUGFERD"]
    primary_artifact_type: Literal["xml", "pdf"]
    is_valid: bool
    xml: str | None
    embedded_xml: EmbeddedXml
    invoice_summary: InvoiceSummary | None
    validation: GeneratedValidation
    artifacts: GeneratedArtifacts


class Limits(_Answer):
    """How much can be sent at once."""

    max_upload_size_bytes: int = Field(examples=[10485760])
    max_upload_size_mb: float = Field(examples=[10.0])
    batch_max_files: int = Field(examples=[10])


class Endpoints(_Answer):
    """Where everything is; `{token}` stands for the token of a link."""

    validate_: str = Field(alias="validate")
    validate_batch: str
    generate: str
    invoice_draft_schema: str
    artifact_report: str
    artifact_invoice: str
    artifact_zugferd: str
    capabilities: str
    error_catalog: str


class RuleSet(_Answer):
    """A release of rules that the operator can have invoices judged by (EINVOICE_RULESET)."""

    name: str = Field(examples=["xrechnung-3.0.2"])
    version: str = Field(description="Release of the rules.")
    specification: str = Field(description="Version of the specification that they judge; empty for EN 16931 alone.")
    en16931: str = Field(description="Release of the rules of EN 16931 that go with it.")
    valid_from: str = Field(description="Day from which they count, ISO 8601; empty where that is not known.")
    announced: bool = Field(description="Whether nothing is judged by them unasked yet.")
    current: bool = Field(description="Whether invoices are judged by them here; true of one.")


class Artefacts(_Answer):
    """A set of official artefacts that is there to judge by."""

    name: str
    kind: Literal["configuration", "schematron", "bundled"]
    title: str
    sha256: str = Field(description="Of the file that was added; empty for what comes with einvoice.")
    scenarios: list[str]


class NativeEngine(_Answer):
    """The rules of this program."""

    version: str


class ReferenceEngine(_Answer):
    """The official artefacts, run by Saxon."""

    version: str | None = Field(description="Of saxonche; null where it is not installed, and nothing can be run.")
    configurations: list[Artefacts]


class Engines(_Answer):
    """Who can judge, by the values of the form field `engine`."""

    native: NativeEngine
    reference: ReferenceEngine
    default: Engine = Field(description="Who judges where a request does not say (EINVOICE_ENGINE).")


class Capabilities(_Answer):
    """What the key entitles to, and what this service can do."""

    status: Literal["ok"]
    plan_type: str = Field(examples=["business"])
    entitlements: Entitlements
    limits: Limits
    supported_formats: list[str] = Field(examples=[["UBL", "CII", "ZUGFERD"]])
    supported_generation_formats: list[str] = Field(examples=[["UBL", "CII", "ZUGFERD"]])
    supported_languages: list[str] = Field(examples=[["de", "en"]])
    supported_validation_modes: list[str] = Field(examples=[["current", "compatibility"]])
    rule_sets: list[RuleSet]
    engines: Engines
    endpoints: Endpoints


class CatalogItem(_Answer):
    """A code that a finding can have."""

    code: str = CODE
    severity: Literal["fatal", "warning", "information"] = SEVERITY
    section: str = SECTION
    title: str
    explanation: str
    fix: str
    bt_field: str = TERM
    xpath: str = XPATH
    examples: list[str]
    current: bool = Field(
        description="Whether today's rules have it; compatibility mode finds codes of other releases, too."
    )


class CatalogAnswer(_Answer):
    """All codes that there are."""

    status: Literal["ok"]
    catalog_version: str
    xrechnung_version: str = XRECHNUNG
    rule_set: str = Field(description="The rules as which the codes are described.", examples=["xrechnung-3.0.2"])
    rule_count: int
    language: Literal["de", "en"]
    items: list[CatalogItem]


class WrongPlace(_Answer):
    """A place of a draft that is wrong."""

    pointer: str = Field(description="JSON pointer (RFC 6901).", examples=["/lines/0/quantity"])
    message: str


class ProblemAnswer(_Answer):
    """Why a request could not be answered (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    code: str = Field(description="Stable; tell problems apart by it.")
    errors: Annotated[list[WrongPlace], Field(description="Where several places are wrong: all of them.")] = []
