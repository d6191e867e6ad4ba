"""Examples of answers, for the description of the interface: real ones about the samples, made when asked for."""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Mapping
from importlib.resources import files
from typing import Any, Final, TypeAlias

import einvoice
from appliance.api.about import capabilities
from appliance.artifacts import FILES, PATH, Kind
from appliance.plans import BUSINESS
from appliance.schemas import UNAVAILABLE, Artifact
from appliance.wire import Message

Run: TypeAlias = Callable[[Message], Awaitable[Message]]
Examples: TypeAlias = dict[str, dict[str, dict[str, Any]]]
"""Answers by operation, status, and what is special about them."""

BASE: Final = "https://einvoice.example.org"
"""Address of the appliance in examples."""

_TOKEN: Final = "0123456789abcdefghijklmnopqrstuv"
_CATALOG_ITEMS: Final = 2
_UNREADABLE: Final = (
    b"<Invoice><ID>R-1</Invoice>",
    b"<order/>",
    b"Rechnung R-1",
    b"<!DOCTYPE Invoice><Invoice/>",
    b'<CrossIndustryDocument xmlns="urn:ferd:CrossIndustryDocument:invoice:1p0"/>',
)


async def examples(run: Run) -> Examples:
    """Return examples for all operations; `run` has a worker do a job.

    Raises:
        Problem: there is no worker for it at the moment.
    """
    judged, batch, generated = await asyncio.gather(_validate(run), _batch(run), _generate(run))
    catalog = einvoice.catalog().to_dict("en")
    catalog["items"] = catalog["items"][:_CATALOG_ITEMS]
    schema = einvoice.draft_schema()
    described = {name: schema[name] for name in ("$schema", "$id", "title", "x-schema-version", "type", "required")}
    return {
        "validate": judged,
        "validate_batch": batch,
        "generate": generated,
        "capabilities": {"200": {"plan business": capabilities(BUSINESS, "native", BASE)}},
        "error_catalog": {"200": {f"the first {_CATALOG_ITEMS} items": catalog}},
        "invoice_draft_schema": {"200": {"without properties": described}},
    }


async def _validate(run: Run) -> dict[str, dict[str, Any]]:
    ubl = _sample("xrechnung-ubl.xml")
    asked = {
        "valid": (ubl, "current"),
        "not valid": (re.sub(rb"<cbc:BuyerReference>.*?</cbc:BuyerReference>", b"", ubl), "current"),
        "an older XRechnung in compatibility mode": (
            ubl.replace(b"urn:xeinkauf.de:kosit:xrechnung_3.0", b"urn:xoev-de:kosit:standard:xrechnung_2.3"),
            "compatibility",
        ),
    }
    told = {}
    for name, (document, mode) in asked.items():
        outcome = await run(_job("validate", document, mode=mode))
        told[name] = _answer(outcome, _links("validation_report_pdf", "readable_invoice_pdf"))
    refused = [(await run(_job("validate", document, mode="current"))).head["problem"] for document in _UNREADABLE]
    return {"200": told, "422": {problem["code"]: problem for problem in refused}}


async def _batch(run: Run) -> dict[str, dict[str, Any]]:
    read = await run(_job("validate_item", _sample("xrechnung-cii.xml"), name="invoice.xml"))
    unread = await run(_job("validate_item", b"", name="empty.xml"))
    nothing = UNAVAILABLE.model_dump()
    report = _links("validation_report_pdf") | {"readable_invoice_pdf": nothing}
    items = [
        _answer(read, report),
        _answer(unread, {"validation_report_pdf": nothing, "readable_invoice_pdf": nothing}),
    ]
    return {"200": {"one of two cannot be read": {"status": "done", "count": len(items), "items": items}}}


async def _generate(run: Run) -> dict[str, dict[str, Any]]:
    draft = einvoice.draft_schema()["examples"][0]
    told = {}
    for name in ("UBL", "CII", "ZUGFERD"):
        outcome = await run(_job("generate", json.dumps({**draft, "format": name}).encode()))
        links = _links("validation_report_pdf", "readable_invoice_pdf")
        if name == "ZUGFERD":
            links |= _links("zugferd_pdf") | {"embedded_xml": outcome.head["embedded_xml"]}
        told[name] = _answer(outcome, links)
    wrong = {**draft, "format": "PDF", "lines": []}
    refused = (await run(_job("generate", json.dumps(wrong).encode()))).head["problem"]
    return {"200": told, "422": {refused["code"]: refused}}


def _job(kind: str, document: bytes, **head: Any) -> Message:
    return Message({"do": kind, "lang": "en", "base": BASE, "engine": "native", **head}, (document,))


def _answer(outcome: Message, artifacts: Mapping[str, Any]) -> dict[str, Any]:
    return {**json.loads(outcome.parts[0]), "artifacts": artifacts}


def _links(*kinds: Kind) -> dict[str, Any]:
    def link(kind: Kind) -> Artifact:
        return Artifact(available=True, url=f"{BASE}{PATH}/{_TOKEN}/{FILES[kind]}", expires_in_seconds=3600)

    return {kind: link(kind).model_dump() for kind in kinds}


def _sample(name: str) -> bytes:
    return (files("appliance") / "samples" / name).read_bytes()
