"""Cache of compiled rules: `einvoice.cache`, with keys that depend on the code that compiles them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from einvoice.cache import built, derived, digest, encoded, folder, listed, load, sha256, store

__all__ = ["built", "derived", "digest", "encoded", "folder", "key", "listed", "load", "sha256", "state", "store"]


def key(*parts: str) -> bytes:
    """Return a key that depends on `parts`, on the code that compiles rules and on the version of Python."""
    return f"{state(*parts)}\0{sys.version}".encode()


def state(*parts: str) -> str:
    """Return a text that depends on `parts` and on the code that compiles rules."""
    return "\0".join((*parts, _own_code()))


def _own_code() -> str:
    """Return a digest of the code that generated code depends on."""
    package = Path(__file__).parent.parent
    rulebook = str(package / "rulebook")
    folders = [str(package / "model"), rulebook, *(it.path for it in os.scandir(rulebook) if it.is_dir())]
    files = sorted(path for folder in folders for path in listed(folder, ".py"))
    try:
        return derived("code", files, lambda: sha256(files), in_wheel=False)
    except OSError:
        return os.urandom(16).hex()  # a unique key, so that stored content is not used
