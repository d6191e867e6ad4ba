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
    failed: Callable[[str, OSError], None],
    once: bool = False,
) -> Iterator[tuple[Claim, Sorted]]:
    """Sort what arrives until it is stopped; yield each invoice that is sorted.

    A file that cannot be sorted is given back, and tried again half a minute later; the others go on. So is one that
    changes while it is validated, at once.

    Args:
        inbox: where invoices arrive; it must be open.
        outbox: where they are sorted to.
        interval: seconds between two looks at the folder.
        is_stopped: asked after each file and while waiting.
        failed: told the name of a file that cannot be sorted at the moment.
        once: whether to end when all files have been tried.

    Raises:
        OSError: the folder cannot be read.
        RuleError, MissingDependency: as `Outbox.sort`.
    """
    problems: dict[str, OSError] = {}
    while not is_stopped():
        problems.clear()
        for claim in inbox.claims(problems.__setitem__):
            try:
                if sorted_invoice := outbox.sort(claim):
                    yield claim, sorted_invoice
            except OSError as error:
                problems[claim.name] = error
            if is_stopped():
                return
        inbox.release()
        for name, problem in problems.items():
            failed(name, problem)
        if once:
            return
        _wait(_PAUSE if problems else interval, is_stopped)


def _wait(seconds: float, is_stopped: Callable[[], bool]) -> None:
    end = time.monotonic() + seconds
    while not is_stopped() and (left := end - time.monotonic()) > 0:
        time.sleep(min(left, 0.2))
