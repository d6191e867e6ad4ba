"""What is wrong with a field, in both languages: pydantic finds the place, the words are ours."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any, Final

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from einvoice.draft.draft import Draft
from einvoice.draft.fields.part import part_of
from einvoice.errors import DraftProblem, quote

_OBJECT: Final = ("An object in braces is expected.", "Erwartet wird ein Objekt in geschweiften Klammern.")
_MESSAGES: Final[dict[str, tuple[str, str]]] = {
    "missing": ("This field is missing.", "Dieses Feld fehlt."),
    "string_type": (
        "Text in quotation marks is expected.",
        "Erwartet wird Text in Anführungszeichen.",
    ),
    "text_character": (
        "The text has a character that XML cannot carry ({character}).",
        "Der Text enthält ein Zeichen, das XML nicht aufnehmen kann ({character}).",
    ),
    "number_type": (
        'A decimal number with a point is expected, such as "12.50"; found: {found}.',
        'Erwartet wird eine Dezimalzahl mit Punkt, etwa "12.50"; gefunden: {found}.',
    ),
    "number_digits": (
        "The number has more than {limit} digits before or after the point.",
        "Die Zahl hat mehr als {limit} Stellen vor oder nach dem Komma.",
    ),
    "money_decimals": (
        "An amount has two decimals at most; found: {found}.",
        "Ein Betrag hat höchstens zwei Nachkommastellen; gefunden: {found}.",
    ),
    "date_type": (
        "A day of the calendar is expected, such as 2026-11-20; found: {found}.",
        "Erwartet wird ein Kalendertag wie 2026-11-20; gefunden: {found}.",
    ),
    "base64_type": ("The file is expected in base64.", "Erwartet wird die Datei in Base64."),
    "literal_error": ("Expected is one of {expected}; found: {found}.", "Erwartet: {expected}; gefunden: {found}."),
    "too_short": ("There has to be at least one.", "Es muss mindestens einen Eintrag geben."),
    "list_type": ("A list in brackets is expected.", "Erwartet wird eine Liste in eckigen Klammern."),
    "dict_type": _OBJECT,
    "model_type": _OBJECT,
    "model_attributes_type": _OBJECT,
    "extra_forbidden": ("There is no such field.{near}", "Dieses Feld gibt es nicht.{near}"),
}
_OTHER: Final = ("The value is not accepted: {reason}.", "Der Wert wird nicht angenommen: {reason}.")
_NEAR: Final = (" Perhaps {name} is meant.", " Gemeint ist vielleicht {name}.")


def problems_of(error: ValidationError) -> Iterator[DraftProblem]:
    """Every wrong place of a draft, in its order."""
    for details in error.errors(include_url=False):
        english, german = _MESSAGES.get(details["type"], _OTHER)
        yield DraftProblem(
            pointer(details["loc"]),
            en=english.format(**_values(details, 0)),
            de=german.format(**_values(details, 1)),
        )


def pointer(path: Sequence[str | int]) -> str:
    """The JSON pointer (RFC 6901) to a place; strange names are cut and escaped, as in any message.

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
        near = _nearest(details["loc"])
        values["near"] = _NEAR[language].format(name=near) if near else ""
    return values


def _nearest(path: Sequence[str | int]) -> str:
    """The name of a field that an unknown one could stand for."""
    known: Any = Draft
    for step in path[:-1]:
        if isinstance(step, str) and known is not None:
            known = part_of(known.model_fields[step].annotation)
    names = list(known.model_fields) if known is not None else []
    return next(iter(difflib.get_close_matches(quote(str(path[-1])), names, 1)), "")
