"""Turns pydantic's validation errors into problems in English and German."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from einvoice.draft.draft import Draft
from einvoice.draft.fields.base import model_of
from einvoice.errors import DraftProblem, quote

_OBJECT: Final = ("Expected a JSON object.", "Erwartet wird ein JSON-Objekt.")
_MESSAGES: Final[dict[str, tuple[str, str]]] = {
    "missing": ("This field is required.", "Dieses Feld fehlt."),
    "string_type": ("Expected a string.", "Erwartet wird Text in Anführungszeichen."),
    "text_character": (
        "The text contains a character that XML does not allow ({character}).",
        "Der Text enthält ein Zeichen, das in XML nicht erlaubt ist ({character}).",
    ),
    "number_type": (
        'Expected a decimal number with a point, such as "12.50"; found: {found}.',
        'Erwartet wird eine Dezimalzahl mit Punkt, etwa "12.50"; gefunden: {found}.',
    ),
    "number_digits": (
        "The number has more than {limit} digits before or after the decimal point.",
        "Die Zahl hat mehr als {limit} Stellen vor oder nach dem Komma.",
    ),
    "money_decimals": (
        "An amount has at most two decimals; found: {found}.",
        "Ein Betrag hat höchstens zwei Nachkommastellen; gefunden: {found}.",
    ),
    "date_type": (
        "Expected a date such as 2026-11-20; found: {found}.",
        "Erwartet wird ein Datum wie 2026-11-20; gefunden: {found}.",
    ),
    "base64_type": ("Expected a file in base64.", "Erwartet wird eine Datei in Base64."),
    "literal_error": ("Expected {expected}; found: {found}.", "Erwartet: {expected}; gefunden: {found}."),
    "too_short": ("At least one entry is required.", "Es muss mindestens einen Eintrag geben."),
    "list_type": ("Expected a JSON array.", "Erwartet wird eine Liste in eckigen Klammern."),
    "dict_type": _OBJECT,
    "model_type": _OBJECT,
    "model_attributes_type": _OBJECT,
    "extra_forbidden": ("Unknown field.{suggestion}", "Dieses Feld gibt es nicht.{suggestion}"),
}
_OTHER: Final = ("Invalid value: {reason}.", "Der Wert ist ungültig: {reason}.")
_SUGGESTION: Final = (" Did you mean {name}?", " Gemeint ist vielleicht {name}.")


def problems_of(error: ValidationError) -> Iterator[DraftProblem]:
    """Yield a problem for each validation error, in order."""
    for details in error.errors(include_url=False):
        english, german = _MESSAGES.get(details["type"], _OTHER)
        yield DraftProblem(
            pointer(details["loc"]),
            en=english.format(**_values(details, 0)),
            de=german.format(**_values(details, 1)),
        )


def pointer(path: Sequence[str | int]) -> str:
    """Return a JSON pointer (RFC 6901); names are shortened and escaped as in all messages.

    >>> pointer(("lines", 0, "a/b"))
    '/lines/0/a~1b'
    """
    return "".join(f"/{quote(str(step)).replace('~', '~0').replace('/', '~1')}" for step in path)


def _values(details: ErrorDetails, language: int) -> dict[str, Any]:
    given = details["input"]
    found = quote(str(given)) if isinstance(given, str | int | float | Decimal) else type(given).__name__
    values: dict[str, Any] = {"found": found, "reason": quote(details["msg"])}
    values |= details.get("ctx", {})
    if language == 1 and "expected" in values:
        values["expected"] = values["expected"].replace(" or ", " oder ")
    if details["type"] == "extra_forbidden":
        name = _closest_field(details["loc"])
        values["suggestion"] = _SUGGESTION[language].format(name=name) if name else ""
    return values


def _closest_field(path: Sequence[str | int]) -> str:
    """Return the field name closest to an unknown one; "" if none is similar."""
    model: Any = Draft
    for step in path[:-1]:
        if isinstance(step, str) and model is not None:
            model = model_of(model.model_fields[step].annotation)
    names = list(model.model_fields) if model is not None else []
    return next(iter(difflib.get_close_matches(quote(str(path[-1])), names, 1)), "")
