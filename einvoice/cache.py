"""Disk cache for plain data and code objects, for one user.

    tables = toml(file)

The folder is `$EINVOICE_CACHE`, or else `einvoice` in the user's cache folder; an empty `EINVOICE_CACHE`
disables the cache. Read and write errors are ignored. Files of other users are not read, because `marshal`
is not safe for untrusted data.

What is derived from a file is stored with the file's state: size, inode, and times of the last changes of content and
inode. A file that changed less than `_SETTLED` ago is not stored: it could change again without a new time.

A wheel has content of its own (`built`), which saves the first start on a machine nearly all of its time. Its keys have
digests of the files instead of states, so that it is never used for other files, and is the same on all machines.
"""

from __future__ import annotations

import contextlib
import marshal
import os
import stat
import sys
import time
import zlib
from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, Final, TypeVar

T = TypeVar("T")

_NUMBER_SIZE: Final = 4
"""Bytes of the checksum, and of the length of the key, with which a file begins."""
_MAX_FILES: Final = 512
_SETTLED: Final = 2 * 10**9
"""Nanoseconds. The times of files are as coarse as 2 s (FAT)."""


_BUILT: Final = Path(__file__).with_name("built")
"""The folder with content of the wheel; a checkout has none."""
_FORMAT: Final = 4
"""Format of `marshal`. Every supported Python reads plain data in it; keys of code include the version of Python."""


def folder() -> Path | None:
    """Return the cache folder; None if the cache is disabled."""
    configured = os.environ.get("EINVOICE_CACHE")
    if configured is not None:
        return Path(configured) if configured else None
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    try:
        return Path(base) / "einvoice" if base else Path.home() / ".cache" / "einvoice"
    except RuntimeError:  # no home folder
        return None


def toml(path: Path) -> dict[str, Any]:
    """Return the tables of a TOML file, stored until the file changes.

    Raises:
        OSError: the file cannot be read.
        ValueError: the file is not UTF-8 or not TOML.
    """
    return derived(f"toml-{path.stem}", [path], lambda: _toml(path))


def _toml(path: Path) -> dict[str, Any]:
    import tomllib  # imported on use: usually the tables are stored

    return tomllib.loads(path.read_text("utf-8"))


def table(path: Path) -> list[list[str]]:
    """Return the rows of a CSV file, the header first, stored until the file changes.

    Raises:
        OSError: the file cannot be read.
        ValueError: the file is not UTF-8.
        csv.Error: the file is not CSV.
    """
    return derived(f"csv-{path.stem}", [path], lambda: _table(path))


def _table(path: Path) -> list[list[str]]:
    import csv  # imported on use: usually the rows are stored

    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file, strict=True))


def listed(folder: str | Path, *suffixes: str) -> list[str]:
    """Return the paths of the files in a folder that end with one of `suffixes`; none if there is no such folder.

    `Path.glob` takes six times as long, which counts for the hundreds of files on which a validation depends.
    """
    try:
        with os.scandir(folder) as entries:
            return [entry.path for entry in entries if entry.name.endswith(suffixes)]
    except OSError:
        return []


def digest(files: Iterable[str | Path]) -> str:
    """Return the SHA-256 of the names and contents of `files`, in hexadecimal digits, stored until one changes."""
    files = list(files)
    return derived("digest", files, lambda: sha256(files), in_wheel=False)


def sha256(files: Iterable[str | Path]) -> str:
    """Return the SHA-256 of the names and contents of `files`, in hexadecimal digits.

    It does not depend on their order, which differs among systems.
    """
    import hashlib  # imported on use: usually the digests are stored

    lines = []
    for path in map(str, files):
        folder, name = os.path.split(path)
        lines.append(f"{os.path.basename(folder)}/{name} {_content_digest(path, *_state(path))}\n")  # noqa: PTH119
    return hashlib.sha256("".join(sorted(lines)).encode()).hexdigest()


@lru_cache(maxsize=8192)
def _content_digest(path: str, *_: int) -> str:
    """Return the SHA-256 of a file in a state; several digests include the same files."""
    import hashlib

    with open(path, "rb", buffering=0) as file:  # noqa: PTH123  # a third faster than Path.open
        return hashlib.sha256(file.read()).hexdigest()


def _state(path: str | Path) -> tuple[int, int, int, int]:
    """Return size, inode, and the times of the last changes of content and inode (nanoseconds) of a file."""
    it = os.stat(path)  # noqa: PTH116  # a third faster than Path.stat
    return it.st_size, it.st_ino, it.st_mtime_ns, it.st_ctime_ns


def derived(name: str, files: Sequence[str | Path], derive: Callable[[], T], *, in_wheel: bool = True) -> T:
    """Return `derive()`, plain data, stored under a name and the state of the files that it depends on.

    `in_wheel` says whether a wheel has it too: that takes a digest of the files, which may be what is derived.

    Raises:
        OSError: a file cannot be read.
    """
    states = [(str(path), *_state(path)) for path in files]
    key = f"{sys.version} {states}".encode()
    content: T | None = load(name, key)
    if content is None:
        content = built(name, lambda: sha256(files), derive) if in_wheel else derive()
        changed = max((moment for *_, modified, moved in states for moment in (modified, moved)), default=0)
        if changed + _SETTLED < time.time_ns():
            store(name, key, content)
    return content


def built(name: str, digest: Callable[[], str], derive: Callable[[], T]) -> T:
    """Return the content that the wheel has under a name and a digest, or else `derive()`, plain data.

    `digest` returns a text that changes with everything that the content depends on.
    """
    content: T | None = None
    if name in _built_names():
        key = digest().encode()
        content = _content(_path(_BUILT, name, key), key)
    if content is None:
        content = derive()
        if _recorded is not None:
            key = digest().encode()
            _recorded[_path(_BUILT, name, key).name] = _encoded(key, content)
    return content


_recorded: dict[str, bytes] | None = None


def record() -> dict[str, bytes]:
    """Return the files of the folder `built`, to which content is added from now on as it is derived."""
    global _recorded
    _recorded = {}
    return _recorded


@cache
def _built_names() -> frozenset[str]:
    return frozenset(path.name.rpartition("-")[0] for path in _BUILT.glob("*.rules"))


def load(name: str, key: bytes) -> Any:
    """Return the content stored under name and key; None if it is missing or the file is not trusted."""
    directory = folder()
    if directory is None:
        return None
    return _content(_path(directory, name, key), key, own=True)


def _content(path: Path, key: bytes, *, own: bool = False) -> Any:
    """Return the content of a file; None if it is not there, has another key, or is damaged.

    A file in the cache must be the `own` one of this user; the time of its last use is kept.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        with os.fdopen(descriptor, "rb") as file:
            if own and not _is_own(os.fstat(descriptor)):
                return None
            content = file.read()
            if own:
                with contextlib.suppress(OSError):  # a cache that only another user may write
                    os.utime(descriptor if os.utime in os.supports_fd else path)
    except OSError:
        return None
    checksum, stored, header = content[:_NUMBER_SIZE], content[_NUMBER_SIZE:], _header(key)
    if not stored.startswith(header) or checksum != _number(zlib.crc32(stored)):
        return None
    return marshal.loads(memoryview(stored)[len(header) :])


def store(name: str, key: bytes, content: Any) -> None:
    """Store `content` (code objects and plain data) under name and key, and delete the files used least recently."""
    directory = folder()
    if directory is None:
        return
    try:
        encoded = _encoded(key, content)
    except ValueError:  # such as a date in a TOML file
        return
    path = _path(directory, name, key)
    temporary = path.with_suffix(f".{os.getpid()}")
    with contextlib.suppress(OSError):
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        try:
            temporary.write_bytes(encoded)
            temporary.chmod(0o600)
            temporary.replace(path)  # on Windows, not while another process reads the file
        finally:
            temporary.unlink(missing_ok=True)
        files = sorted(directory.glob("*.rules"), key=lambda old: old.stat().st_mtime)
        for old in files[:-_MAX_FILES]:
            old.unlink()


def _path(directory: Path, name: str, key: bytes) -> Path:
    return directory / f"{name}-{zlib.crc32(key):08x}.rules"


def encoded(content: Any) -> bytes:
    """Return plain data as bytes that every supported Python reads with `marshal.loads`."""
    return marshal.dumps(content, _FORMAT)


def _encoded(key: bytes, content: Any) -> bytes:
    stored = _header(key) + encoded(content)
    return _number(zlib.crc32(stored)) + stored


def _header(key: bytes) -> bytes:
    return _number(len(key)) + key


def _number(number: int) -> bytes:
    return number.to_bytes(_NUMBER_SIZE, "big")


def _is_own(status: os.stat_result) -> bool:
    """Return whether only this user (or root) can have written the file."""
    if not hasattr(os, "getuid"):
        return True  # the folder is private on Windows
    writable = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return status.st_uid == os.getuid() and not writable
