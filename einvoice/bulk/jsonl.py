"""Results on disk: JSON Lines, UTF-8, with a header (the settings), one record per file, and an end marker.

During a run, records are appended as files are completed. After an interruption, a partial last line is discarded and
the next run continues from there.
"""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

from einvoice.authoring.added import rule_data
from einvoice.bulk.execution.worker import Options
from einvoice.bulk.lines import Lines
from einvoice.bulk.record import RETRY
from einvoice.result.catalog import catalog
from einvoice.rulebook.releases import releases

VERSION: Final = 1
"""Version of the format. Other versions are rejected; unknown keys of a record are ignored."""

FILENAME: Final = "einvoice-results.jsonl"
RULES: Final = "rules"
"""Key of the catalog version, which changes with every change to a rule or text."""
_FORMAT_KEY: Final = "einvoice_results"
_RULES_PATH: Final = "rules_path"
"""Key of the option `rules`, whose name is the key of the catalog version."""
_END: Final = b'{"end":'
_NATIVE: Final = "native"


class StoredResults(NamedTuple):
    """Content of a file: settings, records, completeness, and the offset after the last record."""

    settings: Mapping[str, Any]
    lines: Lines
    complete: bool
    end: int


def run_settings(options: Options) -> dict[str, Any]:
    """Return the header of a run: format, version, rules and options."""
    pinned = releases(rule_data(options.rules)).pinned()
    day = f"{options.as_of:%Y-%m-%d}" if options.as_of else None
    rules = {"einvoice": version("einvoice-toolkit"), RULES: catalog(rules=options.rules).version}
    fixed = {_FORMAT_KEY: VERSION, **rules, "pinned": pinned.name if pinned else None}
    plain = options._asdict() | {"as_of": day}
    artefacts = {} if options.engine == _NATIVE else {"artefacts": _artefacts()}
    return {**fixed, _RULES_PATH: plain.pop("rules"), **plain, **artefacts}


def _artefacts() -> dict[str, str]:
    """Return the added configurations of official artefacts: name and hash. They decide the results, too."""
    from einvoice import reference

    return {it.name: it.sha256 for it in reference.configurations()}


def options(settings: Mapping[str, Any]) -> Options:
    """Return the validation options of a run."""
    stored = {**settings, "rules": settings.get(_RULES_PATH)}
    given = {name: stored[name] for name in Options._fields if stored.get(name) not in (None, "")}
    return Options(**given | ({"as_of": datetime.date.fromisoformat(given["as_of"])} if "as_of" in given else {}))


def differing(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    """Return the settings that differ: name, value before, value after."""
    names = dict.fromkeys((*before, *after))
    return [(name, before.get(name), after.get(name)) for name in names if before.get(name) != after.get(name)]


def read(path: Path) -> StoredResults:
    """Read stored results, including those of an interrupted run.

    Raises:
        ValueError: the file holds no results, or another version of the format.
        OSError: the file cannot be opened.
    """
    with path.open("rb") as file:
        header = file.readline()
        settings = _settings(header, path)
        lines = Lines()
        end = len(header)
        for line in file:
            if line.startswith(_END):  # also if it is cut off
                return StoredResults(settings, lines, line == _line({"end": len(lines)}), end)
            if not line.endswith(b"}\n"):  # the run was interrupted here
                break
            lines.append(line[:-1])
            end += len(line)
    return StoredResults(settings, lines, False, end)


def _settings(line: bytes, path: Path) -> dict[str, Any]:
    try:
        settings = json.loads(line)
        number = settings[_FORMAT_KEY]
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{path.name} does not contain results of einvoice") from None
    if number != VERSION:
        raise ValueError(f"{path.name} has format version {number}; this release reads version {VERSION}")
    # Older runs had no other engine, no such rules, and no such comparison.
    return {"engine": _NATIVE, "plausibility": False, "picture": False, **settings}


def write(path: Path, settings: Mapping[str, Any], lines: Iterable[bytes], complete: bool = True) -> None:
    """Write results atomically: an existing file is replaced only after the new one is complete."""
    temporary = path.with_name(path.name + ".new")
    with temporary.open("wb") as file:
        file.writelines(encode(settings, lines, complete))
    temporary.replace(path)


def encode(settings: Mapping[str, Any], lines: Iterable[bytes], complete: bool = True) -> Iterator[bytes]:
    """Yield the lines of a file with these results."""
    yield _line(settings)
    count = 0
    for line in lines:
        yield line + b"\n"
        count += 1
    if complete:
        yield _line({"end": count})


def _line(content: Mapping[str, Any]) -> bytes:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


class ResultLog:
    """Append-only file to which results are written during a run. It keeps those of an interrupted earlier run."""

    def __init__(self, path: Path, options: Options) -> None:
        self._settings = run_settings(options)
        self._path = path / FILENAME if path.is_dir() else path
        self._file: BinaryIO | None = None
        self._stored: Sequence[bytes] = ()
        self._known: dict[bytes, int] = {}  # position in the stored records, by hash of the file content

    def open(self) -> None:
        """Read the records of an earlier run and open the file for appending.

        Raises:
            ValueError: the file holds no results, or results with other settings; it is left unchanged.
        """
        if self._path.exists() and self._path.stat().st_size:
            stored = read(self._path)
            if changes := differing(stored.settings, self._settings):
                changed = ", ".join(f"{name} {before!r} (now {after!r})" for name, before, after in changes)
                raise ValueError(
                    f"{self._path.name} contains results with other rules or options: {changed}; use another file"
                )
            self._stored = stored.lines
            self._known = dict(_by_hash(stored.lines))
            self._file = self._path.open("r+b")
            self._file.truncate(stored.end)
            self._file.seek(stored.end)
        else:
            self._file = self._path.open("wb")
            self._file.write(_line(self._settings))
        self._file.flush()

    def find(self, content: bytes) -> bytes | None:
        """Return the record of an earlier run for a file with this content."""
        position = self._known.get(hashlib.sha256(content).digest()) if self._known else None
        return None if position is None else self._stored[position]

    def add(self, lines: Iterable[bytes]) -> None:
        """Append records."""
        if self._file is not None:
            self._file.write(b"".join(line + b"\n" for line in lines))
            self._file.flush()

    def close(self) -> None:
        """Close the file; a later run can continue."""
        if self._file is not None:
            self._file.close()

    def finish(self, lines: Iterable[bytes]) -> None:
        """Replace the file by the complete results, in the order of the files."""
        self.close()
        write(self._path, self._settings, lines)


def _by_hash(lines: Iterable[bytes]) -> Iterator[tuple[bytes, int]]:
    """Yield the hash of the file and the position of each record that a later run can use."""
    for position, line in enumerate(lines):
        record = json.loads(line)
        if record["sha256"] and not record.get(RETRY):
            with suppress(ValueError):  # not a hash
                yield bytes.fromhex(record["sha256"]), position


def sha256(content: bytes) -> str:
    """Return the SHA-256 digest in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()
