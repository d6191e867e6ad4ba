"""Disk cache for code objects and plain data, for one user and one version of Python.

The folder is ``$EINVOICE_CACHE``, or else ``einvoice`` in the user's cache folder; an empty ``EINVOICE_CACHE``
disables the cache. Read and write errors are ignored. Files of other users are not read, because ``marshal``
is not safe for untrusted data.
"""

from __future__ import annotations

import contextlib
import hashlib
import marshal
import os
import stat
import sys
from pathlib import Path
from typing import Any, Final

_DIGEST_SIZE: Final = 32
_MAX_FILES: Final = 96


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


def key(*parts: str) -> bytes:
    """Return a key that depends on ``parts``, on the code of einvoice and on the version of Python."""
    content = "\0".join((*parts, sys.version, _own_code()))
    return hashlib.sha256(content.encode()).digest()


def digest(files: list[Path]) -> str:
    """Return the SHA-256 of the names and contents of ``files``, in hexadecimal digits."""
    total = hashlib.sha256()
    for path in files:
        content = path.read_bytes()
        total.update(f"{path.parent.name}/{path.name} {len(content)}\n".encode())
        total.update(content)
    return total.hexdigest()


def load(name: str, key: bytes) -> Any:
    """Return the content stored under name and key; None if it is missing or the file is not trusted."""
    directory = folder()
    if directory is None:
        return None
    try:
        descriptor = os.open(_path(directory, name, key), os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        with os.fdopen(descriptor, "rb") as file:
            if not _is_own(os.fstat(descriptor)):
                return None
            content = file.read()
    except OSError:
        return None
    payload = content[2 * _DIGEST_SIZE :]
    if content[: 2 * _DIGEST_SIZE] != key + hashlib.sha256(payload).digest():
        return None
    return marshal.loads(payload)


def store(name: str, key: bytes, content: Any) -> None:
    """Store ``content`` (code objects and plain data) under name and key, and delete the oldest files."""
    directory = folder()
    if directory is None:
        return
    payload = marshal.dumps(content)
    path = _path(directory, name, key)
    temporary = path.with_suffix(f".{os.getpid()}")
    with contextlib.suppress(OSError):
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        temporary.write_bytes(key + hashlib.sha256(payload).digest() + payload)
        temporary.chmod(0o600)
        temporary.replace(path)
        files = sorted(directory.glob("*.rules"), key=lambda old: old.stat().st_mtime)
        for old in files[:-_MAX_FILES]:
            old.unlink()


def _path(directory: Path, name: str, key: bytes) -> Path:
    return directory / f"{name}-{key.hex()[:16]}.rules"


def _is_own(status: os.stat_result) -> bool:
    """Return whether only this user (or root) can have written the file."""
    if not hasattr(os, "getuid"):
        return True  # the folder is private on Windows
    writable = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return status.st_uid == os.getuid() and not writable


def _own_code() -> str:
    """Return a digest of the code that generated code depends on."""
    package = Path(__file__).parent.parent
    try:
        return digest(sorted((*package.glob("rulebook/**/*.py"), *package.glob("model/*.py"))))
    except OSError:
        return os.urandom(16).hex()  # a unique key, so that stored content is not used
