"""Result of validating a document with official artefacts: their findings, layer by layer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from einvoice.reference.bundles.configuration import BUNDLED
from einvoice.reference.process.errors import problem_code
from einvoice.result import Severity


@dataclass(frozen=True, slots=True)
class ReferenceFinding:
    """A `failed-assert` or `successful-report` of a Schematron, or a violation of an XML schema.

    Attributes:
        code: id of the rule; if it has none, the code in square brackets at the start of its text, else "".
        flag: severity in the artefact, from `flag` or `role`; "fatal" if both are missing.
        severity: effective severity, after the scenario's `customLevel`.
        location: XPath of the location, as the artefact writes it.
        text: message of the artefact, with white space collapsed.
        test: condition of the rule; "" for a schema violation.
    """

    code: str
    flag: Severity
    severity: Severity
    location: str
    text: str
    test: str = ""


@dataclass(frozen=True, slots=True)
class ReferenceRun:
    """The run of one artefact on the document.

    Attributes:
        layer: "schema", "en16931", "cius", "extension" or "profile".
        title: name of the artefact; "" if the layer has none.
        version: its release; "" if it does not state one.
        sha256: SHA-256 of its file, hexadecimal.
        executed: whether it ran to completion. If not, the findings are incomplete.
        reason: why it was not executed: the lower-case end of a catalog code, such as "stopped" for REFERENCE-STOPPED;
            "" if it was executed.
        detail: message of the engine, in English; "" if there is none.
        rules: number of its asserts and reports; 0 for an XML schema.
        reports: its findings in document order, at most 100 per code.
    """

    layer: str
    title: str = ""
    version: str = ""
    sha256: str = ""
    executed: bool = True
    reason: str = ""
    detail: str = ""
    rules: int = 0
    reports: tuple[ReferenceFinding, ...] = ()

    @property
    def codes(self) -> frozenset[str]:
        """Codes of the violated rules."""
        return frozenset(report.code for report in self.reports)

    @property
    def problem_code(self) -> str:
        """Catalog code of the reason why it was not executed; "" if it was."""
        return problem_code(self.reason) if self.reason else ""


@dataclass(frozen=True, slots=True)
class ReferenceResult:
    """Result of the official artefacts for a document.

    Attributes:
        configuration: name of the matching configuration; "" if none matches.
        scenario: name of the matching scenario.
        runs: its artefacts in execution order, then the layers without an artefact.
    """

    configuration: str
    scenario: str
    runs: tuple[ReferenceRun, ...]

    @property
    def is_bundled(self) -> bool:
        """Whether the bundled artefacts were used."""
        return self.configuration in ("", BUNDLED)

    @property
    def complete(self) -> bool:
        """Whether at least one artefact ran, and all ran to completion."""
        return bool(self.runs) and all(run.executed for run in self.runs)


def finding(plain: Mapping[str, Any], severities: Mapping[str, Severity]) -> ReferenceFinding:
    """Return a finding from the worker's answer, applying the severities that the scenario overrides."""
    return ReferenceFinding(**plain, severity=severities.get(plain["code"], plain["flag"]))
