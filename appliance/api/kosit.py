"""Takes the place of KoSIT's validator in daemon mode: XML posted to any path outside the interface is validated.

Answers are reports in the format of that validator, with its status codes. What keeps a request from being processed
is answered as everywhere: as problem details.
"""

import asyncio
from importlib.metadata import version
from types import SimpleNamespace
from typing import Final

from lxml import etree
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

import einvoice
from appliance import capacity
from appliance.access.quotas import DAILY_FILES
from appliance.api.dependencies import current_caller, query_language
from appliance.api.processing import NO_STORE, build_job, record_verdict, run_job
from appliance.contract.problems import Problem, ProblemType, quoted
from appliance.contract.values import LANGUAGES
from appliance.observability.metrics import resident_bytes
from appliance.services import Services
from appliance.transport.problem_responses import problem_response, release_frames
from appliance.transport.uploads import read_body
from appliance.workers.varl import SCENARIOS

CONTENT_EXPECTED = ProblemType("content_expected", 400)

_HEALTH: Final = "/server/health"
_PAGES: Final = (_HEALTH, "/server/config")
_DAEMON: Final = "http://www.xoev.de/de/validator/framework/1/daemon"


class KositDaemon:
    """ASGI middleware: answers requests as KoSIT's daemon does, and passes those to the interface and its pages on.

    Args:
        app: next ASGI application.
        services: the services.
    """

    def __init__(self, app: ASGIApp, services: Services) -> None:
        self.app = app
        self._services = services

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer the request, or pass it on."""
        is_page = scope["type"] == "http" and scope["method"] == "GET" and scope["path"] in _PAGES
        if not (is_page or posts_to_daemon(scope)):
            await self.app(scope, receive, send)
            return
        scope["route"] = SimpleNamespace(path=scope["path"] if is_page else "/")  # for the log and the metrics
        try:
            response = await self._answer(Request(scope, receive))
        except Problem as problem:
            release_frames(problem)
            response = problem_response(problem, scope)
        await response(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        if request.method == "POST":
            return await _validate(self._services, request)
        if request.scope["path"] == _HEALTH:
            return _xml(_health(self._services.workers.ready_count > 0))
        return _xml(await asyncio.to_thread(_configuration))


def posts_to_daemon(scope: Scope) -> bool:
    """Return whether a request posts a document to any path outside the interface."""
    return scope["type"] == "http" and scope["method"] == "POST" and not scope["path"].startswith("/api/")


async def _validate(services: Services, request: Request) -> Response:
    caller = await current_caller(request)
    lang = await query_language(request, request.query_params.get("lang", LANGUAGES[0]))
    holder = caller.key.name
    with services.workers.reserve(holder) as reservation:
        if request.headers.get("content-type", "").startswith("multipart"):
            raise Problem(CONTENT_EXPECTED)
        seconds = services.settings.upload_seconds
        document = await read_body(request.stream(), seconds=seconds, reserve=reservation.add_bytes)
        if not document:
            raise Problem(CONTENT_EXPECTED)
        await services.quotas.consume(holder, DAILY_FILES, caller.entitlements.daily_validation_limit)
        path = request.scope["path"].rpartition("/")[2]
        head = {
            "name": quoted(path) or f"supplied_instance_{request.scope['state']['request_id']}",
            "engine": services.settings.engine,
        }
        outcome = await run_job(
            services, build_job(services, "kosit_report", document, request, caller, lang, **head), caller
        )
    if isinstance(outcome, Response):
        return outcome
    if "verdict" in outcome.head:
        record_verdict(services, request, outcome, document)
    return _xml(outcome.parts[0], outcome.head["status"])


def _xml(content: bytes, status: int = 200) -> Response:
    return Response(content, status, media_type="application/xml", headers=NO_STORE)


def _health(is_up: bool) -> bytes:
    root = etree.Element(f"{{{_DAEMON}}}health", nsmap={"d": _DAEMON})
    _add(root, "status", "UP" if is_up else "DOWN")
    application = _add(root, "application")
    for name, text in (("name", "einvoice"), ("version", version("einvoice-toolkit")), ("build", "")):
        _add(application, name, text)
    total, used = capacity.memory() << 20, resident_bytes("self")
    memory = _add(root, "memory")
    for name, size in (("freeMemory", total - used), ("maxMemory", total), ("totalMemory", total)):
        _add(memory, name, str(size))
    return _serialized(root)


def _configuration() -> bytes:
    """Return the names of the rule sets in the vocabulary of KoSIT's configurations."""
    root = etree.Element(f"{{{SCENARIOS}}}scenarios", {"frameworkVersion": "1.0.0"}, nsmap={"s": SCENARIOS})
    catalog = einvoice.catalog()
    _add(root, "name", f"einvoice {version('einvoice-toolkit')}", SCENARIOS)
    for ruleset in catalog.rule_sets:
        scenario = _add(root, "scenario", namespace=SCENARIOS)
        _add(scenario, "name", ruleset.label, SCENARIOS)
    return _serialized(root)


def _add(parent: etree._Element, name: str, text: str | None = None, namespace: str = _DAEMON) -> etree._Element:
    element = etree.SubElement(parent, f"{{{namespace}}}{name}")
    element.text = text
    return element


def _serialized(root: etree._Element) -> bytes:
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8")
