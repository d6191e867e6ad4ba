"""Tasks of jobs: validate a file of an archive, search for its causes, and summarize the records of all files."""

import time
import zlib
from collections.abc import Callable, Iterator
from typing import Any, Final

import einvoice
from appliance.contract.results import unreadable_result, validation_body
from appliance.contract.serialization import to_json
from appliance.workers.protocol import Message
from einvoice.bulk import parts

MAX_CAUSES: Final = 200
"""Number of common causes in a summary."""

_NO_ARTIFACT: Final = {"available": False, "url": None, "expires_in_seconds": None}
_NO_ARTIFACTS: Final = {"validation_report_pdf": _NO_ARTIFACT, "readable_invoice_pdf": _NO_ARTIFACT}
_CODE: Final = ("code", "severity", "files", "findings", "example")
_FIGURES: Final = ("invalid", "solvable", "incomplete")
_CAUSE: Final = ("is_question", "findings", "explains_errors", "valid")


def _file(job: Message) -> Message:
    """Validate a file; return its record, its line of JSON, and its rows of the two tables."""
    head, lang, started = job.head, job.head["lang"], time.perf_counter()
    document = job.parts[0] if job.parts else None
    result: einvoice.ValidationResult | einvoice.UnreadableDocument
    try:
        if document is None:
            name, values = head["unreadable"]
            raise getattr(einvoice.errors, name)(**values)
        result = einvoice.validate(document, lang=lang, engine=head["engine"])
        syntax: str | None = result.invoice.syntax
        body = validation_body(result, lang, head["base"])
    except einvoice.UnreadableDocument as error:
        result, syntax = error, None
        body = unreadable_result(error, lang, round((time.perf_counter() - started) * 1000), head["base"])
    part = parts.part(head["name"], document, result)
    body |= {"invoice_summary": None, "artifacts": _NO_ARTIFACTS}
    line = to_json({"filename": head["name"], "sha256": part.sha256, **body})
    rows = parts.csv(part.record, lang, has_header=head["has_header"], has_facts=head["has_facts"])
    verdict = {"name": part.verdict, "valid": part.verdict == "valid", "syntax": syntax, "sha256": part.sha256}
    tables = (it.encode("utf-8", "backslashreplace") for it in rows)
    return Message({"verdict": verdict}, (part.record + b"\n", line + b"\n", *tables))


def _sample(job: Message) -> Message:
    """Return the numbers of the files to search for causes."""
    return Message({"numbers": parts.sample(_records(job), job.head["limit"])})


def _causes(job: Message) -> Message:
    """Return the record of the causes of a file."""
    return Message({}, (parts.causes_record(job.head["name"], job.parts[0], job.head["engine"]) + b"\n",))


def _summary(job: Message) -> Message:
    """Return the summary of a job: verdicts, codes, and common causes."""
    head, lang, causes = job.head, job.head["lang"], None
    if head["has_causes"]:
        causes = [line for block in job.parts[head["records"] :] for line in block.splitlines()]
    found, common = parts.summary(_records(job), causes, engine=head["engine"], lang=lang)
    codes = [{**{name: getattr(it, name) for name in _CODE}, "title": it.title(lang)} for it in found.codes]
    body = {"files": found.files, "verdicts": found.verdicts, "findings": found.findings, "rule_sets": found.rulesets}
    listed = None if common is None else _common_causes(common)
    return Message({}, (to_json({"status": "done", **body, "codes": codes, "causes": listed}),))


def _common_causes(causes: Any) -> dict[str, Any]:
    items = [
        {
            "text": cause.text(),
            "terms": list(cause.terms),
            "codes": list(cause.codes),
            "files": len(cause.files),
            "example": cause.files[0],
            **{name: getattr(cause, name) for name in _CAUSE},
        }
        for cause in causes[:MAX_CAUSES]
    ]
    figures = {name: getattr(causes, name) for name in _FIGURES}
    return {"examined": causes.files, **figures, "items": items, "items_left_out": len(causes) - len(items)}


def _records(job: Message) -> Iterator[bytes]:
    for block in job.parts[: job.head["records"]]:
        yield from zlib.decompress(block).splitlines()


ARCHIVE_TASKS: Final[dict[str, Callable[[Message], Message]]] = {
    "archive_file": _file,
    "archive_sample": _sample,
    "archive_causes": _causes,
    "archive_summary": _summary,
}
