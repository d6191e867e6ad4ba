"""The run of `einvoice validate` for many files: validate, filter, report, exit status."""

from __future__ import annotations

import argparse
import datetime
import sys
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from einvoice.bulk import Baseline, Comparison, ResultSet, validate_many
from einvoice.bulk.baseline import read
from einvoice.bulk.execution.executors import BATCH_FILES
from einvoice.bulk.labels import whole
from einvoice.bulk.patterns import check_patterns
from einvoice.bulk.record import COUNTERS
from einvoice.cli.batch.reports import BINARY, REPORTS
from einvoice.cli.batch.sources import NoFilesError, files_of
from einvoice.cli.common import output_to, use_stdout_encoding
from einvoice.cli.outcome import FINDINGS, NEVER, UNREADABLE, VALID, report_problem
from einvoice.localization import Messages
from einvoice.quotation import printable
from einvoice.result.catalog import catalog

if TYPE_CHECKING:
    from einvoice.bulk.common_causes import CommonCauses
    from einvoice.bulk.files.sources import Corpus

_LABELS: Final = Messages("einvoice.cli", "validate")


def run(options: argparse.Namespace) -> int:
    """Validate the files, write the report, print the totals, and return the exit status."""
    _check(options)
    labels = _LABELS[options.lang]
    try:
        filters = _Filters(options)
        results = _validate(files_of(options.files, allow_empty=options.allow_empty), options)
        filtered = filters.apply(results)
        _report(filtered, options)
    except NoFilesError as error:
        print(labels["no_match"].format(source=printable(str(error))), file=sys.stderr)
        return UNREADABLE
    except BrokenPipeError:
        raise
    except OSError as error:
        report_problem("", error, options.lang)
        return UNREADABLE
    except (ImportError, ValueError) as error:  # ImportError: the engine is not installed
        print(error, file=sys.stderr)
        return UNREADABLE
    return _status(results, filtered, options.fail_on or "fatal")


def _check(options: argparse.Namespace) -> None:
    """Reject options that exclude each other."""
    if options.workers is not None and options.workers < 0:
        options.reject("argument --workers: must be 0 or more")
    if options.format != "csv":
        given = {"--separator": options.separator, "--encoding": options.encoding, f"--{options.rows}": options.rows}
        for name in (name for name, content in given.items() if content):
            options.reject(f"argument {name}: needs --format csv")
    if options.summary and options.format != "table":
        options.reject("argument --summary: not allowed with --format")


def _validate(files: Corpus, options: argparse.Namespace) -> ResultSet:
    few = files.size is not None and files.size <= BATCH_FILES  # one worker would validate them all
    if options.progress and find_spec("tqdm") is None:
        print(_LABELS[options.lang]["no_tqdm"], file=sys.stderr)
    results = validate_many(
        files,
        workers=0 if options.workers is None and few else options.workers,
        progress=_with_progress(options),
        lang=options.lang,
        mode=options.mode,
        profile=options.profile,
        ruleset=options.ruleset,
        as_of=options.as_of,
        engine=options.engine,
        plausibility=options.plausibility,
        rules=options.rules,
        allow_empty=True,
    )
    if not len(results) and results.complete and not options.allow_empty:
        raise NoFilesError(", ".join(options.files))
    return results


class Filtered(NamedTuple):
    """The results with the findings to report, those accepted by a baseline, and the comparison if there is one."""

    results: ResultSet
    accepted: int
    comparison: Comparison | None


class _Filters:
    """What is read before the run: the baseline and the earlier results."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self._earlier = ResultSet.load(options.compare) if options.compare else None
        self._baseline = self._read_baseline()
        if options.select or options.ignore:
            check_patterns((*(options.select or ()), *(options.ignore or ())), catalog(rules=options.rules))

    def apply(self, results: ResultSet) -> Filtered:
        """Return the results with the findings to report."""
        selected = self._selected(results)
        baseline = self._baseline or self._written(selected)
        remaining = selected.without(baseline) if baseline else selected
        comparison = None
        if self._earlier is not None:
            before = self._selected(self._earlier)
            comparison = remaining.compare(before.without(baseline) if baseline else before)
        return Filtered(remaining, _findings(selected) - _findings(remaining), comparison)

    def _selected(self, results: ResultSet) -> ResultSet:
        select, ignore = self._options.select or (), self._options.ignore or ()
        return results.select_findings(select, ignore=ignore) if select or ignore else results

    def _read_baseline(self) -> Baseline | None:
        if not self._options.baseline:
            return None
        baseline = read(self._options.baseline, catalog(rules=self._options.rules))
        for entry in baseline.expired():
            text = _LABELS[self._options.lang]["expired"]
            print(text.format(code=entry.code, day=entry.expires), file=sys.stderr)
        return baseline

    def _written(self, results: ResultSet) -> Baseline | None:
        """Write the baseline that accepts the findings, and return it, if one is wanted."""
        if not self._options.write_baseline:
            return None
        reason = _LABELS[self._options.lang]["reason"].format(day=datetime.date.today())
        baseline = results.to_baseline(reason)
        baseline.write(self._options.write_baseline)
        return baseline


def _findings(results: ResultSet) -> int:
    return sum(record.get(name, 0) for record in results.records() for name in COUNTERS.values())


def _report(filtered: Filtered, options: argparse.Namespace) -> None:
    """Write the report, then the totals: to standard output unless that holds a report for programs."""
    report = REPORTS["table" if options.summary else options.format]
    if (write := BINARY.get(Path(options.output or "").suffix.lower())) is not None:
        write(filtered.results, options)
        if not options.quiet:
            print("\n".join(_totals(filtered, options)))
        return
    with output_to(options.output, quiet=options.quiet, encoding=options.encoding or "utf-8"):
        if report.is_machine_readable:
            use_stdout_encoding(options.encoding or "utf-8")
        for text in report.write(filtered.results, options):
            sys.stdout.write(text)
    if options.quiet:
        return
    totals = "\n".join(_totals(filtered, options))
    print(totals, file=sys.stderr if report.is_machine_readable and not options.output else sys.stdout)


def _totals(filtered: Filtered, options: argparse.Namespace) -> Iterator[str]:
    labels, lang = _LABELS[options.lang], options.lang
    if filtered.comparison is not None:
        yield filtered.comparison.to_text(lang) + "\n"
    yield str(filtered.results.summary(lang=lang))
    if options.causes:
        yield f"\n{_causes(filtered.results, options)}"
    if filtered.accepted:
        yield labels["accepted"].format(count=whole(filtered.accepted, lang))
    if options.write_baseline:
        yield labels["written"].format(file=printable(str(options.write_baseline)))


def _causes(results: ResultSet, options: argparse.Namespace) -> CommonCauses:
    """Return the causes of the findings of the invalid files; options that hide findings do not hide causes."""
    workers = options.workers
    return results.causes(workers=workers, progress=_with_progress(options), limit=None, lang=options.lang)


def _with_progress(options: argparse.Namespace) -> bool:
    return bool(options.progress or (sys.stderr.isatty() and not options.quiet))


def _status(results: ResultSet, filtered: Filtered, fail_on: str) -> int:
    """Return the exit status; an interrupted run counts as one with an unreadable file."""
    if not results.complete or any(_is_unreadable(record) for record in filtered.results.records()):
        return UNREADABLE
    if fail_on == NEVER:
        return VALID
    severities = list(COUNTERS)
    failing = severities[: severities.index(fail_on) + 1]
    if filtered.comparison is not None:
        return FINDINGS if any(it.finding.severity in failing for it in filtered.comparison.new) else VALID
    names = [COUNTERS[severity] for severity in failing]
    if any(record.get(name) for record in filtered.results.records() for name in names):
        return FINDINGS
    return FINDINGS if any(map(_is_incomplete, results.records())) else VALID


def _is_unreadable(record: Mapping[str, Any]) -> bool:
    """Return whether a file is unreadable and the cause is not accepted."""
    return record["verdict"] == "unreadable" and bool(record.get("findings"))


def _is_incomplete(record: Mapping[str, Any]) -> bool:
    """Return whether a file is invalid without an error, because a layer did not run."""
    return record["verdict"] == "invalid" and not record.get("errors")
