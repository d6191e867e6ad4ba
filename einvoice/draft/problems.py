"""Turns pydantic's validation errors into problems."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from einvoice.draft.draft import Draft
from einvoice.draft.fields.base import model_of
from einvoice.errors import DraftProblem
from einvoice.quotation import quote

#: Types of pydantic's errors that share a message.
_SAME: Final = dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), "object_type")
_TYPES: Final = frozenset(
    (
        *("missing", "string_type", "text_character", "number_type", "number_digits", "money_decimals", "date_type"),
        *("base64_type", "literal_error", "too_short", "list_type", "object_type"),
    )
)
"""Types of errors with a message of their own."""
_OTHER: Final = "invalid"
_UNKNOWN_FIELD: Final = "extra_forbidden"


def problems_of(error: ValidationError) -> Iterator[DraftProblem]:
    """Yield a problem for each validation error, in order."""
    for details in error.errors(include_url=False):
        if details["type"] == _UNKNOWN_FIELD:
            yield _unknown_field(details["loc"])
            continue
        key = _SAME.get(details["type"], details["type"])
        yield DraftProblem(pointer(details["loc"]), key if key in _TYPES else _OTHER, _values(details))


def pointer(path: Sequence[str | int]) -> str:
    """Return a JSON pointer (RFC 6901); names are shortened and escaped as in all messages.

    >>> pointer(("lines", 0, "a/b"))
    '/lines/0/a~1b'
    """
    return "".join(f"/{quote(str(step)).replace('~', '~0').replace('/', '~1')}" for step in path)


def _values(details: ErrorDetails) -> dict[str, Any]:
    found = _as_json(details["input"])
    values: dict[str, Any] = {"found": found, "reason": quote(details["msg"]), **details.get("ctx", {})}
    if "expected" in values:
        values["expected"] = values["expected"].replace(" or ", ", ")
    return values


def _unknown_field(path: Sequence[str | int]) -> DraftProblem:
    name = _closest_field(path)
    if name:
        return DraftProblem(pointer(path), f"{_UNKNOWN_FIELD}_near", {"name": name})
    return DraftProblem(pointer(path), _UNKNOWN_FIELD)


def _as_json(value: object) -> str:
    """Return a value as it is written in JSON, shortened.

    >>> _as_json(None), _as_json(True), _as_json(Decimal("1.50")), _as_json(["a"]), _as_json({}), _as_json("text")
    ('null', 'true', '1.50', '[…]', '{…}', 'text')
    """
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, str | int | float | Decimal):
        return quote(str(value))
    return "[…]" if isinstance(value, list | tuple) else "{…}"


def _closest_field(path: Sequence[str | int]) -> str:
    """Return the field name closest to an unknown one; "" if none is similar."""
    model: Any = Draft
    for step in path[:-1]:
        if isinstance(step, str) and model is not None:
            model = model_of(model.model_fields[step].annotation)
    names = list(model.model_fields) if model is not None else []
    return next(iter(difflib.get_close_matches(quote(str(path[-1])), names, 1)), "")
