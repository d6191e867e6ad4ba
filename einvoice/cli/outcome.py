"""Outcome of a command for one file: a validation result, or a problem reading the file."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from einvoice.errors import UnreadableDocument
from einvoice.quotation import printable
from einvoice.render.text import LABELS
from einvoice.result import Language, ValidationResult, explain_error

if TYPE_CHECKING:
    from einvoice.assessment import Assessment

VALID, FINDINGS, UNREADABLE = range(3)
"""Exit status: no errors; errors; an unreadable file, no file, or an invalid option."""
NEVER: Final = "never"
"""Value of --fail-on with which findings do not matter."""


class Problem(NamedTuple):
    """Why a file cannot be read; `code` is the catalog code, "" if the file cannot be opened."""

    code: str
    title: str
    detail: str
    line: int | None = None
    column: int | None = None


class Outcome(NamedTuple):
    """A file with either its validation result or its problem.

    Attributes:
        file: as given.
        result: the result; None if it cannot be read.
        problem: why not.
        causes: the causes of the findings, if they are shown.
        lists_causes: whether all causes are shown, not only the first one.
        assessment: what the invoice means under a VAT law, None if none applies; False if it is not shown.
    """

    file: str
    result: ValidationResult | None = None
    problem: Problem | None = None
    causes: tuple[Any, ...] = ()
    lists_causes: bool = False
    assessment: Assessment | Literal[False] | None = False


def report_problem(file: str, error: UnreadableDocument | OSError, lang: Language, *, as_json: bool = False) -> Problem:
    """Print on standard error what is wrong with a file, where, and what to do; return the problem.

    If the error names a file, such as the output file, that name is printed instead of `file`.
    """
    labels, problem = LABELS[lang], _problem(error, lang)
    file = printable(str(getattr(error, "filename", None) or file))
    if as_json:
        print_json_problem(file, problem)
        return problem
    place = ", ".join(
        f"{labels[name]} {number}" for name, number in (("line", problem.line), ("column", problem.column)) if number
    )
    print(": ".join(part for part in (file, place, problem.title) if part), problem.detail, sep=". ", file=sys.stderr)
    return problem


def print_json_problem(file: str, problem: Problem) -> None:
    """Print on standard error why a file cannot be used, as JSON under the key "problem"."""
    import json

    print(json.dumps({"file": file, "problem": problem._asdict()}, ensure_ascii=False, indent=2), file=sys.stderr)


def _problem(error: UnreadableDocument | OSError, lang: Language) -> Problem:
    if isinstance(error, OSError):
        labels = LABELS[lang]
        return Problem("", labels["not_opened"], labels.get(type(error).__name__, f"{error.strerror or error}."))
    title, detail = explain_error(error, lang)
    return Problem(error.code, title, detail, error.line, error.column)
