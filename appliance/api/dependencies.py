"""FastAPI dependencies of the routes: the caller, and query parameters."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Query
from starlette.requests import Request

from appliance.access.auth import KEY_MISSING
from appliance.access.keys import Key
from appliance.contract.problems import Problem, ProblemText, ProblemType
from appliance.contract.schemas import Entitlements
from appliance.contract.values import LANGUAGES, Language

INVALID_LANGUAGE = ProblemType(
    "invalid_lang",
    422,
    de=ProblemText("Unbekannte Sprache", "Der Parameter lang muss de oder en sein, nicht „{value}“."),
    en=ProblemText("Unknown language", "The parameter lang must be de or en, not “{value}”."),
    example={"value": "fr"},
)

_LANG = Query(description="Language of the texts.", json_schema_extra={"enum": list(LANGUAGES)})


@dataclass(frozen=True, slots=True)
class Caller:
    """The authenticated caller: its key, and the entitlements of its plan."""

    key: Key
    entitlements: Entitlements


async def current_caller(request: Request) -> Caller:
    """Return the caller that `appliance.access.auth` authenticated.

    Raises:
        Problem: the request is not authenticated.
    """
    key, entitlements = getattr(request.state, "key", None), getattr(request.state, "entitlements", None)
    if key is None or entitlements is None:
        raise Problem(KEY_MISSING)
    return Caller(key, entitlements)


async def query_language(lang: Annotated[str, _LANG] = "de") -> Language:
    """Return the language of the query parameter `lang`.

    Raises:
        Problem: unknown language.
    """
    if lang not in LANGUAGES:
        raise Problem(INVALID_LANGUAGE, value=lang)
    return LANGUAGES[lang]


CurrentCaller = Annotated[Caller, Depends(current_caller)]
QueryLanguage = Annotated[Language, Depends(query_language)]
