"""What became of many files."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from einvoice.bulk import jsonl
from einvoice.bulk.files.sources import Corpus, Item, content_of
from einvoice.bulk.labels import WORDS
from einvoice.bulk.record import VERDICTS, FileResult, decode, has_findings
from einvoice.result.languages import Language
from einvoice.result.validation import ValidationResult
from einvoice.result.widget_hook import Explorable
from einvoice.syntax import xml
from einvoice.validation import validate

if TYPE_CHECKING:
    import datetime

    import pandas as pd

    from einvoice.bulk.baseline import Accepted
    from einvoice.bulk.comparison import Comparison
    from einvoice.bulk.overview import Overview


class ResultSet(Explorable, Sequence[FileResult]):
    """What became of many files, in their order: a sequence of `FileResult`, also by file name.

    It keeps about 1 kB a file and 0.5 kB a finding; texts, tables and full results are made when somebody asks.

    Attributes:
        made_by: what judged: the release, its rules and the options.
        complete: False if the run was interrupted, so that files are missing.
        lang: the language of the texts where none is asked for.
    """

    def __init__(
        self,
        lines: Sequence[bytes],
        made_by: Mapping[str, Any],
        *,
        lang: Language = "de",
        complete: bool = True,
        corpus: Corpus | None = None,
    ) -> None:
        self.made_by = made_by
        self.complete = complete
        self.lang: Language = lang
        self._lines = lines
        self._corpus = corpus or Corpus([])

    @overload
    def __getitem__(self, key: int | str) -> FileResult: ...
    @overload
    def __getitem__(self, key: slice) -> ResultSet: ...
    def __getitem__(self, key: int | str | slice) -> FileResult | ResultSet:
        if isinstance(key, slice):
            return self._of(self._lines[key])
        if isinstance(key, str):
            return decode(self._lines[self._places[key]], self.lang)
        return decode(self._lines[key], self.lang)

    def __iter__(self) -> Iterator[FileResult]:
        return (decode(line, self.lang) for line in self._lines)

    def kept(self) -> Iterator[Mapping[str, Any]]:
        """What is kept of each file, without what is empty: a mapping with the names of `FileResult`, and `findings`.

        It comes several times as fast as the files themselves, for whoever counts many.
        """
        return map(json.loads, self._lines)

    def __len__(self) -> int:
        return len(self._lines)

    def __contains__(self, file: object) -> bool:
        """Whether there is a file of this name."""
        return file in self._places if isinstance(file, str) else super().__contains__(file)

    def __eq__(self, other: object) -> bool:
        """Whether the same became of the same files, by the same rules."""
        if not isinstance(other, ResultSet):
            return NotImplemented
        return self.made_by == other.made_by and list(self._lines) == list(other._lines)

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def _places(self) -> dict[str, int]:
        """The number of each file by its name; of several with the same name the first."""
        found: dict[str, int] = {}
        for number, facts in enumerate(self.kept()):
            found.setdefault(facts["file"], number)
        return found

    def _of(self, lines: Sequence[bytes]) -> ResultSet:
        return ResultSet(lines, self.made_by, lang=self.lang, complete=self.complete, corpus=self._corpus)

    @property
    def is_valid(self) -> bool:
        """Whether every file is a valid invoice, and none is missing."""
        return self.complete and not self.verdicts["invalid"] and not self.verdicts["unreadable"]

    @cached_property
    def verdicts(self) -> Mapping[str, int]:
        """How many files are "valid", "invalid" and "unreadable"."""
        counted = Counter(facts["verdict"] for facts in self.kept())
        return {verdict: counted[verdict] for verdict in VERDICTS}

    def select(self, verdict: str | None = None, code: str | None = None) -> ResultSet:
        """The files with this verdict, or with a finding of this code."""
        chosen = [
            line
            for line, file in zip(self._lines, self, strict=True)
            if verdict in (None, file.verdict) and (code is None or any(it["code"] == code for it in file.stored))
        ]
        return self._of(chosen)

    def result(self, name: str, content: xml.Source | None = None) -> ValidationResult:
        """The full result of a file, which is judged again for that.

        Args:
            name: of the file in these results.
            content: the file, where it is not at hand any more: after `load`, or of an iterator.

        Raises:
            LookupError: there is no such file, or it is not at hand any more.
            ValueError: its content has changed since.
            UnreadableDocument: nobody can read it as an invoice.
        """
        file = self[name]
        data = content_of(self._corpus.find(name)) if content is None else content_of(Item(name, _bytes(content)))
        result = validate(data, lang=self.lang, **jsonl.options(self.made_by)._asdict())
        if file.sha256 and jsonl.sha256(data) != file.sha256:
            raise ValueError(f"The content of {name!r} has changed since it was judged.")
        return result

    def _asked(self, which: str) -> ResultSet:
        """The files that a table has rows of."""
        return self._of([line for line in self._lines if has_findings(line)]) if which == "findings" else self

    def to_frame(
        self, which: Literal["findings", "files"] = "findings", *, lang: Language | None = None
    ) -> pd.DataFrame:
        """The results as a pandas table: a row for each finding, or for each file.

        Categories keep a large table small, and compare where they are ordered: `frame[frame.severity >= "warning"]`.
        Whole numbers may be missing (`pd.NA`); amounts and what was compared are exact, and add up exactly.

        "findings" has `file`, then the columns of `ValidationResult.to_frame`:

        | columns | dtype |
        |---|---|
        | `file`, `code`, `layer`, `section`, `bt_field`, `title` | category |
        | `severity`, `flag` | category, ordered: information < warning < fatal |
        | `line`, `column` | Int64 |
        | `expected`, `actual`, `difference` | object: `Decimal`, or text where no numbers were compared, or None |
        | `indicative` | bool |
        | `terms`, `explanation`, `fix`, `xpath`, `override_reason`, `notes` | str |

        "files" has:

        | columns | dtype |
        |---|---|
        | `file`, `sha256`, `seller`, `seller_vat`, `buyer`, `number` | str |
        | `date` | datetime64[s], NaT where it is none |
        | `currency`, `syntax`, `profile`, `version`, `ruleset` | category |
        | `net`, `vat`, `gross` | object: `Decimal`, or None where it is missing or no number |
        | `verdict` | category, ordered: valid < invalid < unreadable |
        | `errors`, `warnings`, `information` | Int64 |

        Raises:
            ImportError: pandas is not installed (extra "notebook").
        """
        from einvoice.bulk import tables

        return tables.to_frame(self._asked(which), which, lang or self.lang)

    def to_csv(
        self,
        path: str | os.PathLike[str] | None = None,
        which: Literal["findings", "files"] = "findings",
        *,
        sep: str = ",",
        encoding: str = "utf-8",
        lang: Language | None = None,
    ) -> str:
        """The results as CSV with a header, also written to `path`. It needs no pandas.

        For a German Excel, which opens it by a double click: `sep=";", encoding="utf-8-sig"`. With a semicolon between
        them numbers have a decimal comma. What looks like a formula is told to be text by an apostrophe. No CSV can
        keep a spreadsheet from taking the invoice number 0815 for a number, and 1-2 for a day; Parquet can.
        """
        from einvoice.bulk import tables

        return tables.to_csv(self._asked(which), path, which, sep, encoding, lang or self.lang)

    def to_parquet(
        self,
        path: str | os.PathLike[str],
        which: Literal["findings", "files"] = "findings",
        *,
        lang: Language | None = None,
    ) -> None:
        """Write the table as Parquet.

        It reads back into the types of `to_frame`, but for days, which count milliseconds there, and for what was
        compared, which is text. Amounts are decimal128(38, 6), null where they need more.

        Raises:
            ImportError: pandas or pyarrow is not installed.
        """
        from einvoice.bulk import tables

        tables.to_parquet(self._asked(which), path, which, lang or self.lang)

    def summary(self) -> Overview:
        """How many files are valid, and what is wrong with the others, the most frequent first."""
        from einvoice.bulk.overview import overview

        return overview(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the results down as JSON Lines, for `load`, `compare` and `assert_matches`."""
        jsonl.write(Path(path), self.made_by, self._lines, self.complete)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, lang: Language = "de") -> ResultSet:
        """The results that `save` or an interrupted run has written down.

        Raises:
            ValueError: the file holds none, or those of a later version.
        """
        saved = jsonl.read(Path(path))
        return cls(saved.lines, saved.made_by, lang=lang, complete=saved.complete)

    def compare(
        self, other: ResultSet | str | os.PathLike[str], *, by: Literal["file", "number"] = "file"
    ) -> Comparison:
        """What has changed since `other`, which may be results by other rules, of another export, or saved ones.

        Files are matched by their names, or by seller and invoice `number` where exports name them anew; findings of
        a file by their code and place.
        """
        from einvoice.bulk.comparison import compare

        return compare(_results(other), self, by)

    def without(self, accepted: Accepted | str | os.PathLike[str], *, on: datetime.date | None = None) -> ResultSet:
        """The same without the findings that are accepted on a day (today); the verdicts are what they were.

        Args:
            accepted: a TOML file: see `einvoice.bulk.baseline`.
        """
        from einvoice.bulk.baseline import read

        book = read(accepted) if isinstance(accepted, str | os.PathLike) else accepted
        return self._of(book.leave_out(self._lines, on))

    def assert_matches(
        self,
        baseline: ResultSet | str | os.PathLike[str],
        *,
        by: Literal["file", "number"] = "file",
        accepted: Accepted | str | os.PathLike[str] | None = None,
    ) -> None:
        """Raise AssertionError, with every difference in words, unless files, verdicts and findings are the same.

        Findings that are `accepted` today are left out on both sides.
        """
        before, after = _results(baseline), self
        if accepted is not None:
            before, after = before.without(accepted), after.without(accepted)
        difference = after.compare(before, by=by)
        if not (before.complete and after.complete):
            raise AssertionError(f"{WORDS[self.lang]['interrupted']}\n{difference}")
        if difference:
            raise AssertionError(str(difference))

    def __str__(self) -> str:
        return str(self.summary())

    def __repr__(self) -> str:
        counts = ", ".join(f"{number} {verdict}" for verdict, number in self.verdicts.items() if number)
        broken_off = "" if self.complete else ", interrupted"
        return f"<ResultSet: {len(self)} files{': ' if counts else ''}{counts}{broken_off}>"

    def _repr_html_(self) -> str:
        from einvoice.bulk.html import html

        return html(self.summary(), self.lang)


def _results(given: ResultSet | str | os.PathLike[str]) -> ResultSet:
    return given if isinstance(given, ResultSet) else ResultSet.load(given)


def _bytes(content: xml.Source) -> bytes:
    return xml.source_bytes(content)[0]
