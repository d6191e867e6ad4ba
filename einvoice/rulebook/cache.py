"""What has been worked out once, kept on disk: code objects and plain data, for this user and this Python only.

The folder is ``$EINVOICE_CACHE``, else ``einvoice`` in the user's cache folder; an empty ``EINVOICE_CACHE`` means no
cache. Where it cannot be read or written everything works, a little later. Files of another user are never read: what
``marshal`` loads could do harm.
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

_HASH: Final = 32
_KEPT: Final = 96


def folder() -> Path | None:
    """Where the cache lies; None where there shall be none."""
    chosen = os.environ.get("EINVOICE_CACHE")
    if chosen is not None:
        return Path(chosen) if chosen else None
    base = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    try:
        return Path(base) / "einvoice" if base else Path.home() / ".cache" / "einvoice"
    except RuntimeError:  # a user without a home
        return None


def key(*parts: str) -> bytes:
    """A key for what follows from ``parts``, from einvoice's own code and from this Python."""
    content = "\0".join((*parts, sys.version, _own_code()))
    return hashlib.sha256(content.encode()).digest()


def digest(files: list[Path]) -> str:
    """The SHA-256 of the names and the content of ``files``, in hexadecimal digits."""
    total = hashlib.sha256()
    for path in files:
        content = path.read_bytes()
        total.update(f"{path.parent.name}/{path.name} {len(content)}\n".encode())
        total.update(content)
    return total.hexdigest()


def load(name: str, key: bytes) -> Any:
    """What was stored under name and key; None where nothing was, or nothing that can be trusted."""
    where = folder()
    if where is None:
        return None
    try:
        descriptor = os.open(_path(where, name, key), os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        with os.fdopen(descriptor, "rb") as file:
            if not _is_own(os.fstat(descriptor)):
                return None
            content = file.read()
    except OSError:
        return None
    payload = content[2 * _HASH :]
    if content[: 2 * _HASH] != key + hashlib.sha256(payload).digest():
        return None
    return marshal.loads(payload)


def store(name: str, key: bytes, content: Any) -> None:
    """Keep ``content`` (code objects and plain data) under name and key, and throw away what is oldest."""
    where = folder()
    if where is None:
        return
    payload = marshal.dumps(content)
    path = _path(where, name, key)
    beside = path.with_suffix(f".{os.getpid()}")
    with contextlib.suppress(OSError):
        where.mkdir(mode=0o700, parents=True, exist_ok=True)
        beside.write_bytes(key + hashlib.sha256(payload).digest() + payload)
        beside.chmod(0o600)
        beside.replace(path)
        kept = sorted(where.glob("*.rules"), key=lambda old: old.stat().st_mtime)
        for old in kept[:-_KEPT]:
            old.unlink()


def _path(where: Path, name: str, key: bytes) -> Path:
    return where / f"{name}-{key.hex()[:16]}.rules"


def _is_own(status: os.stat_result) -> bool:
    """Whether nobody but this user (or root) can have written the file."""
    if not hasattr(os, "getuid"):
        return True  # Windows keeps the folder apart for each user
    writable = status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)
    return status.st_uid == os.getuid() and not writable


def _own_code() -> str:
    """A digest of the code that generated code depends on, so that a changed einvoice does not meet old results."""
    package = Path(__file__).parent.parent
    try:
        return digest(sorted((*package.glob("rulebook/**/*.py"), *package.glob("model/*.py"))))
    except OSError:
        return os.urandom(16).hex()  # nothing to compare with, so nothing stored is found again
