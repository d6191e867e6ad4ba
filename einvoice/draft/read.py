"""Reads a draft from JSON, or raises all its errors with their JSON pointers."""

from __future__ import annotations

import itertools
import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, BinaryIO, Final, TypeAlias

from pydantic import ValidationError

from einvoice.draft.draft import Draft
from einvoice.draft.problems import pointer, problems_of
from einvoice.errors import DraftError, DraftProblem

Source: TypeAlias = Draft | Mapping[str, Any] | str | bytes | os.PathLike[str] | BinaryIO

_JSON_START: Final = ("{", "[")
_MAX_PROBLEMS: Final = 200

MAX_VALUES: Final = 200_000
"""Maximum number of values in a draft: an invoice of 10,000 lines has about 100,000. A wrong value takes 1.4 kB. They
are estimated before parsing, so commas and braces in texts count, too."""


def read(source: Source, *, format: str | None = None) -> Draft:
    """Return the draft from a source.

    Args:
        source: a draft; a mapping; JSON as text (starting with a brace) or bytes; a path; or a binary file.
        format: "UBL", "CII" or "ZUGFERD"; overrides the format of the draft.

    Raises:
        DraftError: the source is not JSON, has invalid fields, or has totals that differ from the calculated ones.
        OSError: the file cannot be opened.
    """
    if isinstance(source, Draft):
        draft = source if format is None else _validated(dict(source), format)
    else:
        try:
            draft = _validated(source if isinstance(source, Mapping) else _parse(_bytes(source)), format)
        except RecursionError:
            raise DraftError([DraftProblem("", "nested_too_deeply")]) from None
    problems = _limited(problem.below(pointer) for pointer, model in draft.walk() for problem in model.problems())
    if problems:
        raise DraftError(problems)
    return draft


def _validated(content: Any, format: str | None) -> Draft:
    duplicates = _limited(_duplicate_fields(content, ()))
    if isinstance(content, Mapping) and format is not None:
        content = {**content, "format": format}
    try:
        draft = Draft.model_validate(content)
    except ValidationError as error:
        raise DraftError(_limited(itertools.chain(duplicates, problems_of(error)))) from None
    if duplicates:
        raise DraftError(duplicates)
    return draft


def _limited(problems: Iterator[DraftProblem]) -> list[DraftProblem]:
    """Return the first problems, at most `_MAX_PROBLEMS`."""
    return list(itertools.islice(problems, _MAX_PROBLEMS))


def _bytes(source: str | bytes | os.PathLike[str] | BinaryIO) -> bytes:
    if isinstance(source, bytes | bytearray | memoryview):
        return bytes(source)
    if isinstance(source, str) and source.lstrip("\ufeff \t\r\n").startswith(_JSON_START):
        return source.encode("utf-8", "surrogatepass")
    if isinstance(source, str | os.PathLike):
        return Path(source).read_bytes()
    if hasattr(source, "read"):
        return source.read()
    raise TypeError(
        f"argument 'draft' must be a Draft, a mapping, JSON, a path or a binary file, not {type(source).__name__}"
    )


class _Object(dict[str, Any]):
    """A JSON object that records duplicate names."""

    duplicates: tuple[str, ...] = ()


def _object(pairs: list[tuple[str, Any]]) -> _Object:
    content = _Object(pairs)
    if len(content) < len(pairs):
        names = (name for name, _ in pairs)
        content.duplicates = tuple(name for name, count in Counter(names).items() if count > 1)
    return content


def _duplicate_fields(content: Any, path: tuple[str | int, ...]) -> Iterator[DraftProblem]:
    for name in getattr(content, "duplicates", ()):
        yield DraftProblem(pointer((*path, name)), "duplicate_field")
    items = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for name, inner in items:
        if isinstance(inner, dict | list):
            yield from _duplicate_fields(inner, (*path, name))


def _parse(data: bytes) -> Any:
    """Parse JSON with exact numbers. NaN, which Python's parser accepts, is rejected by the field's validation."""
    try:
        text = data.decode("utf-8-sig", "strict")
        _check_size(data)
        return json.loads(
            text, parse_float=Decimal, parse_int=Decimal, parse_constant=Decimal, object_pairs_hook=_object
        )
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        raise _malformed("not_utf8", line, column) from None
    except json.JSONDecodeError as error:
        error = _at_comma(error)
        raise _malformed("not_json", error.lineno, error.colno, reason=error.msg) from None


def _at_comma(error: json.JSONDecodeError) -> json.JSONDecodeError:
    """Return the error with the place of a comma before a closing bracket, as Python 3.13 and later report it."""
    before = error.doc[: error.pos].rstrip()
    if before.endswith(",") and error.doc[error.pos : error.pos + 1] in ("}", "]"):
        return json.JSONDecodeError("Illegal trailing comma", error.doc, len(before) - 1)
    return error


def _check_size(data: bytes) -> None:
    """Reject too many values before they take memory."""
    if len(data) > MAX_VALUES and sum(map(data.count, (b",", b"{", b"["))) > MAX_VALUES:
        raise DraftError([DraftProblem("", "too_many_values", {"limit": MAX_VALUES})])


def _malformed(key: str, line: int, column: int, **values: str) -> DraftError:
    problem = DraftProblem("", key, {"line": line, "column": column, **values})
    return DraftError([problem], line=line, column=column)
