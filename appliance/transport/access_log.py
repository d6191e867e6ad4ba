"""Access log and request metrics.

Only the route template of a URL is recorded: the token of an artifact link is a secret, and a query may contain
anything.
"""

import logging
import re
import secrets
import time
from collections.abc import Sequence
from typing import Any

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from appliance.observability.metrics import Metrics

log = logging.getLogger(__name__)

_REQUEST_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_PROBES = ("/healthz", "/readyz", "/metrics", "/server/health")
"""Routes that machines request at short intervals; they are logged at level "debug"."""
_METHODS = ("GET", "HEAD", "POST", "OPTIONS", "PUT", "PATCH", "DELETE")


class AccessLog:
    """ASGI middleware: sets X-Request-ID (the caller's, if well-formed), and records each request when it ends."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and record it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        requested_id = Headers(scope=scope).get("x-request-id", "")
        request_id = requested_id if _REQUEST_ID.fullmatch(requested_id) else secrets.token_hex(8)
        scope.setdefault("state", {})["request_id"] = request_id
        status, size, started = 0, 0, time.perf_counter()

        async def tracking_send(message: Message) -> None:
            nonlocal status, size
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message.get("headers", ()), (b"x-request-id", request_id.encode())]
            elif message["type"] == "http.response.body":
                size += len(message.get("body", b""))
            await send(message)

        try:
            await self.app(scope, receive, tracking_send)
        finally:
            self._record(scope, request_id, status, size, time.perf_counter() - started)

    def _record(self, scope: Scope, request_id: str, status: int, size: int, seconds: float) -> None:
        """Record a request; `status` is 0 if the client disconnected before the response."""
        route = getattr(scope.get("route"), "path", "none")
        method = scope["method"] if scope["method"] in _METHODS else "other"
        key = scope["state"].get("key")
        self._metrics.record_request(route, method, status, seconds, key.name if key else None)
        level = logging.DEBUG if route in _PROBES else logging.INFO
        if not log.isEnabledFor(level):
            return
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
        log.log(level, "request", extra={"fields": {**fields, **_summary(scope["state"].get("verdicts", []))}})


def _summary(verdicts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the verdict on a document; for several, their number and that of the valid ones."""
    if len(verdicts) > 1:
        return {"documents": len(verdicts), "valid_documents": sum(bool(it["valid"]) for it in verdicts)}
    return verdicts[0] if verdicts else {}
