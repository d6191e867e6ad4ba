"""Judging many files."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from einvoice import validation
from einvoice.bulk.execution.executors import Here, Hired, crew
from einvoice.bulk.execution.progress import bar
from einvoice.bulk.execution.worker import Options
from einvoice.bulk.files.sources import Corpus, Item, content_of, corpus
from einvoice.bulk.jsonl import Journal, made_by
from einvoice.bulk.record import Row, row_again
from einvoice.bulk.results import ResultSet
from einvoice.errors import UnreadableDocument
from einvoice.result.languages import Language
from einvoice.result.stack import Mode
from einvoice.rulebook import releases

if TYPE_CHECKING:
    import datetime
    import os
    from concurrent.futures import Executor


def validate_many(
    source: Any,
    *,
    workers: int | None = None,
    client: Any = None,
    executor: Executor | None = None,
    progress: bool = True,
    lang: Language = "de",
    mode: Mode = "current",
    profile: str | None = None,
    ruleset: str | None = None,
    as_of: datetime.date | None = None,
    resume: str | os.PathLike[str] | None = None,
) -> ResultSet:
    """Judge many files. What cannot be read becomes a row of the results, never an exception.

    An interrupt (Ctrl+C, or the button of a notebook) ends the run and keeps what is done: the results are not
    `complete` then. A second one is raised.

    Args:
        source: a folder, whose .xml and .pdf files are judged, those of its folders too; a ZIP or TAR archive,
            likewise; a pattern, such as "2026/**/*.xml"; paths; a column of a pandas table that holds paths; pairs of
            a name and bytes (or a path), also as a mapping. An iterator is read as it goes.
        workers: how many processes judge, by default one for each processor; 0 judges in this process, where a file
            that brings it down brings down everything.
        client: a Dask client, whose workers judge instead. They need no access to the files, but this package.
        executor: another executor of `concurrent.futures` to judge instead; it is not shut down.
        progress: show a bar, if tqdm is installed.
        lang, mode, profile, ruleset, as_of: see `einvoice.validate`. `as_of` is a day on which there were rules of
            XRechnung, whatever the files declare.
        resume: a file of JSON Lines, or a folder for one: what is done is written down there at once, and files whose
            content is found there are not judged again. When all is done it holds what `ResultSet.save` writes.

    Returns:
        The results in the order of the files. For each one there are about 1.5 kB, and 0.5 kB more for each finding; of
        files under way no more is held than `einvoice.bulk.execution.executors` says.

    Raises:
        FileNotFoundError: the folder or archive is not there.
        TypeError, ValueError: an argument is wrong, or `resume` holds something else.
        RuntimeError: no worker process can be started.
    """
    options = Options(mode, profile, ruleset, as_of)
    validation.Options(lang=lang, **options._asdict())
    if as_of is not None:
        releases.as_of(as_of)
    files = corpus(source)
    hands = crew(workers, client, executor, options)
    journal = Journal(Path(resume), options) if resume is not None else None
    if journal is not None:
        journal.begin()
    run = _Run(hands, journal, reads=journal is not None or client is not None or executor is not None)
    with bar(progress, files.size) as show:
        complete = run.through(files, show)
    if journal is not None and complete:
        journal.finish(run.lines)
    return ResultSet(run.lines, made_by(options), lang=lang, complete=complete, corpus=files)


class _Run:
    """One run: who judges, and what is done."""

    def __init__(self, hands: Here | Hired, journal: Journal | None, reads: bool) -> None:
        self._hands = hands
        self._journal = journal
        self._reads = reads  # the files here, to look for their content in the journal or to send it away
        self.lines: list[bytes] = []

    def through(self, files: Corpus, show: Callable[[list[Row]], None]) -> bool:
        """Judge all of them; say whether nobody interrupted."""
        try:
            for rows in self._hands.rows(self._items(files.items)):
                self._keep(rows)
                show(rows)
            return True
        except KeyboardInterrupt:
            self._keep(self._hands.finish())
            return False
        finally:
            self._hands.dismiss()
            if self._journal is not None:
                self._journal.close()

    def _items(self, items: Iterable[Item]) -> Iterator[Item]:
        return map(self._prepared, items) if self._reads else iter(items)

    def _prepared(self, item: Item) -> Item:
        """The item with its content, or with what an earlier run has found out about that."""
        try:
            content = content_of(item)
        except UnreadableDocument as error:
            return Item(item.name, error)
        known = self._journal.find(content) if self._journal else None
        return Item(item.name, content if known is None else row_again(item.name, known))

    def _keep(self, rows: list[Row]) -> None:
        if self._journal is not None:
            self._journal.add(row.line for row in rows if row.settled and not row.known)
        self.lines += [row.line for row in rows]
