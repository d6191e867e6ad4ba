"""The gate: who may pass. It stands before the routes, so that without a key nobody learns which paths there are, and
no body is read."""

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from appliance.answers import answer
from appliance.keys import KeyRing
from appliance.problems import Problem, ProblemKind, Words
from appliance.usage import REQUESTS, Usage

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
    example={"plan": "business"},
)
RIGHT_REQUIRED = ProblemKind(
    "right_required",
    403,
    de=Words("Nicht im Tarif enthalten", "Der Tarif des Schlüssels enthält {right} nicht."),
    en=Words("Not part of the plan", "The plan of the key does not include {right}."),
    example={"right": "can_batch"},
)


class Gate:
    """Lets a request under `/api/` pass only with a valid key whose plan entitles to it.

    `rights` says what a path takes beside `can_use_api`. The key and what its plan entitles to are left in the
    request's state, as `key` and `rights`.
    """

    def __init__(self, app: ASGIApp, keys: KeyRing, usage: Usage, rights: dict[str, str]) -> None:
        self.app = app
        self._keys = keys
        self._usage = usage
        self._rights = rights

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer 401, 403 or 429, or hand the request on."""
        if scope["type"] == "http" and scope["path"].startswith("/api/"):
            try:
                await self._admit(scope)
            except Problem as refused:
                await answer(refused, scope)(scope, receive, send)
                return
        await self.app(scope, receive, send)

    async def _admit(self, scope: Scope) -> None:
        challenge = {"WWW-Authenticate": 'ApiKey realm="einvoice", header="X-API-Key"'}
        presented = Headers(scope=scope).getlist("x-api-key")
        if not any(presented):
            raise Problem(KEY_MISSING, headers=challenge)
        key = self._keys.find(presented[0]) if len(presented) == 1 else None
        if key is None:
            raise Problem(KEY_INVALID, headers=challenge)
        scope.setdefault("state", {})["key"] = key
        rights = self._keys.entitlements(key)
        if rights is None or not rights.can_use_api:
            raise Problem(PLAN_REQUIRED, plan="business")
        needed = self._rights.get(scope["path"])
        if needed and not getattr(rights, needed):
            raise Problem(RIGHT_REQUIRED, right=needed)
        await self._usage.take(key.name, REQUESTS, rights.daily_usage_limit)
        scope["state"]["rights"] = rights
