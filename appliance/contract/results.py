"""JSON bodies of results: what the contract adds to, or leaves out of, the results of the package `einvoice`."""

import dataclasses
import itertools
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

import einvoice
from appliance.contract.problems import Problem, ProblemType, problem_details
from appliance.contract.serialization import to_json
from appliance.contract.values import Language

_ONE_SIDED = ("only_native", "only_reference")
"""Members of `validation_details.reference` that list findings of one engine only."""

MAX_FINDINGS_BYTES: Final = 4 << 20
"""Maximum size of all findings of a result; a thousand usual findings have 1.5 MB."""

MAX_CAUSES_BYTES: Final = 1 << 20
"""Maximum size of all causes of a result; a usual cause has 1 KB."""

_FEW_FINDINGS: Final = 50
"""Number of findings that cannot exceed the limit: each quotes a few values of at most 500 characters."""

_AFTER_LINK = ("reported", "draft_pointer", "only_in", "changed_in")
"""Members of a finding that follow `doc_url`."""

_UNKNOWN_RULE = "REFERENCE-RULE"
"""Catalog entry shared by rules of the official Schematron without a separate entry."""

INVALID_DRAFT = ProblemType("invalid_draft", 422, example={"count": 2})


def validation_body(
    result: einvoice.ValidationResult,
    lang: Language,
    base: str | None,
    *,
    causes: Sequence[Any] | None = None,
    assess: bool = False,
) -> dict[str, Any]:
    """Return the response body for a validation result, with rule links and the summary but without `artifacts`.

    `base` is as in `add_links`; `causes` are added to `validation_details` if given, and so is the limit
    that ended the search for them; with `assess`, so is the assessment.
    """
    body = result.to_dict(lang, causes=False if causes is None else causes, assessment=assess)
    found, ended_by = body.pop("causes", []), body.pop("causes_ended_by", "")
    listed = [*body["errors"], *body["warnings"]]
    _add_links_to_findings(body, base)
    limit_findings(body)
    if causes is not None:
        kept = {id(finding): at for at, finding in enumerate([*body["errors"], *body["warnings"]])}
        positions = {before: kept[id(finding)] for before, finding in enumerate(listed) if id(finding) in kept}
        body["validation_details"]["causes"] = list(_limited_causes(found, positions))
        body["validation_details"]["causes_ended_by"] = ended_by
    return {**body, "invoice_summary": _summary(result)}


def generation_body(generated: einvoice.Generated, lang: Language, base: str | None) -> dict[str, Any]:
    """Return the response body for a generated invoice, with rule links and the summary but without `artifacts`.

    `base` is as in `add_links`.
    """
    body = generated.to_dict(lang)
    validation = body.pop("validation")
    _add_links_to_findings(validation, base)
    limit_findings(validation)
    return {**body, "invoice_summary": _summary(generated.validation), "validation": validation}


def _summary(result: einvoice.ValidationResult) -> dict[str, str]:
    """Return the summary as plain data, without copying the texts as `dataclasses.asdict` does."""
    summary = result.summary
    return {field.name: getattr(summary, field.name) for field in dataclasses.fields(summary)}


def _limited_causes(causes: Iterable[dict[str, Any]], positions: Mapping[int, int]) -> Iterator[dict[str, Any]]:
    """Yield causes until they have `MAX_CAUSES_BYTES` bytes as JSON; their texts and edits quote the document.

    Args:
        causes: the gravest first.
        positions: new position of each finding that is reported.
    """
    left = MAX_CAUSES_BYTES
    for cause in causes:
        cause["findings"] = [positions[it] for it in cause["findings"] if it in positions]
        left -= len(to_json(cause))
        if left < 0:
            return
        yield cause


def _finding_lists(result: dict[str, Any]) -> list[list[dict[str, Any]]]:
    """Return all lists of findings in a result, the most important first."""
    details = result.get("validation_details", {})
    differences = details.get("compatibility", {}).get("differences", [])
    reference = details.get("reference", {})
    return [result["errors"], result["warnings"], differences, *(reference.get(name, []) for name in _ONE_SIDED)]


def _add_links_to_findings(result: dict[str, Any], base: str | None) -> None:
    add_links(itertools.chain(*_finding_lists(result)), base)


def limit_findings(result: dict[str, Any], max_bytes: int = MAX_FINDINGS_BYTES) -> None:
    """Remove findings of a result in place until they have at most `max_bytes` bytes as JSON.

    Findings quote the document, so a few hundred can have megabytes. The first finding of each code is kept in each
    list. `findings_left_out` counts the others.
    """
    lists = _finding_lists(result)
    if sum(map(len, lists)) <= _FEW_FINDINGS:
        return
    left_out = Counter(result["validation_details"]["findings_left_out"])
    for findings in lists:
        kept, codes = [], set()
        for finding in findings:
            size = len(to_json(finding))
            if size <= max_bytes or finding["code"] not in codes:
                kept.append(finding)
                codes.add(finding["code"])
                max_bytes -= size
            else:
                left_out[finding["code"]] += 1
        findings[:] = kept
    result["validation_details"]["findings_left_out"] = dict(left_out)


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
