"""Validation with the official artefacts: XML schemas and compiled Schematron, run unchanged by libxml2 and Saxon.

- `validate` returns what they find in a document
- `add`, `remove` and `configurations` manage KoSIT validator configurations and single stylesheets
- `engines` returns what is installed
"""

from dataclasses import dataclass

from einvoice.reference.bundles import packaged
from einvoice.reference.bundles.configuration import Configuration, Resource, Scenario
from einvoice.reference.bundles.errors import BundleRejected
from einvoice.reference.bundles.install import add
from einvoice.reference.bundles.store import configurations, remove
from einvoice.reference.engine import saxon_version
from einvoice.reference.result import ReferenceFinding, ReferenceResult, ReferenceRun
from einvoice.reference.runner import validate
from einvoice.sandbox.system import BOUNDED

__all__ = [
    "BundleRejected",
    "Configuration",
    "Engines",
    "ReferenceFinding",
    "ReferenceResult",
    "ReferenceRun",
    "Resource",
    "Scenario",
    "add",
    "configurations",
    "engines",
    "remove",
    "validate",
]


@dataclass(frozen=True, slots=True)
class Engines:
    """The installed engine and configurations.

    Attributes:
        saxon: version of saxonche; None if it is missing or too old, in which case only XML schemas run.
        configurations: the added ones, newest first, then the bundled one.
        bounded: what this system bounds when PDFs are read and official artefacts run, in a process of their own:
            "time", "memory", "processor_time", "file_size" (they write no files), "processes" (they start none), and
            "one_document" (each PDF has a process of its own).
    """

    saxon: str | None
    configurations: tuple[Configuration, ...]
    bounded: tuple[str, ...] = BOUNDED


def engines() -> Engines:
    """Return the installed engine and configurations."""
    bundled = packaged.configuration()
    return Engines(saxon_version(), configurations() + ((bundled,) if bundled else ()))
