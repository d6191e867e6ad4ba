"""The fingerprints of official assertions, by rule set, syntax and release: what tells that one is unchanged.

`fingerprints/ubl.csv` and `cii.csv` in the folder of a rule set have the columns `code,fingerprint,since,until`.
`einvoice.schematron.fingerprints` says what a fingerprint is; it does not contain the text of an assertion.
`python -m tests.live.fingerprints` writes the files. A release that has no rows is not known.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from einvoice.rulebook.files.versions import RuleSet

FOLDER: Final = "fingerprints"
COLUMNS: Final = ("code", "fingerprint", "since", "until")


def fingerprints(ruleset: RuleSet, folder: Path, syntax: str) -> dict[str, Mapping[str, str]]:
    """Return the fingerprints by code of each release of a rule set that is known, the oldest first.

    Args:
        ruleset: the rule set.
        folder: its folder.
        syntax: "UBL" or "CII".

    Raises:
        LookupError: the file names an unknown release.
    """
    path = folder / FOLDER / f"{syntax.lower()}.csv"
    if not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        rows = [tuple(row[name] for name in COLUMNS) for row in csv.DictReader(file)]
    found = {
        version.name: {code: digest for code, digest, since, until in rows if ruleset.has(since, until, version.name)}
        for version in ruleset.versions
    }
    return {version: known for version, known in found.items() if known}
