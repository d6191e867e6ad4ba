"""Adds a configuration or a single stylesheet, after checking it completely."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

from einvoice.code_catalog import entry
from einvoice.errors import UnreadableDocument
from einvoice.model.location import NAMESPACES
from einvoice.reference.bundles import archive, scenarios, store
from einvoice.reference.bundles.configuration import Configuration, Kind, Resource, Scenario
from einvoice.reference.bundles.errors import BundleRejected
from einvoice.reference.engine import saxon_version
from einvoice.reference.process import sandbox
from einvoice.reference.process.errors import ExecutionFailed, problem_code
from einvoice.syntax import xml

_LIMITS: Final = xml.Limits(bytes=64 << 20)
_SVRL: Final = "{http://purl.oclc.org/dsdl/svrl}"
_MATCH_SYNTAX: Final = {"rsm": "exists(/rsm:CrossIndustryInvoice)", "cbc": "exists(/ubl:Invoice | /cn:CreditNote)"}
"""XPath that matches all invoices in a syntax, keyed by the prefix of a namespace specific to it."""


def add(path: str | Path, *, name: str | None = None, match: str | None = None, replace: bool = False) -> Configuration:
    """Check a configuration and install it; later validations with `reference` use it.

    Args:
        path: a KoSIT validator configuration (ZIP) as published; or a single compiled Schematron (XSLT that outputs
            SVRL), which runs after EN 16931 as a further layer "cius".
        name: name under which it is listed and removed; by default the file name without its extension.
        match: for a single stylesheet: XPath that is true for the invoices it applies to, with the prefixes of the
            stylesheet and the usual ones (cbc, cac, ubl, cn, rsm, ram, udt, qdt). By default all invoices in UBL or
            all in CII, if the stylesheet declares the namespaces of only one of them.
        replace: whether to replace an existing configuration with this name.

    Raises:
        BundleRejected: the file cannot be added.
    """
    path = Path(path)
    name = path.stem if name is None else name
    store.check_name(name, replace)
    try:
        data, _ = xml.source_bytes(path, _LIMITS)
    except (OSError, UnreadableDocument) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error).rstrip(".")
        raise BundleRejected("not_read", file=path.name, reason=str(reason)) from None
    kind = xml.sniff(data)
    if kind not in ("ZIP", "xml"):
        raise BundleRejected("unfit", file=path.name)
    if kind == "ZIP" and match is not None:
        raise BundleRejected("match_given")
    if saxon_version() is None:
        raise BundleRejected("engine")
    with store.staging_folder() as folder:
        if kind == "ZIP":
            archive.unpack(data, folder, path.name)
            title, content = scenarios.read(folder)
        else:
            (folder / path.name).write_bytes(data)
            title, content = _read_stylesheet(folder / path.name, match)
        added: Kind = "configuration" if kind == "ZIP" else "schematron"
        digest = hashlib.sha256(data).hexdigest()
        configuration = Configuration(name, added, title or name, digest, store.now(), content, folder)
        _check(configuration)
        return store.install(configuration)


def _read_stylesheet(file: Path, match: str | None) -> scenarios.ScenarioFile:
    """Return a single stylesheet as a scenario."""
    metadata, reads_files = scenarios.stylesheet(file, file.parent)
    root = xml.parse(file.read_bytes()).getroot()
    output = next(root.iter(f"{_SVRL}schematron-output"), None)
    title = " ".join((output.get("title", "") if output is not None else "").split()) or file.stem
    namespaces = NAMESPACES | {prefix: uri for prefix, uri in root.nsmap.items() if prefix}
    if match is None:
        syntaxes = [prefix for prefix in _MATCH_SYNTAX if NAMESPACES[prefix] in root.nsmap.values()]
        if len(syntaxes) != 1:
            raise BundleRejected("match_needed", file=file.name)
        match = _MATCH_SYNTAX[syntaxes[0]]
        namespaces |= NAMESPACES
    resource = Resource("cius", title, file.name, metadata.version, metadata.sha256, metadata.rules, reads_files)
    return scenarios.ScenarioFile(title, (Scenario(title, match, namespaces, (resource,), {}),))


def _check(configuration: Configuration) -> None:
    """Compile all conditions and artefacts."""
    folder = configuration.folder
    for scenario in configuration.scenarios:
        try:
            sandbox.request("check_match", expression=scenario.match, namespaces=dict(scenario.namespaces))
        except ExecutionFailed as error:
            raise BundleRejected("match", scenario=scenario.name, reason=_reason(error)) from None
    resources = {
        (resource.path, resource.layer == "schema"): resource
        for scenario in configuration.scenarios
        for resource in scenario.resources
    }
    for (path, is_schema), resource in resources.items():
        location = str(folder / path)
        try:
            if is_schema:
                sandbox.request("check_schema", path=location, folder=str(folder))
            else:
                sandbox.request("check_stylesheet", path=location, reads_files=resource.reads_files)
        except ExecutionFailed as error:
            raise BundleRejected("not_compiled", file=path, reason=_reason(error)) from None


def _reason(error: ExecutionFailed) -> str:
    return error.detail or entry(problem_code(error.reason)).title("en")
