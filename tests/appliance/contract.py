"""The tables of the interface's description, sections 2.2 to 2.10: the fields, and what each accepts."""

import re


def one_of(*values):
    return lambda value: value in values and type(value) in {type(it) for it in values}


def text(value):
    return isinstance(value, str)


def filled(value):
    return isinstance(value, str) and value.strip() != ""


def whole(value):
    return type(value) is int


def boolean(value):
    return type(value) is bool


def listing(value):
    return isinstance(value, list)


def fields(value):
    return isinstance(value, dict)


def nothing(value):
    return value is None


def date(value):
    return isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\d", value) is not None


def either(*kinds):
    return lambda value: any(kind(value) for kind in kinds)


FINDING = {
    "code": filled,
    "severity": one_of("fatal", "warning", "information"),
    "validation_layer": one_of("schema", "en16931", "cius", "extension", "profile", "pdf", "file"),
    "section": filled,
    "title": filled,
    "explanation": filled,
    "fix": filled,
    "bt_field": lambda value: value == "" or re.fullmatch(r"BT-\d+(-\d+)?", value) is not None,
    "xpath": text,
}
DETAILS = {
    "invoice_identity.syntax": one_of("UBL", "CII"),
    "invoice_identity.declared_profile": filled,
    "invoice_identity.declared_version": text,
    "invoice_identity.customization_id": filled,
    "validation_stack.mode": one_of("current", "compatibility"),
    "validation_stack.status": one_of("current", "outdated", "unknown"),
    "validation_stack.en16931": filled,
    "validation_stack.xrechnung": filled,
    "compatibility.status": one_of("current", "outdated", "unknown"),
    "compatibility.message": either(nothing, filled),
}
SUMMARY = {"invoice_number": filled, "invoice_date": date, "format": one_of("UBL", "CII")}
LINK = {"available": boolean, "url": either(nothing, filled), "expires_in_seconds": either(nothing, whole)}
VERDICT = {
    "status": one_of("done"),
    "validation_mode": one_of("current", "compatibility"),
    "is_valid": boolean,
    "xrechnung_version": one_of("3.0.2"),
    "validation_profile": filled,
    "validation_format": one_of("UBL", "CII"),
    "processing_time_ms": whole,
    "errors": listing,
    "warnings": listing,
    "artifacts": fields,
}
GENERATED = {
    "status": one_of("done"),
    "schema_version": one_of("1.1.0"),
    "format": one_of("UBL", "CII", "ZUGFERD"),
    "primary_artifact_type": one_of("xml", "pdf"),
    "is_valid": boolean,
    "xml": either(nothing, filled),
    "embedded_xml.available": boolean,
    "embedded_xml.syntax": either(nothing, one_of("CII")),
    "embedded_xml.filename": either(nothing, filled),
    "validation.is_valid": boolean,
    "validation.xrechnung_version": one_of("3.0.2"),
    "validation.validation_profile": filled,
    "validation.validation_format": one_of("UBL", "CII"),
    "validation.errors": listing,
    "validation.warnings": listing,
    "artifacts": fields,
}
CAPABILITIES = {
    "status": one_of("ok"),
    "plan_type": one_of("business"),
    "entitlements.plan_type": one_of("business"),
    "entitlements.daily_usage_limit": nothing,
    "entitlements.daily_validation_limit": nothing,
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
    "supported_formats": listing,
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
    "catalog_version": filled,
    "xrechnung_version": one_of("3.0.2"),
    "rule_count": whole,
    "language": one_of("de", "en"),
    "items": listing,
}
ITEM = {
    "code": filled,
    "severity": one_of("fatal", "warning", "information"),
    "section": filled,
    "title": filled,
    "explanation": filled,
    "fix": filled,
    "bt_field": text,
    "xpath": text,
    "examples": lambda value: isinstance(value, list) and all(map(text, value)),
}


def at(answer, path):
    for name in path.split("."):
        answer = answer[name]
    return answer
