"""Turns pydantic's validation errors into problems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from einvoice.draft.field_names import field_meant
from einvoice.errors import DraftProblem
from einvoice.quotation import quote

#: Types of pydantic's errors that share a message.
_SAME: Final = dict.fromkeys(("dict_type", "model_type", "model_attributes_type"), "object_type")
_TYPES: Final = frozenset(
    (
        *(
            "missing",
            "string_type",
            "text_character",
            "number_type",
            "number_digits",
            "whole_number",
            "money_decimals",
            "date_type",
        ),
        *("whole_number", "base64_type", "literal_error", "too_short", "list_type", "object_type"),
    )
)
"""Types of errors with a message of their own."""
_OTHER: Final = "invalid"
_UNKNOWN_FIELD: Final = "extra_forbidden"
_MISSING: Final = "missing"
_MAX_NAMES: Final = 200
"""Maximum number of unknown fields for which a known one is sought."""


def problems_of(error: ValidationError) -> Iterator[DraftProblem]:
    """Yield a problem for each validation error, in order: one if a field is missing because its name is misspelt."""
    found = error.errors(include_url=False)
    missing = {it["loc"] for it in found if it["type"] == _MISSING}
    unknown = [it["loc"] for it in found if it["type"] == _UNKNOWN_FIELD][:_MAX_NAMES]
    meant = {path: field_meant(path, missing) for path in unknown}
    misspelt = {(*path[:-1], name) for path, name in meant.items()}
    for details in found:
        path, kind = details["loc"], details["type"]
        if kind == _UNKNOWN_FIELD:
            yield _unknown_field(path, meant.get(path, ""))
        elif kind != _MISSING or path not in misspelt:
            key = _SAME.get(kind, kind)
            yield DraftProblem(pointer(path), key if key in _TYPES else _OTHER, _values(details))


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


def _unknown_field(path: Sequence[str | int], name: str) -> DraftProblem:
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
