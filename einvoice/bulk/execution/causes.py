"""Causes of the findings of many files: the files are validated again, and changes of them are tried."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from typing import Any, Final

from einvoice.bulk import cause_record
from einvoice.bulk.common_causes import CommonCauses
from einvoice.bulk.execution import worker
from einvoice.bulk.execution.executors import create_executor
from einvoice.bulk.execution.progress import progress_bar
from einvoice.bulk.execution.reading import with_content
from einvoice.bulk.execution.worker import Options
from einvoice.bulk.files.items import Item
from einvoice.bulk.files.sources import Corpus, content_of
from einvoice.bulk.record import Row, encode
from einvoice.errors import UnreadableDocument
from einvoice.result.languages import Language
from einvoice.validation import validate

BATCH_FILES: Final = 8
"""Maximum number of files per batch: the causes of one take as long as some dozen validations."""
_FEW: Final = 16
"""Number of files for which processes are not started."""


def find_causes(
    records: Sequence[Mapping[str, Any]],
    corpus: Corpus,
    options: Options,
    *,
    workers: int | None,
    client: Any,
    executor: Executor | None,
    progress: bool,
    limit: int | None,
    seconds: float | None,
    update: Callable[[int, int], None] | None,
    lang: Language,
) -> CommonCauses:
    """Return the causes of many files; see `ResultSet.causes`.

    Args:
        records: the records of the files.
        corpus: the files.
        options: the options with which they were validated.
        workers, client, executor, progress, limit, seconds, update, lang: as of `ResultSet.causes`.
    """
    chosen = sample(records, limit)
    if workers is None and client is None and executor is None and len(chosen) <= _FEW:
        workers = 0
    batch_executor = create_executor(workers, client, executor, options, causes_of_batch, batch_files=BATCH_FILES)
    deadline = None if seconds is None else time.monotonic() + seconds
    is_sent = client is not None or executor is not None
    missing = set(chosen)
    items = _until(deadline, chosen_items(corpus, chosen, missing, is_sent))
    rows: list[Row] = []
    with progress_bar(progress, len(chosen)) as show:
        try:
            for completed in batch_executor.rows(items):
                rows += completed
                show(completed)
                if update is not None:
                    update(len(rows), len(chosen))
        except KeyboardInterrupt:
            rows += batch_executor.drain()
        finally:
            batch_executor.shutdown()
    if chosen and len(missing) == len(chosen):
        raise LookupError("the files are no longer available; load the results with ResultSet.load(path, files=...)")
    known = {record["file"]: record.get("sha256", "") for record in records}
    return CommonCauses.of(_restored(rows, known), records, lang=lang)


def causes_of_batch(items: Sequence[Item], options: Options, pinned: str) -> list[Row]:
    """Return the rows with the causes of these files, in their order; see `worker.validate_batch`."""
    worker.adopt(pinned)
    return [causes_row(item, options) for item in items]


def causes_row(item: Item, options: Options) -> Row:
    """Return the row with the causes of a file, without `sha256` if they could not be searched for."""
    try:
        data = content_of(item)
        result = validate(data, **options._asdict())
        causes = cause_record.plain(cause_record.file_causes(result))
    except UnreadableDocument:
        return worker.crashed_row(item, "unreadable")
    except Exception as error:  # a defect in einvoice must not affect other files
        return worker.crashed_row(item, type(error).__name__)
    facts = {"file": item.name, "sha256": hashlib.sha256(data).hexdigest(), **causes}
    return Row("valid" if result.is_valid else "invalid", encode(facts))


def _restored(rows: Iterable[Row], sha256: Mapping[str, str]) -> Iterator[tuple[str, cause_record.FileCauses]]:
    """Yield name and causes of the files that were examined and have not changed since they were validated."""
    for row in rows:
        record = json.loads(row.line)
        if record.get("sha256") and record["sha256"] == sha256[record["file"]]:
            yield record["file"], cause_record.restored(record)


def sample(records: Sequence[Mapping[str, Any]], limit: int | None) -> list[str]:
    """Return the names of the invalid files; if they are too many, at least one of each kind, the rest in proportion.

    Files with findings of the same codes are of one kind.
    """
    kinds: dict[tuple[str, ...], list[str]] = {}
    for record in records:
        if record["verdict"] == "invalid":
            codes = tuple(sorted({it["code"] for it in record.get("findings", ())}))
            kinds.setdefault(codes, []).append(record["file"])
    placed = [
        (turn / len(kind), number, name) for number, kind in enumerate(kinds.values()) for turn, name in enumerate(kind)
    ]
    return [name for *_, name in sorted(placed)[:limit]]


def chosen_items(corpus: Corpus, names: Sequence[str], missing: set[str], is_sent: bool) -> Iterator[Item]:
    """Yield the files with these names, with their content if workers have no access to them.

    They come in this order, so that a time limit leaves a sample of all kinds; those of archives and iterators in the
    order of the source. Names that are found are removed from `missing`.
    """
    found = corpus.items
    if isinstance(found, Sequence):
        by_name: dict[str, Item] = {}
        for item in found:
            if item.name in missing:
                by_name.setdefault(item.name, item)
        found = (by_name[name] for name in names if name in by_name)
    for item in found:
        if item.name in missing:
            missing.discard(item.name)
            yield with_content(item) if is_sent else item


def _until(deadline: float | None, items: Iterator[Item]) -> Iterator[Item]:
    for item in items:
        if deadline is not None and time.monotonic() >= deadline:
            return
        yield item
