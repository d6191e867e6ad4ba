"""From JSON to a draft; or every place that is wrong, each with its pointer."""

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
from einvoice.draft.messages import pointer, problems_of
from einvoice.errors import DraftError, DraftProblem

Source: TypeAlias = Draft | Mapping[str, Any] | str | bytes | os.PathLike[str] | BinaryIO

_BEGINS_JSON: Final = ("{", "[")
_MOST: Final = 200
"""So many wrong places of a draft are told at most."""


def read(source: Source, *, format: str | None = None) -> Draft:
    """Return the draft that a source holds.

    Args:
        source: a draft; a mapping; JSON as text (that begins with a brace) or bytes; a path; or a binary file.
        format: "UBL", "CII" or "ZUGFERD", in place of what the draft says.

    Raises:
        DraftError: no JSON, wrong fields, or sums that are others than those of the lines; it has the places.
        OSError: the file cannot be opened.
    """
    if isinstance(source, Draft):
        draft = source if format is None else _valid(dict(source), format)
    else:
        try:
            draft = _valid(source if isinstance(source, Mapping) else _parsed(_bytes(source)), format)
        except RecursionError:
            raise _malformed("it is nested too deeply", "es ist zu tief verschachtelt") from None
    problems = _most(problem.below(place) for place, part in draft.parts() for problem in part.problems())
    if problems:
        raise DraftError(problems)
    return draft


def _valid(content: Any, format: str | None) -> Draft:
    twice = _most(_repeated(content, ()))
    if isinstance(content, Mapping) and format is not None:
        content = {**content, "format": format}
    try:
        draft = Draft.model_validate(content)
    except ValidationError as error:
        raise DraftError(_most(itertools.chain(twice, problems_of(error)))) from None
    if twice:
        raise DraftError(twice)
    return draft


def _most(problems: Iterator[DraftProblem]) -> list[DraftProblem]:
    """Problems as they come; of a draft that is wrong everywhere not all."""
    return list(itertools.islice(problems, _MOST))


def _bytes(source: str | bytes | os.PathLike[str] | BinaryIO) -> bytes:
    if isinstance(source, bytes | bytearray | memoryview):
        return bytes(source)
    if isinstance(source, str) and source.lstrip("\ufeff \t\r\n").startswith(_BEGINS_JSON):
        return source.encode("utf-8", "surrogatepass")
    if isinstance(source, str | os.PathLike):
        return Path(source).read_bytes()
    if hasattr(source, "read"):
        return source.read()
    raise TypeError(f"Expected a draft, a mapping, JSON, a path or a binary file, not {type(source).__name__}.")


class _Object(dict[str, Any]):
    """An object of the JSON, which remembers the names that it has more than once."""

    twice: tuple[str, ...] = ()


def _object(pairs: list[tuple[str, Any]]) -> _Object:
    content = _Object(pairs)
    if len(content) < len(pairs):
        names = (name for name, _ in pairs)
        content.twice = tuple(name for name, times in Counter(names).items() if times > 1)
    return content


def _repeated(content: Any, path: tuple[str | int, ...]) -> Iterator[DraftProblem]:
    for name in getattr(content, "twice", ()):
        yield DraftProblem(
            pointer((*path, name)),
            en="The field is there more than once; give it once.",
            de="Das Feld steht mehrfach da; es nur einmal angeben.",
        )
    items = content.items() if isinstance(content, dict) else enumerate(content) if isinstance(content, list) else ()
    for name, inner in items:
        if isinstance(inner, dict | list):
            yield from _repeated(inner, (*path, name))


def _parsed(data: bytes) -> Any:
    """The JSON with exact numbers; NaN, which Python's reader knows beside them, is refused where it stands."""
    try:
        text = data.decode("utf-8-sig", "strict")
        return json.loads(
            text, parse_float=Decimal, parse_int=Decimal, parse_constant=Decimal, object_pairs_hook=_object
        )
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        raise _malformed("it is not UTF-8", "es ist kein UTF-8", line, column) from None
    except json.JSONDecodeError as error:
        reason = error.msg
        raise _malformed(reason, f"der Leser meldet „{reason}“", error.lineno, error.colno) from None


def _malformed(english: str, german: str, line: int | None = None, column: int | None = None) -> DraftError:
    place = (f" (line {line}, column {column})", f" (Zeile {line}, Spalte {column})") if line else ("", "")
    problem = DraftProblem(
        "", en=f"This is not well-formed JSON: {english}{place[0]}.", de=f"Das ist kein JSON: {german}{place[1]}."
    )
    return DraftError([problem], line=line, column=column)
