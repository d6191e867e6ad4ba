"""The folder in which invoices arrive, and who works on which of them.

IN/                         files that have arrived
IN/.einvoice/NAME.lock      locked while the watcher NAME runs
IN/.einvoice/NAME/          the files that it works on

A file is claimed by moving it into the folder of a watcher, which succeeds for one of several. The lock of a watcher
that was killed is free; its files are then moved back and claimed again. So are files that change while they are
validated.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Final, NamedTuple

from einvoice.watch.writers import State, can_tell, is_open, state

_OWN: Final = ".einvoice"
_LOCK: Final = ".lock"
_UNFINISHED: Final = (".part", ".tmp", ".crdownload", ".filepart")
"""Suffixes of files that other programs still write."""
_NANOSECONDS: Final = 10**9


class Claim(NamedTuple):
    """A file that this watcher works on: where it is, the name under which it arrived, and its state then."""

    path: Path
    name: str
    state: State
    tells_writers: bool = False

    def has_changed(self) -> bool:
        """Return whether the file has changed since, or a program has it open for writing."""
        return state(self.path) != self.state or (self.tells_writers and is_open(self.path))


class Inbox:
    """The folder, watched by this program. Use it as a context manager.

    Args:
        folder: the folder.
        settle: seconds since its last change after which a file is complete.

    Raises:
        OSError: the folder cannot be read or written.
    """

    def __init__(self, folder: Path, settle: float) -> None:
        self.folder = folder
        self._settle = settle
        self._watchers = folder / _OWN
        self._own = self._watchers
        self._tells_writers = False
        self._lock: IO[bytes] | None = None

    def __enter__(self) -> Inbox:
        self._watchers.mkdir(exist_ok=True)
        while self._lock is None:
            self._own = self._watchers / uuid.uuid4().hex
            self._own.mkdir()
            self._lock = _locked(self._own.with_suffix(_LOCK))
            if not self._own.is_dir():  # another watcher has locked it first, and taken this one for ended
                self._lock = None
        self._tells_writers = can_tell(self._own)
        return self

    def __exit__(self, *_: object) -> None:
        self.release()
        with contextlib.suppress(OSError):
            self._own.rmdir()
        if self._lock is not None:
            self._lock.close()
            self._own.with_suffix(_LOCK).unlink(missing_ok=True)

    def claims(self, failed: Callable[[str, OSError], None]) -> Iterator[Claim]:
        """Yield the files that have arrived and are complete, each claimed for this watcher when it is yielded.

        `failed` is told the name of a file that cannot be moved.
        """
        self._take_over()
        for path in self._arrived():
            claimed = self._own / path.name
            try:
                path.rename(claimed)
            except FileNotFoundError:  # another watcher was faster
                continue
            except OSError as error:
                failed(path.name, error)
                continue
            yield Claim(claimed, path.name, state(claimed), self._tells_writers)

    def release(self) -> None:
        """Give back the files that are claimed but not sorted."""
        _give_back(self._own, self.folder)

    def _arrived(self) -> list[Path]:
        now, found = time.time_ns(), []
        with os.scandir(self.folder) as entries:
            for entry in entries:
                if entry.name.startswith(".") or entry.name.lower().endswith(_UNFINISHED):
                    continue
                with contextlib.suppress(FileNotFoundError):
                    if entry.is_file(follow_symlinks=False):
                        changed = entry.stat(follow_symlinks=False).st_mtime_ns
                        # The clock of the sender may be ahead.
                        is_settled = abs(now - changed) >= self._settle * _NANOSECONDS
                        if is_settled and not (self._tells_writers and is_open(Path(entry.path))):
                            found.append((changed, Path(entry.path)))
        return [path for _, path in sorted(found)]

    def _take_over(self) -> None:
        """Give back the files of watchers that have ended without doing so."""
        for lock in self._watchers.glob(f"*{_LOCK}"):
            if lock == self._own.with_suffix(_LOCK):
                continue
            held = _locked(lock, wait=False)
            if held is None:
                continue
            with held:
                ended = lock.with_suffix("")
                _give_back(ended, self.folder)
                with contextlib.suppress(OSError):
                    ended.rmdir()
                with contextlib.suppress(OSError):
                    lock.unlink()


def _give_back(folder: Path, to: Path) -> None:
    if not folder.is_dir():
        return
    for path in folder.iterdir():
        with contextlib.suppress(FileNotFoundError):
            path.rename(_free(to / path.name))


def _free(path: Path) -> Path:
    """Return the path, or one with a number, if a file of that name has arrived in the meantime."""
    number, found = 1, path
    while found.exists():
        number += 1
        found = path.with_stem(f"{path.stem} ({number})")
    return found


def _locked(path: Path, *, wait: bool = True) -> IO[bytes] | None:
    """Return the file, locked until it is closed; None if another program has locked it, or it is gone."""
    try:
        file = path.open("ab" if wait else "rb+")
    except FileNotFoundError:
        return None
    try:
        _lock(file)
    except OSError:
        file.close()
        return None
    return file


if sys.platform == "win32":
    import msvcrt

    def _lock(file: IO[bytes]) -> None:
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(file: IO[bytes]) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
