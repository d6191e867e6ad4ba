"""The journal: what was asked, by whom, with which status and in which time, as logs and as figures.

Of an address only the route is told, with its placeholders: an artifact's token is a secret, and a query may hold
anything.
"""

import logging
import re
import secrets
import time

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from appliance.metrics import Metrics

log = logging.getLogger(__name__)

_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_QUIET = ("/healthz", "/readyz", "/metrics")
"""Routes that machines ask all the time: logged at the level "debug"."""


class Journal:
    """Gives each request an identifier (X-Request-ID, the caller's own if it is a plain word), and notes its end."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand the request on."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        given = Headers(scope=scope).get("x-request-id", "")
        request_id = given if _ID.fullmatch(given) else secrets.token_hex(8)
        scope.setdefault("state", {})["request_id"] = request_id
        status, size, started = 0, 0, time.perf_counter()

        async def watched_send(message: Message) -> None:
            nonlocal status, size
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["X-Request-ID"] = request_id
            elif message["type"] == "http.response.body":
                size += len(message.get("body", b""))
            await send(message)

        try:
            await self.app(scope, receive, watched_send)
        finally:
            self._note(scope, request_id, status, size, time.perf_counter() - started)

    def _note(self, scope: Scope, request_id: str, status: int, size: int, seconds: float) -> None:
        """`status` is 0 where the caller went away before an answer."""
        route = getattr(scope.get("route"), "path", "none")
        method = scope["method"] if scope["method"] in _METHODS else "other"
        self._metrics.count("requests_total", route=route, method=method, status=status)
        self._metrics.observe(route, seconds)
        level = logging.DEBUG if route in _QUIET else logging.INFO
        if not log.isEnabledFor(level):
            return
        key = scope["state"].get("key")
        fields = {
            "request_id": request_id,
            "method": method,
            "route": route,
            "status": status,
            "ms": round(seconds * 1000, 1),
            "bytes": size,
            "key": key.label if key else None,
            "client": scope["client"][0] if scope.get("client") else None,
        }
        log.log(level, "request", extra={"fields": {**fields, **scope["state"].get("facts", {})}})


_METHODS = ("GET", "HEAD", "POST", "OPTIONS", "PUT", "PATCH", "DELETE")
