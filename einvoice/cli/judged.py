"""What became of a file: a verdict, or the reason why there is none."""

from __future__ import annotations

from typing import NamedTuple

from einvoice.result import ValidationResult


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
