"""Results on disk: JSON Lines, UTF-8. A line that says what judged, one for each file, and one that says it is all.

While a run goes on, lines are appended as files are done. What breaks off in the middle of a line is taken back, so
that the next run goes on from there.
"""

from __future__ import annotations

import datetime
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, BinaryIO, Final, NamedTuple

from einvoice.bulk.execution.worker import Options
from einvoice.result.catalog import catalog
from einvoice.rulebook import releases

VERSION: Final = 1
"""Of this format. A reader refuses a higher one; what it does not know in a line of a file it passes over."""

FILENAME: Final = "einvoice-results.jsonl"
RULES: Final = "rules"
"""By this name stands what changes whenever a rule or a text does."""
_KIND: Final = "einvoice_results"
_END: Final = b'{"end":'


class Saved(NamedTuple):
    """What a file of results says: what judged, a line for each file, and whether it is all; where the lines end."""

    made_by: Mapping[str, Any]
    lines: list[bytes]
    complete: bool
    end: int


def made_by(options: Options) -> dict[str, Any]:
    """What judges: this format, this release with its rules, and what was asked for."""
    pinned = releases.pinned()
    day = f"{options.as_of:%Y-%m-%d}" if options.as_of else None
    rules = {"einvoice": version("einvoice-toolkit"), RULES: catalog().version}
    return {_KIND: VERSION, **rules, "pinned": pinned.name if pinned else None, **options._asdict(), "as_of": day}


def options(maker: Mapping[str, Any]) -> Options:
    """The options that results were made with."""
    said = {name: maker[name] for name in Options._fields if maker.get(name)}
    return Options(**said | ({"as_of": datetime.date.fromisoformat(said["as_of"])} if "as_of" in said else {}))


def differing(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    """In what two makers of results differ: the name, what it was in the one, what it is in the other."""
    names = dict.fromkeys((*one, *other))
    return [(name, one.get(name), other.get(name)) for name in names if one.get(name) != other.get(name)]


def read(path: Path) -> Saved:
    """What a file of results says.

    Raises:
        ValueError: it is none, or of a later version of the format.
        OSError: it cannot be opened.
    """
    with path.open("rb") as file:
        first = file.readline()
        maker = _maker(first, path)
        lines: list[bytes] = []
        end = len(first)
        for line in file:
            if line.startswith(_END):  # be it cut off
                return Saved(maker, lines, line == _line({"end": len(lines)}), end)
            if not line.endswith(b"}\n"):  # the run broke off here
                break
            lines.append(line[:-1])
            end += len(line)
    return Saved(maker, lines, False, end)


def _maker(line: bytes, path: Path) -> dict[str, Any]:
    try:
        said = json.loads(line)
        number = said[_KIND]
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"{path.name} holds no results of einvoice.") from None
    if number != VERSION:
        raise ValueError(f"{path.name} has version {number} of the format; this release reads version {VERSION}.")
    return dict(said)


def write(path: Path, maker: Mapping[str, Any], lines: Iterable[bytes], complete: bool = True) -> None:
    """Write results, all or nothing: what was there stays until they are complete."""
    beside = path.with_name(path.name + ".new")
    with beside.open("wb") as file:
        file.write(_line(maker))
        count = 0
        for line in lines:
            file.write(line + b"\n")
            count += 1
        if complete:
            file.write(_line({"end": count}))
    beside.replace(path)


def _line(said: Mapping[str, Any]) -> bytes:
    return json.dumps(said, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"


class Journal:
    """What is written down while files are judged, and what an earlier run has written down."""

    def __init__(self, path: Path, options: Options) -> None:
        self._maker = made_by(options)
        self._path = path / FILENAME if path.is_dir() else path
        self._file: BinaryIO | None = None
        self._known: dict[str, bytes] = {}  # the lines of files, by the hash of their content

    def begin(self) -> None:
        """Read what is there, and open it to go on.

        Raises:
            ValueError: it holds no results, or some by other rules or options; nothing is changed then.
        """
        if self._path.exists() and self._path.stat().st_size:
            saved = read(self._path)
            if other := differing(saved.made_by, self._maker):
                told = ", ".join(f"{name} {before!r} (now {now!r})" for name, before, now in other)
                raise ValueError(f"{self._path.name} was made by other rules or options: {told}; begin another file.")
            self._known = dict(_by_hash(saved.lines))
            self._file = self._path.open("r+b")
            self._file.truncate(saved.end)
            self._file.seek(saved.end)
        else:
            self._file = self._path.open("wb")
            self._file.write(_line(self._maker))
        self._file.flush()

    def find(self, content: bytes) -> bytes | None:
        """What an earlier run has written down about a file of this content."""
        return self._known.get(sha256(content)) if self._known else None

    def add(self, lines: Iterable[bytes]) -> None:
        """Write down what became of some files."""
        if self._file is not None:
            self._file.write(b"".join(line + b"\n" for line in lines))
            self._file.flush()

    def close(self) -> None:
        """Go on no further for now."""
        if self._file is not None:
            self._file.close()

    def finish(self, lines: Iterable[bytes]) -> None:
        """All is done: leave these lines and no others, in the order of the files."""
        self.close()
        write(self._path, self._maker, lines)


def _by_hash(lines: Iterable[bytes]) -> Iterator[tuple[str, bytes]]:
    for line in lines:
        digest = json.loads(line)["sha256"]
        if digest:
            yield digest, line


def sha256(content: bytes) -> str:
    """What tells this content from any other, in hexadecimal digits."""
    return hashlib.sha256(content).hexdigest()
