"""The passes that run the official artefacts instead of the rules of einvoice, or beside them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from einvoice.validation import pipeline, reference_findings
from einvoice.validation.pipeline import Context, Outcome, Pass, Run

if TYPE_CHECKING:
    from einvoice.reference import ReferenceResult
    from einvoice.result import Agreement, Finding


def passes_of(result: ReferenceResult) -> Sequence[Pass]:
    """Return the passes for a result of the official artefacts; an XML schema among them replaces that of einvoice."""
    has_schema = any(run.layer == "schema" for run in result.runs)
    reference = partial(_reference, result)
    return (pipeline.declaration, reference) if has_schema else (pipeline.xml_schema, pipeline.declaration, reference)


def _reference(result: ReferenceResult, context: Context) -> Outcome:
    """Report what the official artefacts found; a layer without an artefact is an error."""
    names = _names(context)
    covered = reference_findings.covered(result.runs, names)
    layers = [*context.selection.missing, *(layer.name for layer in context.selection.layers)]
    missing = context.not_run("REFERENCE-MISSING", [name for name in layers if name not in covered])
    return Outcome(
        [*_reported(result, context), *_failures(result, context), *missing.findings],
        [*reference_findings.layers(result, names), *missing.layers],
    )


def _names(context: Context) -> Mapping[str, str]:
    """Return the names of the rule sets of the specification by kind; artefacts state only the kind."""
    selection = context.selection
    return {selection.kinds[name]: name for name in reversed([name for name, _ in selection.stack])}


def _failures(result: ReferenceResult, context: Context) -> Iterator[Finding]:
    """Report the artefacts that did not run."""
    for run in result.runs:
        if run.problem_code:
            layer = _names(context).get(run.layer, run.layer)
            values = {"artefact": run.title, "layer": layer, "detail": run.detail}
            yield context.build.of_entry(run.problem_code, layer, context.document.root, values)


def agreement(result: ReferenceResult, run: Run) -> Agreement:
    """Compare the findings of einvoice with those of the official artefacts."""
    reported = _reported(result, run.context)
    return reference_findings.agreement(result, run.findings, run.layers, reported, _names(run.context))


def _reported(result: ReferenceResult, context: Context) -> tuple[Finding, ...]:
    return tuple(reference_findings.findings(result, context.build, context.document.root, _names(context)))
