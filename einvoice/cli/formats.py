"""How verdicts are printed: a table for people, JSON and CSV for programs, annotations for GitHub."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeAlias

from einvoice.cli import table
from einvoice.cli.outcome import Judged, Problem
from einvoice.render.text import notes
from einvoice.result import Finding, Language

_Print: TypeAlias = Callable[[Iterator[Judged], Language], Iterator[str]]


class Format(NamedTuple):
    """A way to print verdicts, as they come; what is for programs is UTF-8 and has its own line ends."""

    print: _Print
    for_programs: bool = True


def _json(verdicts: Iterator[Judged], lang: Language) -> Iterator[str]:
    """A list: for each file what the HTTP interface would answer, and the file; or why it cannot be read."""
    import json

    before = "[\n"
    for judged in verdicts:
        yield before + json.dumps(_item(judged, lang), ensure_ascii=False, indent=2)
        before = ",\n"
    yield "\n]\n"


def _item(judged: Judged, lang: Language) -> dict[str, Any]:
    if judged.result is not None:
        summary = dataclasses.asdict(judged.result.summary)
        return {"file": judged.file, **judged.result.to_dict(lang), "invoice_summary": summary}
    assert judged.problem is not None
    return {"file": judged.file, "status": "unreadable", "is_valid": False, "problem": judged.problem._asdict()}


def _csv(verdicts: Iterator[Judged], lang: Language) -> Iterator[str]:
    """One row a finding, with the file in the first column."""
    from einvoice.render.tables import COLUMNS, csv_text, row

    yield csv_text(("file", *COLUMNS), ())
    for judged in verdicts:
        if judged.result is not None:
            yield csv_text(None, ((judged.file, *row(found, lang).values()) for found in judged.result.findings))
        if judged.problem is not None:
            cells = dict.fromkeys(COLUMNS) | _as_row(judged.problem)
            yield csv_text(None, ((judged.file, *cells.values()),))


def _as_row(problem: Problem) -> dict[str, Any]:
    shown = {"code": problem.code, "title": problem.title, "explanation": problem.detail}
    return {**shown, "severity": "fatal", "layer": "file", "line": problem.line, "column": problem.column}


_COMMANDS: Final[Mapping[str, str]] = {"fatal": "error", "warning": "warning", "information": "notice"}


def _github(verdicts: Iterator[Judged], lang: Language) -> Iterator[str]:
    """Workflow commands that GitHub shows beside the lines of the file."""
    for judged in verdicts:
        if judged.result is not None:
            yield from (_annotation(judged.file, finding, lang) for finding in judged.result.findings)
        if judged.problem is not None:
            code, title, detail, line, column = judged.problem
            yield _command("error", f"{title}. {detail}", file=judged.file, line=line, col=column, title=code)


def _annotation(file: str, finding: Finding, lang: Language) -> str:
    message = "\n".join((finding.title(lang), finding.explanation(lang), finding.fix(lang), *notes(finding, lang)))
    command = _COMMANDS[finding.severity]
    return _command(command, message, file=file, line=finding.line, col=finding.column, title=finding.code)


def _command(name: str, message: str, **properties: str | int | None) -> str:
    given = (f"{key}={_escape(str(value), property=True)}" for key, value in properties.items() if value)
    return f"::{name} {','.join(given)}::{_escape(message)}\n"


def _escape(text: str, *, property: bool = False) -> str:
    for char in "%\r\n" + (":," if property else ""):
        text = text.replace(char, f"%{ord(char):02X}")
    return text


FORMATS: Final[Mapping[str, Format]] = {
    "table": Format(table.print_table, for_programs=False),
    "json": Format(_json),
    "csv": Format(_csv),
    "github": Format(_github),
}
