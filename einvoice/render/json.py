"""Plain data, ready for JSON: results, findings and the catalog."""

from __future__ import annotations

import datetime
from decimal import Decimal
from typing import Any, Final

from einvoice.localization import Language, Messages, choose
from einvoice.model.terms import bt_field
from einvoice.presentation import to_dict
from einvoice.render.compatibility import compatibility_message
from einvoice.render.text import release_of
from einvoice.result.agreement import Agreement
from einvoice.result.catalog import Catalog, notes
from einvoice.result.container import Container
from einvoice.result.differences import Difference
from einvoice.result.finding import Finding
from einvoice.result.stack import Layer, Stack
from einvoice.result.validation import ValidationResult
from einvoice.rulebook.catalog import CatalogEntry

_NOT_APPLIED: Final = Messages("einvoice.render", "layers")


@to_dict.register(ValidationResult)
def _result(result: ValidationResult, lang: Language) -> dict[str, Any]:
    return {
        "status": "done",
        "validation_mode": result.stack.mode,
        "is_valid": result.is_valid,
        "xrechnung_version": result.stack.national.specification,
        "validation_profile": result.identity.profile,
        "validation_format": result.identity.syntax,
        "processing_time_ms": result.processing_time_ms,
        "errors": [_finding(finding, lang) for finding in result.errors],
        "warnings": [_finding(finding, lang) for finding in result.findings if finding.severity != "fatal"],
        "validation_details": {
            "invoice_identity": _identity(result),
            "validation_stack": _stack(result, lang),
            "compatibility": {
                "status": result.stack.status,
                "message": compatibility_message(result, lang),
                "differences": [_difference(difference, lang) for difference in result.differences],
            },
            "findings_left_out": result.omitted,
            **({"container": _container(result.container, lang)} if result.container else {}),
            **({"reference": _agreement(result.agreement, lang)} if result.agreement else {}),
        },
    }


@to_dict.register(Finding)
def _finding(finding: Finding, lang: Language) -> dict[str, Any]:
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


@to_dict.register(Difference)
def _difference(difference: Difference, lang: Language) -> dict[str, Any]:
    changed_in = {
        "ruleset": difference.ruleset,
        "version": difference.version,
        "specification": difference.changed_in.specification,
        "date": difference.changed_in.date,
        "release": release_of(difference),
    }
    return {**_finding(difference.finding, lang), "only_in": difference.only_in, "changed_in": changed_in}


@to_dict.register(Container)
def _container(container: Container, lang: Language) -> dict[str, Any]:
    return {
        "is_valid": container.is_valid,
        "name": container.name,
        "relationship": container.relationship,
        "candidates": list(container.candidates),
        "findings": len(container.findings),
        "title": choose(container.title, lang),
    }


@to_dict.register(Agreement)
def _agreement(agreement: Agreement, lang: Language) -> dict[str, Any]:
    return {
        "agreed": agreement.agreed,
        "configuration": agreement.configuration,
        "scenario": agreement.scenario,
        "compared": list(agreement.compared),
        "layers": [_layer(layer, lang) for layer in agreement.layers],
        "only_native": [_finding(finding, lang) for finding in agreement.only_native],
        "only_reference": [_finding(finding, lang) for finding in agreement.only_reference],
    }


@to_dict.register(Layer)
def _layer(layer: Layer, lang: Language) -> dict[str, Any]:
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


@to_dict.register(Catalog)
def _catalog(catalog: Catalog, lang: Language) -> dict[str, Any]:
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
        "layers": [_layer(layer, lang) for layer in stack.layers],
    }


def _description(stack: Stack, name: str, lang: Language) -> str:
    layer = stack.layer(name)
    return "" if layer is None else layer.description(lang)
