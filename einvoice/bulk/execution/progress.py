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
    options = {"total": size, "unit": "file", "mininterval": 0.25}
    in_notebook = any(base.__module__ == "tqdm.notebook" for base in tqdm.__mro__)
    return _NotebookBar(tqdm, options) if in_notebook else tqdm(**options)


class _NotebookBar:
    """A bar that is replaced by its final state as text.

    A notebook stores the widget of tqdm with the text of its first moment, 0 %, which pages without widgets show.
    """

    def __init__(self, tqdm: Any, options: dict[str, Any]) -> None:
        self._bar = tqdm(**options, leave=False, display=False)
        self._output = import_module("IPython.display").display(self._bar.container, display_id=True)
        self.set_postfix = self._bar.set_postfix
        self.update = self._bar.update

    def close(self) -> None:
        text = str(self._bar)
        self._bar.close()
        self._output.update({"text/plain": text}, raw=True)
