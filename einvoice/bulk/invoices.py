"""The contents of many invoices as tables, with or without their validation."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Unpack

from einvoice.bulk.execution.causes import chosen_items
from einvoice.bulk.execution.reading import Reading, read_files
from einvoice.bulk.exports import Exports, TableOptions
from einvoice.bulk.files.sources import Corpus, corpus, no_files
from einvoice.bulk.invoice_record import COLUMNS, PARTS_KINDS, check_terms, part_rows, term_cell, term_kind
from einvoice.bulk.lines import Lines
from einvoice.bulk.record import COUNTERS, FileResult, Row, filename, of_record
from einvoice.bulk.tables import FILES, Table
from einvoice.localization.options import language
from einvoice.result.finding import Finding
from einvoice.result.languages import Language

if TYPE_CHECKING:
    from concurrent.futures import Executor

_COMPARED: Final = (
    "agreement", "compared", "only_native", "only_reference", "codes_only_declared", "codes_only_current"
)  # fmt: skip
_OF_VALIDATION: Final = frozenset((*COUNTERS.values(), "verdict", "ruleset", *_COMPARED))
_FILES: Final = (*(name for name in FILES if name not in _OF_VALIDATION), "problem")


def read_many(
    source: Any,
    *,
    terms: Sequence[str] = (),
    workers: int | None = None,
    client: Any = None,
    executor: Executor | None = None,
    progress: bool = True,
    lang: Language | None = None,
    allow_empty: bool = False,
) -> InvoiceSet:
    """Read many invoices without validating them. A file that cannot be read becomes a row with the problem.

    Args:
        source, workers, client, executor, progress, allow_empty: see `einvoice.validate_many`.
        terms: numbers of business terms that the table "files" shall have, such as "BT-84"; others are read from the
            files again when a table needs them.
        lang: language of the texts (default: `einvoice.options.lang`).

    Raises:
        FileNotFoundError: the folder or archive does not exist, or the source has no files.
        TypeError, ValueError: an argument is invalid, or two files have the same name.
        RuntimeError: the worker processes cannot start.
    """
    check_terms(terms)
    files = corpus(source)
    if files.size == 0 and not allow_empty:
        raise no_files(source)
    where: dict[str, Any] = {"workers": workers, "client": client, "executor": executor, "progress": progress}
    lines = read_files(files.items, files.size, terms, **where)
    if not lines and not allow_empty:  # the size was unknown
        raise no_files(source)
    return InvoiceSet(lines, files, terms=terms, lang=language(lang), reading=Reading(workers, progress))


def read_again(
    records: Sequence[bytes], corpus: Corpus, *, terms: Sequence[str], lang: Language, reading: Reading
) -> InvoiceSet:
    """Return the contents of files that have records, in their order; records of unreadable files are kept.

    Raises:
        LookupError: a file is no longer available.
        ValueError: the content of a file has changed since.
    """
    check_terms(terms)
    known = {}
    for record in map(json.loads, records):
        known[record["file"]] = "" if record["verdict"] == "unreadable" else record["sha256"]
    readable = [name for name, sha256 in known.items() if sha256]
    missing = set(readable)
    positions: dict[str, int] = {}

    def check(row: Row) -> None:
        record = json.loads(row.line)
        name = record["file"]
        if record["sha256"] != known[name]:
            raise ValueError(f"the content of {name!r} has changed since it was read")
        positions[name] = len(positions)

    items = chosen_items(corpus, readable, missing, False)
    lines = read_files(items, len(readable), terms, **reading._asdict(), check=check)
    if missing:
        hint = "load the results with ResultSet.load(path, files=...), or pass the files as a list, not as an iterator"
        raise LookupError(f"{len(missing)} files are no longer available, such as {min(missing)!r}; {hint}")
    ordered = Lines(lines[positions[name]] if name in positions else line for name, line in _named(records))
    return InvoiceSet(ordered, corpus, terms=terms, lang=lang, reading=reading)


def _named(records: Iterable[bytes]) -> Iterator[tuple[str, bytes]]:
    return ((filename(line), line) for line in records)


class InvoiceSet(Exports):
    """The contents of many invoices, in the order of the files, as tables: "files", "lines" and "vat".

    Memory: compressed, about 0.1 kB per line of an invoice. Tables are created on demand.

    Attributes:
        terms: numbers of the business terms that were read for the table "files".
        lang: default language of the texts.
    """

    def __init__(
        self,
        lines: Sequence[bytes],
        corpus: Corpus,
        *,
        terms: Sequence[str] = (),
        lang: Language = "de",
        reading: Reading = Reading(),  # noqa: B008 (a tuple)
    ) -> None:
        self.terms = tuple(terms)
        self.lang = lang
        self._lines = lines
        self._corpus = corpus
        self._reading = reading

    _SHEETS = ("files", "lines", "vat")

    def __len__(self) -> int:
        return len(self._lines)

    @property
    def unreadable(self) -> Mapping[str, Finding]:
        """What is wrong with each file that cannot be read, by filename."""
        return {it.file: it.findings[0] for it, _ in self._files() if it.findings}

    def table(self, which: str = "files", **options: Unpack[TableOptions]) -> Table:
        """Return a table as plain values; see `to_frame`."""
        if options.get("law"):
            raise ValueError("argument 'law' needs validated invoices: see einvoice.validate_many")
        if which in COLUMNS:
            table = Table(COLUMNS[which], part_rows(self._files(), which), PARTS_KINDS)
        elif which == "files":
            numbers = tuple(options.get("terms") or ())
            lang = options.get("lang") or self.lang
            rows = self.with_terms(numbers)._file_rows(numbers, lang)
            table = Table(_FILES, rows).extended({number: term_kind(number) for number in numbers})
        else:
            raise ValueError(f"argument 'which' must be 'files', 'lines' or 'vat', not {which!r}")
        return table.selected(options.get("columns"))

    def with_terms(self, numbers: Sequence[str]) -> InvoiceSet:
        """Return the invoices with these terms, for which the files are read again if they are not there."""
        check_terms(numbers)
        if set(numbers) <= set(self.terms):
            return self
        wanted = tuple(dict.fromkeys((*self.terms, *numbers)))
        return read_again(self._lines, self._corpus, terms=wanted, lang=self.lang, reading=self._reading)

    def terms_by_file(self, numbers: Sequence[str]) -> Mapping[str, tuple[Any, ...]]:
        """Return the content of these terms of each file."""
        return {it.file: tuple([term_cell(record, number) for number in numbers]) for it, record in self._files()}

    def _files(self) -> Iterator[tuple[FileResult, Mapping[str, Any]]]:
        for record in map(json.loads, self._lines):
            yield of_record(record, self.lang), record

    def _file_rows(self, numbers: Sequence[str], lang: Language) -> Iterator[tuple[Any, ...]]:
        for file, record in self._files():
            problem = file.findings[0].title(lang) if file.findings else ""
            cells = [getattr(file, name) for name in _FILES[:-1]]
            yield (*cells, problem, *[term_cell(record, number) for number in numbers])

    def __repr__(self) -> str:
        unreadable = len(self.unreadable)
        return f"<InvoiceSet: {len(self)} files{f', {unreadable} unreadable' if unreadable else ''}>"
