"""What the official artefacts found, as findings, and whether it is what the rules of this program found."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from lxml import etree

from einvoice.model.location import NAMESPACES
from einvoice.result import Agreement, Finding, Language, Layer, Places
from einvoice.rulebook.catalog import CatalogEntry, catalog

if TYPE_CHECKING:
    from einvoice.reference import ReferenceFinding, ReferenceResult, ReferenceRun

_STEPS: Final = (
    re.compile(r"\*:(?P<name>[\w.-]+)\[namespace-uri\(\)\s*=\s*(?:'(?P<uri>[^']*)'|\"(?P<uri2>[^\"]*)\")\]"),
    re.compile(r"Q\{(?P<uri>[^}]*)\}(?P<name>[\w.-]+)"),
)
"""How XPath 2 and 3 write an element's name with its namespace; lxml understands XPath 1."""

_WITHIN: Final = {"profile": ("en16931",), "extension": ("cius",)}
"""Rules that come in one artefact with those of a layer, where ours are layers apart."""


def layers(result: ReferenceResult) -> tuple[Layer, ...]:
    """The artefacts as layers of a stack."""
    return tuple(
        Layer(run.layer, {"de": run.title, "en": run.title}, run.version, "", "", run.sha256, run.executed, run.rules)
        for run in result.runs
    )


class Reporter:
    """Turns what artefacts report about one document into findings.

    Args:
        root: of the document.
        places: of the same document.
        indicative: the document breaks its XML schema.
        lang: language of the findings where none is asked for.
    """

    def __init__(self, root: Any, places: Places, indicative: bool, lang: Language) -> None:
        self._root = root
        self._places = places
        self._indicative = indicative
        self._lang = lang

    def findings(self, result: ReferenceResult) -> Iterator[Finding]:
        """Everything that was reported."""
        for run in result.runs:
            yield from (self._finding(run, report) for report in run.reports)

    def _finding(self, run: ReferenceRun, report: ReferenceFinding) -> Finding:
        known: CatalogEntry | None = catalog().get(report.code)
        return Finding(
            code=report.code,
            severity=report.severity,
            flag=report.flag,
            layer=run.layer,
            section=known.section if known else "document",
            terms=known.terms if known else (),
            location=self._places.at(self._node(report.location)),
            indicative=self._indicative and run.layer != "schema",
            reported=report.text or report.test or report.code,
            lang=self._lang,
        )

    def _node(self, location: str) -> Any:
        """The element that an artefact points at; the root where nobody can tell."""
        path = location
        for step in _STEPS:
            path = step.sub(_as_xpath_1, path)
        try:
            found = self._root.getroottree().xpath(path.partition("/@")[0], namespaces=NAMESPACES)
        except etree.XPathError:
            return self._root
        return found[0] if isinstance(found, list) and found and isinstance(found[0], etree._Element) else self._root


def _as_xpath_1(step: re.Match[str]) -> str:
    parts = step.groupdict()
    return f"*[local-name()='{parts['name']}' and namespace-uri()='{parts['uri'] or parts.get('uri2') or ''}']"


def covered(runs: Iterable[ReferenceRun]) -> set[str]:
    """The layers that artefacts stand for: that of an extension or of a level has the rules in it that it builds on."""
    names = {run.layer for run in runs}
    return names.union(*(_WITHIN.get(name, ()) for name in names))


def agreement(
    result: ReferenceResult, native: Iterable[Finding], judged: Iterable[Layer], reported: Iterable[Finding]
) -> Agreement:
    """Hold the findings of this program against those of the artefacts.

    Args:
        result: of the artefacts.
        native: the findings of this program.
        judged: the layers that they come from.
        reported: the findings of the artefacts.
    """
    ran = covered(run for run in result.runs if run.executed) - covered(run for run in result.runs if not run.executed)
    compared = tuple(layer.name for layer in judged if layer.executed and layer.name in ran)
    ours = {_key(finding, result): finding for finding in native if finding.layer in compared}
    others = {_key(finding, result): finding for finding in reported if finding.layer in compared}
    return Agreement(
        result.configuration,
        result.scenario,
        layers(result),
        compared,
        tuple(ours[key] for key in ours if key not in others),
        tuple(others[key] for key in others if key not in ours),
    )


def _key(finding: Finding, result: ReferenceResult) -> tuple[str, ...]:
    """What makes two findings the same one. Bundled artefacts override no severities, so that their flags count."""
    if finding.layer == "schema":
        return ("schema",)
    return finding.code, finding.flag if result.is_bundled else finding.severity
