"""The loop: claim, sort, wait."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Final

from einvoice.watch.inbox import Claim, Inbox
from einvoice.watch.outbox import Outbox, Sorted

_PAUSE: Final = 30.0
"""Seconds until the next attempt after a file could not be sorted, such as with a full disk."""


def watch(
    inbox: Inbox,
    outbox: Outbox,
    *,
    interval: float,
    is_stopped: Callable[[], bool],
    failed: Callable[[Claim, OSError], None],
    once: bool = False,
) -> Iterator[tuple[Claim, Sorted]]:
    """Sort what arrives until it is stopped; yield each invoice that is sorted.

    A file that cannot be sorted is given back, and tried again later.

    Args:
        inbox: where invoices arrive; it must be open.
        outbox: where they are sorted to.
        interval: seconds between two looks at the folder.
        is_stopped: asked after each file and while waiting.
        failed: told about a file that cannot be sorted at the moment.
        once: whether to end when no file is left, or one cannot be sorted.

    Raises:
        OSError: the folder cannot be read.
        RuleError, MissingDependency: as `Outbox.sort`.
    """
    while not is_stopped():
        has_failed = False
        for claim in inbox.claims():
            try:
                yield claim, outbox.sort(claim)
            except OSError as error:
                inbox.release()
                failed(claim, error)
                has_failed = True
                break
            if is_stopped():
                return
        if once:
            return
        _wait(_PAUSE if has_failed else interval, is_stopped)


def _wait(seconds: float, is_stopped: Callable[[], bool]) -> None:
    end = time.monotonic() + seconds
    while not is_stopped() and (left := end - time.monotonic()) > 0:
        time.sleep(min(left, 0.2))
