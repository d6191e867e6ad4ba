"""JSON bodies of results: what the contract adds to, or leaves out of, the results of the package `einvoice`."""

from collections.abc import Iterable
from typing import Any

import einvoice
from appliance.contract.problems import Problem, ProblemText, ProblemType, problem_details
from appliance.contract.values import Language

_ONE_SIDED = ("only_native", "only_reference")
"""Members of `validation_details.reference` that list findings of one engine only."""

INVALID_DRAFT = ProblemType(
    "invalid_draft",
    422,
    de=ProblemText("Kein gültiger Entwurf", "Der Entwurf enthält {count} Fehler; siehe errors."),
    en=ProblemText("Invalid draft", "Errors in the draft: {count}; see errors."),
    example={"count": 2},
)


def add_rule_links(result: dict[str, Any], base: str | None) -> None:
    """Make each `doc_url` in a validation result absolute, in place; see `make_links_absolute`."""
    details = result.get("validation_details", {})
    differences = details.get("compatibility", {}).get("differences", ())
    reference = details.get("reference", {})
    one_sided = [finding for name in _ONE_SIDED for finding in reference.get(name, ())]
    make_links_absolute((*result["errors"], *result["warnings"], *differences, *one_sided), base)


def make_links_absolute(items: Iterable[dict[str, Any]], base: str | None) -> None:
    """Prefix each `doc_url` with `base`, in place; without a base (catalog pages are disabled) it becomes ""."""
    for item in items:
        item["doc_url"] = "" if base is None else base + item["doc_url"]


def unreadable_result(error: einvoice.UnreadableDocument, lang: Language, milliseconds: int) -> dict[str, Any]:
    """Return the validation result of a file that cannot be read, as a batch item has it."""
    title, detail = einvoice.explain_error(error, lang)
    identity = {"syntax": "", "declared_profile": "", "declared_version": ""}
    stack = {"mode": "current", "scenario_id": "", "status": "unknown", "en16931": "", "xrechnung": "", "layers": []}
    return {
        "status": "done",
        "validation_mode": "current",
        "is_valid": False,
        "xrechnung_version": einvoice.catalog().xrechnung_version,
        "validation_profile": "",
        "validation_format": "",
        "processing_time_ms": milliseconds,
        "errors": [_file_finding(error, lang)],
        "warnings": [],
        "validation_details": {
            "invoice_identity": identity,
            "validation_stack": stack,
            "compatibility": {"status": "unknown", "message": f"{title}. {detail}"},
        },
        "invoice_summary": None,
        "artifacts": {},
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
