"""Jobs, run inside a worker process: validate and generate return a response body as JSON, render a PDF.

A response body lacks its last member, `artifacts`: the server appends the links.
"""

import dataclasses
import datetime
import json
import logging
import time
from collections.abc import Callable
from typing import Any

import einvoice
from appliance.contract.problems import Problem, ProblemType
from appliance.contract.results import (
    draft_problem,
    generation_body,
    unreadable_problem,
    unreadable_result,
    validation_body,
)
from appliance.contract.serialization import to_json
from appliance.workers.document_jobs import DOCUMENT_JOBS
from appliance.workers.protocol import Message
from appliance.workers.varl import kosit_report

TOO_MANY_LINES = ProblemType("too_complex", 422, message="too_many_lines")
TEXT_TOO_LONG = ProblemType("too_complex", 422, message="text_too_long")

MAX_PDF_TEXT = 10_000
"""Maximum length of a text in a PDF, in characters. Each thousand can take 0.7 s."""

_MIN_VALIDATIONS = 4
"""Number of validations that must fit into the time limit of the search for causes."""

_MAX_VALUES = 200_000
"""Number of values in a draft, as in `einvoice.draft.read`."""

log = logging.getLogger(__name__)


def run_job(job: Message) -> Message:
    """Run a job and return its outcome; exceptions are part of the outcome.

    The head of the outcome has one of these members: `verdict`, with the response body as the first part; `problem`,
    the finished problem details; `undeliverable`, for a ZUGFERD draft where `deliver_pdf` is false; `limit_exceeded`;
    or `failed`, after an internal error, which is logged. Beside the verdict on a single invoice, `printable` says
    whether it has few enough lines for a PDF.
    """
    try:
        return _JOBS[job.head["job"]](job)
    except einvoice.UnreadableDocument as error:
        return Message({"problem": unreadable_problem(error, job.head["lang"])})
    except einvoice.DraftError as error:
        return Message({"problem": draft_problem(error, job.head["lang"])})
    except MemoryError:
        return Message({"limit_exceeded": True})
    except Exception as error:
        log.error("A job failed", exc_info=error, extra={"fields": {"job": job.head["job"]}})
        return Message({"failed": True})


def _validate(job: Message) -> Message:
    lang = job.head["lang"]
    started = time.perf_counter()
    result = einvoice.validate(job.parts[0], lang=lang, mode=job.head["mode"], engine=job.head["engine"])
    outcome = _validated(_body(result, job, time.perf_counter() - started), job)
    outcome.head["printable"] = _is_printable(_line_count(result.invoice), job)
    return outcome


def _body(result: einvoice.ValidationResult, job: Message, seconds: float) -> dict[str, Any]:
    """Return the response body with the requested details; `seconds` is the duration of the validation."""
    lang, base, requested = job.head["lang"], job.head.get("base"), job.head.get("details", ())
    causes = _causes(result, job, seconds)
    listed = causes or () if "causes" in requested else None
    body = validation_body(result, lang, base, causes=listed, assess="assess" in requested)
    details = body["validation_details"]
    if "causes" in requested and causes is None:
        details["causes"] = None
    if "letter" in requested:
        items = "assess" in requested
        details["letter"] = None if causes is None else result.letter(lang, items=items, causes=causes)
    return body


def _causes(result: einvoice.ValidationResult, job: Message, seconds: float) -> tuple[Any, ...] | None:
    """Return the causes; None if they are not needed, or the time or memory limit of a document leaves none.

    The search begins with a validation, and may exceed its limit by another one.
    """
    limit: float | None = job.head.get("causes_seconds")
    if not limit or limit < _MIN_VALIDATIONS * seconds:
        return None
    try:
        return result.causes(seconds=limit - 2 * seconds)
    except MemoryError:
        return None


def _validate_item(job: Message) -> Message:
    """Validate one file of a batch; an unreadable file is a result, not a problem."""
    lang, base, started = job.head["lang"], job.head.get("base"), time.perf_counter()
    try:
        result = einvoice.validate(job.parts[0], lang=lang, engine=job.head["engine"])
        body = _body(result, job, time.perf_counter() - started)
    except einvoice.UnreadableDocument as error:
        body = unreadable_result(error, lang, round((time.perf_counter() - started) * 1000), base)
    body["invoice_summary"] = None
    return _validated({"filename": job.head["name"], **body}, job)


def _abandon_item(job: Message) -> Message:
    """Return the result of a file in a batch that exceeded the limits of a job, or that ended its worker."""
    head = job.head
    error: einvoice.UnreadableDocument
    if "seconds" in head:
        error = einvoice.ResourceLimitExceeded(seconds=head["seconds"], megabytes=head["megabytes"])
    else:
        error = einvoice.errors.WorkerCrashed(reason="exited twice")
    body = unreadable_result(error, head["lang"], round(head.get("seconds", 0) * 1000), head.get("base"))
    return _validated({"filename": head["name"], **body}, job)


def _generate(job: Message) -> Message:
    """Generate an invoice from a draft; the second part is the invoice file."""
    lang = job.head["lang"]
    draft = _hybrid_draft(job.parts[0])
    if draft and not job.head.get("deliver_pdf", True):
        return Message({"undeliverable": True})
    lines = draft.get("lines")
    lines = len(lines) if isinstance(lines, list) else 0
    if _longest_text(draft) > MAX_PDF_TEXT:
        return Message({"problem": Problem(TEXT_TOO_LONG, limit=MAX_PDF_TEXT).to_dict(lang)})
    if not _is_printable(lines, job):
        return Message({"problem": Problem(TOO_MANY_LINES, lines=lines, limit=job.head["pdf_lines"]).to_dict(lang)})
    generated = einvoice.generate(job.parts[0], lang=lang)
    body = generation_body(generated, lang, job.head.get("base"))
    _apply_entitlements(body, job)
    validation = body["validation"]
    verdict = {"valid": generated.is_valid, "syntax": validation["validation_format"], "format": generated.format}
    printable = _is_printable(_line_count(generated.invoice), job)
    head = {"verdict": verdict, "embedded_xml": body["embedded_xml"], "printable": printable}
    return Message(head, (to_json(body), generated.data))


def _render_report(job: Message) -> Message:
    """Render the validation report; the document is validated again, with the same rules."""
    head = job.head
    started = time.perf_counter()
    result = einvoice.validate(job.parts[0], lang=head["lang"], mode=head["mode"], engine=head["engine"])
    causes = _causes(result, job, time.perf_counter() - started) or ()
    when = datetime.datetime.fromtimestamp(head["validated_at"], datetime.UTC)
    assessment = result.assessment() if head.get("assess") else None
    named = dataclasses.replace(result, filename=head["name"])
    return Message({}, (einvoice.report_pdf(named, when=when, causes=causes, assessment=assessment),))


def _render_invoice(job: Message) -> Message:
    return Message({}, (einvoice.invoice_pdf(einvoice.read(job.parts[0]), job.head["lang"]),))


def _run_archive_task(job: Message) -> Message:
    from appliance.workers.archive_tasks import ARCHIVE_TASKS  # loads the analysis of many files, which takes a while

    return ARCHIVE_TASKS[job.head["job"]](job)


def _validated(body: dict[str, Any], job: Message) -> Message:
    _apply_entitlements(body, job)
    verdict = {"valid": body["is_valid"], "syntax": body["validation_format"] or None}
    return Message({"verdict": verdict}, (to_json(body),))


def _line_count(parent: Any) -> int:
    """Return the number of lines of an invoice, with sub-lines, or of sub-lines of a line."""
    return sum(1 + _line_count(line) for line in parent.lines)


def _hybrid_draft(draft: bytes) -> dict[str, Any]:
    """Return a draft for ZUGFERD; an empty one for other formats, and for what is not a draft."""
    if draft.count(b",") > _MAX_VALUES:
        return {}  # `einvoice.generate` refuses it before it is built
    try:
        content = json.loads(draft)
    except (ValueError, RecursionError):
        return {}
    return content if isinstance(content, dict) and content.get("format") == "ZUGFERD" else {}


def _longest_text(content: Any) -> int:
    """Return the length of the longest text in a draft, without attached files."""
    if isinstance(content, dict):
        content = [value for name, value in content.items() if name != "attachments"]
    if isinstance(content, list):
        return max(map(_longest_text, content), default=0)
    return len(content) if isinstance(content, str) else 0


def _is_printable(lines: int, job: Message) -> bool:
    """Return whether a PDF may have this many lines. Each takes about 11 ms and a quarter of a megabyte."""
    limit: int | None = job.head.get("pdf_lines")
    return limit is None or lines <= limit


def _apply_entitlements(body: dict[str, Any], job: Message) -> None:
    if not job.head.get("summary", True):
        body["invoice_summary"] = None


_JOBS: dict[str, Callable[[Message], Message]] = {
    "validate": _validate,
    "validate_item": _validate_item,
    "abandon_item": _abandon_item,
    "generate": _generate,
    "validation_report_pdf": _render_report,
    "readable_invoice_pdf": _render_invoice,
    **DOCUMENT_JOBS,
    **dict.fromkeys(("archive_file", "archive_sample", "archive_causes", "archive_summary"), _run_archive_task),
    "kosit_report": kosit_report,
}
