"""The official artefacts as referee: XML schemas and compiled Schematrons, run as they are by libxml2 and Saxon."""

from einvoice.reference.configuration import Configuration, Resource, Scenario
from einvoice.reference.judge import judge
from einvoice.reference.verdict import REASONS, Report, Run, Verdict

__all__ = ["REASONS", "Configuration", "Report", "Resource", "Run", "Scenario", "Verdict", "judge"]
