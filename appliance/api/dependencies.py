"""FastAPI dependencies of the routes: the caller, and query parameters."""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Final

from fastapi import Depends, Query
from starlette.requests import Request

from appliance.access.auth import KEY_MISSING
from appliance.access.keys import Key
from appliance.contract.problems import Problem, ProblemType
from appliance.contract.schemas import Plan
from appliance.contract.values import LANGUAGES, Language

INVALID_ASSESS = ProblemType("invalid_assess", 422, example={"known": "true | false", "value": "yes"})
INVALID_CAUSES = ProblemType("invalid_causes", 422, example={"known": "true | false", "value": "yes"})
INVALID_LETTER = ProblemType("invalid_letter", 422, example={"known": "true | false", "value": "yes"})
INVALID_LINKS = ProblemType("invalid_links", 422, example={"known": "true | false", "value": "no"})
INVALID_LANGUAGE = ProblemType("invalid_lang", 422, example={"known": "de | en", "value": "fr"})

_LANG = Query(description="Language of the texts.")


DETAILS: Final = {"assess": INVALID_ASSESS, "causes": INVALID_CAUSES, "letter": INVALID_LETTER}
"""Query parameters that add a member to `validation_details`, and the problems of other values than true and false."""


@dataclass(frozen=True, slots=True)
class Caller:
    """The authenticated caller: its key, and its plan."""

    key: Key
    entitlements: Plan


async def current_caller(request: Request) -> Caller:
    """Return the caller that `appliance.access.auth` authenticated.

    Raises:
        Problem: the request is not authenticated.
    """
    state = request.scope["state"]
    key, entitlements = state.get("key"), state.get("entitlements")
    if key is None or entitlements is None:
        raise Problem(KEY_MISSING)
    return Caller(key, entitlements)


async def query_language(request: Request, lang: Annotated[str, _LANG] = LANGUAGES[0]) -> Language:
    """Return the language of the query parameter `lang`.

    Raises:
        Problem: unknown language.
    """
    known = request.app.state.languages
    if lang not in known:
        raise Problem(INVALID_LANGUAGE, known=" | ".join(known), value=lang)
    return lang


def query_details(request: Request) -> list[str]:
    """Return the names of those `DETAILS` that the query requests.

    Raises:
        Problem: one is neither "true" nor "false".
    """
    return [name for name, problem in DETAILS.items() if _boolean(request.query_params, name, "false", problem)]


def wants_links(request: Request, fields: Mapping[str, str] = MappingProxyType({})) -> bool:
    """Return whether the caller wants links to PDFs: unless the query or the form field `links` is false.

    Raises:
        Problem: one is neither "true" nor "false".
    """
    return all(_boolean(values, "links", "true", INVALID_LINKS) for values in (request.query_params, fields))


def is_requested(request: Request, fields: Mapping[str, str], name: str, problem: ProblemType) -> bool:
    """Return whether the query or the form field `name` is true.

    Raises:
        Problem: one is neither "true" nor "false".
    """
    return any(_boolean(values, name, "false", problem) for values in (request.query_params, fields))


def _boolean(values: Mapping[str, str], name: str, default: str, problem: ProblemType) -> bool:
    value = values.get(name, default)
    if value not in ("true", "false"):
        raise Problem(problem, known="true | false", value=value)
    return value == "true"


CurrentCaller = Annotated[Caller, Depends(current_caller)]
QueryLanguage = Annotated[Language, Depends(query_language)]
