"""From an uploaded file to the answer about it: what validating one, several and generated files have in common."""

import time
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from appliance.address import base_url
from appliance.answers import response
from appliance.artifacts import Kind, Recipe
from appliance.problems import Language
from appliance.schemas import UNAVAILABLE, Artifact, Engine, Mode
from appliance.services import Caller, Services
from appliance.wire import Message
from appliance.workers import TooComplex

NO_STORE = {"Cache-Control": "no-store"}


def job(
    services: Services, kind: str, document: bytes, request: Request, who: Caller, lang: Language, **head: Any
) -> Message:
    """Return a job about a document."""
    base = base_url(request.scope) if services.settings.catalog_pages else None
    shared = {"lang": lang, "base": base, "summary": who.rights.can_view_structured_invoice}
    return Message({"do": kind, **shared, **head}, (document,))


async def done(services: Services, work: Message) -> Message | Response:
    """Have a job done; return its outcome, or the answer that says what is wrong with the document.

    Raises:
        Problem: there is no process for it, or it takes too much.
    """
    try:
        outcome = await services.workers.run(work)
    except TooComplex:
        raise services.workers.too_complex() from None
    told = outcome.head.get("problem")
    return outcome if told is None else response(told)


def note(services: Services, request: Request, outcome: Message) -> None:
    """Let logs and figures tell of a document that was judged."""
    facts = outcome.head["facts"]
    services.metrics.count("documents_total", syntax=facts["syntax"] or "none", valid=str(facts["valid"]).lower())
    request.state.facts = facts


async def links(
    services: Services, request: Request, who: Caller, recipe: Recipe, kinds: Mapping[Kind, bool]
) -> dict[str, dict[str, Any]]:
    """Return the links of one answer; those kinds that are not wanted, or not entitled to, are unavailable."""
    entitled = {"readable_invoice_pdf": who.rights.can_download_readable_pdf}
    wanted = [kind for kind, is_wanted in kinds.items() if is_wanted and entitled.get(kind, True)]
    offered = await services.artifacts.offer(who.key.name, wanted, recipe)
    base = base_url(request.scope)

    def link(kind: Kind) -> Artifact:
        if kind not in offered:
            return UNAVAILABLE
        return Artifact(available=True, url=base + offered[kind].path, expires_in_seconds=offered[kind].seconds)

    return {kind: link(kind).model_dump() for kind in kinds}


def recipe(document: bytes, filename: str, lang: Language, mode: Mode = "current", engine: Engine = "native") -> Recipe:
    """Return what the PDFs about a document that has just been judged are made from."""
    return Recipe(document, filename, lang, mode, time.time(), engine)


def with_last(answer: bytes, name: str, value: bytes) -> bytes:
    """Return a JSON object with one member more at its end.

    >>> with_last(b'{"a":1}', "b", b"2")
    b'{"a":1,"b":2}'
    """
    return b"".join((answer[:-1], b',"', name.encode(), b'":', value, b"}"))
