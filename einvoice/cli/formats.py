"""Output formats of results: table, JSON, CSV, GitHub annotations."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from einvoice.cli import table
from einvoice.cli.outcome import Outcome, Problem
from einvoice.quotation import printable
from einvoice.render.text import notes
from einvoice.result import Finding, Language

_Write: TypeAlias = Callable[[Iterator[Outcome], Language], Iterator[str]]


class Format(NamedTuple):
    """An output format; output for programs is UTF-8 with its own line endings."""

    write: _Write
    is_machine_readable: bool = True


def _json(outcomes: Iterator[Outcome], lang: Language) -> Iterator[str]:
    """Yield a JSON list with one item per file: the result with the key facts of the invoice, or the problem."""
    import json

    before = "[\n"
    for outcome in outcomes:
        yield before + json.dumps(_item(outcome, lang), ensure_ascii=False, indent=2)
        before = ",\n"
    yield "[]\n" if before == "[\n" else "\n]\n"


def _item(outcome: Outcome, lang: Language) -> dict[str, Any]:
    if outcome.result is not None:
        summary = dataclasses.asdict(outcome.result.summary)
        return {
            "file": outcome.file,
            **outcome.result.to_dict(lang, assessment=outcome.assessment),
            "invoice_summary": summary,
        }
    assert outcome.problem is not None
    return {"file": outcome.file, "status": "unreadable", "is_valid": False, "problem": outcome.problem._asdict()}


def _csv(outcomes: Iterator[Outcome], lang: Language) -> Iterator[str]:
    """Yield one row per finding, with the file in the first column."""
    from einvoice.render.tables import COLUMNS, CONTEXT, context, csv_text, folder_of, row

    yield csv_text((*CONTEXT, *COLUMNS), ())
    for outcome in outcomes:
        name = printable(outcome.file)
        file = {"file": name, "folder": folder_of(name)}
        if outcome.result is not None:
            known = (context(outcome.result) | file).values()
            yield csv_text(None, ((*known, *row(finding, lang).values()) for finding in outcome.result.findings))
        if outcome.problem is not None:
            cells = dict.fromkeys((*CONTEXT, *COLUMNS)) | file | _problem_cells(outcome.problem)
            yield csv_text(None, (cells.values(),))


def _problem_cells(problem: Problem) -> dict[str, Any]:
    cells = {"code": problem.code, "title": problem.title, "explanation": problem.detail}
    return {**cells, "severity": "fatal", "layer": "file", "line": problem.line, "column": problem.column}


_LEVELS: Final[Mapping[str, str]] = {"fatal": "error", "warning": "warning", "information": "notice"}


def _github(outcomes: Iterator[Outcome], lang: Language) -> Iterator[str]:
    """Yield workflow commands that GitHub shows as annotations of the file."""
    for outcome in outcomes:
        if outcome.result is not None:
            yield from (annotation(outcome.file, finding, lang) for finding in outcome.result.findings)
        if outcome.problem is not None:
            code, title, detail, line, column = outcome.problem
            yield _command("error", f"{title}. {detail}", file=outcome.file, line=line, col=column, title=code)


def annotation(file: str, finding: Finding, lang: Language) -> str:
    """Return the workflow command of a finding."""
    message = full_text(finding, lang)
    command = _LEVELS[finding.severity]
    return _command(command, message, file=file, line=finding.line, col=finding.column, title=finding.code)


def full_text(finding: Finding, lang: Language) -> str:
    """Return title, explanation, fix and notes, one line each."""
    return "\n".join((finding.title(lang), finding.explanation(lang), finding.fix(lang), *notes(finding, lang)))


def _command(name: str, message: str, **properties: str | int | None) -> str:
    parameters = (
        f"{key}={_escape(printable(str(value)), property=True)}" for key, value in properties.items() if value
    )
    return f"::{name} {','.join(parameters)}::{_escape(message)}\n"


def _escape(text: str, *, property: bool = False) -> str:
    for char in "%\r\n" + (":," if property else ""):
        text = text.replace(char, f"%{ord(char):02X}")
    return text


FORMATS: Final[Mapping[str, Format]] = {
    "table": Format(table.format_table, is_machine_readable=False),
    "json": Format(_json),
    "csv": Format(_csv),
    "github": Format(_github),
}
