"""Entry point of bulk validation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from einvoice import validation
from einvoice.authoring.added import rule_data
from einvoice.bulk.execution.executors import Pooled, Serial, create_executor
from einvoice.bulk.execution.progress import progress_bar
from einvoice.bulk.execution.reading import FEW, Reading
from einvoice.bulk.execution.worker import Options
from einvoice.bulk.files.items import Item
from einvoice.bulk.files.sources import Corpus, content_of, corpus, no_files
from einvoice.bulk.jsonl import ResultLog, run_settings
from einvoice.bulk.lines import Lines
from einvoice.bulk.record import Row, resumed_row
from einvoice.bulk.results import ResultSet
from einvoice.errors import UnreadableDocument
from einvoice.localization.options import language
from einvoice.result.languages import Language
from einvoice.result.options import picture as is_picture_on
from einvoice.result.options import plausibility as is_plausibility_on
from einvoice.result.stack import Engine, Mode
from einvoice.rulebook.releases import releases

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
    lang: Language | None = None,
    mode: Mode = "current",
    profile: str | None = None,
    ruleset: str | None = None,
    as_of: datetime.date | None = None,
    engine: Engine = "native",
    plausibility: bool | None = None,
    picture: bool | None = None,
    rules: str | Path | None = None,
    resume: str | os.PathLike[str] | None = None,
    allow_empty: bool = False,
) -> ResultSet:
    """Validate many files. A file that cannot be read becomes a row of the results, never an exception.

    An interrupt (Ctrl+C, or the stop button of a notebook) ends the run: the completed results are returned, with
    `complete` set to False. A second interrupt raises KeyboardInterrupt.

    Args:
        source: a folder (its .xml and .pdf files, recursively), a ZIP or TAR archive, a glob pattern such as
            "2026/**/*.xml", paths of files and folders, a column of a pandas table with paths, or pairs of a name and
            bytes or a path (also as a mapping). Paths are named relative to their common folder; an iterator of them is
            read at once, one of pairs lazily. Repeated names in archives and iterators get a number: "a.xml (2)".
        workers: number of worker processes (default: one per processor, none for up to two files). 0 validates in this
            process, without isolation from crashes.
        client: a Dask client to validate on. Its workers need this package, but no access to the files.
        executor: an executor of `concurrent.futures` to validate with; it is not shut down.
        progress: show a progress bar if tqdm is installed.
        lang, mode, profile, ruleset, as_of, plausibility, picture, rules: see `einvoice.validate`. A release of
            XRechnung must be in force on the day `as_of`, whatever the files declare. In the mode "compatibility", the
            table "differences" of `ResultSet.to_frame` lists the findings that only the declared or only the current
            release reports.
        engine: see `einvoice.validate`. With "both", the table "files" of `ResultSet.to_frame` states the agreement,
            and the table "differences" lists the findings that only one engine reports.
        resume: a JSON Lines file, or a folder for it, in which to store results during the run. Files whose content is
            found there are not validated again, unless an official artefact timed out or crashed. The completed file is
            the same as one written by `ResultSet.save`.
        allow_empty: accept a source without files.

    Returns:
        The results in the order of the files. Memory: about 0.2 kB per file and 0.1 kB per finding, plus the pending
        batches described in `einvoice.bulk.execution.executors`.

    Raises:
        FileNotFoundError: the folder or archive does not exist, or the source has no files.
        ImportError: `engine` needs Saxon, which is not installed.
        RuleError: a file in `rules` is invalid.
        TypeError, ValueError: an argument is invalid, two files have the same name, or `resume` holds no results, or
            results with other settings.
        RuntimeError: the worker processes cannot start.
    """
    lang = language(lang)
    path = str(Path(rules).resolve()) if rules else None
    options = Options(
        mode, profile, ruleset, as_of, path, engine, is_plausibility_on(plausibility), is_picture_on(picture)
    )
    data = rule_data(rules)
    validation.Options(lang=lang, mode=mode, profile=profile, ruleset=ruleset, as_of=as_of, engine=engine, data=data)
    if engine != "native":
        _require_saxon(engine)
    if as_of is not None:
        releases(data).as_of(as_of)
    files = corpus(source)
    if files.size == 0 and not allow_empty:
        raise no_files(source)
    if workers is None and client is None and executor is None and files.size is not None and files.size <= FEW:
        workers = 0
    batch_executor = create_executor(workers, client, executor, options)
    log = ResultLog(Path(resume), options) if resume is not None else None
    if log is not None:
        log.open()
    run = _Run(batch_executor, log, read_here=log is not None or client is not None or executor is not None)
    with progress_bar(progress, files.size) as update:
        complete = run.execute(files, update)
    if complete and not run.lines and not allow_empty:  # the size was unknown
        raise no_files(source)
    if log is not None and complete:
        log.finish(run.lines)
    return ResultSet(
        run.lines, run_settings(options), lang=lang, complete=complete, corpus=files, reading=Reading(workers, progress)
    )


def _require_saxon(engine: Engine) -> None:
    """Raise ImportError if Saxon is missing: every file would have the same problem."""
    from einvoice import reference

    if reference.engines().saxon is None:
        raise ImportError(f"engine {engine!r} needs saxonche: pip install 'einvoice-toolkit[reference]'")


class _Run:
    """One run with its results."""

    def __init__(self, executor: Serial | Pooled, log: ResultLog | None, read_here: bool) -> None:
        self._executor = executor
        self._log = log
        self._read_here = read_here  # to look up the content in the log, or to send it to workers without access
        self.lines = Lines()

    def execute(self, files: Corpus, update: Callable[[list[Row]], None]) -> bool:
        """Validate all files; return False if interrupted."""
        try:
            for rows in self._executor.rows(self._items(files.items)):
                self._store(rows)
                update(rows)
            return True
        except KeyboardInterrupt:
            self._store(self._executor.drain())
            return False
        finally:
            self._executor.shutdown()
            if self._log is not None:
                self._log.close()

    def _items(self, items: Iterable[Item]) -> Iterator[Item]:
        return map(self._read, items) if self._read_here else iter(items)

    def _read(self, item: Item) -> Item:
        """Return the item with its content, or with the row of an earlier run."""
        try:
            content = content_of(item)
        except UnreadableDocument as error:
            return Item(item.name, error)
        line = self._log.find(content) if self._log else None
        return Item(item.name, content if line is None else resumed_row(item.name, line))

    def _store(self, rows: list[Row]) -> None:
        if self._log is not None:
            self._log.add(row.line for row in rows if row.reusable and not row.resumed)
        self.lines.extend(row.line for row in rows)
