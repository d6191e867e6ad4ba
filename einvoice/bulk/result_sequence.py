"""The results of many files, in their order, and subsets of them."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import Any, Self, overload

from einvoice.bulk import jsonl
from einvoice.bulk.execution.reading import Reading
from einvoice.bulk.files.sources import Corpus, joined
from einvoice.bulk.lines import Lines
from einvoice.bulk.patterns import check, check_patterns, matches
from einvoice.bulk.record import VERDICTS, FileResult, decode, filename, reduce_findings
from einvoice.bulk.subsets import positions, predicate
from einvoice.result.catalog import catalog
from einvoice.result.languages import Language
from einvoice.rulebook.rule import SEVERITIES


class ResultSequence(Sequence[FileResult]):
    """The results of many files: a sequence of `FileResult` that also accepts filenames as keys.

    Attributes:
        settings: version, rules and options of the run.
        complete: False if the run was interrupted, so that files are missing.
        lang: default language of the texts.
    """

    def __init__(
        self,
        lines: Sequence[bytes],
        settings: Mapping[str, Any],
        *,
        lang: Language = "de",
        complete: bool = True,
        corpus: Corpus | None = None,
        reading: Reading = Reading(),  # noqa: B008 (a tuple)
    ) -> None:
        self.settings = settings
        self.complete = complete
        self.lang: Language = lang
        self._lines = lines
        self._corpus = corpus or Corpus([])
        self._reading = reading

    @overload
    def __getitem__(self, key: int | str) -> FileResult: ...
    @overload
    def __getitem__(self, key: slice | Iterable[Any]) -> Self: ...
    def __getitem__(self, key: Any) -> FileResult | Self:
        """Return a file by position or name, or the files of a slice, of names, or of a mask with a value per file.

        files = results.to_frame("files")
        results[files.gross > 1000].causes()
        """
        if isinstance(key, slice):
            return self._subset(self._lines[key])
        if isinstance(key, str):
            return decode(self._lines[self._positions[key]], self.lang)
        if not isinstance(key, Iterable):
            return decode(self._lines[key], self.lang)
        return self.take(positions(key, self._positions, len(self)))

    def __add__(self, other: Self) -> Self:
        """Return the results of both sets, these first.

        Raises:
            ValueError: they have other rules or options, or both have a file of the same name.
        """
        if not isinstance(other, ResultSequence):
            return NotImplemented
        if changes := jsonl.differing(self.settings, other.settings):
            raise ValueError(f"the results have other settings: {', '.join(name for name, *_ in changes)}")
        if twice := self._positions.keys() & other._positions.keys():
            hint = "validate all files at once: validate_many([folder, other_folder])"
            raise ValueError(f"both results have a file {min(twice)!r}; {hint}")
        lines = Lines(chain(self._lines, other._lines))
        shared: dict[str, Any] = {"lang": self.lang, "reading": self._reading}
        found, complete = joined(self._corpus, other._corpus), self.complete and other.complete
        return type(self)(lines, self.settings, complete=complete, corpus=found, **shared)

    def __iter__(self) -> Iterator[FileResult]:
        return (decode(line, self.lang) for line in self._lines)

    def records(self) -> Iterator[Mapping[str, Any]]:
        """Yield the stored record of each file: keys as in `FileResult`, and `findings`; empty values are omitted.

        Several times as fast as iterating over the files.
        """
        return map(json.loads, self._lines)

    def __len__(self) -> int:
        return len(self._lines)

    def __contains__(self, file: object) -> bool:
        """Return whether there is a file with this name."""
        return file in self._positions if isinstance(file, str) else super().__contains__(file)

    def __eq__(self, other: object) -> bool:
        """Return whether settings and results are the same."""
        if not isinstance(other, ResultSequence):
            return NotImplemented
        return self.settings == other.settings and list(self._lines) == list(other._lines)

    __hash__ = None  # type: ignore[assignment]

    @cached_property
    def _positions(self) -> dict[str, int]:
        """Index of each file by name; the first one if several have the same name."""
        positions: dict[str, int] = {}
        for index, line in enumerate(self._lines):
            positions.setdefault(filename(line), index)
        return positions

    def _subset(self, lines: Sequence[bytes]) -> Self:
        shared: dict[str, Any] = {"lang": self.lang, "corpus": self._corpus, "reading": self._reading}
        return type(self)(lines, self.settings, complete=self.complete, **shared)

    def take(self, positions: Iterable[int]) -> Self:
        """Return the files at these positions, in this order."""
        order = list(positions)
        lines = {position: self._lines[position] for position in sorted(order)}  # reads each compressed block once
        return self._subset([lines[position] for position in order])

    @property
    def is_valid(self) -> bool:
        """Whether there are files, all of them are valid, and none is missing."""
        return self.complete and len(self) > 0 and not self.verdicts["invalid"] and not self.verdicts["unreadable"]

    @cached_property
    def verdicts(self) -> Mapping[str, int]:
        """Number of "valid", "invalid" and "unreadable" files."""
        counts = Counter(record["verdict"] for record in self.records())
        return {verdict: counts[verdict] for verdict in VERDICTS}

    def select(self, verdict: str | None = None, code: str | None = None, *, severity: str | None = None) -> Self:
        """Return the files with this verdict and with a finding of this code and severity.

        Args:
            verdict: "valid", "invalid" or "unreadable".
            code: of a finding, such as "BR-CO-10", or a pattern, such as "BR-DE-*".
            severity: of a finding: "fatal", "warning" or "information".

        Raises:
            ValueError: the verdict, code or severity is unknown.
        """
        check("verdict", verdict, VERDICTS)
        check("severity", severity, SEVERITIES)

        def has_finding(record: Mapping[str, Any]) -> bool:
            return (code is None and severity is None) or any(
                (code is None or fnmatchcase(it["code"], code)) and severity in (None, it["severity"])
                for it in record.get("findings", ())
            )

        found = (it["code"] for record in self.records() for it in record.get("findings", ()))
        if code is not None and not any(fnmatchcase(it, code) for it in found):
            check_patterns([code], self._known_codes())
        rows = zip(self._lines, self.records(), strict=True)
        return self._subset([line for line, it in rows if verdict in (None, it["verdict"]) and has_finding(it)])

    def filter(self, function: Callable[[FileResult], Any] | None = None, **facts: Any) -> Self:
        """Return the files for which a function is true, and whose attributes are these.

            results.filter(seller="Druckerei*", currency=["EUR", "CHF"])
            results.filter(lambda file: file.gross and file.gross > 1000)

        Args:
            function: called with each `FileResult`.
            facts: attributes of `FileResult` with their value, a pattern of text ("*" is any text), or a list of them.

        Raises:
            ValueError: there is no such attribute.
        """
        is_match = predicate(function, facts)
        files = zip(self._lines, self, strict=True)
        return self._subset([line for line, file in files if is_match(file)])

    def select_findings(self, select: Sequence[str] = (), *, ignore: Sequence[str] = ()) -> Self:
        """Return the results with some of their findings only; verdicts and differences are unchanged.

        The cause of an unreadable file is kept unless it is ignored.

        Args:
            select: codes, patterns such as "BR-DE-*", or severities ("fatal", "warning", "information") of the findings
                to keep (default: all).
            ignore: those of the findings to leave out.

        Raises:
            ValueError: no code of the catalog matches an entry.
        """
        check_patterns((*select, *ignore), self._known_codes())

        def keep(finding: Mapping[str, Any]) -> bool:
            is_selected = not select or finding["layer"] == "file" or matches(finding, select)
            return is_selected and not matches(finding, ignore)

        return self._subset([reduce_findings(line, keep) for line in self._lines])

    def _known_codes(self) -> Sequence[str]:
        """Return the codes of the catalog, with those of the rules of the run if they are still there."""
        rules = jsonl.options(self.settings).rules
        return tuple(catalog(rules=rules if rules and Path(rules).exists() else None))
