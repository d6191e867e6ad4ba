"""What judging one document by artefacts may cost, and when the process that does it is replaced."""

from __future__ import annotations

from typing import Final

SECONDS: Final = 60
"""By the clock, for all artefacts of a document, with waiting for other threads, and with compiling: that takes some
two seconds for the largest stylesheets, once. An invoice of 5 MB takes some five."""

MEMORY: Final = 2 << 30
"""Bytes of data; Saxon takes about 200 MB with the rules of EN 16931."""

FULL: Final = 800 << 20
"""Bytes that the process may have held at most when it is asked once more; beyond, a new one is."""

TURNS: Final = 2000
"""So many requests one process answers."""

ANSWER: Final = 64 << 20
"""Bytes."""

PER_CODE: Final = 100
"""So many reports of a code are told."""

TEXT: Final = 2000
"""So many characters of a text, a location or a condition are told."""
