"""Steps that the validate, batch and generate requests share: build and run a job, record it, add links."""

import hashlib
import logging
import time
from collections.abc import Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from appliance.api.dependencies import Caller, query_details
from appliance.artifacts.links import ArtifactSource, Link
from appliance.contract.serialization import append_member, to_json
from appliance.contract.values import ArtifactKind, Engine, Language, Mode
from appliance.services import Services
from appliance.transport.forwarded import base_url
from appliance.transport.problem_responses import details_response
from appliance.workers.pool import JobCrashed, JobLimitExceeded, busy_problem
from appliance.workers.protocol import Message

audit = logging.getLogger("appliance.audit")

_NEED_CAUSES = {"causes", "letter"}

NO_STORE = {"Cache-Control": "no-store"}


def build_job(
    services: Services, task: str, document: bytes, request: Request, caller: Caller, lang: Language, **head: Any
) -> Message:
    """Return a job for a document."""
    base = base_url(request.scope) if services.settings.catalog_pages else None
    common = {
        "lang": lang,
        "base": base,
        "summary": caller.entitlements.can_view_structured_invoice,
        "pdf_lines": services.settings.pdf_lines,
    }
    return Message({"job": task, **common, **head}, (document,))


def requested_details(services: Services, request: Request) -> dict[str, Any]:
    """Return the `details` of the query, and the time limit of the search for causes, None if none of them needs it.

    Raises:
        Problem: the query is invalid.
    """
    details = query_details(request)
    return {
        "details": details,
        "causes_seconds": services.workers.causes_seconds if _NEED_CAUSES & {*details} else None,
    }


async def run_job(services: Services, job: Message, caller: Caller) -> Message | Response:
    """Run a job; return its outcome, or the response for a problem with the document.

    Raises:
        Problem: no worker is available, the worker exited, or the job exceeded a limit.
    """
    try:
        outcome = await services.workers.run(job, caller.key.name)
    except JobCrashed:
        raise busy_problem() from None
    except JobLimitExceeded:
        raise services.workers.too_complex_problem() from None
    problem = outcome.head.get("problem")
    return outcome if problem is None else details_response(problem)


def record_verdict(services: Services, request: Request, outcome: Message, document: bytes) -> None:
    """Record the verdict in the metrics, for the access log, and in the audit log.

    Args:
        services: the services.
        request: the request.
        outcome: outcome of the job.
        document: the file that was validated, or generated. The log contains its hash, never its content.
    """
    verdict = outcome.head["verdict"]
    state = request.scope["state"]
    state.setdefault("verdicts", []).append(verdict)
    key = state["key"]
    services.metrics.record_document(verdict["syntax"], verdict["valid"], key.name)
    fields = {"request_id": state["request_id"], "key": key.label, "name": key.name, **verdict}
    audit.info("verdict", extra={"fields": {**fields, "sha256": hashlib.sha256(document).hexdigest()}})


async def create_links(
    services: Services, request: Request, caller: Caller, source: ArtifactSource, kinds: Mapping[ArtifactKind, bool]
) -> dict[str, dict[str, Any]]:
    """Return the member `artifacts`: a link for each kind that is offered (True) and that the plan includes.

    Other kinds, and links that could not be created, are marked as unavailable.
    """
    entitled = {"readable_invoice_pdf": caller.entitlements.can_download_readable_pdf}
    offered = [kind for kind, is_offered in kinds.items() if is_offered and entitled.get(kind, True)]
    links = await services.links.create(caller.key.name, offered, source)
    base = base_url(request.scope)
    return {kind: _artifact(links.get(kind), base) for kind in kinds}


def _artifact(link: Link | None, base: str) -> dict[str, Any]:
    """Return a member of `artifacts`, in the form of `appliance.contract.schemas.Artifact`."""
    url, seconds = (base + link.path, link.seconds) if link else (None, None)
    return {"available": link is not None, "url": url, "expires_in_seconds": seconds}


def artifact_source(
    document: bytes,
    filename: str,
    lang: Language,
    mode: Mode = "current",
    engine: Engine = "native",
    *,
    assess: bool = False,
) -> ArtifactSource:
    """Return the source for the PDFs of a document that has just been validated."""
    return ArtifactSource(document, filename, lang, mode, time.time(), engine, assess)


def with_artifacts(body: bytes, artifacts: Mapping[str, Any]) -> bytes:
    """Return a response body with the member `artifacts`."""
    return append_member(body, "artifacts", to_json(artifacts))
