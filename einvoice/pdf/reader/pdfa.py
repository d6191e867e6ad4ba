"""The parts of PDF/A (ISO 19005) and the PDF versions that they are based on."""

from __future__ import annotations

import re
from typing import Final

_VERSIONS: Final = {"1": r"1\.[0-7]", "2": r"1\.[0-7]", "3": r"1\.[0-7]", "4": r"2\.[0-9]"}
"""ISO 19005-1, -2 and -3, 6.1.2: PDF 1.0 to 1.7; ISO 19005-4, 6.1.2: PDF 2."""


def allows(part: str, version: str) -> bool:
    """Return whether a part of PDF/A allows a PDF version in the header; an unknown part allows all.

    >>> allows("3", "1.7"), allows("3", "2.0"), allows("4", "2.0")
    (True, False, True)
    """
    return part not in _VERSIONS or bool(re.fullmatch(_VERSIONS[part], version))
