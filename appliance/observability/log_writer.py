"""Writes the log in a thread, so that a reader that stops reading does not stop the server."""

import logging
import os
import select
import threading
import time
from queue import SimpleQueue
from typing import Final

MAX_LINES: Final = 10_000
"""Lines that wait for the reader; beyond that, new ones are dropped."""
_PAUSE_SECONDS: Final = 0.02
"""Time in which lines are collected, to write them together."""
_BATCH: Final = 1000
"""Maximum number of lines, but one, that are written together."""
_CLOSE_SECONDS: Final = 2
"""Time at the end of the process in which the reader can take what is left."""


class BackgroundHandler(logging.Handler):
    """Writes formatted records to a file descriptor, in the background.

    Attributes:
        dropped: number of lines that were dropped, because the reader did not take them in time.

    Args:
        descriptor: file descriptor, such as that of standard error.
    """

    def __init__(self, descriptor: int) -> None:
        super().__init__()
        self.dropped = 0
        self._descriptor = descriptor
        self._lines: SimpleQueue[str | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._write_lines, name="log", daemon=True)
        self._thread.start()

    def emit(self, record: logging.LogRecord) -> None:
        """Queue a record, or drop it if too many wait."""
        if self._lines.qsize() >= MAX_LINES:
            self.dropped += 1
        else:
            self._lines.put(f"{self.format(record)}\n")

    def close(self) -> None:
        """Write what is left, unless the reader does not take it in time."""
        self._lines.put(None)
        self._thread.join(_CLOSE_SECONDS)
        super().close()

    def _write_lines(self) -> None:
        ended = False
        while not ended:
            lines = [self._lines.get()]
            if lines[0] is not None and self._lines.empty():
                time.sleep(_PAUSE_SECONDS)
            lines += [self._lines.get() for _ in range(min(self._lines.qsize(), _BATCH))]
            ended = None in lines
            self._write([line for line in lines if line is not None])

    def _write(self, lines: list[str]) -> None:
        left = memoryview("".join(lines).encode("utf-8", "backslashreplace"))
        while left:
            try:
                left = left[os.write(self._descriptor, left) :]
            except BlockingIOError:  # another process made the file non-blocking
                select.select([], [self._descriptor], [])
            except OSError:  # the reader is gone
                self.dropped += len(lines)
                return
