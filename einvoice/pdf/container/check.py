"""How a check is declared."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final, TypeAlias

from einvoice.pdf.reader.opened import Opened

Values: TypeAlias = dict[str, str | int]
Faults: TypeAlias = Iterator[Values]
Check: TypeAlias = Callable[[Opened], Faults]

CHECKS: Final[dict[str, Check]] = {}
"""The checks by code, filled by `check`."""


def check(code: str) -> Callable[[Check], Check]:
    """Declare the function below as the check that finds the faults of `code`."""

    def declare(function: Check) -> Check:
        assert code not in CHECKS, code
        CHECKS[code] = function
        return function

    return declare
