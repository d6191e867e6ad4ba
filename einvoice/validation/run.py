"""Runs the passes over a document, in order, and sorts their findings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, TypeAlias

from einvoice.result import Container, Finding, Language, Layer
from einvoice.validation import passes as all_passes
from einvoice.validation.passes import Context, Outcome

if TYPE_CHECKING:
    from einvoice.validation.document import Document
    from einvoice.validation.selection import RuleSelection

Pass: TypeAlias = Callable[[Context], Outcome]

NATIVE: Final[Sequence[Pass]] = (
    all_passes.xml_schema,
    all_passes.declaration,
    all_passes.profile,
    all_passes.rules,
    all_passes.unmapped,
)
"""The passes with the rules of einvoice."""


@dataclass(frozen=True, slots=True)
class Run:
    """A finished run.

    Attributes:
        context: the document and its selection.
        findings: sorted by layer, position in the document, and code.
        layers: in the order in which they ran.
        container: the PDF container; None for an XML file.
    """

    context: Context
    findings: tuple[Finding, ...]
    layers: tuple[Layer, ...]
    container: Container | None


def run(document: Document, selection: RuleSelection, lang: Language, passes: Sequence[Pass] = NATIVE) -> Run:
    """Validate a document with the selected rules."""
    context = Context.prepare(document, selection, lang)
    outcomes = [each(context) for each in passes]
    layers = tuple(layer for outcome in outcomes for layer in outcome.layers)
    findings = [finding for outcome in outcomes for finding in outcome.findings]
    container = next((outcome.container for outcome in outcomes if outcome.container), None)
    return Run(context, _sorted(findings, layers, context), layers, container)


def _sorted(findings: list[Finding], layers: Sequence[Layer], context: Context) -> tuple[Finding, ...]:
    ranks = {name: rank for rank, name in enumerate(("file", *dict.fromkeys(layer.name for layer in layers)))}
    order = context.build.places.order()
    return tuple(sorted(findings, key=lambda it: (ranks[it.layer], order.get(it.location.node, -1), it.code)))
