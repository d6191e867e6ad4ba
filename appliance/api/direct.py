"""Calls the endpoints of the busiest routes without the routing and dependency injection of FastAPI.

These take as long as the rest of such a request. The routes remain registered: they describe the interface, and
answer other methods.
"""

from collections.abc import Iterable

from fastapi.routing import APIRoute
from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from appliance.api.dependencies import current_caller, query_language
from appliance.contract.problems import Problem
from appliance.contract.values import LANGUAGES
from appliance.transport.problem_responses import problem_response, release_frames


class DirectRoutes:
    """ASGI middleware, the innermost: answers requests to `routes`, and passes others on.

    Args:
        app: next ASGI application.
        routes: routes without path parameters, whose endpoints take a request, a language and a caller.
    """

    def __init__(self, app: ASGIApp, routes: Iterable[APIRoute]) -> None:
        self.app = app
        self._routes = {(method, route.path): route for route in routes for method in route.methods or ()}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request, or pass it on."""
        route = self._routes.get((scope["method"], scope["path"])) if scope["type"] == "http" else None
        if route is None:
            await self.app(scope, receive, send)
            return
        scope["route"] = route
        request = Request(scope, receive)
        try:
            caller = await current_caller(request)
            lang = await query_language(request, request.query_params.get("lang", LANGUAGES[0]))
            response = await route.endpoint(request=request, lang=lang, caller=caller)
        except Problem as problem:
            release_frames(problem)
            response = problem_response(problem, scope)
        await response(scope, receive, send)
