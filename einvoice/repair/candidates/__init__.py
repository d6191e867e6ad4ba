"""Candidate changes, one module per strategy.

Each module of this package has a function ``candidates(case)``, which yields the changes that its strategy proposes for
the findings of a document. A candidate is derived from the rules and from the rest of the invoice; whether it mends
anything is found out by trying it.
"""

from __future__ import annotations

import functools
import math
import pkgutil
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from importlib import import_module
from typing import TypeAlias

from einvoice.repair.case import Candidate, Case

Strategy: TypeAlias = Callable[[Case], Iterable[Candidate]]


def candidates(case: Case, end: float = math.inf) -> list[Candidate]:
    """Return the candidates of all strategies in the order in which to try them, each change once.

    Args:
        case: the document.
        end: time (`time.monotonic`) after which no further candidate is generated.
    """
    found: dict[frozenset[object], Candidate] = {}
    for strategy in _strategies():
        if time.monotonic() > end:
            break
        for it in strategy(case):
            if time.monotonic() > end:
                break
            known = found.setdefault(frozenset(it.edits), it)
            first = it if it.rank < known.rank else known
            found[frozenset(it.edits)] = replace(first, ceiling=min(it.ceiling, known.ceiling))
    return sorted(found.values(), key=lambda it: it.rank)


@functools.cache
def _strategies() -> Sequence[Strategy]:
    names = sorted(module.name for module in pkgutil.iter_modules(__path__))
    return tuple(import_module(f"{__name__}.{name}").candidates for name in names)
