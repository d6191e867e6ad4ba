"""From a document to what the official artefacts say of it: choose the scenario, run its artefacts one by one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

from einvoice.reference import bundled, child, store
from einvoice.reference.child import Failed
from einvoice.reference.configuration import Configuration, Resource, Scenario
from einvoice.reference.engine import saxon_version
from einvoice.reference.text import without_declaration
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
    xml.parse(data)  # refuses what Saxon had better not see; but Saxon sees comments, as it does elsewhere
    document = without_declaration(data).encode()
    added = store.configurations() if saxon_version() else ()
    try:
        verdict = _by_added(document, [it for it in added if it.kind == "configuration"])
        further = [_runs(document, *found) for it in reversed(added) if (found := _single(document, it))]
    except Failed as error:
        return Verdict("", "", _not_run(identity.layers, error.reason, error.detail))
    verdict = verdict or _by_bundled(document, identity)
    return replace(verdict, runs=verdict.runs + tuple(run for runs in further for run in runs))


def _by_added(document: bytes, configurations: Iterable[Configuration]) -> Verdict | None:
    for configuration in configurations:
        scenario = _scenario(document, configuration)
        if scenario is not None:
            return Verdict(configuration.name, scenario.name, _runs(document, configuration, scenario))
    return None


def _single(document: bytes, configuration: Configuration) -> tuple[Configuration, Scenario] | None:
    """A single stylesheet, if it takes the document."""
    if configuration.kind != "schematron":
        return None
    scenario = _scenario(document, configuration)
    return (configuration, scenario) if scenario else None


def _scenario(document: bytes, configuration: Configuration) -> Scenario | None:
    """The first scenario that takes the document."""
    matches = [(it.match, dict(it.namespaces)) for it in configuration.scenarios]
    first = child.ask("match", document, scenarios=matches)["first"]
    return None if first is None else configuration.scenarios[first]


def _by_bundled(document: bytes, identity: Identity) -> Verdict:
    """What the bundled artefacts say; of what they have none for, that they have none."""
    there, scenario = bundled.configuration(), bundled.scenario(identity)
    if there is None or scenario is None:
        return Verdict("", "", _not_run(identity.layers, "missing"))
    runs = _runs(document, there, scenario)
    judged = {run.layer for run in runs}
    if "profile" in judged:
        judged |= _IN_PROFILE
    others = [layer for layer in identity.layers if layer not in judged]
    return Verdict(there.name, scenario.name, runs + _not_run(others, "missing"))


def _not_run(layers: Iterable[str], reason: str, detail: str = "") -> tuple[Run, ...]:
    """The layers without an artefact; XML schemas are no matter of this, everybody has the official ones."""
    return tuple(Run(layer, executed=False, reason=reason, detail=detail) for layer in layers if layer != "schema")


def _runs(document: bytes, configuration: Configuration, scenario: Scenario) -> tuple[Run, ...]:
    return tuple(_run(document, configuration, scenario, resource) for resource in scenario.resources)


def _run(document: bytes, configuration: Configuration, scenario: Scenario, resource: Resource) -> Run:
    """Run one artefact."""
    told = (resource.layer, resource.title, resource.version, resource.sha256)
    try:
        answer = _asked(document, configuration, resource)
    except Failed as error:
        return Run(*told, executed=False, reason=error.reason, detail=error.detail, rules=resource.rules)
    reports = tuple(report(plain, scenario.levels) for plain in answer["reports"])
    return Run(*told, rules=resource.rules, reports=reports)


def _asked(document: bytes, configuration: Configuration, resource: Resource) -> dict[str, Any]:
    # What was compiled is used again for the same edition: a file may include others that change with it.
    told = {"path": str(configuration.folder / resource.path), "edition": configuration.sha256 or resource.sha256}
    if resource.layer == "schema":
        return child.ask("schema", document, folder=str(configuration.folder), **told)
    if saxon_version() is None:
        raise Failed("engine")
    return child.ask("run", document, reads=resource.reads, **told)
