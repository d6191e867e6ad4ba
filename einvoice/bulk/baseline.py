"""Findings that somebody has decided to live with, in a TOML file that a review can read:

    [[accepted]]
    code    = "BR-DE-21"            # or a pattern: "BR-DE-*"
    files   = "archive/2024-*.xml"  # a pattern for names of files; left out: all of them
    reason  = "Old invoices declare XRechnung 2.x; they are not sent again."
    expires = 2026-12-31            # the last day that it counts; left out: it does not end

Nobody's verdict changes by it: the invoice is as valid as before. `*` in a pattern stands for any characters, `/`
among them, `?` for one.
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
_COUNTED: Final = {"fatal": "errors", "warning": "warnings", "information": "information"}


@dataclass(frozen=True, slots=True)
class Acceptance:
    """One entry: findings of this code in files of this name, why they are accepted, and until when."""

    code: str
    reason: str
    files: str = "*"
    expires: datetime.date | None = None

    def counts(self, file: str, code: str, on: datetime.date) -> bool:
        """Whether it accepts a finding on a day."""
        in_time = self.expires is None or on <= self.expires
        return in_time and fnmatchcase(code, self.code) and fnmatchcase(file, self.files)


@dataclass(frozen=True, slots=True)
class Accepted:
    """The entries of a file, in its order."""

    entries: tuple[Acceptance, ...] = ()

    def expired(self, on: datetime.date | None = None) -> tuple[Acceptance, ...]:
        """The entries that do not count any more on a day, by default today."""
        day = on or datetime.date.today()
        return tuple(it for it in self.entries if it.expires is not None and it.expires < day)

    def leave_out(self, lines: Iterable[bytes], on: datetime.date | None = None) -> list[bytes]:
        """The lines of results without what is accepted on a day, by default today."""
        day = on or datetime.date.today()
        return [self._leave_out(line, day) for line in lines]

    def _leave_out(self, line: bytes, day: datetime.date) -> bytes:
        facts = json.loads(line)
        kept = []
        for finding in facts.get("findings", []):
            if any(entry.counts(facts["file"], finding["code"], day) for entry in self.entries):
                facts[_COUNTED[finding["severity"]]] -= 1
            else:
                kept.append(finding)
        return line if len(kept) == len(facts.get("findings", [])) else encode(facts | {"findings": kept})


def read(path: str | os.PathLike[str]) -> Accepted:
    """The accepted findings of a TOML file.

    Raises:
        ValueError: the file is wrong: it says which entry, and what to do.
    """
    try:
        content = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{Path(path).name} is not TOML: {error}") from error
    if set(content) - {"accepted"} or not isinstance(content.get("accepted", []), list):
        raise ValueError(f"{Path(path).name}: every entry begins with [[accepted]]")
    entries = enumerate(content.get("accepted", []), 1)
    return Accepted(tuple(_entry(entry, f"{Path(path).name}, entry {number}") for number, entry in entries))


def _entry(entry: dict[str, Any], place: str) -> Acceptance:
    if unknown := set(entry) - set(_KEYS):
        raise ValueError(f"{place}: {min(unknown)!r} is none of {', '.join(_KEYS)}")
    for name in ("code", "reason"):
        if not isinstance(entry.get(name), str) or not entry[name].strip():
            raise ValueError(f"{place}: {name} is missing")
    if not isinstance(entry.get("files", ""), str):
        raise ValueError(f"{place}: files is a pattern, such as 'archive/*.xml'")
    if type(entry.get("expires", datetime.date.min)) is not datetime.date:
        raise ValueError(f"{place}: expires is a day, such as 2026-12-31, without quotation marks")
    if not any(fnmatchcase(code, entry["code"]) for code in catalog()):
        raise ValueError(f"{place}: there is no code {entry['code']!r}")
    return Acceptance(**entry)
