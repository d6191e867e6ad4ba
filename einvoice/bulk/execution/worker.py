"""Worker functions of bulk validation. Errors in files become rows, never exceptions."""

from __future__ import annotations

import datetime
import hashlib
import os
import signal
from collections.abc import Sequence
from typing import NamedTuple

from einvoice.bulk.files.items import Item
from einvoice.bulk.files.sources import content_of
from einvoice.bulk.record import Row, error_row, result_row
from einvoice.errors import UnreadableDocument, WorkerCrashed
from einvoice.result.stack import Engine, Mode
from einvoice.rulebook.releases import PINNED
from einvoice.syntax.reader import gc_paused
from einvoice.validation import validate


class Options(NamedTuple):
    """Validation options for all files; see `einvoice.validate`."""

    mode: Mode = "current"
    profile: str | None = None
    ruleset: str | None = None
    as_of: datetime.date | None = None
    rules: str | None = None
    engine: Engine = "native"
    plausibility: bool | None = None
    picture: bool | None = None


def validate_batch(items: Sequence[Item], options: Options, pinned: str) -> list[Row]:
    """Return the rows of these files, in their order.

    `pinned` is the caller's value of the environment variable `releases.PINNED`, which the worker adopts.
    """
    adopt(pinned)
    return [_validate(item, options) for item in items]


def adopt(pinned: str) -> None:
    """Set the environment variable `releases.PINNED`."""
    if os.environ.get(PINNED, "") != pinned:
        os.environ[PINNED] = pinned


@gc_paused
def _validate(item: Item, options: Options) -> Row:
    if isinstance(item.content, Row):
        return item.content
    sha256 = ""
    try:
        data = content_of(item)
        sha256 = hashlib.sha256(data).hexdigest()
        result = validate(data, **options._asdict())
        return result_row(item.name, sha256, result)
    except UnreadableDocument as error:
        return error_row(item.name, sha256, error)
    except Exception as error:  # a defect in einvoice must not affect other files
        return crashed_row(item, type(error).__name__)


def crashed_row(item: Item, reason: str) -> Row:
    """Return the row of a file whose validation did not complete."""
    return error_row(item.name, "", WorkerCrashed(reason=reason))


def initialize() -> None:
    """Ignore SIGINT in a worker process: a terminal sends it to all processes, and the parent handles it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def ping() -> bool:
    """Return True, to check that the process runs."""
    return True
