"""What a worker does: judge files, and say of each what became of it. It raises nothing about a file."""

from __future__ import annotations

import datetime
import hashlib
import os
import signal
from collections.abc import Sequence
from typing import NamedTuple

from einvoice.bulk.files.sources import Item, content_of
from einvoice.bulk.record import Row, row_of_error, row_of_result
from einvoice.errors import UnreadableDocument, WorkerCrashed
from einvoice.result.stack import Mode
from einvoice.rulebook.releases import PINNED
from einvoice.validation import validate


class Options(NamedTuple):
    """What every file is judged by: see `einvoice.validate`."""

    mode: Mode = "current"
    profile: str | None = None
    ruleset: str | None = None
    as_of: datetime.date | None = None


def judge(items: Sequence[Item], options: Options, pinned: str) -> list[Row]:
    """What became of these files, in their order.

    `pinned` is what the environment of whoever asks wants judged by (`releases.PINNED`); a worker may have another.
    """
    if os.environ.get(PINNED, "") != pinned:
        os.environ[PINNED] = pinned
    return [_judge(item, options) for item in items]


def _judge(item: Item, options: Options) -> Row:
    if isinstance(item.content, Row):
        return item.content
    sha256 = ""
    try:
        data = content_of(item)
        sha256 = hashlib.sha256(data).hexdigest()
        result = validate(data, **options._asdict())
        return row_of_result(item.name, sha256, result)
    except UnreadableDocument as error:
        return row_of_error(item.name, sha256, error)
    except Exception as error:  # a mistake of ours: it must not cost the other files their verdict
        return not_judged(item, type(error).__name__)


def not_judged(item: Item, reason: str) -> Row:
    """The row of a file that was not judged to the end."""
    return row_of_error(item.name, "", WorkerCrashed(reason=reason))


def begin() -> None:
    """Prepare a worker process: an interrupt, which a terminal sends to all of them, is its parent's affair."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def ready() -> bool:
    """Say that the process is there."""
    return True
