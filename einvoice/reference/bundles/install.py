"""Adding a configuration, or a single stylesheet: everything that can be wrong with it is found now, not at work."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Final

from einvoice.errors import UnreadableDocument
from einvoice.model.location import NAMESPACES
from einvoice.reference.bundles import archive, scenarios, store
from einvoice.reference.bundles.configuration import Configuration, Kind, Resource, Scenario
from einvoice.reference.bundles.errors import BundleRejected
from einvoice.reference.engine import saxon_version
from einvoice.reference.process import sandbox
from einvoice.reference.process.sandbox import Failed
from einvoice.reference.verdict import trouble
from einvoice.rulebook.catalog import entry
from einvoice.syntax import xml

_LIMITS: Final = xml.Limits(bytes=64 << 20)
_SVRL: Final = "{http://purl.oclc.org/dsdl/svrl}"
_ANY: Final = {"rsm": "exists(/rsm:CrossIndustryInvoice)", "cbc": "exists(/ubl:Invoice | /cn:CreditNote)"}
"""The invoices of a syntax, by the prefix of a namespace that only this syntax has."""


def add(path: str | Path, *, name: str | None = None, match: str | None = None, replace: bool = False) -> Configuration:
    """Check a configuration, keep it, and let it judge from now on.

    Args:
        path: KoSIT's published configuration, a ZIP, as it is; or a single compiled Schematron (XSLT that writes
            SVRL), whose rules are run after those of EN 16931, as a further layer "cius".
        name: to list and remove it by; without it the file's name, without its ending.
        match: for a single stylesheet: XPath, true for the invoices that it is for; the prefixes are the stylesheet's
            own and the usual ones (cbc, cac, ubl, cn, rsm, ram, udt, qdt). Without it all invoices in UBL, or in CII,
            if the stylesheet knows the namespaces of one of them only.
        replace: in place of what is there under this name.

    Raises:
        BundleRejected: it is not taken; the message says why.
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
    with store.workshop() as folder:
        if kind == "ZIP":
            archive.unpack(data, folder, path.name)
            title, found = scenarios.read(folder)
        else:
            (folder / path.name).write_bytes(data)
            title, found = _single(folder / path.name, match)
        added: Kind = "configuration" if kind == "ZIP" else "schematron"
        digest = hashlib.sha256(data).hexdigest()
        configuration = Configuration(name, added, title or name, digest, store.now(), found, folder)
        _prove(configuration)
        return store.keep(configuration)


def _single(file: Path, match: str | None) -> scenarios.Read:
    """A single stylesheet as the only artefact of the only scenario."""
    told, reads = scenarios.stylesheet(file, file.parent)
    root = xml.parse(file.read_bytes()).getroot()
    output = next(root.iter(f"{_SVRL}schematron-output"), None)
    title = " ".join((output.get("title", "") if output is not None else "").split()) or file.stem
    namespaces = NAMESPACES | {prefix: uri for prefix, uri in root.nsmap.items() if prefix}
    if match is None:
        usual = [prefix for prefix in _ANY if NAMESPACES[prefix] in root.nsmap.values()]
        if len(usual) != 1:
            raise BundleRejected("match_needed", file=file.name)
        match = _ANY[usual[0]]
        namespaces |= NAMESPACES
    resource = Resource("cius", title, file.name, told.version, told.sha256, told.rules, reads)
    return scenarios.Read(title, (Scenario(title, match, namespaces, (resource,), {}),))


def _prove(configuration: Configuration) -> None:
    """Compile all that will be run."""
    folder = configuration.folder
    for scenario in configuration.scenarios:
        try:
            sandbox.ask("check_match", expression=scenario.match, namespaces=dict(scenario.namespaces))
        except Failed as error:
            raise BundleRejected("match", scenario=scenario.name, reason=_reason(error)) from None
    resources = {
        (resource.path, resource.layer == "schema"): resource
        for scenario in configuration.scenarios
        for resource in scenario.resources
    }
    for (path, is_schema), resource in resources.items():
        place = str(folder / path)
        try:
            if is_schema:
                sandbox.ask("check_schema", path=place, folder=str(folder))
            else:
                sandbox.ask("check_stylesheet", path=place, reads=resource.reads)
        except Failed as error:
            raise BundleRejected("not_compiled", file=path, reason=_reason(error)) from None


def _reason(error: Failed) -> str:
    return error.detail or entry(trouble(error.reason)).title("en")
