"""Field tables of the service description, sections 2.2 to 2.10, with a predicate for each value."""

import re


def one_of(*values):
    return lambda value: value in values and type(value) in {type(item) for item in values}


def text(value):
    return isinstance(value, str)


def non_blank(value):
    return isinstance(value, str) and value.strip() != ""


def integer(value):
    return type(value) is int


def boolean(value):
    return type(value) is bool


def array(value):
    return isinstance(value, list)


def json_object(value):
    return isinstance(value, dict)


def null(value):
    return value is None


def date(value):
    return isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", value) is not None


def either(*predicates):
    return lambda value: any(predicate(value) for predicate in predicates)


FINDING = {
    "code": non_blank,
    "severity": one_of("fatal", "warning", "information"),
    "validation_layer": one_of("schema", "en16931", "cius", "extension", "profile", "pdf", "file"),
    "section": non_blank,
    "title": non_blank,
    "explanation": non_blank,
    "fix": non_blank,
    "bt_field": lambda value: value == "" or re.fullmatch(r"BT-\d+", value) is not None,
    "xpath": text,
}
DETAILS = {
    "invoice_identity.syntax": one_of("UBL", "CII"),
    "invoice_identity.declared_profile": non_blank,
    "invoice_identity.declared_version": text,
    "invoice_identity.customization_id": non_blank,
    "validation_stack.mode": one_of("current", "compatibility"),
    "validation_stack.status": one_of("current", "outdated", "unknown"),
    "validation_stack.en16931": non_blank,
    "validation_stack.xrechnung": non_blank,
    "compatibility.status": one_of("current", "outdated", "unknown"),
    "compatibility.message": either(null, non_blank),
}
SUMMARY = {"invoice_number": non_blank, "invoice_date": date, "format": one_of("UBL", "CII")}
LINK = {"available": boolean, "url": either(null, non_blank), "expires_in_seconds": either(null, integer)}
VALIDATION_RESULT = {
    "status": one_of("done"),
    "validation_mode": one_of("current", "compatibility"),
    "is_valid": boolean,
    "xrechnung_version": one_of("3.0.2"),
    "validation_profile": non_blank,
    "validation_format": one_of("UBL", "CII"),
    "processing_time_ms": integer,
    "errors": array,
    "warnings": array,
    "artifacts": json_object,
}
GENERATE_RESPONSE = {
    "status": one_of("done"),
    "schema_version": one_of("1.1.0"),
    "format": one_of("UBL", "CII", "ZUGFERD"),
    "primary_artifact_type": one_of("xml", "pdf"),
    "is_valid": boolean,
    "xml": either(null, non_blank),
    "embedded_xml.available": boolean,
    "embedded_xml.syntax": either(null, one_of("CII")),
    "embedded_xml.filename": either(null, non_blank),
    "validation.is_valid": boolean,
    "validation.xrechnung_version": one_of("3.0.2"),
    "validation.validation_profile": non_blank,
    "validation.validation_format": one_of("UBL", "CII"),
    "validation.errors": array,
    "validation.warnings": array,
    "artifacts": json_object,
}
CAPABILITIES = {
    "status": one_of("ok"),
    "plan_type": one_of("business"),
    "entitlements.plan_type": one_of("business"),
    "entitlements.daily_usage_limit": null,
    "entitlements.daily_validation_limit": null,
    "entitlements.can_view_structured_invoice": one_of(True),
    "entitlements.can_generate_invoice": one_of(True),
    "entitlements.can_download_readable_pdf": one_of(True),
    "entitlements.can_export": one_of(False),
    "entitlements.can_autofix": one_of(True),
    "entitlements.can_batch": one_of(True),
    "entitlements.can_use_api": one_of(True),
    "entitlements.can_use_inbound_email": one_of(True),
    "limits.max_upload_size_bytes": one_of(10485760),
    "limits.max_upload_size_mb": one_of(10.0),
    "limits.batch_max_files": one_of(10),
    "supported_formats": array,
    "supported_generation_formats": lambda value: value == ["UBL", "CII", "ZUGFERD"],
    "supported_languages": lambda value: value == ["de", "en"],
    "supported_validation_modes": lambda value: value == ["current", "compatibility"],
}
ENDPOINTS = {
    "validate": "/validate",
    "validate_batch": "/validate/batch",
    "generate": "/generate",
    "invoice_draft_schema": "/schemas/invoice-draft.json",
    "artifact_report": "/artifacts/{token}/report.pdf",
    "artifact_invoice": "/artifacts/{token}/invoice.pdf",
    "artifact_zugferd": "/artifacts/{token}/zugferd.pdf",
    "capabilities": "/capabilities",
    "error_catalog": "/errors/catalog",
}
CATALOG = {
    "status": one_of("ok"),
    "catalog_version": non_blank,
    "xrechnung_version": one_of("3.0.2"),
    "rule_count": integer,
    "language": one_of("de", "en"),
    "items": array,
}
ITEM = {
    "code": non_blank,
    "severity": one_of("fatal", "warning", "information"),
    "section": non_blank,
    "title": non_blank,
    "explanation": non_blank,
    "fix": non_blank,
    "bt_field": lambda value: re.fullmatch(r"(BT-\d+)?", value) is not None,
    "xpath": text,
    "examples": lambda value: isinstance(value, list) and all(map(text, value)),
}


def at(body, path):
    for name in path.split("."):
        body = body[name]
    return body
