"""Contents of many invoices: the files are read, not validated."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from einvoice.bulk.execution import worker
from einvoice.bulk.execution.executors import create_executor
from einvoice.bulk.execution.progress import progress_bar
from einvoice.bulk.execution.worker import Options
from einvoice.bulk.files.items import Item
from einvoice.bulk.files.sources import content_of
from einvoice.bulk.invoice_record import content_row
from einvoice.bulk.lines import Lines
from einvoice.bulk.record import Row, error_row
from einvoice.errors import UnreadableDocument
from einvoice.syntax import reader
from einvoice.validation.pipeline import Document

if TYPE_CHECKING:
    from concurrent.futures import Executor

FEW: Final = 2
"""Number of files for which processes are not started."""


class Reading(NamedTuple):
    """How files are read again: the arguments `workers` and `progress` of the first time."""

    workers: int | None = None
    progress: bool = True


def read_files(
    items: Iterable[Item],
    size: int | None,
    terms: Sequence[str] = (),
    *,
    workers: int | None = None,
    client: Any = None,
    executor: Executor | None = None,
    progress: bool = True,
    check: Callable[[Row], None] | None = None,
) -> Lines:
    """Return the record of each file, in their order; see `invoice_record`.

    Args:
        items: the files.
        size: their number; None if unknown.
        terms: numbers of the business terms to collect.
        workers, client, executor, progress: as of `einvoice.validate_many`.
        check: called with each record.
    """
    if client is not None or executor is not None:
        items = map(with_content, items)  # workers have no access to the files
    elif workers is None and size is not None and size <= FEW:
        workers = 0
    task = partial(read_batch, terms=tuple(terms))
    batch_executor = create_executor(workers, client, executor, Options(), task)
    lines = Lines()
    with progress_bar(progress, size) as update:
        try:
            for rows in batch_executor.rows(items):
                if check is not None:
                    for row in rows:
                        check(row)
                lines.extend(row.line for row in rows)
                update(rows)
        finally:
            batch_executor.shutdown()
    return lines


def with_content(item: Item) -> Item:
    """Return a file with its content instead of its path."""
    try:
        return Item(item.name, content_of(item))
    except UnreadableDocument as error:
        return Item(item.name, error)


def read_batch(items: Sequence[Item], options: Options, pinned: str, terms: Sequence[str] = ()) -> list[Row]:
    """Return the rows of these files, in their order; see `worker.validate_batch`."""
    return [_read(item, terms) for item in items]


@reader.gc_paused
def _read(item: Item, terms: Sequence[str]) -> Row:
    sha256 = ""
    try:
        data = content_of(item)
        sha256 = hashlib.sha256(data).hexdigest()
        document = Document.open(data, keep_blanks=True)
        return content_row(item.name, sha256, document, terms)
    except UnreadableDocument as error:
        return error_row(item.name, sha256, error)
    except Exception as error:  # a defect in einvoice must not affect other files
        return worker.crashed_row(item, type(error).__name__)
