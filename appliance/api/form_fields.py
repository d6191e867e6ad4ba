"""What several requests can say."""

from collections.abc import Mapping
from typing import Annotated, TypeVar

from fastapi import Depends, Query

from appliance.problems import Language, Problem, ProblemKind, Words
from appliance.schemas import Engine, Mode

T = TypeVar("T")

PREFIX = "/api/external"

LANGUAGES: dict[str, Language] = {"de": "de", "en": "en"}
ENGINES: dict[str, Engine] = {"native": "native", "reference": "reference", "both": "both"}
MODES: dict[str, Mode] = {"current": "current", "compatibility": "compatibility"}

INVALID_LANGUAGE = ProblemKind(
    "invalid_lang",
    422,
    de=Words("Unbekannte Sprache", "Der Parameter lang ist de oder en, nicht „{value}“."),
    en=Words("Unknown language", "The parameter lang is de or en, not “{value}”."),
    example={"value": "fr"},
)
INVALID_ENGINE = ProblemKind(
    "invalid_engine",
    422,
    de=Words("Unbekanntes Prüfwerk", "Das Feld engine ist {known}, nicht „{value}“."),
    en=Words("Unknown engine", "The field engine is {known}, not “{value}”."),
    example={"known": "native | reference | both", "value": "java"},
)
INVALID_MODE = ProblemKind(
    "invalid_validation_mode",
    422,
    de=Words("Unbekannter Prüfmodus", "Das Feld validation_mode ist {known}, nicht „{value}“."),
    en=Words("Unknown validation mode", "The field validation_mode is {known}, not “{value}”."),
    example={"known": "current | compatibility", "value": "strict"},
)

_ASKED = Query(description="Language of the texts.", json_schema_extra={"enum": list(LANGUAGES)})


async def _language(lang: Annotated[str, _ASKED] = "de") -> Language:
    """Return the language that the query asks for.

    Raises:
        Problem: it asks for one that there is none of.
    """
    if lang not in LANGUAGES:
        raise Problem(INVALID_LANGUAGE, value=lang)
    return LANGUAGES[lang]


def form_mode(fields: Mapping[str, str], known: Mapping[str, Mode]) -> Mode:
    """Return the validation mode that a form asks for, of those that are `known` there.

    Raises:
        Problem: it asks for another.
    """
    return _chosen(fields, "validation_mode", known, "current", INVALID_MODE)


def form_engine(fields: Mapping[str, str], otherwise: Engine) -> Engine:
    """Return who judges, as a form asks for; `otherwise` if it does not ask.

    Raises:
        Problem: it asks for somebody unknown.
    """
    return _chosen(fields, "engine", ENGINES, otherwise, INVALID_ENGINE)


def _chosen(fields: Mapping[str, str], name: str, known: Mapping[str, T], otherwise: str, problem: ProblemKind) -> T:
    value = fields.get(name, otherwise)
    if value not in known:
        raise Problem(problem, known=" | ".join(known), value=value)
    return known[value]


Lang = Annotated[Language, Depends(_language)]
