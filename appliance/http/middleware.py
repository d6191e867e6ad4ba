"""What stands between the network and the routes, as ASGI layers: the unread rest of a body, the last resort."""

import logging

import anyio
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from appliance.answers import answer
from appliance.problems import INTERNAL_ERROR, Problem

log = logging.getLogger(__name__)

LINGER_SECONDS = 5
LINGER_BYTES = 32 * 1024 * 1024


class Linger:
    """Answers at once, takes in for a while what the caller is still sending, and closes the connection.

    A refused upload is answered before its end. If the connection were cut there, many clients would report a broken
    connection and never see the answer; if it stayed open, the server would take in the whole rest, however long.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand the request on, and linger if its body has not been read when the answer comes."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        unread = "transfer-encoding" in headers or headers.get("content-length", "0") != "0"
        closing = False

        async def watched_receive() -> Message:
            nonlocal unread
            message = await receive()
            unread = message["type"] == "http.request" and message.get("more_body", False)
            return message

        async def lingering_send(message: Message) -> None:
            nonlocal closing
            if message["type"] == "http.response.start" and unread:
                closing = True
                message = {**message, "headers": [*message.get("headers", ()), (b"connection", b"close")]}
            if message["type"] == "http.response.body" and not message.get("more_body", False) and closing:
                await send({**message, "more_body": True})
                await _throw_away(receive)
                message = {"type": "http.response.body"}
            await send(message)

        await self.app(scope, watched_receive, lingering_send)


async def _throw_away(receive: Receive) -> None:
    left = LINGER_BYTES
    with anyio.move_on_after(LINGER_SECONDS):
        while left > 0:
            message = await receive()
            if message["type"] != "http.request" or not message.get("more_body", False):
                return
            left -= len(message.get("body", b""))


class LastResort:
    """Answers 500 where the code has a fault; what is logged of it, `appliance.logs` decides."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand the request on; a caller who went away is no fault."""
        started = False

        async def watched_send(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self.app(scope, receive, watched_send)
        except ClientDisconnect:
            log.info("the caller went away")
        except Exception as error:
            if scope["type"] != "http":
                raise
            log.error("A request failed", exc_info=error)
            if not started:
                await answer(Problem(INTERNAL_ERROR), scope)(scope, receive, send)
