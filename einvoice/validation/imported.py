"""The pass that applies imported sheets: a second tier beside the rules of einvoice, with the texts of the sheets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final

from einvoice.quotation import quote
from einvoice.reference import ReferenceFinding
from einvoice.reference.bundles.imports import KIND, ImportedSheet, imported_sheets
from einvoice.result import Finding, Layer, Severity
from einvoice.result.finding import UNKNOWN_RULE
from einvoice.rulebook.catalog import entry
from einvoice.schematron.errors import NotCompilable, Stopped
from einvoice.schematron.load import applies
from einvoice.schematron.program import Report
from einvoice.schematron.tree import Document
from einvoice.syntax.xml import parse
from einvoice.validation.limits import FindingsByCode
from einvoice.validation.pipeline import NOTHING, Context, Outcome

_STOPPED: Final = "REFERENCE-STOPPED"
_FLAGS: Final[Mapping[str, Severity]] = {
    "warning": "warning",
    "warn": "warning",
    "information": "information",
    "info": "information",
}
"""Severities of Schematron; any other flag, or none, is "fatal"."""
_MAX_TEXT: Final = 1_000


def judged(context: Context) -> Outcome:
    """Report what the imported sheets report about a document that they judge."""
    root = parse(context.document.xml).getroot()
    elements = dict(zip(root.iter(), context.document.root.iter(), strict=False))
    document = Document(root)
    findings: list[Finding] = []
    layers: list[Layer] = []
    for sheet in imported_sheets():
        outcome = _judged(sheet, document, elements, context)
        findings += outcome.findings
        layers += outcome.layers
    return Outcome(findings, layers)


def _judged(sheet: ImportedSheet, document: Document, elements: Mapping[Any, Any], context: Context) -> Outcome:
    resource, program = sheet.resource, sheet.program
    layer = Layer(
        sheet.name,
        {"en": resource.title},
        resource.version,
        sha256=resource.sha256,
        rules=resource.rules,
        kind=KIND,
        label=sheet.name,
    )
    try:
        if not applies(sheet.scenario.match, sheet.scenario.namespaces, document):
            return NOTHING
        if program is None:
            raise NotCompilable(sheet.problem)
        reports = program.run(document)
    except (NotCompilable, Stopped) as error:
        values = {"artefact": resource.title, "layer": sheet.name, "detail": f"{error}."}
        return Outcome([context.build.of_entry(_STOPPED, sheet.name, context.document.root, values)], [_failed(layer)])
    found = FindingsByCode()
    for report in reports:
        severity = _FLAGS.get(report.assertion.flag.strip().lower(), "fatal")
        build = partial(_finding, report, severity, sheet, elements, context)
        found.add(report.assertion.code, severity, build)
    return Outcome(found.findings(), [layer])


def _failed(layer: Layer) -> Layer:
    return replace(layer, executed=False, problem=_STOPPED)


def _finding(
    report: Report, severity: Severity, sheet: ImportedSheet, elements: Mapping[Any, Any], context: Context
) -> Finding:
    code, test = quote(report.assertion.code, limit=100), quote(report.assertion.test, limit=_MAX_TEXT)
    told = ReferenceFinding(code, severity, severity, "", quote(report.message, limit=_MAX_TEXT), test)
    node = elements.get(report.node.source, context.document.root)
    described_by = sheet.texts.get(report.assertion.code) or entry(UNKNOWN_RULE)
    return context.build.of_report(told, sheet.name, node, kind=KIND, described_by=described_by)
