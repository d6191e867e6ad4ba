"""Saxon: whether it is there, and new enough. It is loaded by the worker process only."""

from __future__ import annotations

import importlib.util
import re
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Final

OLDEST: Final = (13, 1, 1)
"""Older ones carry a bundle of certificates that must not be trusted."""


@cache
def saxon_version() -> str | None:
    """The version of saxonche, such as "13.1.1"; None if it is not there, or too old."""
    if importlib.util.find_spec("saxonche") is None:
        return None
    try:
        found = version("saxonche")
    except PackageNotFoundError:
        return None
    return found if tuple(map(int, re.findall(r"\d+", found)[:3])) >= OLDEST else None
