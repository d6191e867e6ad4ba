"""Write the fingerprints of official assertions: ``python -m tests.live.fingerprints SHEETS``.

SHEETS is a folder with the compiled sheets, ``RULESET/RELEASE/SYNTAX.xslt`` (``en16931/1.3.16/CII.xslt``). They are not
part of this project: the repository phax/phive-rules publishes those of EN 16931, XRechnung and Peppol. The live tests
find the same folder in the environment variable ``EINVOICE_TEST_SHEETS``.
"""

from __future__ import annotations

import csv
import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from einvoice.resources import rules_folder
from einvoice.rulebook.files.load import natural
from einvoice.rulebook.files.versions import RuleSet
from einvoice.rulebook.fingerprints import COLUMNS, FOLDER
from einvoice.schematron import load
from einvoice.schematron.fingerprints import fingerprints
from tests.helpers.rule_sets import shipped_rule_sets

VARIABLE: Final = "EINVOICE_TEST_SHEETS"
SYNTAXES: Final = ("UBL", "CII")


def sheets() -> Path | None:
    """Return the folder in the environment; None if it has none."""
    configured = os.environ.get(VARIABLE)
    return Path(configured) if configured else None


def rows(ruleset: RuleSet, folder: Path, syntax: str) -> Iterator[tuple[str, str, str, str]]:
    """Yield the rows of a rule set in a syntax: code, fingerprint, and from which release to which it holds."""
    by_release: dict[str, Mapping[str, str]] = {}
    for version in ruleset.versions:
        path = folder / version.name / f"{syntax}.xslt"
        by_release[version.name] = fingerprints(load.read(path)) if path.exists() else {}
    for code in sorted({code for known in by_release.values() for code in known}, key=natural):
        since, digest = "", ""
        for name, known in by_release.items():
            if known.get(code, "") != digest:
                if digest:
                    yield code, digest, since, name
                since, digest = name, known.get(code, "")
        if digest:
            yield code, digest, since, ""


def main(folder: Path) -> int:
    """Write the files of all rule sets that have sheets in a folder."""
    for name, ruleset in shipped_rule_sets().sets.items():
        for syntax in SYNTAXES:
            if found := list(rows(ruleset, folder / name, syntax)):
                target = rules_folder() / name / FOLDER / f"{syntax.lower()}.csv"
                target.parent.mkdir(exist_ok=True)
                with target.open("w", encoding="utf-8", newline="") as file:
                    csv.writer(file, lineterminator="\n").writerows([COLUMNS, *found])
                print(f"{target}: {len(found)} rows")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
