"""What the official artefacts say of a document: layer by layer, in their own words, or why they say nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from einvoice.reference.bundles.configuration import BUNDLED
from einvoice.result import Severity


@dataclass(frozen=True, slots=True)
class Report:
    """One `failed-assert` or `successful-report` of an artefact, or one violation of an XML schema.

    Attributes:
        code: the rule's id; of a rule without one what stands in square brackets before its text, else "".
        flag: the severity that the artefact gives it, by `flag`, else by `role`; without either it is fatal.
        severity: the one that counts, by `customLevel` of the scenario.
        location: XPath of the place, in the artefact's words.
        text: what the artefact says, white space folded.
        test: the condition, as the artefact has it; "" for a violation of an XML schema.
    """

    code: str
    flag: Severity
    severity: Severity
    location: str
    text: str
    test: str = ""


@dataclass(frozen=True, slots=True)
class Run:
    """One artefact, run on the document or not.

    Attributes:
        layer: "schema", "en16931", "cius", "extension" or "profile".
        title: the artefact's own name; "" where there is none for the layer.
        version: its release, as far as it says one.
        sha256: of its file, in hexadecimal digits.
        executed: whether it ran to its end. What stopped half-way has said nothing, least of all that all is well.
        reason: why it was not executed, the last word of a code of the catalog, such as "stopped" of REFERENCE-STOPPED;
            "" if it was.
        detail: what the engine said about it, English, "" for nothing.
        rules: how many asserts and reports it has; 0 for an XML schema.
        reports: what it found, in its own order; of each code no more than 100.
    """

    layer: str
    title: str = ""
    version: str = ""
    sha256: str = ""
    executed: bool = True
    reason: str = ""
    detail: str = ""
    rules: int = 0
    reports: tuple[Report, ...] = ()

    @property
    def codes(self) -> frozenset[str]:
        """The codes of the rules that were broken."""
        return frozenset(report.code for report in self.reports)

    @property
    def trouble(self) -> str:
        """The code of the catalog for why it was not executed; "" if it was."""
        return trouble(self.reason) if self.reason else ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the official artefacts say of a document.

    Attributes:
        configuration: name of the configuration that took the document, "" if none did.
        scenario: which of its scenarios.
        runs: its artefacts in the order in which they ran, then the layers that there was none for.
    """

    configuration: str
    scenario: str
    runs: tuple[Run, ...]

    @property
    def is_bundled(self) -> bool:
        """Whether nobody has added the artefacts that took the document."""
        return self.configuration in ("", BUNDLED)

    @property
    def complete(self) -> bool:
        """Whether there is something, and all of it ran to its end."""
        return bool(self.runs) and all(run.executed for run in self.runs)


def trouble(reason: str) -> str:
    """The code of the catalog for why an artefact was not executed."""
    return f"REFERENCE-{reason.upper()}"


def report(plain: Mapping[str, Any], levels: Mapping[str, Severity]) -> Report:
    """A report as the worker process tells it, with the severities of its scenario."""
    return Report(**plain, severity=levels.get(plain["code"], plain["flag"]))
