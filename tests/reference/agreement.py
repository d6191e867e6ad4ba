"""How often our rules of EN 16931 and the official stylesheet for UBL find the same, over many documents.

    python tests/reference/agreement.py                        the comparison cases beside the checkout
    python tests/reference/agreement.py FOLDER --min 0.995     all UBL invoices in a folder

It is what `einvoice.validate(…, engine="both")` says of the layer: the same codes with the same flags. Ours are the
rules of the release that the stylesheet says it is. A document on which the stylesheet stops has no answer and does
not count; one that nobody can read as an invoice neither. Exit status 1 below the limit.
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

CASES = Path(__file__).parents[3] / "shared" / "cases"
LAYER = "en16931"
MIN = 0.999


def release(identity: Identity) -> str:
    """The release of our rules that the stylesheet is."""
    scenario = packaged.scenario(identity)
    assert scenario is not None
    return f"{LAYER}-{scenario.resources[0].version}"


class Tally:
    """How the documents were judged."""

    def __init__(self) -> None:
        self.judged: Counter[str] = Counter()
        self.differing: dict[str, str] = {}

    def add(self, name: str, data: bytes) -> None:
        """Judge a document by both."""
        try:
            identity = identify(xml.parse(data))
        except UnreadableDocument:
            return
        if identity.syntax != "UBL":
            return
        agreement = einvoice.validate(data, engine="both", ruleset=release(identity)).agreement
        assert agreement is not None
        if LAYER not in agreement.compared:
            self.judged["no answer"] += 1
            return
        alone = [
            ", ".join(sorted({it.code for it in findings if it.layer == LAYER})) or "–"
            for findings in (agreement.only_native, agreement.only_reference)
        ]
        if alone == ["–", "–"]:
            self.judged["same"] += 1
        else:
            self.judged["different"] += 1
            self.differing[name] = f"ours alone: {alone[0]}; theirs alone: {alone[1]}"

    @property
    def share(self) -> float:
        """Of the documents on which the stylesheet has an answer, those on which both find the same."""
        answered = self.judged["same"] + self.judged["different"]
        return self.judged["same"] / answered if answered else 0.0

    def __str__(self) -> str:
        told = [f"{name}: {how}" for name, how in [*self.differing.items()][:20]]
        return "\n".join([f"{self.share:.2%} agreement, {dict(self.judged)}", *told])


def tally(folder: Path) -> Tally:
    """Judge all documents of a folder, and of those in it."""
    found = Tally()
    for path in sorted(folder.rglob("*.xml")):
        found.add(path.relative_to(folder).as_posix(), path.read_bytes())
    return found


def main() -> int:
    """Print the share; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("folder", type=Path, nargs="?", default=CASES)
    parser.add_argument("--min", type=float, default=MIN, help=f"the share to reach (default: {MIN})")
    options = parser.parse_args()
    found = tally(options.folder)
    print(found)
    return 0 if found.share >= options.min else 1


if __name__ == "__main__":
    sys.exit(main())
