"""The decorator that declares a container check."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from einvoice.pdf.reader.opened_pdf import OpenedPdf

Values: TypeAlias = dict[str, str | int]
Faults: TypeAlias = Iterator[Values]
Check: TypeAlias = Callable[[OpenedPdf], Faults]

CHECKS: Final[dict[str, Check]] = {}
"""All checks by code, filled by `check`."""


def check(code: str) -> Callable[[Check], Check]:
    """Register a function as the check that yields the faults with `code`."""

    def register(function: Check) -> Check:
        assert code not in CHECKS, code
        CHECKS[code] = function
        return function

    return register
