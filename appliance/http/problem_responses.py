"""How problems are answered over HTTP, in the language that a request asks for."""

import http
from collections.abc import Mapping
from typing import Any

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, Response
from starlette.types import Scope

from appliance.problems import METHOD_NOT_ALLOWED, NOT_FOUND, Language, Problem, members


def answer(problem: Problem, scope: Scope) -> Response:
    """Return a problem as the answer to a request."""
    return response(problem.told(_language(scope)), problem.headers)


def response(told: dict[str, Any], headers: Mapping[str, str] | None = None) -> Response:
    """Return a problem with these members as an HTTP answer."""
    return JSONResponse(
        told,
        status_code=told["status"],
        headers={"Cache-Control": "no-store", **(headers or {})},
        media_type="application/problem+json",
    )


def _language(scope: Scope) -> Language:
    """Return the language that a request asks for in its query, German where it asks for none or for another."""
    return "en" if HTTPConnection(scope).query_params.get("lang") == "en" else "de"


async def _answer_problem(request: Request, problem: Exception) -> Response:
    assert isinstance(problem, Problem)
    return answer(problem, request.scope)


async def _answer_http_exception(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if error.status_code == 404:
        return answer(Problem(NOT_FOUND), request.scope)
    if error.status_code == 405:
        return answer(Problem(METHOD_NOT_ALLOWED, headers=error.headers, method=request.method), request.scope)
    phrase = http.HTTPStatus(error.status_code).phrase
    told = members(error.status_code, phrase.lower().replace(" ", "_"), phrase, error.detail)
    return response(told, error.headers)


def answer_problems(app: FastAPI) -> None:
    """Make `app` answer every problem in the one shape."""
    app.add_exception_handler(Problem, _answer_problem)
    app.add_exception_handler(HTTPException, _answer_http_exception)
