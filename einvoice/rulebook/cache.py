"""Cache of compiled rules: `einvoice.cache`, with keys that depend on the code that compiles them."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final

from einvoice.cache import built, derived, digest, encoded, folder, listed, load, sha256, store

_PACKAGES: Final = ("model", "rulebook", "code_catalog", "authoring")

__all__ = ["built", "derived", "digest", "encoded", "folder", "key", "listed", "load", "sha256", "state", "store"]


def key(*parts: str) -> bytes:
    """Return a key that depends on `parts`, on the code that compiles rules and on the version of Python."""
    return f"{state(*parts)}\0{sys.version}".encode()


def state(*parts: str) -> str:
    """Return a text that depends on `parts` and on the code that compiles rules."""
    return "\0".join((*parts, _own_code()))


def _own_code() -> str:
    """Return a digest of the code that compiled rules, their texts and the checks of added rules depend on."""
    package = Path(__file__).parent.parent
    packages = [str(package / name) for name in _PACKAGES]
    folders = (*packages, *(it.path for name in packages for it in os.scandir(name) if it.is_dir()))
    files = sorted(path for folder in folders for path in listed(folder, ".py"))
    try:
        return derived("code", files, lambda: sha256(files), in_wheel=False)
    except OSError:
        return os.urandom(16).hex()  # a unique key, so that stored content is not used
