"""Plain data, ready for JSON: results, findings and the catalog."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any, Final

from einvoice.code_catalog import CatalogEntry
from einvoice.localization import Language, Messages, choose
from einvoice.model.terms import bt_field
from einvoice.render.compatibility import compatibility_message
from einvoice.render.text import release_of
from einvoice.result.agreement import Agreement
from einvoice.result.catalog import Catalog, notes
from einvoice.result.container import Container
from einvoice.result.differences import Difference
from einvoice.result.finding import Finding
from einvoice.result.stack import Layer, Stack
from einvoice.result.validation import ValidationResult

_NOT_APPLIED: Final = Messages("einvoice.render", "layers")


def result_dict(result: ValidationResult, lang: Language) -> dict[str, Any]:
    """Return a result as plain data, without causes; see `ValidationResult.to_dict`."""
    return {
        "status": "done",
        "validation_mode": result.stack.mode,
        "is_valid": result.is_valid,
        "xrechnung_version": result.stack.national.specification,
        "validation_profile": result.identity.profile,
        "validation_format": result.identity.syntax,
        "processing_time_ms": result.processing_time_ms,
        "errors": [finding_dict(finding, lang) for finding in result.errors],
        "warnings": [finding_dict(finding, lang) for finding in result.findings if finding.severity != "fatal"],
        "validation_details": {
            "invoice_identity": _identity(result),
            "validation_stack": _stack(result, lang),
            "compatibility": {
                "status": result.stack.status,
                "message": compatibility_message(result, lang),
                "differences": [difference_dict(difference, lang) for difference in result.differences],
            },
            "findings_left_out": result.omitted,
            **({"container": container_dict(result.container, lang)} if result.container else {}),
            **({"reference": agreement_dict(result.agreement, lang)} if result.agreement else {}),
        },
    }


def finding_dict(finding: Finding, lang: Language) -> dict[str, Any]:
    """Return a finding as plain data; missing texts are ""."""
    data: dict[str, Any] = {
        "code": finding.code,
        "severity": finding.severity,
        "validation_layer": finding.validation_layer,
        "section": finding.section,
        "title": finding.title(lang),
        "explanation": finding.explanation(lang),
        "fix": finding.fix(lang),
        "bt_field": finding.bt_field,
        "xpath": finding.xpath,
        "line": finding.line,
        "column": finding.column,
        "terms": list(finding.terms),
        "values": {name: _json(value) for name, value in finding.values.items()},
        "flag": finding.flag,
        "override_reason": finding.override_reason(lang),
        "notes": [note._asdict() for note in finding.notes(lang)],
        "indicative": finding.indicative,
    }
    if finding.reported:
        data["reported"] = finding.reported
    if finding.draft_pointer is not None:
        data["draft_pointer"] = finding.draft_pointer
    return data


def difference_dict(difference: Difference, lang: Language) -> dict[str, Any]:
    """Return a finding that only one of two releases reports, and the release that changed."""
    changed_in = {
        "ruleset": difference.ruleset,
        "version": difference.version,
        "specification": difference.changed_in.specification,
        "date": difference.changed_in.date,
        "release": release_of(difference),
    }
    return {**finding_dict(difference.finding, lang), "only_in": difference.only_in, "changed_in": changed_in}


def container_dict(container: Container, lang: Language) -> dict[str, Any]:
    """Return what is known about a PDF container, with the number of its findings."""
    return {
        "is_valid": container.is_valid,
        "name": container.name,
        "relationship": container.relationship,
        "candidates": list(container.candidates),
        "findings": len(container.findings),
        "title": choose(container.title, lang),
    }


def agreement_dict(agreement: Agreement, lang: Language) -> dict[str, Any]:
    """Return the comparison with the official Schematron."""
    return {
        "agreed": agreement.agreed,
        "configuration": agreement.configuration,
        "scenario": agreement.scenario,
        "compared": list(agreement.compared),
        "layers": [layer_dict(layer, lang) for layer in agreement.layers],
        "only_native": [finding_dict(finding, lang) for finding in agreement.only_native],
        "only_reference": [finding_dict(finding, lang) for finding in agreement.only_reference],
    }


def layer_dict(layer: Layer, lang: Language) -> dict[str, Any]:
    """Return a layer of the validation."""
    return {
        "name": layer.name,
        "kind": layer.kind or layer.name,
        "label": layer.label,
        "title": layer.title_in(lang),
        "version": layer.version,
        "sha256": layer.sha256,
        "executed": layer.executed,
        "rules": layer.rules,
    }


def catalog_dict(catalog: Catalog, lang: Language) -> dict[str, Any]:
    """Return the catalog with all of its entries."""
    return {
        "status": "ok",
        "catalog_version": catalog.version,
        "xrechnung_version": catalog.xrechnung_version,
        "rule_set": catalog.rule_set.name,
        "rule_count": len(catalog),
        "language": lang,
        "items": [_entry(entry, lang) for entry in catalog.values()],
    }


def _entry(entry: CatalogEntry, lang: Language) -> dict[str, Any]:
    """Return the data of one code; `xpath` selects the location in documents of either syntax."""
    return {
        "code": entry.code,
        "severity": entry.severity,
        "validation_layer": entry.kind,
        "layers": list(entry.layers),
        "section": entry.section,
        "title": entry.title(lang),
        "explanation": entry.explanation(lang),
        "fix": entry.fix(lang),
        "bt_field": bt_field(entry.terms),
        "terms": list(entry.terms),
        "xpath": " | ".join(entry.xpaths.values()),
        "xpaths": dict(entry.xpaths),
        "examples": list(entry.examples_in(lang)),
        "notes": list(notes(entry, lang)),
        "current": entry.current,
    }


def _json(value: Any) -> Any:
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, datetime.date):
        return value.isoformat()
    if isinstance(value, tuple):  # a list of values with their terms
        return ", ".join(" ".join(str(_json(part)) for part in it) for it in value)
    return value


def _identity(result: ValidationResult) -> dict[str, str]:
    identity = result.identity
    data = {
        "syntax": identity.syntax,
        "root": identity.root,
        "declared_profile": identity.profile,
        "declared_version": identity.version,
    }
    if identity.customization_id is not None:
        data["customization_id"] = identity.customization_id
    return data


def _stack(result: ValidationResult, lang: Language) -> dict[str, Any]:
    stack = result.stack
    return {
        "mode": stack.mode,
        "scenario_id": result.identity.scenario_id,
        "status": stack.status,
        "engine": stack.engine,
        "en16931": _description(stack, "en16931", lang) or _NOT_APPLIED[lang]["en16931"],
        "xrechnung": _description(stack, stack.national.name, lang) or _NOT_APPLIED[lang]["xrechnung"],
        "layers": [layer_dict(layer, lang) for layer in stack.layers],
    }


def _description(stack: Stack, name: str, lang: Language) -> str:
    layer = stack.layer(name)
    return "" if layer is None else layer.description(lang)
