"""From a document to what the official artefacts say of it: choose the scenario, run its artefacts one by one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, Final

from einvoice.reference import bundled, child
from einvoice.reference.child import Failed
from einvoice.reference.configuration import Configuration, Resource, Scenario
from einvoice.reference.engine import saxon_version
from einvoice.reference.verdict import Run, Verdict, report
from einvoice.syntax import xml
from einvoice.syntax.detect import Identity

_DECLARATION: Final = re.compile(r"\ufeff?<\?xml\s[^>]*\?>")
_IN_PROFILE: Final = {"schema", "en16931"}
"""Layers that the artefacts of a level of Factur-X judge along with their own."""


def judge(data: bytes, identity: Identity) -> Verdict:
    """Let the official artefacts judge a document.

    Args:
        data: the XML of an invoice in UBL or CII.
        identity: what `einvoice.syntax.detect.identify` says it is.

    Raises:
        errors.UnreadableDocument: one of its subclasses; an artefact that fails raises nothing, its `Run` tells.
        ChildProcessError: the system starts no process.
    """
    xml.parse(data)  # refuses what Saxon had better not see; but Saxon sees comments, as it does elsewhere
    document = _DECLARATION.sub("", xml.text(data), count=1).encode()
    return _by_bundled(document, identity)


def _by_bundled(document: bytes, identity: Identity) -> Verdict:
    """What the bundled artefacts say; of what they have none for, that they have none."""
    there, scenario = bundled.configuration(), bundled.scenario(identity)
    if there is None or scenario is None:
        return Verdict("", "", _not_run(identity.layers, "missing"))
    runs = tuple(_run(document, resource, there, scenario) for resource in scenario.resources)
    judged = {run.layer for run in runs}
    if "profile" in judged:
        judged |= _IN_PROFILE
    others = [layer for layer in identity.layers if layer not in judged]
    return Verdict(there.name, scenario.name, runs + _not_run(others, "missing"))


def _not_run(layers: Iterable[str], reason: str, detail: str = "") -> tuple[Run, ...]:
    """The layers without an artefact; XML schemas are no matter of this, everybody has the official ones."""
    return tuple(Run(layer, executed=False, reason=reason, detail=detail) for layer in layers if layer != "schema")


def _run(document: bytes, resource: Resource, configuration: Configuration, scenario: Scenario) -> Run:
    """Run one artefact."""
    told = (resource.layer, resource.title, resource.version, resource.sha256)
    try:
        answer = _asked(document, resource, configuration)
        reports = tuple(report(plain, scenario.levels) for plain in answer["reports"])
    except Failed as error:
        return Run(*told, executed=False, reason=error.reason, detail=error.detail, rules=resource.rules)
    return Run(*told, rules=resource.rules, reports=reports)


def _asked(document: bytes, resource: Resource, configuration: Configuration) -> dict[str, Any]:
    path = str(configuration.folder / resource.path)
    if resource.layer == "schema":
        folder = str(configuration.folder)
        return child.ask("schema", document, path=path, folder=folder, sha256=resource.sha256)
    if saxon_version() is None:
        raise Failed("engine")
    return child.ask("run", document, path=path, sha256=resource.sha256, reads=resource.reads)
