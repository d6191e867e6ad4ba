"""Baseline: accepted findings in a TOML file.

    [[accepted]]
    code    = "BR-DE-21"            # or a pattern: "BR-DE-*"
    files   = "archive/2024-*.xml"  # pattern of filenames; default: all
    reason  = "Old invoices declare XRechnung 2.x; they are not sent again."
    expires = 2026-12-31            # last day of validity; default: none

A baseline does not change verdicts. In patterns, `*` matches any characters including `/`, and `?` matches one.
"""

from __future__ import annotations

import datetime
import json
import os
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

from einvoice.bulk.record import encode
from einvoice.result.catalog import catalog

_KEYS: Final = ("code", "files", "reason", "expires")
_COUNTERS: Final = {"fatal": "errors", "warning": "warnings", "information": "information"}


@dataclass(frozen=True, slots=True)
class AcceptedFinding:
    """An entry of a baseline: pattern for codes, reason, pattern for filenames, and last day of validity."""

    code: str
    reason: str
    files: str = "*"
    expires: datetime.date | None = None

    def matches(self, file: str, code: str, on: datetime.date) -> bool:
        """Return whether the entry accepts a finding on the day `on`."""
        is_current = self.expires is None or on <= self.expires
        return is_current and fnmatchcase(code, self.code) and fnmatchcase(file, self.files)


@dataclass(frozen=True, slots=True)
class Baseline:
    """The entries of a baseline file, in file order."""

    entries: tuple[AcceptedFinding, ...] = ()

    def expired(self, on: datetime.date | None = None) -> tuple[AcceptedFinding, ...]:
        """Return the entries that have expired by the day `on` (default: today)."""
        day = on or datetime.date.today()
        return tuple(entry for entry in self.entries if entry.expires is not None and entry.expires < day)

    def filter(self, lines: Iterable[bytes], on: datetime.date | None = None) -> list[bytes]:
        """Return stored results without the findings accepted on the day `on` (default: today)."""
        day = on or datetime.date.today()
        return [self._filter(line, day) for line in lines]

    def _filter(self, line: bytes, day: datetime.date) -> bytes:
        record = json.loads(line)
        remaining = []
        for finding in record.get("findings", []):
            if any(entry.matches(record["file"], finding["code"], day) for entry in self.entries):
                record[_COUNTERS[finding["severity"]]] -= 1
            else:
                remaining.append(finding)
        is_unchanged = len(remaining) == len(record.get("findings", []))
        return line if is_unchanged else encode(record | {"findings": remaining})


def read(path: str | os.PathLike[str]) -> Baseline:
    """Return the baseline stored in a TOML file.

    Raises:
        ValueError: the file is invalid; the message names the entry and the fix.
    """
    name = Path(path).name
    try:
        content = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{name} is not valid TOML: {error}") from error
    if set(content) - {"accepted"} or not isinstance(content.get("accepted", []), list):
        raise ValueError(f"{name}: every entry must begin with [[accepted]]")
    entries = enumerate(content.get("accepted", []), 1)
    return Baseline(tuple(_entry(entry, f"{name}, entry {number}") for number, entry in entries))


def _entry(entry: dict[str, Any], location: str) -> AcceptedFinding:
    if unknown := set(entry) - set(_KEYS):
        raise ValueError(f"{location}: unknown key {min(unknown)!r}; valid keys are {', '.join(_KEYS)}")
    for name in ("code", "reason"):
        if not isinstance(entry.get(name), str) or not entry[name].strip():
            raise ValueError(f"{location}: {name} is missing")
    if not isinstance(entry.get("files", ""), str):
        raise ValueError(f"{location}: files must be a pattern, such as 'archive/*.xml'")
    if type(entry.get("expires", datetime.date.min)) is not datetime.date:
        raise ValueError(f"{location}: expires must be a date without quotation marks, such as 2026-12-31")
    if not any(fnmatchcase(code, entry["code"]) for code in catalog()):
        raise ValueError(f"{location}: unknown code {entry['code']!r}")
    return AcceptedFinding(**entry)
