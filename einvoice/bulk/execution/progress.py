"""Progress bar (optional, needs tqdm)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from einvoice.bulk.record import Row


@contextmanager
def progress_bar(enabled: bool, size: int | None) -> Iterator[Callable[[list[Row]], None]]:
    """Yield a function to call with completed rows; `size` is the number of files, None if unknown."""
    bar = _tqdm(size) if enabled else None
    if bar is None:
        yield lambda rows: None
        return
    invalid = 0

    def update(rows: list[Row]) -> None:
        nonlocal invalid
        invalid += sum(row.verdict != "valid" for row in rows)
        bar.set_postfix(invalid=invalid, refresh=False)
        bar.update(len(rows))

    try:
        yield update
    finally:
        bar.close()


def _tqdm(size: int | None) -> Any:
    try:
        tqdm = import_module("tqdm.auto").tqdm
    except ImportError:
        return None
    return tqdm(total=size, unit="file", mininterval=0.25)
