"""Validation reports in the format of KoSIT's validator (VARL 1.0.0), with its recommendation to accept or reject.

As there, only a document is accepted that a scenario of the configuration for XRechnung matches, or, here, a rule set
that the operator added; a document that violates its schema is not validated further; the level of a message is the one
of the rule, and the recommendation follows the published overrides.
"""

import base64
import datetime
import hashlib
from collections.abc import Iterator
from importlib.metadata import version
from typing import Final, NamedTuple

from lxml import etree

import einvoice
from appliance.workers.protocol import Message

_REP: Final = "http://www.xoev.de/de/validator/varl/1"
SCENARIOS: Final = "http://www.xoev.de/de/validator/framework/1/scenarios"
_XHTML: Final = "http://www.w3.org/1999/xhtml"
_DECLARED: Final = {
    "UBL": "/*:CustomizationID",
    "CII": "/*:ExchangedDocumentContext/*:GuidelineSpecifiedDocumentContextParameter/*:ID",
}
"""Path from the root element to what a document declares, by syntax."""
_LEVELS: Final = {"fatal": "error", "warning": "warning", "information": "information"}
_NO_SCENARIO: Final = "DECL-NO-SCENARIO"
_STOPPED: Final = "LAYER-STOPPED"
"""Content at which the official Schematron stops, an error of processing there."""

ACCEPTED, REJECTED, NOT_PROCESSED = 200, 406, 422
"""HTTP status of a report."""


class _Step(NamedTuple):
    """A validation step: its identifier, the name and version of what was applied, and the messages."""

    identifier: str
    resource: tuple[str, str] | None
    messages: list[etree._Element]


def kosit_report(job: Message) -> Message:
    """Validate a document and return the report, with the HTTP status in the head."""
    head, lang = job.head, job.head["lang"]
    try:
        result = einvoice.validate(job.parts[0], lang=lang, engine=head["engine"])
    except einvoice.UnreadableDocument as error:
        is_other = isinstance(error, einvoice.errors.UnknownRoot) and not isinstance(error, einvoice.errors.UblInPdf)
        return _unmatched(error, job, REJECTED if is_other else NOT_PROCESSED)
    if result.container is not None:
        return _unmatched(einvoice.errors.UnsupportedFormat(found="PDF"), job, NOT_PROCESSED)
    scenario = result if _has_scenario(result) else None
    is_accepted = scenario is not None and result.is_valid
    steps = [_Step("val-xml", None, []), *(_steps(result, lang) if scenario else ())]
    report = _report(job, scenario, steps, is_accepted, str(result))
    verdict = {"valid": result.is_valid, "syntax": result.invoice.syntax}
    has_stopped = any(message.get("code") == _STOPPED for step in steps for message in step.messages)
    status = ACCEPTED if is_accepted else NOT_PROCESSED if has_stopped else REJECTED
    return Message({"verdict": verdict, "status": status}, (report,))


def _unmatched(error: einvoice.UnreadableDocument, job: Message, status: int) -> Message:
    """Return the report on a document that is no invoice, or no XML."""
    title, detail = einvoice.explain_error(error, job.head["lang"])
    message = _message(error.code, "error", f"{title}. {detail}", error.line, error.column)
    return Message({"status": status}, (_report(job, None, [_Step("val-xml", None, [message])], False, title),))


def _has_scenario(result: einvoice.ValidationResult) -> bool:
    identity = result.identity
    specification = identity.specification
    if specification.scenarios:
        return identity.root in specification.scenarios and not any(it.code == _NO_SCENARIO for it in result.findings)
    return specification.current and not {*specification.rulesets}.isdisjoint(einvoice.catalog().data.added)


def _steps(result: einvoice.ValidationResult, lang: str) -> Iterator[_Step]:
    """Yield the steps after parsing: the schema and, if the document complies with it, each rule set."""
    number = 0
    for layer in result.stack.layers:
        if layer.kind == "plausibility":
            continue
        messages = [
            _message(it.code, _LEVELS[it.flag], _text(it, lang), it.line, it.column, it.xpath)
            for it in result.findings
            if it.layer == layer.name
        ]
        if not (layer.executed or messages):
            continue
        title = layer.title.get("en") or layer.label or layer.name
        if layer.name != "schema":
            number += 1
        identifier = f"val-sch.{number}" if number else "val-xsd"
        yield _Step(identifier, (title, f"{layer.name}-{layer.version}"), messages)
        if layer.name == "schema" and messages:
            return


def _text(finding: einvoice.Finding, lang: str) -> str:
    return f"[{finding.code}] {finding.title(lang)}. {finding.explanation(lang)}"


def _message(code: str, level: str, text: str, line: int | None, column: int | None, xpath: str = "") -> etree._Element:
    places = {"xpathLocation": xpath, "lineNumber": str(line or ""), "columnNumber": str(column or "")}
    element = etree.Element(f"{{{_REP}}}message", {"level": level, "code": code})
    element.attrib.update({name: value for name, value in places.items() if value})
    element.text = text
    return element


def _report(
    job: Message, scenario: einvoice.ValidationResult | None, steps: list[_Step], is_accepted: bool, text: str
) -> bytes:
    """Return the report.

    Args:
        job: the job.
        scenario: the result of a document that a scenario matches; None if none does.
        steps: the validation steps.
        is_accepted: the recommendation.
        text: its explanation.
    """
    root = etree.Element(f"{{{_REP}}}report", {"varlVersion": "1.0.0"}, nsmap={"rep": _REP, "s": SCENARIOS})
    _add(_add(root, "engine"), "name", f"einvoice {version('einvoice-toolkit')}")
    _add(root, "timestamp", datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds"))
    document = _add(root, "documentIdentification")
    hashed = _add(document, "documentHash")
    _add(hashed, "hashAlgorithm", "SHA-256")
    _add(hashed, "hashValue", base64.b64encode(hashlib.sha256(job.parts[0]).digest()).decode())
    _add(document, "documentReference", job.head["name"])
    matched = _add(root, "noScenarioMatched" if scenario is None else "scenarioMatched")
    if scenario is not None:
        _add_scenario(matched, scenario, steps)
    valid = [_add_step(matched, step) for step in steps]
    root.set("valid", _boolean(scenario is not None and all(valid)))
    recommendation = _add(_add(root, "assessment"), "accept" if is_accepted else "reject")
    html = etree.SubElement(_add(recommendation, "explanation"), f"{{{_XHTML}}}html", nsmap={None: _XHTML})  # type: ignore[dict-item]
    _add(_add(html, "head", namespace=_XHTML), "title", job.head["name"], namespace=_XHTML)
    _add(_add(html, "body", namespace=_XHTML), "pre", text, namespace=_XHTML)
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8")


def _add_scenario(parent: etree._Element, result: einvoice.ValidationResult, steps: list[_Step]) -> None:
    """Add what a scenario of KoSIT's configurations has: its name, the documents that it is for, and its resources."""
    scenario = _add(parent, "scenario", namespace=SCENARIOS)
    identity = result.identity
    _add(scenario, "name", identity.specification.profile, namespace=SCENARIOS)
    declared = (identity.customization_id or "").replace("'", "''")
    match = f"exists(/*:{identity.root}{_DECLARED[identity.syntax]}[. = '{declared}'])"
    _add(scenario, "match", match, namespace=SCENARIOS)
    for step in steps:
        if step.resource is not None:
            kind = "validateWithXmlSchema" if step.identifier == "val-xsd" else "validateWithSchematron"
            _add_resource(_add(scenario, kind, namespace=SCENARIOS), step.resource)


def _add_resource(parent: etree._Element, resource: tuple[str, str]) -> None:
    added = _add(parent, "resource", namespace=SCENARIOS)
    for name, value in zip(("name", "location"), resource, strict=True):
        _add(added, name, value, namespace=SCENARIOS)


def _add_step(parent: etree._Element, step: _Step) -> bool:
    """Add a step, and return whether it is valid: without errors and warnings."""
    is_valid = not any(it.get("level") in ("error", "warning") for it in step.messages)
    element = _add(parent, "validationStepResult")
    element.set("id", step.identifier)
    element.set("valid", _boolean(is_valid))
    if step.resource is not None:
        _add_resource(element, step.resource)
    for position, message in enumerate(step.messages, start=1):
        message.set("id", f"{step.identifier}.{position}")
        element.append(message)
    return is_valid


def _add(parent: etree._Element, name: str, text: str | None = None, *, namespace: str = _REP) -> etree._Element:
    element = etree.SubElement(parent, f"{{{namespace}}}{name}")
    element.text = text
    return element


def _boolean(value: bool) -> str:
    return "true" if value else "false"
