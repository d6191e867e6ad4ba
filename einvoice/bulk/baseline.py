"""Baseline: accepted findings in a TOML file.

    [[accepted]]
    code    = "BR-DE-21"            # or a pattern: "BR-DE-*"
    files   = "archive/2024-*.xml"  # pattern of filenames, or a list of patterns; default: all
    reason  = "Old invoices declare XRechnung 2.x; they are not sent again."
    expires = 2026-12-31            # last day of validity; default: none

A baseline does not change verdicts. In patterns, `*` matches any characters including `/`, and `?` matches one.
"""

from __future__ import annotations

import datetime
import glob
import json
import os
import tomllib
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Final

from einvoice.bulk.record import has_findings, reduce_findings
from einvoice.result.catalog import catalog

_KEYS: Final = ("code", "files", "reason", "expires")


@dataclass(frozen=True, slots=True)
class AcceptedFinding:
    """An entry of a baseline: pattern for codes, reason, patterns for filenames, and last day of validity."""

    code: str
    reason: str
    files: str | tuple[str, ...] = "*"
    expires: datetime.date | None = None

    def matches(self, file: str, code: str, on: datetime.date) -> bool:
        """Return whether the entry accepts a finding on the day `on`."""
        return (
            self.is_current(on)
            and fnmatchcase(code, self.code)
            and any(fnmatchcase(file, pattern) for pattern in self.patterns)
        )

    def is_current(self, on: datetime.date) -> bool:
        """Return whether the entry is valid on the day `on`."""
        return self.expires is None or on <= self.expires

    @property
    def patterns(self) -> tuple[str, ...]:
        """The patterns for filenames."""
        return (self.files,) if isinstance(self.files, str) else self.files


@dataclass(frozen=True, slots=True)
class Baseline:
    """The entries of a baseline file, in file order."""

    entries: tuple[AcceptedFinding, ...] = ()

    def expired(self, on: datetime.date | None = None) -> tuple[AcceptedFinding, ...]:
        """Return the entries that have expired by the day `on` (default: today)."""
        day = on or datetime.date.today()
        return tuple(entry for entry in self.entries if not entry.is_current(day))

    def filter(self, lines: Iterable[bytes], on: datetime.date | None = None) -> list[bytes]:
        """Return stored results without the findings accepted on the day `on` (default: today)."""
        day = on or datetime.date.today()
        current = [entry for entry in self.entries if entry.is_current(day)]
        names = {(entry.code, name) for entry in current for name in entry.patterns}
        patterns = [entry for entry in current if any(map(glob.has_magic, (entry.code, *entry.patterns)))]

        def reduced(line: bytes) -> bytes:
            file = json.loads(line)["file"]

            def is_kept(finding: Mapping[str, Any]) -> bool:
                code = finding["code"]
                return (code, file) not in names and not any(entry.matches(file, code, day) for entry in patterns)

            return reduce_findings(line, is_kept)

        return [reduced(line) if has_findings(line) else line for line in lines]

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the baseline as TOML, for `ResultSet.without`."""
        Path(path).write_text("\n".join(map(_toml, self.entries)), encoding="utf-8")


def accept(records: Iterable[Mapping[str, Any]], reason: str) -> Baseline:
    """Return the baseline of the findings in these records, with an entry for each code; see `FileResult`."""
    files: dict[str, dict[str, None]] = defaultdict(dict)
    for record in records:
        for finding in record.get("findings", ()):
            files[finding["code"]][glob.escape(record["file"])] = None
    return Baseline(tuple(AcceptedFinding(code, reason, tuple(names)) for code, names in sorted(files.items())))


def _toml(entry: AcceptedFinding) -> str:
    """Return an entry as TOML, whose strings may be written as in JSON."""
    lines = ["[[accepted]]", f"code = {_string(entry.code)}", f"reason = {_string(entry.reason)}"]
    if entry.expires is not None:
        lines.append(f"expires = {entry.expires}")
    names = "".join(f"    {_string(name)},\n" for name in entry.patterns)
    return "\n".join((*lines, f"files = [\n{names}]\n"))


def _string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def read(path: str | os.PathLike[str], codes: Collection[str] | None = None) -> Baseline:
    """Return the baseline stored in a TOML file.

    Args:
        path: the file.
        codes: the known codes (default: those of the catalog).

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
    known = catalog() if codes is None else codes
    return Baseline(tuple(_entry(entry, f"{name}, entry {number}", known) for number, entry in entries))


def _entry(entry: dict[str, Any], location: str, codes: Collection[str]) -> AcceptedFinding:
    if unknown := set(entry) - set(_KEYS):
        raise ValueError(f"{location}: unknown key {min(unknown)!r}; valid keys are {', '.join(_KEYS)}")
    for name in ("code", "reason"):
        if not isinstance(entry.get(name), str) or not entry[name].strip():
            raise ValueError(f"{location}: {name} is missing")
    files = entry.get("files", "")
    if not isinstance(files, str) and not (isinstance(files, list) and all(isinstance(it, str) for it in files)):
        raise ValueError(f"{location}: files must be a pattern, such as 'archive/*.xml', or a list of patterns")
    if type(entry.get("expires", datetime.date.min)) is not datetime.date:
        raise ValueError(f"{location}: expires must be a date without quotation marks, such as 2026-12-31")
    if not any(fnmatchcase(code, entry["code"]) for code in codes):
        raise ValueError(f"{location}: unknown code {entry['code']!r}")
    return AcceptedFinding(**entry | ({"files": tuple(files)} if isinstance(files, list) else {}))
