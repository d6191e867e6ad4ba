"""What stands between the network and the routes, as ASGI layers: key, unread rest of a body, last resort."""

import logging
import traceback

import anyio
from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from appliance.keys import KeyRing
from appliance.problems import INTERNAL_ERROR, Problem, ProblemKind, Words, asked_language

log = logging.getLogger(__name__)

PLAN = "business"
"""The plan that the service belongs to."""

LINGER_SECONDS = 5
LINGER_BYTES = 32 * 1024 * 1024

KEY_MISSING = ProblemKind(
    "key_missing",
    401,
    de=Words("Kein API-Schlüssel", "Die Anfrage braucht den Kopf X-API-Key mit einem gültigen Schlüssel."),
    en=Words("No API key", "The request needs the header X-API-Key with a valid key."),
)
KEY_INVALID = ProblemKind(
    "key_invalid",
    401,
    de=Words("Ungültiger API-Schlüssel", "Der Schlüssel im Kopf X-API-Key ist unbekannt oder wurde zurückgezogen."),
    en=Words("Invalid API key", "The key in the header X-API-Key is unknown or has been revoked."),
)
PLAN_REQUIRED = ProblemKind(
    "plan_required",
    403,
    de=Words("Tarif reicht nicht aus", "Diese Schnittstelle gehört zum Tarif {plan}; der Schlüssel hat einen anderen."),
    en=Words("Plan not sufficient", "This interface belongs to the plan {plan}; the key has another."),
)


class KeyGate:
    """Lets a request under `/api/` pass only with a valid key of the right plan.

    It stands before the routes, so that without a key nobody learns which paths there are, and no body is read.
    The key that was used is left in the request's state as `key`.
    """

    def __init__(self, app: ASGIApp, keys: KeyRing) -> None:
        self.app = app
        self.keys = keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 401 or 403, or hand the request on."""
        if scope["type"] == "http" and scope["path"].startswith("/api/"):
            refused = self._refuse(scope)
            if refused:
                await refused.response(asked_language(scope))(scope, receive, send)
                return
        await self.app(scope, receive, send)

    def _refuse(self, scope: Scope) -> Problem | None:
        challenge = {"WWW-Authenticate": 'ApiKey realm="einvoice", header="X-API-Key"'}
        presented = Headers(scope=scope).getlist("x-api-key")
        if not any(presented):
            return Problem(KEY_MISSING, headers=challenge)
        key = self.keys.find(presented[0]) if len(presented) == 1 else None
        if key is None:
            return Problem(KEY_INVALID, headers=challenge)
        if key.plan != PLAN:
            return Problem(PLAN_REQUIRED, plan=PLAN)
        scope.setdefault("state", {})["key"] = key
        return None


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
    """Answers 500 where the code has a fault, and logs where, but not what: messages could quote an invoice."""

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
            places = (f"{frame.filename}:{frame.lineno}" for frame in traceback.extract_tb(error.__traceback__)[-5:])
            log.error("%s at %s", type(error).__name__, " < ".join(places))
            if not started:
                await Problem(INTERNAL_ERROR).response(asked_language(scope))(scope, receive, send)
