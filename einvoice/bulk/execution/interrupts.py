"""Deferral of keyboard interrupts."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def deferred_interrupt() -> Iterator[None]:
    """Defer SIGINT (Ctrl+C, or the stop button of a notebook) until the block ends.

    Only the main thread receives interrupts; in other threads this has no effect.
    """
    previous = signal.getsignal(signal.SIGINT)
    if previous is None or threading.current_thread() is not threading.main_thread():
        yield
        return
    interrupted = False

    def record(*_: Any) -> None:
        nonlocal interrupted
        interrupted = True

    signal.signal(signal.SIGINT, record)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
        if interrupted:
            signal.raise_signal(signal.SIGINT)
