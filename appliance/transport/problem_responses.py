"""Problem responses, in the language of the request."""

import http
import traceback
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, Response
from starlette.types import Scope

from appliance.contract.problems import METHOD_NOT_ALLOWED, NOT_FOUND, Problem, problem_details
from appliance.contract.values import LANGUAGES, Language


def problem_response(problem: Problem, scope: Scope) -> Response:
    """Return the response for a problem."""
    known: tuple[Language, ...] = getattr(scope["app"].state, "languages", LANGUAGES)
    return details_response(localized_details(problem, scope, known), problem.headers)


def details_response(details: dict[str, Any], headers: Mapping[str, str] | None = None) -> Response:
    """Return the response for finished problem details."""
    return JSONResponse(
        details,
        status_code=details["status"],
        headers={"Cache-Control": "no-store", **(headers or {})},
        media_type="application/problem+json",
    )


def localized_details(problem: Problem, scope: Scope, known: tuple[Language, ...]) -> dict[str, Any]:
    """Return the details of a problem in the language of the query, by default the first of the known ones.

    For an unknown language, title and detail are in all languages of the contract: its reader may know one of them.
    """
    lang = HTTPConnection(scope).query_params.get("lang", known[0])
    details, *others = (problem.to_dict(it) for it in ((lang,) if lang in known else LANGUAGES))
    for other in others:
        details |= {name: f"{details[name]} / {other[name]}" for name in ("title", "detail")}
    return details


def release_frames(error: BaseException | None) -> None:
    """Clear the frames that an exception, and those before it, passed: whoever keeps it does not keep the upload."""
    pending, seen = [error], set[int]()
    while pending:
        error = pending.pop()
        if error is not None and id(error) not in seen:
            seen.add(id(error))
            traceback.clear_frames(error.__traceback__)
            error.__traceback__ = None
            pending += [error.__context__, error.__cause__]


async def _handle_problem(request: Request, problem: Exception) -> Response:
    assert isinstance(problem, Problem)
    release_frames(problem)
    return problem_response(problem, request.scope)


async def _handle_http_exception(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 404:
        return problem_response(Problem(NOT_FOUND), request.scope)
    if error.status_code == 405:
        problem = Problem(METHOD_NOT_ALLOWED, headers=error.headers, method=request.method)
        return problem_response(problem, request.scope)
    phrase = http.HTTPStatus(error.status_code).phrase
    details = problem_details(error.status_code, phrase.lower().replace(" ", "_"), phrase, error.detail)
    return details_response(details, error.headers)


def install_problem_handlers(app: FastAPI) -> None:
    """Make `app` answer all errors as problem details."""
    app.add_exception_handler(Problem, _handle_problem)
    app.add_exception_handler(HTTPException, _handle_http_exception)
