"""Agreement of the native EN 16931 rules with the official stylesheet for UBL, over many documents.

    python tests/reference/agreement.py                        the comparison cases beside the checkout
    python tests/reference/agreement.py FOLDER --min 0.995     all UBL invoices in a folder

Documents agree if `einvoice.validate(…, engine="both")` reports the same codes with the same flags for the layer, with
the release of the stylesheet. Unreadable documents and those on which the stylesheet aborts are not counted. The exit
status is 1 below the limit.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

import einvoice
from einvoice.errors import UnreadableDocument
from einvoice.reference.bundles import packaged
from einvoice.syntax import xml
from einvoice.syntax.detect import Identity, identify
from tests.helpers.paths import SHARED

CASES = SHARED / "cases"
LAYER = "en16931"
MIN = 0.999


def release(identity: Identity) -> str:
    """Return the rule set name of the stylesheet's release."""
    scenario = packaged.scenario(identity)
    assert scenario is not None
    return f"{LAYER}-{scenario.resources[0].version}"


class Tally:
    """Numbers of equal and differing documents."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.differing: dict[str, str] = {}

    def add(self, name: str, data: bytes) -> None:
        """Validate a document with both engines."""
        try:
            identity = identify(xml.parse(data))
        except UnreadableDocument:
            return
        if identity.syntax != "UBL":
            return
        agreement = einvoice.validate(data, engine="both", ruleset=release(identity)).agreement
        assert agreement is not None
        if LAYER not in agreement.compared:
            self.counts["not compared"] += 1
            return
        exclusive = [
            ", ".join(sorted({it.code for it in findings if it.layer == LAYER})) or "–"
            for findings in (agreement.only_native, agreement.only_reference)
        ]
        if exclusive == ["–", "–"]:
            self.counts["same"] += 1
        else:
            self.counts["different"] += 1
            self.differing[name] = f"native only: {exclusive[0]}; reference only: {exclusive[1]}"

    @property
    def share(self) -> float:
        """Share of equal results among the compared documents."""
        compared = self.counts["same"] + self.counts["different"]
        return self.counts["same"] / compared if compared else 0.0

    def __str__(self) -> str:
        details = [f"{name}: {how}" for name, how in [*self.differing.items()][:20]]
        return "\n".join([f"{self.share:.2%} agreement, {dict(self.counts)}", *details])


def tally(folder: Path, step: int = 1) -> Tally:
    """Compare the documents of a folder, recursively; with a step, a sample of them."""
    result = Tally()
    for path in sorted(folder.rglob("*.xml"))[::step]:
        result.add(path.relative_to(folder).as_posix(), path.read_bytes())
    return result


def main() -> int:
    """Print the share; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", default=CASES)
    parser.add_argument("--min", type=float, default=MIN, help=f"minimum share (default: {MIN})")
    options = parser.parse_args()
    result = tally(options.folder)
    print(result)
    return 0 if result.share >= options.min else 1


if __name__ == "__main__":
    sys.exit(main())
