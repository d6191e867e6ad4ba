"""Jobs on whole documents: convert, extract, fix, read, and compare two. A response body is the part of the outcome.

An outcome with a `verdict` is that of the document as it was sent.
"""

import base64
import dataclasses
from collections.abc import Callable
from typing import Any, Final

import einvoice
from appliance.contract.problems import Problem, ProblemType, quoted
from appliance.contract.results import unreadable_problem
from appliance.contract.serialization import to_json
from appliance.workers.protocol import Message
from einvoice.localization import Messages

INVALID_SPECIFICATION = ProblemType("invalid_specification", 422, example={"value": "CIUS"})
CONVERSION_REFUSED = ProblemType("conversion_refused", 422)
SIGNED_DOCUMENT = ProblemType("signed_document", 422)

MAX_LIST_BYTES: Final = 4 << 20
"""Maximum size of a list in a response body; the items of a large document quote all of it."""

_REMARKS: Final = Messages("einvoice.cli", "fix")


def _convert(job: Message) -> Message:
    head, lang = job.head, job.head["lang"]
    try:
        converted = einvoice.convert(job.parts[0], head["to"], specification=head["specification"], lang=lang)
    except einvoice.errors.UnknownSpecification as error:
        return _problem(Problem(INVALID_SPECIFICATION, value=error.name), lang)
    except einvoice.ConversionRefused as error:
        position = {} if error.line is None else {"line": error.line}
        return _problem(Problem(CONVERSION_REFUSED), lang, detail=error.text(lang), **position)
    content = converted.xml if converted.is_faithful or not head["strict"] else None
    return _outcome({**_document(content), **converted.to_dict(lang)}, converted.before, limit="changes")


def _extract(job: Message) -> Message:
    extracted = einvoice.extract(job.parts[0])
    problem = None
    if extracted.problem is not None:
        title, detail = einvoice.explain_error(extracted.problem, job.head["lang"])
        problem = {"code": extracted.problem.problem, "rule": extracted.problem.code, "title": title, "detail": detail}
    return _outcome(
        {
            **_document(extracted.xml),
            "name": extracted.name,
            "relationship": extracted.relationship,
            "profile": extracted.profile,
            "problem": problem,
            "candidates": [it.name for it in extracted.candidates],
            "attachments": [dataclasses.asdict(it) for it in extracted.attachments],
        }
    )


def _fix(job: Message) -> Message:
    lang = job.head["lang"]
    result = einvoice.validate(job.parts[0], lang=lang)
    try:
        fixed = result.fixed(unsafe=job.head["unsafe"])
    except einvoice.errors.SignedDocument:
        return _problem(Problem(SIGNED_DOCUMENT), lang)
    remarks = ["issuer"] if fixed.is_changed else []
    if remarks and result.container:
        remarks.append("page")
    body = {
        **_document(fixed.xml),
        **fixed.to_dict(lang),
        "diff": fixed.diff(quoted(job.head["names"][0])),
        "text": str(fixed),
        "remarks": [_REMARKS[lang][name] for name in remarks],
    }
    return _outcome(body, result, limit="remaining")


def _read(job: Message) -> Message:
    invoice = einvoice.read(job.parts[0])
    return _outcome({"syntax": invoice.syntax, "invoice": invoice.to_dict()})


def _diff(job: Message) -> Message:
    lang, invoices = job.head["lang"], []
    for name, document in zip(job.head["names"], job.parts, strict=True):
        try:
            invoices.append(einvoice.read(document))
        except einvoice.UnreadableDocument as error:
            return Message({"problem": {**unreadable_problem(error, lang), "filename": quoted(name)}})
    return _outcome(einvoice.diff(*invoices, lang=lang).to_dict(lang), limit="differences")


def _outcome(body: dict[str, Any], result: einvoice.ValidationResult | None = None, limit: str = "") -> Message:
    """Return the outcome with a body, whose list `limit` is shortened."""
    if limit:
        kept = _limited(body[limit])
        body |= {limit: kept, f"{limit}_left_out": len(body[limit]) - len(kept)}
    verdict = {} if result is None else {"verdict": {"valid": result.is_valid, "syntax": result.invoice.syntax}}
    return Message(verdict, (to_json({"status": "done", **body}),))


def _limited(items: list[Any]) -> list[Any]:
    """Return the first items, which have `MAX_LIST_BYTES` bytes as JSON at most."""
    left = MAX_LIST_BYTES
    for position, item in enumerate(items):
        left -= len(to_json(item))
        if left < 0:
            return items[:position]
    return items


def _document(content: bytes | None) -> dict[str, str | None]:
    """Return an XML document as text if it is UTF-8, so that no byte changes; else as Base64."""
    try:
        return {"xml": None if content is None else content.decode(), "xml_base64": None}
    except UnicodeDecodeError:
        return {"xml": None, "xml_base64": base64.b64encode(content or b"").decode()}


def _problem(problem: Problem, lang: str, **members: Any) -> Message:
    return Message({"problem": {**problem.to_dict(lang), **members}})


DOCUMENT_JOBS: Final[dict[str, Callable[[Message], Message]]] = {
    "convert": _convert,
    "extract": _extract,
    "fix": _fix,
    "read": _read,
    "diff": _diff,
}
