"""The results of many files."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Unpack, overload

from einvoice.assessment.law import law
from einvoice.bulk import jsonl
from einvoice.bulk.exports import TABLES, Exports, TableOptions
from einvoice.bulk.files.sources import check_names, content_of, corpus
from einvoice.bulk.invoice_record import term_kind
from einvoice.bulk.labels import LABELS, too_few_valid
from einvoice.bulk.record import has_differences, has_findings
from einvoice.bulk.result_sequence import ResultSequence
from einvoice.bulk.tables import Table, file_table, finding_table
from einvoice.localization.options import language
from einvoice.result.languages import Language
from einvoice.result.validation import ValidationResult
from einvoice.syntax import xml
from einvoice.validation import validate

if TYPE_CHECKING:
    import datetime
    from concurrent.futures import Executor

    from einvoice.bulk.baseline import Baseline
    from einvoice.bulk.common_causes import CommonCauses
    from einvoice.bulk.comparison import Comparison
    from einvoice.bulk.groups import By, Groups
    from einvoice.bulk.invoices import InvoiceSet
    from einvoice.bulk.overview import Overview


_HAS_ROWS: Final = {"findings": has_findings, "differences": has_differences}


class ResultSet(Exports, ResultSequence):
    """The results of many files, in their order: a sequence of `FileResult` that also accepts filenames as keys.

    Memory: about 0.2 kB per file and 0.1 kB per finding. Texts, tables and full results are created on demand.

    Attributes:
        settings: version, rules and options of the run.
        complete: False if the run was interrupted, so that files are missing.
        lang: default language of the texts.
    """

    _invoices: InvoiceSet | None = None
    """Contents of the files, once a table has needed them."""

    def result(self, name: str, content: xml.Source | None = None) -> ValidationResult:
        """Validate a file again and return its full result.

        Args:
            name: name of the file in these results.
            content: the file; required if the source is no longer available (after `load`, or for an iterator).

        Raises:
            LookupError: there is no such file, or the source is no longer available.
            ValueError: the content has changed.
            UnreadableDocument: the file cannot be read as an invoice.
        """
        file = self[name]
        data = content_of(self._corpus.find(name)) if content is None else xml.source_bytes(content)[0]
        result = validate(data, lang=self.lang, **jsonl.options(self.settings)._asdict())
        if file.sha256 and jsonl.sha256(data) != file.sha256:
            raise ValueError(f"the content of {name!r} has changed since it was validated")
        return result

    def causes(
        self,
        *,
        workers: int | None = None,
        client: Any = None,
        executor: Executor | None = None,
        progress: bool = True,
        limit: int | None = 1000,
        seconds: float | None = None,
        update: Callable[[int, int], None] | None = None,
        lang: Language | None = None,
    ) -> CommonCauses:
        """Return the causes in the invalid files, grouped by their change, those that explain all errors of most first.

        The search takes about as long as 20 validations per file. An interrupt ends it and keeps the causes found.

        Args:
            workers, client, executor, progress: as of `validate_many`.
            limit: maximum number of files; of more, a sample with each combination of codes is examined. None for all.
            seconds: time after which no further file is examined (default: no limit).
            update: called with the number of files that were examined, and that of all, whenever some more are.
            lang: default language of the texts.

        Raises:
            LookupError: the files are no longer available (after `load` without `files`, or for an iterator).
        """
        from einvoice.bulk.execution.causes import find_causes

        return find_causes(
            list(self.records()),
            self._corpus,
            jsonl.options(self.settings),
            workers=workers,
            client=client,
            executor=executor,
            progress=progress,
            limit=limit,
            seconds=seconds,
            update=update,
            lang=lang or self.lang,
        )

    def explore(self, *, lang: Language | None = None) -> Any:
        """Return an interactive widget to filter and inspect the results; see `einvoice.explore`.

        Raises:
            ImportError: anywidget is not installed (extra "notebook").
        """
        from einvoice.notebook import explore

        return explore(self, lang=lang)

    def table(self, which: str = "findings", **options: Unpack[TableOptions]) -> Table:
        """Return a table as plain values; see `to_frame`."""
        lang, columns = options.get("lang") or self.lang, options.get("columns")
        known_law = law(given) if (given := options.get("law")) else None
        if which in ("lines", "vat"):
            return self.invoices().table(which, columns=columns)
        if which == "files":
            numbers = tuple(options.get("terms") or ())
            content = self.invoices(numbers).terms_by_file(numbers) if numbers else None
            kinds = {number: term_kind(number) for number in numbers}
            return file_table(self._lines, lang, law=known_law, terms=content, kinds=kinds).selected(columns)
        if which not in _HAS_ROWS:
            raise ValueError(f"argument 'which' must be one of {', '.join(map(repr, TABLES))}, not {which!r}")
        lines = filter(_HAS_ROWS[which], self._lines)
        texts = options.get("texts", True)
        return finding_table(lines, which, lang, columns=columns, texts=texts, law=known_law)

    _SHEETS = ("files", "findings")

    def _overview(self, lang: Language) -> Sequence[Table]:
        return [self.summary(lang=lang).table(lang)]

    def invoices(self, terms: Sequence[str] = ()) -> InvoiceSet:
        """Return the contents of the readable files, which are read again: lines, VAT breakdowns, and these terms.

        They are kept until other terms are wanted.

        Raises:
            LookupError: a file is no longer available (after `load` without `files`, or for an iterator of contents).
            ValueError: a term is unknown, or the content of a file has changed.
        """
        from einvoice.bulk.invoices import read_again

        if self._invoices is None or not set(terms) <= set(self._invoices.terms):
            shared: dict[str, Any] = {"lang": self.lang, "reading": self._reading}
            self._invoices = read_again(self._lines, self._corpus, terms=terms, **shared)
        return self._invoices

    @overload
    def summary(self, by: None = None, *, lang: Language | None = None) -> Overview: ...
    @overload
    def summary(self, by: By, *, lang: Language | None = None) -> Groups: ...
    def summary(self, by: By | None = None, *, lang: Language | None = None) -> Overview | Groups:
        """Return the verdicts and the most frequent findings, or the results by a fact of the invoices.

        Args:
            by: "seller", "buyer", "software", "folder", "month", "currency", "type", "syntax", "profile" or "ruleset",
                or a function that returns the group of a `FileResult`. Each group has the share of invalid files, and
                their gross amount.
            lang: language of the texts (default: that of the results).

        Raises:
            ValueError: the fact is unknown.
        """
        if by is not None:
            from einvoice.bulk.groups import grouped

            return grouped(self, by, lang or self.lang)
        from einvoice.bulk.overview import overview

        engine = self.settings.get("engine", "native")
        return overview(self._lines, engine=engine, complete=self.complete, lang=lang or self.lang)

    def report_html(self, path: str | os.PathLike[str], *, lang: Language | None = None) -> None:
        """Write a report of the whole run as one HTML file, for a browser without a network.

        It has the overview, the results by month, seller and folder, and the files with the most errors, each with its
        findings.
        """
        from einvoice.bulk.report_html import report

        page = report(self._lines, self.summary(lang=lang), lang or self.lang)
        Path(path).write_text(page, encoding="utf-8", errors="backslashreplace")

    def stored(self) -> Iterator[bytes]:
        """Yield the lines of the file that `save` writes."""
        return jsonl.encode(self.settings, self._lines, self.complete)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Store the results as JSON Lines, for `load`, `compare` and `assert_matches`."""
        jsonl.write(Path(path), self.settings, self._lines, self.complete)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, lang: Language | None = None, files: Any = None) -> ResultSet:
        """Load results stored by `save` or by an interrupted run.

        Args:
            path: the stored results.
            lang: default language of the texts.
            files: the source of the files, for `result` and `explore`; see `einvoice.validate_many`.

        Raises:
            FileNotFoundError: the stored results, or the folder or archive of the files, do not exist.
            ValueError: the file holds no results, or another version of the format; or no file has a name of the
                results.
        """
        stored = jsonl.read(Path(path))
        results = cls(stored.lines, stored.settings, lang=language(lang), complete=stored.complete)
        if files is not None:
            results._corpus = corpus(files).named_as(list(results._positions))
            check_names(results._corpus, results._positions, files)
        return results

    def compare(
        self,
        other: ResultSet | str | os.PathLike[str],
        *,
        by: Literal["file", "number"] = "file",
        lang: Language | None = None,
    ) -> Comparison:
        """Return the changes since `other`: results from other rules or another export, or a stored file.

        Args:
            other: the earlier results.
            by: match files by name, or by seller and invoice number if exports rename them. Names of one set may
                start with folders that the other lacks. Findings of a file are matched by code, severity and location.
            lang: language of the texts (default: that of the results).
        """
        from einvoice.bulk.comparison import compare

        before = _results(other)
        settings = (it for it in jsonl.differing(before.settings, self.settings) if it[0] != jsonl.RULES)
        return compare(before._lines, self._lines, by, lang=lang or self.lang, settings=settings)

    def without(self, accepted: Baseline | str | os.PathLike[str], *, on: datetime.date | None = None) -> ResultSet:
        """Return the results without accepted findings; verdicts and differences are unchanged.

        Args:
            accepted: a baseline, or its TOML file; see `einvoice.bulk.baseline`.
            on: day on which entries must be valid (default: today).
        """
        from einvoice.bulk.baseline import read

        baseline = read(accepted, self._known_codes()) if isinstance(accepted, str | os.PathLike) else accepted
        return self._subset(baseline.filter(self._lines, on))

    def to_baseline(self, reason: str) -> Baseline:
        """Return a baseline that accepts the findings of these results, for `without`; `reason` says why.

        `Baseline.write` stores it.
        """
        from einvoice.bulk.baseline import accept

        return accept(self.records(), reason)

    def assert_valid(self, *, share: float = 1) -> None:
        """Assert that enough of the files are valid.

        Args:
            share: smallest accepted share of valid files: 0.95 means 95 of 100.

        Raises:
            AssertionError: too few files are valid, there are none, or the run was interrupted; the message has the
                overview.
            ValueError: `share` is not between 0 and 1.
        """
        if not 0 <= share <= 1:
            raise ValueError(f"argument 'share' must be between 0 and 1, such as 0.95, not {share!r}")
        valid, files = self.verdicts["valid"], len(self)
        if not (self.complete and files):
            raise AssertionError(str(self))
        if Decimal(valid) < files * Decimal(str(share)):
            raise AssertionError(f"{too_few_valid(valid, files, share, self.lang)}\n{self}")

    def assert_matches(
        self,
        expected: ResultSet | str | os.PathLike[str],
        *,
        by: Literal["file", "number"] = "file",
        accepted: Baseline | str | os.PathLike[str] | None = None,
    ) -> None:
        """Assert that files, verdicts and findings are the same as in `expected`.

        Args:
            expected: earlier results, or a stored file.
            by: see `compare`.
            accepted: baseline of findings to ignore on both sides.

        Raises:
            AssertionError: the results differ, or a run was interrupted; the message lists all differences.
        """
        before, after = _results(expected), self
        if accepted is not None:
            before, after = before.without(accepted), after.without(accepted)
        comparison = after.compare(before, by=by)
        if not (before.complete and after.complete):
            raise AssertionError(f"{LABELS[self.lang]['interrupted']}\n{comparison}")
        if comparison:
            raise AssertionError(str(comparison))

    def __str__(self) -> str:
        return str(self.summary())

    def __repr__(self) -> str:
        counts = ", ".join(f"{number} {verdict}" for verdict, number in self.verdicts.items() if number)
        counts = f": {counts}" if counts else ""
        return f"<ResultSet: {len(self)} files{counts}{'' if self.complete else ', interrupted'}>"

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()


def _results(given: ResultSet | str | os.PathLike[str]) -> ResultSet:
    return given if isinstance(given, ResultSet) else ResultSet.load(given)
