"""Examples of responses for the OpenAPI document: real responses for the samples, produced on demand."""

import asyncio
import json
import re
import zlib
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, Final, TypeAlias

import einvoice
from appliance.access.plans import BUSINESS
from appliance.api.capabilities import capabilities
from appliance.contract.job_schemas import JOB_EXAMPLE
from appliance.contract.paths import API, artifact_path
from appliance.contract.results import add_links
from appliance.contract.schemas import UNAVAILABLE, Artifact
from appliance.contract.values import LANGUAGES, ArtifactKind
from appliance.workers.protocol import Message

RunJob: TypeAlias = Callable[[Message], Awaitable[Message]]
Examples: TypeAlias = dict[str, dict[str, dict[str, Any]]]
"""Examples by operation, status, and name."""

BASE: Final = "https://einvoice.example.org"
"""Base URL in the examples."""

_TOKEN: Final = "0123456789abcdefghijklmnopqrstuv"
_CATALOG_ITEMS: Final = 2
_JOB_LIMITS: Final = {"max_size_bytes": 104_857_600, "max_files": 25_000, "lifetime_seconds": 86_400}
_UNREADABLE: Final = (
    b"<Invoice><ID>R-1</Invoice>",
    b"<order/>",
    b"Rechnung R-1",
    b"<!DOCTYPE Invoice><Invoice/>",
    b'<CrossIndustryDocument xmlns="urn:ferd:CrossIndustryDocument:invoice:1p0"/>',
)


async def build_examples(run_job: RunJob) -> Examples:
    """Return examples for all operations.

    Raises:
        Problem: no worker is available.
    """
    validate, batch, generate, documents, jobs = await asyncio.gather(
        _validate(run_job), _batch(run_job), _generate(run_job), _documents(run_job), _jobs(run_job)
    )
    catalog = einvoice.catalog().to_dict("en")
    catalog["items"] = catalog["items"][:_CATALOG_ITEMS]
    add_links(catalog["items"], "")
    schema = einvoice.draft_schema()
    excerpt = {name: schema[name] for name in ("$schema", "$id", "title", "x-schema-version", "type", "required")}
    return {
        "validate": validate,
        "validate_batch": batch,
        "generate": generate,
        **{name: {"200": {"a sample": body}, "422": validate["422"]} for name, body in documents.items()},
        **jobs,
        "capabilities": {
            "200": {"plan business": capabilities(BUSINESS, "native", LANGUAGES, 5, BASE, jobs=_JOB_LIMITS)}
        },
        "error_catalog": {"200": {f"the first {_CATALOG_ITEMS} items": catalog}},
        "invoice_draft_schema": {"200": {"without properties": excerpt}},
    }


async def _validate(run_job: RunJob) -> dict[str, dict[str, Any]]:
    ubl = _sample("xrechnung-ubl.xml")
    requests = {
        "valid": (ubl, "current"),
        "not valid": (re.sub(rb"<cbc:BuyerReference>.*?</cbc:BuyerReference>", b"", ubl), "current"),
        "an older XRechnung in compatibility mode": (
            ubl.replace(b"urn:xeinkauf.de:kosit:xrechnung_3.0", b"urn:xoev-de:kosit:standard:xrechnung_2.3"),
            "compatibility",
        ),
    }
    results = {}
    for name, (document, mode) in requests.items():
        outcome = await run_job(_job("validate", document, mode=mode))
        results[name] = _body(outcome, _links("validation_report_pdf", "readable_invoice_pdf"))
    wrong = ubl.replace(b">693.00</cbc:LineExtensionAmount>", b">692.99</cbc:LineExtensionAmount>")
    outcome = await run_job(_job("validate", wrong, mode="current", causes_seconds=5, details=["causes"]))
    results["with causes"] = _body(outcome, _links("validation_report_pdf", "readable_invoice_pdf"))
    outcomes = [await run_job(_job("validate", document, mode="current")) for document in _UNREADABLE]
    problems = [outcome.head["problem"] for outcome in outcomes]
    return {"200": results, "422": {problem["code"]: problem for problem in problems}}


async def _batch(run_job: RunJob) -> dict[str, dict[str, Any]]:
    readable = await run_job(_job("validate_item", _sample("xrechnung-cii.xml"), name="invoice.xml"))
    unreadable = await run_job(_job("validate_item", b"", name="empty.xml"))
    no_link = UNAVAILABLE.model_dump()
    items = [
        _body(readable, _links("validation_report_pdf") | {"readable_invoice_pdf": no_link}),
        _body(unreadable, {"validation_report_pdf": no_link, "readable_invoice_pdf": no_link}),
    ]
    return {"200": {"one of two files is unreadable": {"status": "done", "count": len(items), "items": items}}}


async def _generate(run_job: RunJob) -> dict[str, dict[str, Any]]:
    draft = einvoice.draft_schema()["examples"][0]
    results = {}
    for name in ("UBL", "CII", "ZUGFERD"):
        outcome = await run_job(_job("generate", json.dumps({**draft, "format": name}).encode()))
        links = _links("validation_report_pdf", "readable_invoice_pdf")
        if name == "ZUGFERD":
            links |= _links("zugferd_pdf") | {"embedded_xml": outcome.head["embedded_xml"]}
        results[name] = _body(outcome, links)
    invalid = {**draft, "format": "PDF", "lines": []}
    problem = (await run_job(_job("generate", json.dumps(invalid).encode()))).head["problem"]
    return {"200": results, "422": {problem["code"]: problem}}


async def _documents(run_job: RunJob) -> dict[str, dict[str, Any]]:
    ubl = _sample("xrechnung-ubl.xml")
    wrong = ubl.replace(b">693.00</cbc:LineExtensionAmount>", b">692.99</cbc:LineExtensionAmount>")
    draft = json.dumps({**einvoice.draft_schema()["examples"][0], "format": "ZUGFERD"}).encode()
    pdf = (await run_job(_job("generate", draft))).parts[1]
    jobs = {
        "convert": _job("convert", ubl, to="CII", specification=None, strict=False),
        "extract": _job("extract", pdf),
        "fix": _job("fix", wrong, names=["invoice.xml"], unsafe=False),
        "read": _job("read", ubl),
        "diff": replace(_job("diff", ubl, names=["a.xml", "b.xml"]), parts=(ubl, wrong)),
    }
    return {name: json.loads((await run_job(job)).parts[0]) for name, job in jobs.items()}


async def _jobs(run_job: RunJob) -> Examples:
    ubl = _sample("xrechnung-ubl.xml")
    wrong = ubl.replace(b">693.00</cbc:LineExtensionAmount>", b">692.99</cbc:LineExtensionAmount>")
    common = {"has_facts": True, "has_header": False}
    files = {"a.xml": ubl, "b.xml": wrong}
    validated = [await run_job(_job("archive_file", content, name=name, **common)) for name, content in files.items()]
    causes = await run_job(_job("archive_causes", wrong, name="b.xml"))
    records = zlib.compress(b"".join(it.parts[0] for it in validated))
    summary = _job("archive_summary", b"", records=1, has_causes=True)
    summarized = await run_job(replace(summary, parts=(records, causes.parts[0])))
    job = {**JOB_EXAMPLE, "url": f"{BASE}{API}/jobs/{JOB_EXAMPLE['id']}"}
    return {
        "create_job": {"202": {"accepted": {**job, "status": "queued", "started_at": None}}},
        "list_jobs": {"200": {"one job": {"status": "ok", "count": 1, "items": [job]}}},
        "job": {"200": {"running": job}},
        "job_summary": {"200": {"two files": json.loads(summarized.parts[0])}},
    }


def _job(task: str, document: bytes, **head: Any) -> Message:
    return Message({"job": task, "lang": "en", "base": BASE, "engine": "native", **head}, (document,))


def _body(outcome: Message, artifacts: Mapping[str, Any]) -> dict[str, Any]:
    return {**json.loads(outcome.parts[0]), "artifacts": artifacts}


def _links(*kinds: ArtifactKind) -> dict[str, Any]:
    def link(kind: ArtifactKind) -> Artifact:
        return Artifact(available=True, url=BASE + artifact_path(_TOKEN, kind), expires_in_seconds=3600)

    return {kind: link(kind).model_dump() for kind in kinds}


def _sample(name: str) -> bytes:
    return (einvoice.samples() / name).read_bytes()
