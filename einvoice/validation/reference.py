"""The passes that run the official artefacts instead of the rules of einvoice, or beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from einvoice.validation import passes, reference_findings
from einvoice.validation.passes import Context, Outcome, Pass, Run

if TYPE_CHECKING:
    from einvoice.reference import Verdict
    from einvoice.result import Agreement, Finding


def passes_of(verdict: Verdict) -> Sequence[Pass]:
    """Return the passes for a verdict of the official artefacts; an XML schema among them replaces ours."""
    has_schema = any(run.layer == "schema" for run in verdict.runs)
    reference = partial(_reference, verdict)
    return (passes.declaration, reference) if has_schema else (passes.xml_schema, passes.declaration, reference)


def _reference(verdict: Verdict, context: Context) -> Outcome:
    """Report what the official artefacts found; a layer without an artefact is an error."""
    profile = context.selection.profile
    layers = context.selection.layers if profile is None else [layer.name for layer in profile.layers()]
    covered = reference_findings.covered(verdict.runs)
    missing = context.not_run("REFERENCE-MISSING", [name for name in layers if name not in covered])
    return Outcome(
        [*_reported(verdict, context), *_failures(verdict, context), *missing.findings],
        [*reference_findings.layers(verdict), *missing.layers],
    )


def _failures(verdict: Verdict, context: Context) -> Iterator[Finding]:
    """Report the artefacts that did not run."""
    for run in verdict.runs:
        if run.trouble:
            values = {"artefact": run.title, "layer": run.layer, "detail": run.detail}
            yield context.build.of_entry(run.trouble, run.layer, context.document.root, values)


def agreement(verdict: Verdict, run: Run) -> Agreement:
    """Compare the findings of einvoice with those of the official artefacts."""
    reported = _reported(verdict, run.context)
    return reference_findings.agreement(verdict, run.findings, run.layers, reported)


def _reported(verdict: Verdict, context: Context) -> tuple[Finding, ...]:
    reporter = reference_findings.Reporter(
        context.document.root, context.build.places, bool(context.violations), context.build.lang
    )
    return tuple(reporter.findings(verdict))
