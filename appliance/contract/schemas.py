"""JSON bodies of responses as models. Later versions may add fields; they do not remove any."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from appliance.contract.values import Engine, Mode, RuleSetStatus

CODE = Field(description="Rule code, as in the error catalog.", examples=["BR-CO-10"])
SEVERITY = Field(examples=["fatal"])
SECTION = Field(description="Section of the invoice.", examples=["totals"])
TERM = Field(description='Leading business term, such as "BT-106", or "".', pattern=r"^(BT-\d+)?$", examples=["BT-106"])
XPATH = Field(description='Location in the XML, or "".', examples=["/*/cac:LegalMonetaryTotal[1]"])
XRECHNUNG = Field(description="XRechnung version of the installed rules.", examples=["3.0.2"])


class Entitlements(BaseModel):
    """The entitlements that a plan grants."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    plan_type: str = Field(examples=["business"])
    daily_usage_limit: int | None = Field(default=None, ge=0, description="Requests per day (UTC); null: unlimited.")
    daily_validation_limit: int | None = Field(
        default=None, ge=0, description="Validated files per day (UTC); null: unlimited."
    )
    can_view_structured_invoice: bool = Field(default=False, examples=[True])
    can_generate_invoice: bool = Field(default=False, examples=[True])
    can_download_readable_pdf: bool = Field(default=False, examples=[True])
    can_export: bool = Field(default=False, examples=[False])
    can_autofix: bool = Field(default=False, examples=[True])
    can_batch: bool = Field(default=False, examples=[True])
    can_use_api: bool = Field(default=False, examples=[True])
    can_use_inbound_email: bool = Field(default=False, examples=[True])
    can_use_reference: bool = Field(
        default=False,
        description="Whether requests may select the reference engine where it is not the default.",
        examples=[False],
    )


class Plan(Entitlements):
    """A plan: entitlements, and rights and limits that are not part of the response."""

    can_convert: bool = False
    can_extract: bool = False
    can_fix: bool = False
    can_read: bool = False
    can_diff: bool = False
    can_use_jobs: bool = False
    requests_per_minute: int | None = Field(default=None, ge=1)
    concurrent_requests: int | None = Field(default=None, ge=1)


class Response(BaseModel):
    """Base class of all bodies."""

    model_config = ConfigDict(extra="allow")


class Health(Response):
    """The process is alive."""

    status: Literal["ok"]


class Readiness(Response):
    """Whether the service can validate."""

    status: Literal["ready", "degraded", "not_ready"] = Field(
        description="`degraded`: validation works, but responses have no links to PDFs."
    )
    checks: dict[str, bool] = Field(examples=[{"workers": True, "artifacts": True}])


class FindingItem(Response):
    """A finding: a rule the invoice violates, explained in the requested language."""

    code: str = CODE
    severity: Literal["fatal", "warning", "information"] = SEVERITY
    validation_layer: Literal[
        "schema", "en16931", "cius", "extension", "profile", "imported", "plausibility", "pdf", "file"
    ] = Field(examples=["cius"])
    section: str = SECTION
    title: str
    explanation: str
    fix: str = Field(description="How to correct the invoice.")
    bt_field: str = TERM
    xpath: str = XPATH
    line: int | None = Field(default=None, description="Line in the XML, counted from 1.")
    column: int | None = Field(default=None, description="Column in the line, counted from 1.")
    terms: list[str] = Field(default=[], description="All business terms of the rule, the leading one first.")
    values: dict[str, Any] = Field(default={}, description="Values the rule compared, such as expected and actual.")
    doc_url: str = Field(default="", description='Page that describes the rule; "" if these pages are disabled.')
    draft_pointer: str | None = Field(default=None, description="Generated invoices: JSON pointer of the draft field.")


class InvoiceIdentity(Response):
    """What the document declares about itself."""

    syntax: Literal["UBL", "CII", ""]
    declared_profile: str = Field(examples=["XRechnung"])
    declared_version: str = Field(examples=["3.0"])
    customization_id: str | None = None


class ValidationStack(Response):
    """The rule sets applied."""

    mode: Mode
    scenario_id: str = Field(examples=["xrechnung-3.0-ubl"])
    status: RuleSetStatus
    en16931: str = Field(description="Release of the EN 16931 rules.")
    xrechnung: str = Field(description="Release of the XRechnung rules, or a note that they were not applied.")
    layers: list[dict[str, Any]]


class Compatibility(Response):
    """How the declared rule set relates to the current one."""

    status: RuleSetStatus
    message: str | None


class ChangeItem(Response):
    """A change of the XML. It was tried: the changed document was validated, and has no new finding."""

    text: str
    proof: str = Field(examples=["With this change, 3 of the 10 findings disappear."])
    copy_text: str = Field(
        description="What is changed, then the XPaths, one per line: to be sent on.",
        examples=["BT-112: 41.33 -> 415.33\n/ubl:Invoice/cac:LegalMonetaryTotal/cbc:TaxInclusiveAmount"],
    )
    terms: list[str]
    safe: bool = Field(
        description="Whether it changes only the form of a value, or an amount that follows from others."
    )
    resolves: int = Field(description="Number of findings that disappear.")
    edits: list[dict[str, Any]]


class CauseItem(Response):
    """One thing that is wrong, and the findings that it explains."""

    text: str
    missing: str = Field(description="The missing term that only the issuer knows; empty if there is none.")
    is_question: bool = Field(
        description="Whether only the issuer can know which change is right, or whether the only one is."
    )
    terms: list[str] = Field(examples=[["BT-112"]])
    xpath: str
    line: int | None
    codes: list[str] = Field(examples=[["BR-CO-15", "BR-CO-16"]])
    findings: list[int] = Field(description="Positions, from 0, in `errors` followed by `warnings`.")
    remaining: int = Field(description="Number of findings that it does not explain.")
    changes: list[ChangeItem]


class ValidationDetails(Response):
    """The document and the rule sets applied to it."""

    invoice_identity: InvoiceIdentity
    validation_stack: ValidationStack
    compatibility: Compatibility
    findings_left_out: dict[str, int] = Field(
        default={},
        description="Number of further findings by code: a result has at most 1,000 findings, 100 per code, 4 MB.",
        examples=[{"BR-25": 4}],
    )
    causes: list[CauseItem] | None = Field(
        default=None,
        description="Causes of the findings, the gravest first: only with `causes=true`. Null if the document is too "
        "large for the search; at most 1 MB.",
    )
    causes_ended_by: Literal["", "time", "validations"] = Field(
        default="",
        description="The limit that ended the search for causes: further changes may resolve more findings. Empty if "
        "all were tried.",
    )
    assessment: dict[str, Any] | None = Field(
        default=None,
        description="What the document and its errors mean for the recipient under the VAT law of seller and buyer: "
        "only with `assess=true`. Null if no law is known that applies.",
        examples=[{"law": "DE", "kind": "e_invoice"}],
    )
    letter: str | None = Field(
        default=None,
        description="Letter that asks the issuer to correct the invoice, plain text: only with `letter=true`. Null if "
        "the document is too large for the search for causes.",
    )


class InvoiceSummary(Response):
    """Key data of the invoice."""

    invoice_number: str = Field(examples=["R-2026-0001"])
    invoice_date: str = Field(examples=["2026-11-20"])
    format: Literal["UBL", "CII"]


class Artifact(Response):
    """A temporary link to a PDF. Fetching it requires an API key of the same holder.

    It is unavailable if the plan does not include it, if the invoice has too many lines for a readable PDF, or if the
    service has no store for PDFs or no space in it.
    """

    available: bool
    url: str | None
    expires_in_seconds: int | None = Field(examples=[3600])


UNAVAILABLE = Artifact(available=False, url=None, expires_in_seconds=None)


class Artifacts(Response):
    """The links of a result."""

    validation_report_pdf: Artifact
    readable_invoice_pdf: Artifact


class ValidationResponse(Response):
    """The validation result of one file."""

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


class BatchItem(ValidationResponse):
    """The validation result of one file in a batch. An unreadable file has one error that states the reason."""

    filename: str = Field(examples=["invoice.xml"])
    validation_format: Literal["UBL", "CII", ""]  # type: ignore[assignment]
    invoice_summary: None


class BatchResponse(Response):
    """The validation results of several files, in request order."""

    status: Literal["done"]
    count: int = Field(examples=[2])
    items: list[BatchItem]


class EmbeddedXml(Response):
    """The invoice XML embedded in a PDF."""

    available: bool
    syntax: Literal["CII"] | None
    filename: str | None = Field(examples=["factur-x.xml"])


class GeneratedArtifacts(Artifacts):
    """The links of a generated invoice; the last two members exist for ZUGFERD only."""

    zugferd_pdf: Artifact | None = None
    embedded_xml: EmbeddedXml | None = None


class GeneratedValidation(Response):
    """The validation result of a generated invoice."""

    is_valid: bool
    xrechnung_version: str = XRECHNUNG
    validation_profile: str = Field(examples=["XRechnung"])
    validation_format: Literal["UBL", "CII"]
    errors: list[FindingItem]
    warnings: list[FindingItem]
    validation_details: ValidationDetails | None = None


class GenerateResponse(Response):
    """An invoice generated from a draft, and its validation result."""

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


class Limits(Response):
    """Upload limits."""

    max_upload_size_bytes: int = Field(examples=[10485760])
    max_upload_size_mb: float = Field(examples=[10.0])
    batch_max_files: int = Field(examples=[10])


class Endpoints(Response):
    """URLs of the endpoints; `{token}` is the placeholder for the token of a link."""

    validate_: str = Field(alias="validate")
    validate_batch: str
    generate: str
    invoice_draft_schema: str
    artifact_report: str
    artifact_invoice: str
    artifact_zugferd: str
    capabilities: str
    error_catalog: str


class RuleSet(Response):
    """A release of a rule set; the operator can select it with EINVOICE_RULESET."""

    name: str = Field(examples=["xrechnung-3.0.2"])
    ruleset: str = Field(description="Name of the rule set.", examples=["xrechnung"])
    version: str = Field(description="Release of the rules.")
    specification: str = Field(description="Version of the specification the rules are for; empty for EN 16931 alone.")
    en16931: str = Field(description="Release of the EN 16931 rules it includes.")
    valid_from: str = Field(description="First day of validity, ISO 8601; empty if unknown.")
    announced: bool = Field(description="Whether the release is published but not yet applied by default.")
    current: bool = Field(description="Whether this service applies it by default; true for exactly one.")


class RuleSetDescription(Response):
    """A rule set with all its releases."""

    name: str = Field(description="Name of the layer in validation stacks.", examples=["xrechnung"])
    title: str = Field(examples=["XRechnung"])
    kind: Literal["en16931", "cius", "extension", "profile"] = Field(
        description="Relation to EN 16931; findings state it as validation_layer."
    )
    base: str = Field(description="Rule set that it builds on; empty for EN 16931.", examples=["en16931"])
    releases: list[str] = Field(description="Releases, the oldest first.")
    added: bool = Field(description="Whether the operator added it or a newer release of it (EINVOICE_RULES_DIR).")


class ReferenceConfiguration(Response):
    """A configuration of official Schematron rules that the reference engine can run."""

    name: str
    kind: Literal["configuration", "schematron", "bundled"]
    title: str
    sha256: str = Field(description="SHA-256 of the added file; empty for the bundled configuration.")
    scenarios: list[str]


class NativeEngine(Response):
    """The rules of einvoice."""

    version: str


class ReferenceEngine(Response):
    """The official Schematron rules, run by Saxon."""

    version: str | None = Field(
        description="Version of saxonche; null if it is not installed and the engine is unavailable."
    )
    configurations: list[ReferenceConfiguration]


class Engines(Response):
    """The validation engines, by the values of the form field `engine`."""

    native: NativeEngine
    reference: ReferenceEngine
    default: Engine = Field(description="Engine of requests without the form field `engine` (EINVOICE_ENGINE).")


class CausesLimits(Response):
    """Limits of the search for the causes of findings (query parameter `causes`)."""

    available: bool
    max_seconds: float = Field(description="Maximum time of the search per document (EINVOICE_CAUSES_SECONDS).")


class DocumentEndpoint(Response):
    """An endpoint for whole documents."""

    available: bool = Field(description="Whether the plan includes it.")
    url: str


class JobEndpoint(DocumentEndpoint):
    """The endpoint for jobs, and its limits."""

    max_size_bytes: int = Field(description="Maximum size of a ZIP (EINVOICE_JOB_MEGABYTES).")
    max_files: int = Field(description="Maximum number of files (EINVOICE_JOB_FILES).")
    lifetime_seconds: int = Field(description="Time after which a job is erased (EINVOICE_JOB_SECONDS).")


class Capabilities(Response):
    """Entitlements of the key and capabilities of the service."""

    status: Literal["ok"]
    plan_type: str = Field(examples=["business"])
    entitlements: Entitlements
    limits: Limits
    supported_formats: list[str] = Field(examples=[["UBL", "CII", "ZUGFERD"]])
    supported_generation_formats: list[str] = Field(examples=[["UBL", "CII", "ZUGFERD"]])
    supported_languages: list[str] = Field(examples=[["de", "en"]])
    supported_validation_modes: list[str] = Field(examples=[["current", "compatibility"]])
    rule_sets: list[RuleSet]
    specifications: list[RuleSetDescription]
    engines: Engines
    causes: CausesLimits
    convert: DocumentEndpoint
    extract: DocumentEndpoint
    fix: DocumentEndpoint
    read: DocumentEndpoint
    diff: DocumentEndpoint
    jobs: JobEndpoint
    endpoints: Endpoints


class CatalogItem(Response):
    """A rule code."""

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
        description="Whether the current rule set contains it; compatibility mode can report rules of other releases."
    )


class CatalogResponse(Response):
    """All rule codes."""

    status: Literal["ok"]
    catalog_version: str
    xrechnung_version: str = XRECHNUNG
    rule_set: str = Field(description="Rule set the descriptions are taken from.", examples=["xrechnung-3.0.2"])
    rule_count: int
    language: str = Field(examples=["de"])
    items: list[CatalogItem]


class DraftErrorItem(Response):
    """An error in a draft."""

    pointer: str = Field(description="JSON pointer (RFC 6901).", examples=["/lines/0/quantity"])
    message: str


class ProblemDetails(Response):
    """Why the request failed (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    code: str = Field(description="Stable identifier of the problem type.")
    errors: Annotated[list[DraftErrorItem], Field(description="Every error in the draft, for `invalid_draft`.")] = []
