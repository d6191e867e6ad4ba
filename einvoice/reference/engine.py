"""Saxon: whether it is installed and recent enough. Only the worker process loads it."""

from __future__ import annotations

import importlib.util
import re
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Final

MIN_VERSION: Final = (13, 1, 1)
"""Older wheels contain a certificate bundle that must not be trusted."""


@cache
def saxon_version() -> str | None:
    """Return the version of saxonche, such as "13.1.1"; None if it is not installed or too old."""
    if importlib.util.find_spec("saxonche") is None:
        return None
    try:
        installed = version("saxonche")
    except PackageNotFoundError:
        return None
    return installed if tuple(map(int, re.findall(r"\d+", installed)[:3])) >= MIN_VERSION else None
