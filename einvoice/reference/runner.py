"""From a document to what the official artefacts say of it: choose the scenario, run its artefacts one by one."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

from einvoice.reference.bundles import packaged, store
from einvoice.reference.bundles.configuration import Configuration, Resource, Scenario
from einvoice.reference.engine import saxon_version
from einvoice.reference.process import limits, sandbox
from einvoice.reference.process.sandbox import Failed
from einvoice.reference.process.text import without_declaration
from einvoice.reference.verdict import Run, Verdict, report
from einvoice.syntax import xml
from einvoice.syntax.detect import Identity

_IN_PROFILE: Final = {"en16931"}
"""Layers that the artefact of a level of Factur-X judges along with its own."""


def judge(data: bytes, identity: Identity) -> Verdict:
    """Let the official artefacts judge a document.

    Of the configurations that were added the newest counts that has a scenario for the document; where there is none,
    what is bundled. Single stylesheets that take the document come after it, in the order in which they were added.

    Args:
        data: the XML of an invoice in UBL or CII.
        identity: what `einvoice.syntax.detect.identify` says it is.

    Raises:
        errors.UnreadableDocument: one of its subclasses; an artefact that fails raises nothing, its `Run` tells.
        ChildProcessError: the system starts no process.
    """
    document = _Document(data)
    added = store.configurations() if saxon_version() else ()
    try:
        chosen = document.choice(it for it in added if it.kind == "configuration")
        single = [it for it in reversed(added) if it.kind == "schematron"]
        further = [found for it in single if (found := document.choice([it]))]
    except Failed as error:
        return Verdict("", "", _not_run(identity.layers, error.reason, error.detail))
    verdict = document.by_added(*chosen) if chosen else document.by_bundled(identity)
    return replace(verdict, runs=verdict.runs + tuple(run for found in further for run in document.runs(*found)))


class _Document:
    """A document that is being judged, and the time that is left for it."""

    def __init__(self, data: bytes) -> None:
        xml.parse(data)  # refuses what Saxon had better not see; but Saxon sees comments, as it does elsewhere
        self._text = without_declaration(data).encode()
        self._until = time.monotonic() + limits.SECONDS

    def choice(self, configurations: Iterable[Configuration]) -> tuple[Configuration, Scenario] | None:
        """The first configuration that has a scenario for the document, and its first one that takes it."""
        for configuration in configurations:
            matches = [(it.match, dict(it.namespaces)) for it in configuration.scenarios]
            first = self._ask("match", scenarios=matches)["first"]
            if first is not None:
                return configuration, configuration.scenarios[first]
        return None

    def by_added(self, configuration: Configuration, scenario: Scenario) -> Verdict:
        """What a configuration says that was added."""
        return Verdict(configuration.name, scenario.name, self.runs(configuration, scenario))

    def by_bundled(self, identity: Identity) -> Verdict:
        """What the bundled artefacts say; of what they have none for, that they have none."""
        there, scenario = packaged.configuration(), packaged.scenario(identity)
        if there is None or scenario is None:
            return Verdict("", "", _not_run(identity.layers, "missing"))
        runs = self.runs(there, scenario)
        judged = {run.layer for run in runs}
        if "profile" in judged:
            judged |= _IN_PROFILE
        others = [layer for layer in identity.layers if layer not in judged]
        return Verdict(there.name, scenario.name, runs + _not_run(others, "missing"))

    def runs(self, configuration: Configuration, scenario: Scenario) -> tuple[Run, ...]:
        """What the artefacts of a scenario say, one by one."""
        return tuple(self._run(configuration, scenario, resource) for resource in scenario.resources)

    def _run(self, configuration: Configuration, scenario: Scenario, resource: Resource) -> Run:
        told = (resource.layer, resource.title, resource.version, resource.sha256)
        try:
            answer = self._judged(configuration, resource)
        except Failed as error:
            return Run(*told, executed=False, reason=error.reason, detail=error.detail, rules=resource.rules)
        reports = tuple(report(plain, scenario.levels) for plain in answer["reports"])
        return Run(*told, rules=resource.rules, reports=reports)

    def _judged(self, configuration: Configuration, resource: Resource) -> dict[str, Any]:
        # What was compiled is used again for the same edition: a file may include others that change with it.
        told = {"path": str(configuration.folder / resource.path), "edition": configuration.sha256 or resource.sha256}
        if resource.layer == "schema":
            return self._ask("schema", folder=str(configuration.folder), **told)
        if saxon_version() is None:
            raise Failed("engine")
        return self._ask("run", reads=resource.reads, **told)

    def _ask(self, work: str, **told: Any) -> dict[str, Any]:
        return sandbox.ask(work, self._text, self._until - time.monotonic(), **told)


def _not_run(layers: Iterable[str], reason: str, detail: str = "") -> tuple[Run, ...]:
    """The layers without an artefact; XML schemas are no matter of this, everybody has the official ones."""
    return tuple(Run(layer, executed=False, reason=reason, detail=detail) for layer in layers if layer != "schema")
