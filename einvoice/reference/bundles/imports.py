"""Imports sheets: Schematron that is compiled to Python and judges documents beside the rules of einvoice.

They are stored like configurations for the official engine, unchanged, in the same folder.
"""

from __future__ import annotations

import functools
import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from einvoice.code_catalog import CatalogEntry, catalog
from einvoice.code_catalog.build import entries_of_text
from einvoice.errors import RuleError, UnreadableDocument
from einvoice.model.location import NAMESPACES
from einvoice.reference.bundles import archive, store
from einvoice.reference.bundles.configuration import Configuration, Resource, Scenario
from einvoice.reference.bundles.errors import BundleRejected
from einvoice.reference.bundles.metadata import read_metadata
from einvoice.reference.bundles.releases import known_sheet, releases_of
from einvoice.resources import shipped
from einvoice.rulebook.imported_releases import Part
from einvoice.rulebook.recognition import Recognized
from einvoice.schematron import load
from einvoice.schematron.errors import NotCompilable, Stopped
from einvoice.schematron.program import Program, Refused
from einvoice.syntax import xml

KIND: Final = "imported"
_LIMITS: Final = xml.Limits(bytes=64 << 20)
_SUFFIXES: Final = (".xslt", ".xsl", ".sch")
_MAX_TOLD: Final = 5
_TEXTS: Final = "texts"
"""Folder beside a sheet with texts that replace its messages."""
_SHARED: Final = 10
"""Codes that a sheet of a family of rule sets has in common with one of them at least."""
_LAYERS: Final = ("schema", "file", "pdf", "plausibility")
"""Names of layers that are no rule sets."""


@dataclass(frozen=True, slots=True)
class Imported:
    """What was imported.

    Attributes:
        configuration: as it is stored.
        assertions: number of its assertions.
        refused: those that cannot be compiled.
        identical: releases of einvoice with the same assertions, if they judge twice.
    """

    configuration: Configuration
    assertions: int
    refused: Sequence[Refused]
    identical: Sequence[Recognized] = ()


class ImportedSheet(NamedTuple):
    """A sheet that judges documents.

    Attributes:
        name: of the import.
        scenario: its condition.
        resource: its title and release.
        program: the compiled sheet; None if the stored file cannot be read any more.
        problem: why not.
        texts: the entries of the codes that have other texts than the message of the sheet.
    """

    name: str
    scenario: Scenario
    resource: Resource
    program: Program | None
    problem: str = ""
    texts: Mapping[str, CatalogEntry] = {}


def import_sheets(
    path: str | Path,
    *,
    name: str | None = None,
    match: str | None = None,
    replace: bool = False,
    partial: bool = False,
    release: str | None = None,
    beside: bool = False,
) -> Imported:
    """Compile the sheets of a file and store them; later validations apply them beside the rules of einvoice.

    A newer release of a shipped rule set replaces it: the rules of einvoice judge what is unchanged.

    Args:
        path: a Schematron (ISO/IEC 19757-3), one compiled to XSLT 2, or a ZIP with such sheets; of a ZIP that has both
            forms, the compiled one is used.
        name: name under which it is listed and removed; by default the file name without its extension.
        match: XPath that is true for the documents that the sheets judge, with their prefixes and the usual ones (cbc,
            cac, ubl, cn, rsm, ram, udt, qdt). By default all invoices in the syntax that a sheet declares.
        replace: whether to replace an import with this name.
        partial: whether to accept assertions that cannot be compiled; they are left out, and told.
        release: version of the release of a shipped rule set that the sheets are, such as "1.3.17"; by default the one
            that they state, if einvoice does not have it.
        beside: whether the sheets judge beside the rules of einvoice, even if they are a release of them.

    Raises:
        BundleRejected: the file cannot be imported.
    """
    path = Path(path)
    name = path.stem if name is None else name
    store.check_name(name, replace)
    if name in (*_LAYERS, *shipped().sets):
        raise BundleRejected("reserved", name=name)
    try:
        data, _ = xml.source_bytes(path, _LIMITS)
    except (OSError, UnreadableDocument) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error).rstrip(".")
        raise BundleRejected("not_read", file=path.name, reason=str(reason)) from None
    with store.staging_folder() as folder:
        if xml.sniff(data) == "ZIP":
            archive.unpack(data, folder, path.name, whole=True)
        else:
            (folder / path.name).write_bytes(data)
            for file in sorted(path.parent.glob(f"{_TEXTS}/*.toml")):
                (folder / _TEXTS).mkdir(exist_ok=True)
                (folder / _TEXTS / file.name).write_bytes(file.read_bytes())
        _own_texts(folder)
        made = [_compiled(file, folder, match) for file in _sheets(folder, path.name)]
        refused = [it for _, program in made for it in program.refused]
        assertions = sum(len(program.sheet.assertions) for _, program in made)
        if refused and not partial:
            raise BundleRejected(
                "partial", file=path.name, count=f"{len(refused)} / {assertions}", which=_told(refused)
            )
        title = next((program.sheet.title for _, program in made if program.sheet.title), name)
        digest, added = hashlib.sha256(data).hexdigest(), store.now()
        files = [(program.sheet, folder / it.resources[0].path) for it, program in made]
        found = [] if beside else [known_sheet(sheet, read_metadata(file)) for sheet, file in files]
        known = [it for it in found if it]
        releases, equal = releases_of(known, name, release, added[:10])
        left_out = {it.sha256 for it in known if it.found.ruleset in equal}
        scenarios = tuple(it for it, _ in made if it.resources[0].sha256 not in left_out)
        configuration = Configuration(name, KIND, title, digest, added, scenarios, folder, releases)
        same = [] if releases else [it.found for it in known if it.found.identical]
        return Imported(store.install(configuration), assertions, refused, same)


def _sheets(folder: Path, file: str) -> list[Path]:
    """Return the sheets in a folder: the compiled ones, else the Schematron that no other one includes."""
    found = [it for it in sorted(folder.rglob("*")) if it.suffix.lower() in _SUFFIXES and load.is_sheet(it)]
    compiled = [it for it in found if it.suffix.lower() != ".sch"]
    if not found:
        raise BundleRejected("no_sheet", file=file)
    return compiled or found


def _compiled(file: Path, folder: Path, match: str | None) -> tuple[Scenario, Program]:
    try:
        program = load.compile_file(file, folder)
        program.compile()
    except (NotCompilable, Stopped) as error:
        raise BundleRejected("not_compiled", file=file.name, reason=str(error)) from None
    except (ArithmeticError, RecursionError, TypeError, ValueError) as error:  # such as a number of a million digits
        reason = f"it is too large or nested too deeply ({type(error).__name__})"
        raise BundleRejected("not_compiled", file=file.name, reason=reason) from None
    sheet = program.sheet
    condition = match or load.syntax_condition(sheet)
    if not condition:
        raise BundleRejected("match_needed", file=file.name)
    namespaces = {**NAMESPACES, **sheet.namespaces}
    try:
        load.check_condition(condition, namespaces)
    except NotCompilable as error:
        raise BundleRejected("match", scenario=file.name, reason=str(error)) from None
    metadata = read_metadata(file)
    location = file.relative_to(folder).as_posix()
    title = sheet.title or file.stem
    resource = Resource("imported", title, location, metadata.version, metadata.sha256, len(sheet.assertions))
    return Scenario(title, condition, namespaces, (resource,), {}), program


def _told(refused: Sequence[Refused]) -> str:
    shown = [f"{it.code[:60]} (line {it.line}): {it.reason}" for it in refused[:_MAX_TOLD]]
    return "; ".join(shown) + (f"; … +{len(refused) - _MAX_TOLD}" if len(refused) > _MAX_TOLD else "")


def imported_sheets() -> Iterator[ImportedSheet]:
    """Yield the sheets that judge beside the rules of einvoice, in the order in which they were imported.

    Compiled sheets are kept in memory.
    """
    for configuration, scenario in _stored():
        if not configuration.is_of_release(scenario):
            yield _sheet(configuration, scenario)


def sheet_of_release(part: Part, *, whole: bool = False) -> ImportedSheet | None:
    """Return the sheet of a part of an imported release, with the codes that it judges or all; None if it is gone."""
    found = (it for it in _stored() if it[1].resources[0].sha256 == part.sha256)
    return next((_sheet(*it, None if whole else part.imported) for it in found), None)


def _stored() -> Iterator[tuple[Configuration, Scenario]]:
    for configuration in reversed(store.configurations()):
        if configuration.kind == KIND:
            for scenario in configuration.scenarios:
                yield configuration, scenario


def _sheet(configuration: Configuration, scenario: Scenario, codes: frozenset[str] | None = None) -> ImportedSheet:
    (resource,) = scenario.resources
    try:
        program = load.program(configuration.folder / resource.path, configuration.folder, codes)
    except (NotCompilable, OSError) as error:  # it has been changed or removed
        return ImportedSheet(configuration.name, scenario, resource, None, str(error))
    texts = _texts_of(configuration.folder, configuration.added, program, codes is not None)
    return ImportedSheet(configuration.name, scenario, resource, program, texts=texts)


def _own_texts(folder: Path) -> dict[str, CatalogEntry]:
    """Return the entries of the files `texts/*.toml` beside the sheets, by code.

    Raises:
        BundleRejected: a file is invalid.
    """
    try:
        found = [it for path in sorted(folder.rglob(f"{_TEXTS}/*.toml")) for it in entries_of_text(path, KIND)]
    except RuleError as error:
        raise BundleRejected("texts", reason=str(error)) from None
    return {it.code: it for it in found}


@functools.lru_cache(maxsize=64)
def _texts_of(folder: Path, added: str, program: Program, is_release: bool) -> Mapping[str, CatalogEntry]:
    """Return the entries of the codes of a sheet: its own texts, then those of the shipped rules of its family.

    A sheet is of the family of a shipped rule set of which it is a release, or with which it shares codes; a few are a
    coincidence.
    """
    known = catalog()
    entries = [known[code] for code in {it.code for it in program.sheet.assertions} if code in known]
    shared = Counter(layer for it in entries for layer in it.layers)
    of_family = {it.code: it for it in entries if is_release or any(shared[layer] >= _SHARED for layer in it.layers)}
    return {**of_family, **_own_texts(folder)}
