"""Tasks of jobs: validate a file of an archive, search for its causes, and summarize the records of all files."""

import hashlib
import itertools
import json
import time
import zlib
from collections.abc import Callable, Iterator
from typing import Any, Final

import einvoice
from appliance.contract.results import unreadable_result, validation_body
from appliance.contract.serialization import to_json
from appliance.workers.protocol import Message
from einvoice.bulk.cause_record import restored
from einvoice.bulk.common_causes import CommonCause, CommonCauses
from einvoice.bulk.execution.causes import causes_row, sample
from einvoice.bulk.execution.worker import Options
from einvoice.bulk.files.items import Item
from einvoice.bulk.lines import Lines
from einvoice.bulk.overview import overview
from einvoice.bulk.record import error_row, result_row
from einvoice.bulk.tables import FILES, Table, csv_lines, file_table, finding_table

MAX_CAUSES: Final = 200
"""Number of common causes in a summary."""

_NO_ARTIFACT: Final = {"available": False, "url": None, "expires_in_seconds": None}
_NO_ARTIFACTS: Final = {"validation_report_pdf": _NO_ARTIFACT, "readable_invoice_pdf": _NO_ARTIFACT}
_FACTS: Final = frozenset(FILES[FILES.index("number") : FILES.index("folder")])
"""Columns with what an invoice says."""
_CODE: Final = ("code", "severity", "files", "findings", "example")


def _file(job: Message) -> Message:
    """Validate a file; return its record, its line of JSON, and its rows of the two tables."""
    head, lang, started = job.head, job.head["lang"], time.perf_counter()
    document = job.parts[0] if job.parts else b""
    sha256 = hashlib.sha256(document).hexdigest() if job.parts else ""
    try:
        if "unreadable" in head:
            name, values = head["unreadable"]
            raise getattr(einvoice.errors, name)(**values)
        result = einvoice.validate(document, lang=lang, engine=head["engine"])
        row, syntax = result_row(head["name"], sha256, result), result.invoice.syntax
        body = validation_body(result, lang, head["base"])
    except einvoice.UnreadableDocument as error:
        row, syntax = error_row(head["name"], sha256, error), None
        body = unreadable_result(error, lang, round((time.perf_counter() - started) * 1000), head["base"])
    body |= {"invoice_summary": None, "artifacts": _NO_ARTIFACTS}
    line = to_json({"filename": head["name"], "sha256": sha256, **body})
    tables = (file_table([row.line], lang), finding_table([row.line], "findings", lang))
    csv = [_csv(table, has_header=head["has_header"], has_facts=head["has_facts"]) for table in tables]
    verdict = {"name": row.verdict, "valid": row.verdict == "valid", "syntax": syntax, "sha256": sha256}
    return Message({"verdict": verdict}, (row.line + b"\n", line + b"\n", *csv))


def _csv(table: Table, *, has_header: bool, has_facts: bool) -> bytes:
    columns = [it for it in table.columns if has_facts or it not in _FACTS]
    lines = csv_lines(table.selected(columns), ",")
    return "".join(lines if has_header else itertools.islice(lines, 1, None)).encode("utf-8", "backslashreplace")


def _sample(job: Message) -> Message:
    """Return the numbers of the files to search for causes."""
    records = list(map(_first_of_each_code, _lines(job)))
    numbers = {record["file"]: number for number, record in enumerate(records)}
    return Message({"numbers": [numbers[name] for name in sample(records, job.head["limit"])]})


def _causes(job: Message) -> Message:
    """Return the record of the causes of a file, as `einvoice.bulk.cause_record` has it."""
    row = causes_row(Item(job.head["name"], job.parts[0]), Options(engine=job.head["engine"]))
    return Message({}, (row.line + b"\n",))


def _summary(job: Message) -> Message:
    """Return the summary of a job: verdicts, codes, and common causes."""
    lang, lines = job.head["lang"], Lines(_lines(job))
    found = overview(lines, engine=job.head["engine"], complete=True, lang=lang)
    causes = None
    if job.head["has_causes"]:
        searched = [json.loads(line) for part in job.parts[job.head["records"] :] for line in part.splitlines()]
        by_file = ((it["file"], restored(it)) for it in searched if it.get("sha256"))
        causes = _common_causes(CommonCauses.of(by_file, map(_first_of_each_code, lines), lang=lang))
    codes = [{**{name: getattr(it, name) for name in _CODE}, "title": it.title(lang)} for it in found.codes]
    body = {"files": found.files, "verdicts": found.verdicts, "findings": found.findings, "rule_sets": found.rulesets}
    return Message({}, (to_json({"status": "done", **body, "codes": codes, "causes": causes}),))


def _common_causes(causes: CommonCauses) -> dict[str, Any]:
    figures = {name: getattr(causes, name) for name in ("invalid", "solvable", "incomplete")}
    items = [_common_cause(it) for it in causes[:MAX_CAUSES]]
    return {"examined": causes.files, **figures, "items": items, "items_left_out": len(causes) - len(items)}


def _common_cause(cause: CommonCause) -> dict[str, Any]:
    return {
        "text": cause.text(cause.lang),
        "terms": list(cause.terms),
        "codes": list(cause.codes),
        "is_question": cause.is_question,
        "files": len(cause.files),
        "findings": cause.findings,
        "explains_errors": cause.explains_errors,
        "valid": cause.valid,
        "example": cause.files[0],
    }


def _first_of_each_code(line: bytes) -> dict[str, Any]:
    """Return of a record what common causes need: 25,000 whole ones would take hundreds of megabytes."""
    record = json.loads(line)
    first = {it["code"]: it for it in reversed(record.get("findings", ()))}
    return {"file": record["file"], "verdict": record["verdict"], "findings": list(first.values())}


def _lines(job: Message) -> Iterator[bytes]:
    for part in job.parts[: job.head["records"]]:
        yield from zlib.decompress(part).splitlines()


ARCHIVE_TASKS: Final[dict[str, Callable[[Message], Message]]] = {
    "archive_file": _file,
    "archive_sample": _sample,
    "archive_causes": _causes,
    "archive_summary": _summary,
}
