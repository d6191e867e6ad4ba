"""What became of a file: a verdict, or the reason why there is none."""

from __future__ import annotations

import sys
from typing import NamedTuple

from einvoice.errors import UnreadableDocument
from einvoice.render.text import LABELS
from einvoice.result import Language, ValidationResult, explain_error


class Problem(NamedTuple):
    """Why a file cannot be read; `code` is that of the catalog, "" where the file could not even be opened."""

    code: str
    title: str
    detail: str
    line: int | None = None
    column: int | None = None


class Judged(NamedTuple):
    """A file with either its verdict or its problem."""

    file: str
    result: ValidationResult | None = None
    problem: Problem | None = None


def complain(file: str, error: UnreadableDocument | OSError, lang: Language) -> Problem:
    """Say on the error stream what is wrong with a file, where, and what to do; and return that.

    An error that names a file, such as that to write to, is about that one and not the one that was asked for.
    """
    labels, problem = LABELS[lang], _problem(error, lang)
    file = str(getattr(error, "filename", None) or file)
    place = ", ".join(
        f"{labels[name]} {number}" for name, number in (("line", problem.line), ("column", problem.column)) if number
    )
    print(": ".join(part for part in (file, place, problem.title) if part), problem.detail, sep=". ", file=sys.stderr)
    return problem


def _problem(error: UnreadableDocument | OSError, lang: Language) -> Problem:
    if isinstance(error, OSError):
        labels = LABELS[lang]
        return Problem("", labels["not_opened"], labels.get(type(error).__name__, f"{error.strerror or error}."))
    title, detail = explain_error(error, lang)
    return Problem(error.code, title, detail, error.line, error.column)
