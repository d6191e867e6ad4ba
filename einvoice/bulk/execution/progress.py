"""The bar that shows how far many files are; it needs tqdm, and without that there is none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from einvoice.bulk.record import Row


@contextmanager
def bar(wanted: bool, size: int | None) -> Iterator[Callable[[list[Row]], None]]:
    """What to call with the rows that are done; `size` is None where nobody knows how many there will be."""
    made = _bar(size) if wanted else None
    if made is None:
        yield lambda rows: None
        return
    wrong = 0

    def show(rows: list[Row]) -> None:
        nonlocal wrong
        wrong += sum(row.verdict != "valid" for row in rows)
        made.set_postfix(invalid=wrong, refresh=False)
        made.update(len(rows))

    try:
        yield show
    finally:
        made.close()


def _bar(size: int | None) -> Any:
    try:
        tqdm = import_module("tqdm.auto").tqdm
    except ImportError:
        return None
    return tqdm(total=size, unit="file", mininterval=0.25)
