"""The pass that applies imported sheets: a second tier beside the rules of einvoice, with the texts of the sheets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Final, NamedTuple

from einvoice.code_catalog import entry
from einvoice.quotation import quote
from einvoice.reference import ReferenceFinding
from einvoice.reference.bundles.imports import KIND, ImportedSheet, imported_sheets, sheet_of_release
from einvoice.result import Finding, Layer, Severity
from einvoice.result.finding import UNKNOWN_RULE
from einvoice.schematron.errors import LimitReached, NotCompilable, Stopped
from einvoice.schematron.load import applies
from einvoice.schematron.program import Report
from einvoice.schematron.tree import Document
from einvoice.syntax.xml import parse
from einvoice.validation import pipeline
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


class _Judged(NamedTuple):
    """A document for imported sheets.

    Attributes:
        document: in the form that they judge.
        elements: the elements of the validated tree, by those of the document.
    """

    document: Document
    elements: Mapping[Any, Any]


def judged(context: Context) -> Outcome:
    """Report what the imported sheets report about a document that they judge."""
    findings: list[Finding] = []
    layers: list[Layer] = []
    if sheets := list(imported_sheets()):
        it = _document(context)
        for sheet in sheets:
            outcome = _judged(sheet, it, context)
            findings += outcome.findings
            layers += outcome.layers
    return Outcome(findings, layers)


def _document(context: Context) -> _Judged:
    root = parse(context.document.xml).getroot()
    return _Judged(Document(root), dict(zip(root.iter(), context.document.root.iter(), strict=False)))


def _judged(sheet: ImportedSheet, judged: _Judged, context: Context) -> Outcome:
    resource = sheet.resource
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
        if not applies(sheet.scenario.match, sheet.scenario.namespaces, judged.document):
            return NOTHING
        if sheet.program is None:
            raise NotCompilable(sheet.problem)
        reports = sheet.program.run(judged.document)
        return Outcome(_findings(reports, sheet, sheet.name, judged, context), [layer])
    except (NotCompilable, Stopped) as error:
        return Outcome([_stopped(sheet, sheet.name, str(error), context)], [_failed(layer)])


def rules(context: Context, exhausted: dict[str, str]) -> Outcome:
    """Run the rules, and the sheets of imported releases in place of those that they change.

    A sheet that reaches a limit is added to `exhausted`, with the reason; one that is there is not run.

    A value that the XML schema does not allow, such as a word for a number, does not end a layer of einvoice, nor this
    one: the XML schema reports it.
    """
    native, imported = pipeline.rules(context), context.selection.imported
    findings, layers = list(native.findings), list(native.layers)
    for layer, of_layer in imported.items():
        findings = [it for it in findings if it.layer != layer or it.code not in of_layer.replaced]
    judged: _Judged | None = None
    for release in context.selection.release.imported:
        part = imported.get(release.ruleset)
        if part is None or not part.imported:
            continue
        judged = judged or _document(context)
        sheet = sheet_of_release(part)
        skipped: list[Stopped] = []
        try:
            if release.ruleset in exhausted:
                raise NotCompilable(exhausted[release.ruleset])
            if sheet is None or sheet.program is None:
                raise NotCompilable(sheet.problem if sheet else "it is not there any more")
            reports = sheet.program.run(judged.document, skipped)
            findings += _findings(reports, sheet, release.ruleset, judged, context)
            if skipped and not context.violations and _is_executed(release.ruleset, layers):
                raise skipped[0]
        except (NotCompilable, Stopped) as error:
            if isinstance(error, LimitReached):
                exhausted[release.ruleset] = str(error)
            findings.append(_stopped(sheet, release.ruleset, str(error), context))
            layers = [_failed(it) if it.name == release.ruleset else it for it in layers]
    return Outcome(findings, layers)


def _findings(
    reports: Iterable[Report], sheet: ImportedSheet, layer: str, judged: _Judged, context: Context
) -> list[Finding]:
    """Return the findings of what a sheet reports."""
    found = FindingsByCode()
    for report in reports:
        severity = _FLAGS.get(report.assertion.flag.strip().lower(), "fatal")
        build = partial(_finding, report, severity, sheet, layer, judged.elements, context)
        found.add(report.assertion.code, severity, build)
    return found.findings()


def _stopped(sheet: ImportedSheet | None, layer: str, reason: str, context: Context) -> Finding:
    values = {"artefact": sheet.resource.title if sheet else layer, "layer": layer, "detail": f"{reason}."}
    return context.build.of_entry(_STOPPED, layer, context.document.root, values)


def _is_executed(name: str, layers: Iterable[Layer]) -> bool:
    return all(it.executed for it in layers if it.name == name)


def _failed(layer: Layer) -> Layer:
    return replace(layer, executed=False, problem=_STOPPED)


def _finding(
    report: Report,
    severity: Severity,
    sheet: ImportedSheet,
    layer: str,
    elements: Mapping[Any, Any],
    context: Context,
) -> Finding:
    code, test = quote(report.assertion.code, limit=100), quote(report.assertion.test, limit=_MAX_TEXT)
    told = ReferenceFinding(code, severity, severity, "", quote(report.message, limit=_MAX_TEXT), test)
    node = elements.get(report.node.source, context.document.root)
    described_by = sheet.texts.get(report.assertion.code) or entry(UNKNOWN_RULE)
    return context.build.of_report(told, layer, node, kind=KIND, described_by=described_by)
