"""ASGI middleware: drain unread request bodies; turn unhandled exceptions into 500."""

import logging

import anyio
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from appliance.contract.problems import INTERNAL_ERROR, Problem
from appliance.transport.problem_responses import problem_response, release_frames

log = logging.getLogger(__name__)


class DrainBody:
    """Sends the response at once, reads what is left of the request body within limits, then closes the connection.

    A refused upload is answered before it ends. Closing the connection at that point makes many clients report a broken
    connection instead of the response; keeping it open makes the server read the remaining body, whatever its size.

    Args:
        app: next ASGI application.
        seconds: time limit for the rest of a body: as for an upload that is not refused.
        max_bytes: maximum size of the rest of a body: that of the largest request that is not refused.
    """

    def __init__(self, app: ASGIApp, seconds: float, max_bytes: int) -> None:
        self.app = app
        self._seconds = seconds
        self._max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; drain its body if the response comes first."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        unread = "transfer-encoding" in headers or headers.get("content-length", "0") != "0"
        closing = False

        async def tracking_receive() -> Message:
            nonlocal unread
            message = await receive()
            unread = message["type"] == "http.request" and message.get("more_body", False)
            return message

        async def draining_send(message: Message) -> None:
            nonlocal closing
            if message["type"] == "http.response.start" and unread:
                closing = True
                message = {**message, "headers": [*message.get("headers", ()), (b"connection", b"close")]}
            if message["type"] == "http.response.body" and not message.get("more_body", False) and closing:
                await send({**message, "more_body": True})
                await self._drain(receive)
                message = {"type": "http.response.body"}
            await send(message)

        await self.app(scope, tracking_receive, draining_send)

    async def _drain(self, receive: Receive) -> None:
        remaining = self._max_bytes
        with anyio.move_on_after(self._seconds):
            while remaining > 0:
                message = await receive()
                if message["type"] != "http.request" or not message.get("more_body", False):
                    return
                remaining -= len(message.get("body", b""))


class ErrorBoundary:
    """Logs an unhandled exception and answers 500. `appliance.observability.logs` keeps its message out of the log."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on; a client that disconnects is not an error."""
        started = False

        async def tracking_send(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self.app(scope, receive, tracking_send)
        except ClientDisconnect as error:
            log.info("The client disconnected")
            release_frames(error)
        except Exception as error:
            if scope["type"] != "http":
                raise
            log.error("A request failed", exc_info=error)
            release_frames(error)
            if not started:
                await problem_response(Problem(INTERNAL_ERROR), scope)(scope, receive, send)
