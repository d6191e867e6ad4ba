"""The official artefacts as referee: XML schemas and compiled Schematrons, run as they are by libxml2 and Saxon.

- `judge` says what they find in a document
- `add`, `remove`, `configurations`: KoSIT's published configuration, and single stylesheets
- `engines` says what there is
"""

from dataclasses import dataclass

from einvoice.reference.bundles import packaged
from einvoice.reference.bundles.configuration import Configuration, Resource, Scenario
from einvoice.reference.bundles.errors import BundleRejected
from einvoice.reference.bundles.install import add
from einvoice.reference.bundles.store import configurations, remove
from einvoice.reference.engine import saxon_version
from einvoice.reference.runner import judge
from einvoice.reference.verdict import Report, Run, Verdict

__all__ = [
    "BundleRejected",
    "Configuration",
    "Engines",
    "Report",
    "Resource",
    "Run",
    "Scenario",
    "Verdict",
    "add",
    "configurations",
    "engines",
    "judge",
    "remove",
]


@dataclass(frozen=True, slots=True)
class Engines:
    """What there is to judge by.

    Attributes:
        saxon: version of saxonche, None if it is not there or too old; without it nothing but XML schemas is run.
        configurations: those that were added, the newest first, then the bundled one.
    """

    saxon: str | None
    configurations: tuple[Configuration, ...]


def engines() -> Engines:
    """Return what there is to judge by."""
    there = packaged.configuration()
    return Engines(saxon_version(), configurations() + ((there,) if there else ()))
