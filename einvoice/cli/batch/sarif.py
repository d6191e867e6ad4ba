"""SARIF 2.1.0 (OASIS): one run; a result for each finding, a rule for each of their codes."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from typing import Any, Final
from urllib.parse import quote

from einvoice.bulk import ResultSet
from einvoice.cli.batch.json_array import array
from einvoice.cli.formats import full_text
from einvoice.result import Finding, Language

_SCHEMA: Final = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_LEVELS: Final[Mapping[str, str]] = {"fatal": "error", "warning": "warning", "information": "note"}


def sarif(results: ResultSet, options: argparse.Namespace) -> Iterator[str]:
    """Yield the log. The rules come last: they are known once all results are written."""
    rules: dict[str, dict[str, Any]] = {}
    run = {
        "columnKind": "unicodeCodePoints",
        "invocations": [{"executionSuccessful": results.complete}],
    }
    head = json.dumps({"$schema": _SCHEMA, "version": "2.1.0"})
    yield f'{head[:-1]}, "runs": [{json.dumps(run)[:-1]}, "results": '
    yield from array(_results(results, rules, options.lang))
    driver = {"name": "einvoice", "version": version("einvoice-toolkit"), "rules": list(rules.values())}
    yield f', "tool": {json.dumps({"driver": driver}, ensure_ascii=False)}}}]}}\n'


def _results(results: ResultSet, rules: dict[str, dict[str, Any]], lang: Language) -> Iterator[dict[str, Any]]:
    """Yield the results and collect their rules."""
    for file in results:
        for finding in file.findings:
            if finding.code not in rules:
                rules[finding.code] = _rule(finding, lang)
            yield {
                "ruleId": finding.code,
                "level": _LEVELS[finding.severity],
                "message": {"text": full_text(finding, lang)},
                "locations": [_location(file.file, finding)],
            }


def _rule(finding: Finding, lang: Language) -> dict[str, Any]:
    entry = finding.entry
    return {
        "id": finding.code,
        "shortDescription": {"text": entry.title(lang)},
        "fullDescription": {"text": entry.explanation(lang)},
        "help": {"text": entry.fix(lang)},
        "defaultConfiguration": {"level": _LEVELS[finding.flag]},
    }


def _location(file: str, finding: Finding) -> dict[str, Any]:
    """Return the place of a finding; without a line, the file."""
    uri = f"file://{quote(file)}" if file.startswith("/") else quote(file)
    physical: dict[str, Any] = {"artifactLocation": {"uri": uri}}
    if finding.line:
        column = {"startColumn": finding.column} if finding.column else {}
        physical["region"] = {"startLine": finding.line} | column
    logical = [{"fullyQualifiedName": finding.xpath}] if finding.xpath else []
    return {"physicalLocation": physical} | ({"logicalLocations": logical} if logical else {})
