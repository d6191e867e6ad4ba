"""Authentication and authorization by API key.

The middleware runs before routing: without a valid key, paths are not revealed and bodies are not read.
"""

import contextlib
from collections.abc import Callable, Mapping

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from appliance.access.keys import Key, KeyExpired, KeyRing
from appliance.access.quotas import DAILY_REQUESTS, Quotas
from appliance.access.rates import RequestRates
from appliance.contract.problems import Problem, ProblemType
from appliance.contract.schemas import Plan
from appliance.transport.problem_responses import problem_response

KEY_MISSING = ProblemType("key_missing", 401)
KEY_INVALID = ProblemType("key_invalid", 401)
KEY_EXPIRED = ProblemType("key_invalid", 401, message="key_expired")
PLAN_REQUIRED = ProblemType("plan_required", 403, example={"plan": "business"})
RIGHT_REQUIRED = ProblemType("right_required", 403, example={"right": "can_batch"})


class AuthMiddleware:
    """ASGI middleware: requires a valid key with `can_use_api` for paths under `/api/`, and counts the request.

    Stores the key and the entitlements of its plan in the request state, as `key` and `entitlements`.

    Args:
        app: next ASGI application.
        keys: valid keys.
        quotas: daily quotas.
        required: additional entitlement required per path.
        is_open: returns whether a request outside `/api/` requires a key, too.
        open_key: name of the holder whose key such a request uses if it has none; "" if it must have one.
    """

    def __init__(
        self,
        app: ASGIApp,
        keys: KeyRing,
        quotas: Quotas,
        required: Mapping[str, str],
        is_open: Callable[[Scope], bool] = lambda scope: False,
        open_key: str = "",
    ) -> None:
        self.app = app
        self._keys = keys
        self._quotas = quotas
        self._rates = RequestRates()
        self._required = required
        self._open_key = open_key
        self._is_open = is_open

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 401, 403 or 429, or pass the request on."""
        if scope["type"] != "http" or not (scope["path"].startswith("/api/") or self._is_open(scope)):
            await self.app(scope, receive, send)
            return
        with contextlib.ExitStack() as running:
            try:
                key, plan = self._authorize(scope)
                running.enter_context(self._rates.running(key.name, plan.concurrent_requests))
                self._rates.consume(key.name, plan.requests_per_minute)
                day = self._quotas.today()
                await self._quotas.consume(key.name, DAILY_REQUESTS, plan.daily_usage_limit)
            except Problem as problem:
                response: ASGIApp = problem_response(problem, scope)
            else:
                response = self.app
                if plan.daily_usage_limit is not None:
                    send = self._uncounting(send, key, plan, day)
            await response(scope, receive, send)

    def _uncounting(self, send: Send, key: Key, plan: Plan, day: str) -> Send:
        """Return `send` for a request that is not counted if the service fails to serve it (5xx)."""

        async def uncounting_send(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] >= 500:
                await self._quotas.release(key.name, DAILY_REQUESTS, plan.daily_usage_limit, day)
            await send(message)

        return uncounting_send

    def _authorize(self, scope: Scope) -> tuple[Key, Plan]:
        """Return the key and its plan, and store them in the request state."""
        challenge = {"WWW-Authenticate": 'ApiKey realm="einvoice", header="X-API-Key"'}
        # Blanks around the value of a header are no part of it (RFC 9110, 5.5); the parser keeps those that follow.
        values = [value.strip(" \t") for value in Headers(scope=scope).getlist("x-api-key")]
        try:
            if any(values):
                key = self._keys.find(values[0]) if len(values) == 1 else None
            elif (key := self._keys.valid_key(self._open_key) if self._is_open(scope) else None) is None:
                raise Problem(KEY_MISSING, headers=challenge)
        except KeyExpired as error:
            raise Problem(KEY_EXPIRED, headers=challenge, day=str(error.day)) from None
        if key is None:
            raise Problem(KEY_INVALID, headers=challenge)
        scope.setdefault("state", {})["key"] = key
        entitlements = self._keys.entitlements(key)
        if entitlements is None or not entitlements.can_use_api:
            raise Problem(PLAN_REQUIRED, plan="business")
        required = self._required.get(scope["path"])
        if required and not getattr(entitlements, required):
            raise Problem(RIGHT_REQUIRED, right=required)
        scope["state"]["entitlements"] = entitlements
        return key, entitlements
