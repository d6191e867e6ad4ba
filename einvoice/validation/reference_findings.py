"""Findings of the official artefacts, and their agreement with those of einvoice."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from lxml import etree

from einvoice.model.location import NAMESPACES
from einvoice.result import Agreement, Finding, Layer
from einvoice.validation.limits import FindingsByCode

if TYPE_CHECKING:
    from einvoice.reference import ReferenceFinding, ReferenceResult, ReferenceRun
    from einvoice.validation.findings import FindingBuilder

_STEPS: Final = (
    re.compile(r"\*:(?P<name>[\w.-]+)\[namespace-uri\(\)\s*=\s*(?:'(?P<uri>[^']*)'|\"(?P<uri2>[^\"]*)\")\]"),
    re.compile(r"Q\{(?P<uri>[^}]*)\}(?P<name>[\w.-]+)"),
)
"""Qualified element names in XPath 2 and 3; lxml supports only XPath 1."""

_INCLUDED_LAYERS: Final = {"profile": ("en16931",), "extension": ("cius",)}
"""Kinds of layers whose rules are in an artefact of another kind."""


Names: TypeAlias = Mapping[str, str]
"""The name of the rule set by kind; artefacts state only the kind."""


def layers(result: ReferenceResult, names: Names) -> tuple[Layer, ...]:
    """Return the artefacts as layers of a validation stack."""
    return tuple(_layer(run, names) for run in result.runs)


def _layer(run: ReferenceRun, names: Names) -> Layer:
    kind = run.layer if run.layer in names else ""
    name = names.get(run.layer, run.layer)
    title = {"en": run.title}
    return Layer(name, title, run.version, "", "", run.sha256, run.executed, run.rules, kind, problem=run.problem_code)


def findings(result: ReferenceResult, build: FindingBuilder, root: Any, names: Names) -> Iterator[Finding]:
    """Yield what the artefacts reported about one document.

    Args:
        result: result of the artefacts.
        build: builds the findings.
        root: root element of the document.
        names: names of the rule sets by kind.
    """
    found = FindingsByCode()
    for run in result.runs:
        layer = names.get(run.layer, run.layer)
        for report in run.reports:
            found.add(report.code, report.severity, partial(_finding, report, layer, build, root))
    yield from found.findings()


def _finding(report: ReferenceFinding, layer: str, build: FindingBuilder, root: Any) -> Finding:
    return build.of_report(report, layer, _node(root, report.location))


def _node(root: Any, location: str) -> Any:
    """Return the element at a reported location; the root if it cannot be found."""
    path = location
    for step in _STEPS:
        path = step.sub(_as_xpath_1, path)
    try:
        found = root.getroottree().xpath(path.partition("/@")[0], namespaces=NAMESPACES)
    except etree.XPathError:
        return root
    return found[0] if isinstance(found, list) and found and isinstance(found[0], etree._Element) else root


def _as_xpath_1(step: re.Match[str]) -> str:
    parts = step.groupdict()
    return f"*[local-name()='{parts['name']}' and namespace-uri()='{parts['uri'] or parts.get('uri2') or ''}']"


def covered(runs: Iterable[ReferenceRun], names: Names) -> set[str]:
    """Return the layers that artefacts cover. One for an extension or a profile includes the layer below it."""
    kinds = {run.layer for run in runs}
    included = kinds.union(*(_INCLUDED_LAYERS.get(kind, ()) for kind in kinds))
    return {names.get(kind, kind) for kind in included}


def agreement(
    result: ReferenceResult,
    native: Iterable[Finding],
    validated: Iterable[Layer],
    reported: Iterable[Finding],
    names: Names,
) -> Agreement:
    """Compare the findings of einvoice with those of the artefacts.

    Args:
        result: result of the artefacts.
        native: findings of einvoice.
        validated: layers that einvoice validated.
        reported: findings of the artefacts.
        names: names of the rule sets by kind.
    """
    failed = covered((run for run in result.runs if not run.executed), names)
    ran = covered((run for run in result.runs if run.executed), names) - failed
    compared = tuple(layer.name for layer in validated if layer.executed and layer.name in ran)
    own = {_key(finding, result): finding for finding in native if finding.layer in compared}
    others = {_key(finding, result): finding for finding in reported if finding.layer in compared}
    return Agreement(
        result.configuration,
        result.scenario,
        layers(result, names),
        compared,
        tuple(own[key] for key in own if key not in others),
        tuple(others[key] for key in others if key not in own),
    )


def _key(finding: Finding, result: ReferenceResult) -> tuple[str, ...]:
    """Return the key that equal findings share. Bundled artefacts override no severities, so flags are compared."""
    if finding.layer == "schema":
        return ("schema",)
    return finding.code, finding.flag if result.is_bundled else finding.severity
