"""Resource limits for validating one document with official artefacts, and when the worker is replaced."""

from __future__ import annotations

from typing import Final

SECONDS: Final = 60
"""Maximum wall time for all artefacts of a document, including waiting for other threads and compiling (once, about 2 s
for the largest stylesheets). An invoice of 5 MB takes about 5 s."""

MEMORY: Final = 2 << 30
"""Maximum data segment of the worker (bytes); Saxon takes about 200 MB with the rules of EN 16931."""

RECYCLE_MEMORY: Final = 800 << 20
"""Peak memory (bytes) above which the worker is replaced before the next request."""

RECYCLE_REQUESTS: Final = 2000
"""Number of requests after which the worker is replaced."""

MESSAGE: Final = 64 << 20
"""Maximum size of a request or an answer (bytes)."""

PER_CODE: Final = 100
"""Maximum number of findings returned per rule code."""

TEXT: Final = 2000
"""Maximum length of a text, a location or a condition (characters)."""
