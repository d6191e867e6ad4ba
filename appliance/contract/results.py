"""JSON bodies of results: what the contract adds to, or leaves out of, the results of the package `einvoice`."""

import dataclasses
from collections.abc import Iterable
from typing import Any

import einvoice
from appliance.contract.problems import Problem, ProblemType, problem_details
from appliance.contract.values import Language

_ONE_SIDED = ("only_native", "only_reference")
"""Members of `validation_details.reference` that list findings of one engine only."""

_AFTER_LINK = ("reported", "draft_pointer", "only_in", "changed_in")
"""Members of a finding that follow `doc_url`."""

_UNKNOWN_RULE = "REFERENCE-RULE"
"""Catalog entry shared by rules of the official Schematron without a separate entry."""

INVALID_DRAFT = ProblemType("invalid_draft", 422, example={"count": 2})


def validation_body(result: einvoice.ValidationResult, lang: Language, base: str | None) -> dict[str, Any]:
    """Return the response body for a validation result, with rule links and the summary but without `artifacts`.

    `base` is as in `add_links`.
    """
    body = result.to_dict(lang)
    _add_links_to_findings(body, base)
    return {**body, "invoice_summary": dataclasses.asdict(result.summary)}


def generation_body(generated: einvoice.Generated, lang: Language, base: str | None) -> dict[str, Any]:
    """Return the response body for a generated invoice, with rule links and the summary but without `artifacts`.

    `base` is as in `add_links`.
    """
    body = generated.to_dict(lang)
    validation = body.pop("validation")
    _add_links_to_findings(validation, base)
    summary = dataclasses.asdict(generated.validation.summary)
    return {**body, "invoice_summary": summary, "validation": validation}


def _add_links_to_findings(result: dict[str, Any], base: str | None) -> None:
    details = result.get("validation_details", {})
    differences = details.get("compatibility", {}).get("differences", ())
    reference = details.get("reference", {})
    one_sided = [finding for name in _ONE_SIDED for finding in reference.get(name, ())]
    add_links((*result["errors"], *result["warnings"], *differences, *one_sided), base)


def add_links(items: Iterable[dict[str, Any]], base: str | None) -> None:
    """Add the URL of the catalog page as `doc_url` to findings or catalog items, in place.

    If there is no base (catalog pages are disabled), `doc_url` is "".
    """
    for item in items:
        following = {name: item.pop(name) for name in _AFTER_LINK if name in item}
        item["doc_url"] = "" if base is None else f"{base}/catalog/{_catalog_code(item['code'], following)}"
        item.update(following)


def _catalog_code(code: str, members: dict[str, Any]) -> str:
    """Return the code of the catalog entry; official Schematron rules without one share a common entry."""
    if "reported" not in members:
        return code
    entry = einvoice.catalog().get(code)
    return entry.code if entry else _UNKNOWN_RULE


def unreadable_result(
    error: einvoice.UnreadableDocument, lang: Language, milliseconds: int, base: str | None
) -> dict[str, Any]:
    """Return the validation result of a file that cannot be read, as in a batch item.

    `base` is as in `add_links`.
    """
    title, detail = einvoice.explain_error(error, lang)
    identity = {"syntax": "", "declared_profile": "", "declared_version": ""}
    stack = {"mode": "current", "scenario_id": "", "status": "unknown", "en16931": "", "xrechnung": "", "layers": []}
    finding = _file_finding(error, lang)
    add_links([finding], base)
    return {
        "status": "done",
        "validation_mode": "current",
        "is_valid": False,
        "xrechnung_version": einvoice.catalog().xrechnung_version,
        "validation_profile": "",
        "validation_format": "",
        "processing_time_ms": milliseconds,
        "errors": [finding],
        "warnings": [],
        "validation_details": {
            "invoice_identity": identity,
            "validation_stack": stack,
            "compatibility": {"status": "unknown", "message": f"{title}. {detail}"},
            "findings_left_out": {},
        },
        "invoice_summary": None,
    }


def _file_finding(error: einvoice.UnreadableDocument, lang: Language) -> dict[str, Any]:
    finding = einvoice.Finding(
        code=error.code, severity="fatal", flag="fatal", layer="file", section="document", values=error.values
    )
    return {**finding.to_dict(lang), "line": error.line, "column": error.column}


def unreadable_problem(error: einvoice.UnreadableDocument, lang: Language) -> dict[str, Any]:
    """Return the problem details for a file that cannot be read."""
    title, detail = einvoice.explain_error(error, lang)
    return problem_details(422, error.problem, title, detail, rule=error.code, **_position(error))


def draft_problem(error: einvoice.DraftError, lang: Language) -> dict[str, Any]:
    """Return the problem details for an invalid draft, with every error in it."""
    errors = [{"pointer": item.pointer, "message": item.message(lang)} for item in error.errors]
    return {**Problem(INVALID_DRAFT, count=len(errors)).to_dict(lang), "errors": errors, **_position(error)}


def _position(error: einvoice.UnreadableDocument | einvoice.DraftError) -> dict[str, int]:
    return {name: number for name in ("line", "column") if (number := getattr(error, name)) is not None}
