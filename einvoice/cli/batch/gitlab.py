"""GitLab Code Quality report (docs.gitlab.com/ci/testing/code_quality): a JSON array of findings."""

from __future__ import annotations

import argparse
import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from einvoice.bulk import ResultSet
from einvoice.cli.batch.json_array import array

_SEVERITIES: Final[Mapping[str, str]] = {"fatal": "major", "warning": "minor", "information": "info"}
_UNREADABLE: Final = "critical"


def gitlab(results: ResultSet, options: argparse.Namespace) -> Iterator[str]:
    """Yield the report."""
    yield from array(_issues(results, options))
    yield "\n"


def _issues(results: ResultSet, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    for file in results:
        known: Counter[str] = Counter()
        for finding in file.findings:
            place = f"{file.file}\n{finding.code}\n{finding.xpath}"
            known[place] += 1  # a fingerprint must be unique in the report
            yield {
                "description": f"{finding.title(options.lang)}. {finding.fix(options.lang)}",
                "check_name": finding.code,
                "fingerprint": hashlib.sha256(f"{place}\n{known[place]}".encode()).hexdigest(),
                "severity": _UNREADABLE if file.verdict == "unreadable" else _SEVERITIES[finding.severity],
                "location": {"path": file.file, "lines": {"begin": finding.line or 1}},
            }
