"""Values that requests and responses share."""

from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

Language: TypeAlias = str
Mode: TypeAlias = Literal["current", "compatibility"]
Engine: TypeAlias = Literal["native", "reference", "both"]
RuleSetStatus: TypeAlias = Literal["current", "outdated", "unknown"]
ArtifactKind: TypeAlias = Literal["validation_report_pdf", "readable_invoice_pdf", "zugferd_pdf"]

LANGUAGES: Final[tuple[Language, ...]] = ("de", "en")
"""Languages of the contract, which every service has; the first one is the default of requests."""
MODES: Final[Mapping[str, Mode]] = {"current": "current", "compatibility": "compatibility"}
ENGINES: Final[Mapping[str, Engine]] = {"native": "native", "reference": "reference", "both": "both"}
