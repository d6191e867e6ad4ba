"""Validates a document with the official artefacts: selects the scenario and runs its artefacts in order."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Final

from einvoice.reference.bundles import packaged, store
from einvoice.reference.bundles.configuration import Configuration, Resource, Scenario
from einvoice.reference.bundles.errors import BundleRejected
from einvoice.reference.bundles.imports import KIND as IMPORTED
from einvoice.reference.bundles.stylesheet_policy import check_stylesheet
from einvoice.reference.engine import saxon_version
from einvoice.reference.process import limits, sandbox
from einvoice.reference.process.errors import ExecutionFailed
from einvoice.reference.process.text import without_declaration
from einvoice.reference.result import ReferenceResult, ReferenceRun, finding
from einvoice.rulebook.releases import releases
from einvoice.syntax import xml
from einvoice.syntax.detect import Identity

_INCLUDED_IN_PROFILE: Final = {"en16931"}
"""Layers that the artefact of a Factur-X profile covers besides its own."""


def validate(data: bytes, identity: Identity) -> ReferenceResult:
    """Validate a document with the official artefacts.

    The newest added configuration with a matching scenario is used, or the bundled one if none matches. Added single
    stylesheets and imported sheets that match the document run after it, in the order in which they were added.

    Args:
        data: XML of an invoice in UBL or CII.
        identity: result of `einvoice.syntax.detect.identify`.

    Raises:
        errors.UnreadableDocument: the document cannot be read. A failed artefact raises no error; see its run.
        ChildProcessError: the worker cannot be started.
    """
    document = _Document(data)
    added = store.configurations() if saxon_version() else ()
    try:
        selected = document.select(it for it in added if it.kind == "configuration")
        stylesheets = [single for it in reversed(added) for single in _singles(it)]
        further = [match for it in stylesheets if (match := document.select([it]))]
    except ExecutionFailed as error:
        return ReferenceResult("", "", _not_executed(_kinds(identity), error.reason, error.detail))
    result = document.run_added(*selected) if selected else document.run_bundled(identity)
    return replace(result, runs=result.runs + tuple(run for match in further for run in document.run(*match)))


def _singles(configuration: Configuration) -> Iterator[Configuration]:
    """Yield each sheet that runs beside the others; one of a release of a shipped rule set does not."""
    if configuration.kind in ("schematron", IMPORTED):
        for scenario in configuration.scenarios:
            if not configuration.is_of_release(scenario):
                yield replace(configuration, scenarios=(scenario,))


class _Document:
    """A document under validation, with its deadline."""

    def __init__(self, data: bytes) -> None:
        xml.parse(data)  # rejects unsafe XML. Saxon gets the original text, since comments can affect its result
        self._text = without_declaration(data).encode()
        self._deadline = time.monotonic() + limits.SECONDS

    def select(self, configurations: Iterable[Configuration]) -> tuple[Configuration, Scenario] | None:
        """Return the first configuration with a matching scenario, and that scenario."""
        for configuration in configurations:
            matches = [(it.match, dict(it.namespaces)) for it in configuration.scenarios]
            first = self._request("match", scenarios=matches)["first"]
            if first is not None:
                return configuration, configuration.scenarios[first]
        return None

    def run_added(self, configuration: Configuration, scenario: Scenario) -> ReferenceResult:
        """Run a scenario of an added configuration."""
        return ReferenceResult(configuration.name, scenario.name, self.run(configuration, scenario))

    def run_bundled(self, identity: Identity) -> ReferenceResult:
        """Run the bundled artefacts; a layer without an artefact gets a run with the reason "missing"."""
        configuration, scenario = packaged.configuration(), packaged.scenario(identity)
        if configuration is None or scenario is None:
            return ReferenceResult("", "", _not_executed(_kinds(identity), "missing"))
        runs = self.run(configuration, scenario)
        covered = {run.layer for run in runs}
        if "profile" in covered:
            covered |= _INCLUDED_IN_PROFILE
        others = [layer for layer in _kinds(identity) if layer not in covered]
        return ReferenceResult(configuration.name, scenario.name, runs + _not_executed(others, "missing"))

    def run(self, configuration: Configuration, scenario: Scenario) -> tuple[ReferenceRun, ...]:
        """Run the artefacts of a scenario in order."""
        return tuple(self._run(configuration, scenario, resource) for resource in scenario.resources)

    def _run(self, configuration: Configuration, scenario: Scenario, resource: Resource) -> ReferenceRun:
        if configuration.kind == IMPORTED:
            resource = replace(resource, layer=configuration.name)
        source = (resource.layer, resource.title, resource.version, resource.sha256)
        try:
            if configuration.kind == IMPORTED:
                resource = _executable(configuration, resource)
            answer = self._execute(configuration, resource)
        except ExecutionFailed as error:
            return ReferenceRun(*source, executed=False, reason=error.reason, detail=error.detail, rules=resource.rules)
        reports = tuple(finding(plain, scenario.severities) for plain in answer["reports"])
        return ReferenceRun(*source, rules=resource.rules, reports=reports)

    def _execute(self, configuration: Configuration, resource: Resource) -> dict[str, Any]:
        # The edition is the cache key of the compiled artefact: files that it includes may change with it.
        edition = configuration.sha256 or resource.sha256
        path = str(configuration.folder / resource.path)
        if resource.layer == "schema":
            return self._request("schema", path=path, folder=str(configuration.folder), edition=edition)
        if saxon_version() is None:
            raise ExecutionFailed("engine")
        return self._request("run", path=path, edition=edition, reads_files=resource.reads_files)

    def _request(self, task: str, **arguments: Any) -> dict[str, Any]:
        return sandbox.request(task, self._text, self._deadline - time.monotonic(), **arguments)


def _executable(configuration: Configuration, resource: Resource) -> Resource:
    """Return an imported sheet as Saxon may run it: an import is checked for the compiled form only.

    Raises:
        ExecutionFailed: it is Schematron, which Saxon does not run, or it may read files from elsewhere.
    """
    path = configuration.folder / resource.path
    if path.suffix.lower() == ".sch":
        raise ExecutionFailed("missing", "Saxon runs Schematron compiled to XSLT; import that form")
    try:
        return replace(resource, reads_files=check_stylesheet(path, configuration.folder))
    except (BundleRejected, OSError) as error:
        raise ExecutionFailed("missing", str(error)) from None


def _kinds(identity: Identity) -> list[str]:
    """Return the kinds of the rule sets that the document declares, such as "cius"."""
    return [releases(identity.data).sets[name].kind for name in identity.rulesets]


def _not_executed(layers: Iterable[str], reason: str, detail: str = "") -> tuple[ReferenceRun, ...]:
    """Return a run for each layer without an artefact."""
    return tuple(ReferenceRun(layer, executed=False, reason=reason, detail=detail) for layer in layers)
