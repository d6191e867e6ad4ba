"""The work itself, as the worker processes do it: a job in, an answer of the interface out, as finished JSON.

An answer leaves out its last member, `artifacts`: the server adds the links.
"""

import dataclasses
import datetime
import json
import logging
import time
from collections.abc import Callable, Iterable
from typing import Any

import einvoice
from appliance.problems import Language, members
from appliance.wire import Message

_log = logging.getLogger(__name__)


def do(job: Message) -> Message:
    """Do a job; whatever a document brings about stays in its outcome.

    The outcome's head says what came of it: `facts` about the answer, which is the first part; or a `problem`, ready
    to be answered; or `too_complex`; or `failed`, when the fault is ours.
    """
    try:
        return _JOBS[job.head["do"]](job)
    except einvoice.UnreadableDocument as error:
        return Message({"problem": _unreadable(error, job.head["lang"])})
    except einvoice.DraftError as error:
        return Message({"problem": _wrong_draft(error, job.head["lang"])})
    except MemoryError:
        return Message({"too_complex": True})
    except Exception as error:
        _log.error("A job failed", exc_info=error, extra={"fields": {"job": job.head["do"]}})
        return Message({"failed": True})


def _validate(job: Message) -> Message:
    """The verdict on one file."""
    lang = job.head["lang"]
    answer = einvoice.validate(job.parts[0], lang=lang, mode=job.head["mode"], engine=job.head["engine"]).to_dict(lang)
    _locate_rules(answer, job)
    return _judged(answer, job)


def _validate_item(job: Message) -> Message:
    """The verdict on one file of a batch; one that nobody can read has a verdict, too."""
    lang, started = job.head["lang"], time.perf_counter()
    try:
        answer = einvoice.validate(job.parts[0], lang=lang, engine=job.head["engine"]).to_dict(lang)
    except einvoice.UnreadableDocument as error:
        answer = _unread(error, lang, round((time.perf_counter() - started) * 1000))
    answer["invoice_summary"] = None
    _locate_rules(answer, job)
    return _judged({"filename": job.head["name"], **answer}, job)


def _give_up_item(job: Message) -> Message:
    """The verdict on a file of a batch that took more than it may."""
    error = einvoice.ResourceLimitExceeded(seconds=job.head["seconds"], megabytes=job.head["megabytes"])
    answer = _unread(error, job.head["lang"], round(job.head["seconds"] * 1000))
    _locate_rules(answer, job)
    return _judged({"filename": job.head["name"], **answer}, job)


def _generate(job: Message) -> Message:
    """An invoice made from a draft; the second part is the invoice as a file."""
    lang = job.head["lang"]
    made = einvoice.generate(job.parts[0], lang=lang)
    answer = made.to_dict(lang)
    _locate_rules(answer["validation"], job)
    _hide_summary(answer, job)
    validation = answer["validation"]
    facts = {"valid": made.is_valid, "syntax": validation["validation_format"], "format": made.format}
    return Message({"facts": facts, "embedded_xml": answer["embedded_xml"]}, (to_json(answer), made.data))


def _report(job: Message) -> Message:
    """The report on a file that has been judged: it is judged once more, by the same rules."""
    head = job.head
    result = einvoice.validate(job.parts[0], lang=head["lang"], mode=head["mode"], engine=head["engine"])
    when = datetime.datetime.fromtimestamp(head["judged_at"], datetime.UTC)
    return Message({}, (einvoice.report_pdf(dataclasses.replace(result, filename=head["name"]), when=when),))


def _readable_invoice(job: Message) -> Message:
    """An invoice for people to read."""
    return Message({}, (einvoice.invoice_pdf(einvoice.read(job.parts[0]), job.head["lang"]),))


def _judged(answer: dict[str, Any], job: Message) -> Message:
    del answer["artifacts"]
    _hide_summary(answer, job)
    facts = {"valid": answer["is_valid"], "syntax": answer["validation_format"] or None}
    return Message({"facts": facts}, (to_json(answer),))


def _hide_summary(answer: dict[str, Any], job: Message) -> None:
    if not job.head.get("summary", True):
        answer["invoice_summary"] = None


def _locate_rules(answer: dict[str, Any], job: Message) -> None:
    details = answer.get("validation_details", {})
    differences = details.get("compatibility", {}).get("differences", ())
    told = [finding for name in _ONE_SIDED for finding in details.get("reference", {}).get(name, ())]
    locate_rules((*answer["errors"], *answer["warnings"], *differences, *told), job.head.get("base"))


def locate_rules(told: Iterable[dict[str, Any]], base: str | None) -> None:
    """Let the pages be found from outside that describe the rules which are told of.

    `base` is what their addresses begin with, None where there are no such pages.
    """
    for item in told:
        item["doc_url"] = "" if base is None else base + item["doc_url"]


def _unread(error: einvoice.UnreadableDocument, lang: Language, milliseconds: int) -> dict[str, Any]:
    """The answer about a file that nobody can read, in the shape of any other."""
    title, detail = einvoice.explain_error(error, lang)
    nothing = {"syntax": "", "declared_profile": "", "declared_version": ""}
    stack = {"mode": "current", "scenario_id": "", "status": "unknown", "en16931": "", "xrechnung": "", "layers": []}
    return {
        "status": "done",
        "validation_mode": "current",
        "is_valid": False,
        "xrechnung_version": einvoice.catalog().xrechnung_version,
        "validation_profile": "",
        "validation_format": "",
        "processing_time_ms": milliseconds,
        "errors": [_as_finding(error, lang)],
        "warnings": [],
        "validation_details": {
            "invoice_identity": nothing,
            "validation_stack": stack,
            "compatibility": {"status": "unknown", "message": f"{title}. {detail}"},
        },
        "invoice_summary": None,
        "artifacts": {},
    }


def _as_finding(error: einvoice.UnreadableDocument, lang: Language) -> dict[str, Any]:
    finding = einvoice.Finding(
        code=error.code, severity="fatal", flag="fatal", layer="file", section="document", values=error.values
    )
    return {**finding.to_dict(lang), "line": error.line, "column": error.column}


def _unreadable(error: einvoice.UnreadableDocument, lang: Language) -> dict[str, Any]:
    title, detail = einvoice.explain_error(error, lang)
    place = {name: number for name in ("line", "column") if (number := getattr(error, name)) is not None}
    return members(422, error.problem, title, detail, rule=error.code, **place)


def _wrong_draft(error: einvoice.DraftError, lang: Language) -> dict[str, Any]:
    words = _WRONG_DRAFT[lang]
    wrong = [{"pointer": it.pointer, "message": it.message(lang)} for it in error.errors]
    place = {name: number for name in ("line", "column") if (number := getattr(error, name)) is not None}
    detail = words["detail"].format(count=len(error.errors))
    return members(422, error.code, words["title"], detail, errors=wrong, **place)


def to_json(answer: object) -> bytes:
    """Return an answer as JSON."""
    return json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "backslashreplace")


_ONE_SIDED = ("only_native", "only_reference")
"""Where an answer tells the findings that our rules and the official artefacts do not share."""

_WRONG_DRAFT = {
    "de": {"title": "Kein gültiger Entwurf", "detail": "Falsche Stellen im Entwurf: {count}. Sie stehen in errors."},
    "en": {"title": "Not a valid draft", "detail": "Wrong places in the draft: {count}. They are listed in errors."},
}

_JOBS: dict[str, Callable[[Message], Message]] = {
    "validate": _validate,
    "validate_item": _validate_item,
    "give_up_item": _give_up_item,
    "generate": _generate,
    "validation_report_pdf": _report,
    "readable_invoice_pdf": _readable_invoice,
}
