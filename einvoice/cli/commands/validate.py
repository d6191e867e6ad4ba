"""`einvoice validate FILE…`: validate invoices.

One file is validated here; everything else in `einvoice.cli.batch`, which takes longer to import.
"""

from __future__ import annotations

import argparse
import datetime
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from einvoice.authoring.added import rule_data
from einvoice.cli.assess import add_assess, assessment, check_assess
from einvoice.cli.common import add_lang, add_rules, output_to, source, use_utf8_stdout
from einvoice.cli.formats import FORMATS
from einvoice.cli.outcome import FINDINGS, NEVER, UNREADABLE, VALID, Outcome, report_problem
from einvoice.errors import RuleError, UnreadableDocument
from einvoice.rulebook.rule import SEVERITIES
from einvoice.syntax.xml import sniff
from einvoice.validation import ENGINES, MODES, Options, validate

if TYPE_CHECKING:
    from einvoice.assessment import Assessment

_ARGUMENTS = ("lang", "profile", "mode", "ruleset", "as_of", "engine", "plausibility", "picture")
_BATCH_FORMATS: Final = ("jsonl", "sarif", "junit", "gitlab")
_BATCH_SUFFIXES: Final = (".xlsx", ".html")
_BATCH_OPTIONS: Final = (
    "workers", "progress", "select", "ignore", "fail_on", "summary", "baseline", "write_baseline", "compare",
    "separator", "encoding", "rows",
)  # fmt: skip
_ASSESSED: Final = ("table", "json")
"""Formats with the assessment."""
_GLOB: Final = "*?["
_MAX_SECONDS: Final = 2.0
"""Time limit of the search for the cause that the table begins with."""
_HEAD: Final = 512
"""Number of bytes that tell an invoice from an archive: the header of a TAR."""


def add_to(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "validate",
        help="validate invoices",
        description="Validate one invoice or many. Exit status: 0 no errors, 1 errors, 2 unreadable file, no file, or "
        "invalid option.",
    )
    parser.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="invoice (UBL, CII or PDF), folder, ZIP or TAR archive, or pattern such as '2026/**/*.xml'; - for "
        "standard input",
    )
    parser.add_argument("--allow-empty", action="store_true", help="succeed without files")
    add_lang(parser)
    _add_rule_options(parser)
    _add_report_options(parser)
    _add_filters(parser)
    _add_run_options(parser)
    parser.set_defaults(run=run, reject=parser.error)


def _add_rule_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--profile",
        metavar="NAME",
        help="apply a rule set and those that it builds on, such as xrechnung, whatever the invoice declares",
    )
    parser.add_argument(
        "--mode",
        choices=MODES,
        default="current",
        help="compatibility: validate against the declared release and list differences to the current rules",
    )
    parser.add_argument("--ruleset", metavar="NAME", help="release to apply, such as xrechnung-2.3.1")
    parser.add_argument(
        "--as-of",
        type=datetime.date.fromisoformat,
        metavar="DAY",
        help="apply the rules in force on YYYY-MM-DD",
    )
    parser.add_argument(
        "--engine",
        choices=ENGINES,
        default="native",
        help="reference: use the official Schematron (see einvoice rules add); both: compare it with einvoice",
    )
    parser.add_argument(
        "--no-plausibility",
        dest="plausibility",
        action="store_const",
        const=False,
        help="do not report what the official rules do not check, such as wrong check digits (also: "
        "EINVOICE_PLAUSIBILITY=off)",
    )
    parser.add_argument(
        "--no-picture",
        dest="picture",
        action="store_const",
        const=False,
        help="do not compare the pages of a hybrid PDF with its XML (also: EINVOICE_PICTURE=off)",
    )
    add_rules(parser)


def _add_report_options(parser: argparse.ArgumentParser) -> None:
    report = parser.add_argument_group("report")
    report.add_argument(
        "--format",
        choices=(*FORMATS, *_BATCH_FORMATS),
        default="table",
        help="output format (default: table); jsonl stores the results for --compare",
    )
    report.add_argument(
        "--causes",
        action="store_true",
        help="also state the causes of the findings, and the changes that resolve them; for many files, the most "
        "frequent causes",
    )
    add_assess(report)
    report.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="write the report to FILE; .xlsx (needs openpyxl) and .html select these formats",
    )
    report.add_argument("-q", "--quiet", action="store_true", help="print no report, totals and progress")
    report.add_argument("--summary", action="store_true", help="print the totals only")
    report.add_argument("--separator", type=_separator, metavar="CHAR", help="CSV: , (default), ; or tab")
    report.add_argument("--encoding", type=_encoding, metavar="NAME", help="CSV: such as utf-8-sig (default: utf-8)")
    rows = report.add_mutually_exclusive_group()
    for name, content in {"files": "file", "differences": "difference between engines or releases"}.items():
        rows.add_argument(
            f"--{name}",
            dest="rows",
            action="store_const",
            const=name,
            help=f"CSV: one row per {content} instead of one per finding",
        )


def _add_filters(parser: argparse.ArgumentParser) -> None:
    filters = parser.add_argument_group("findings", f"CODE is a code, a pattern such as 'BR-DE-*', or a severity: "
                                                    f"{', '.join(SEVERITIES)}.")  # fmt: skip
    filters.add_argument("--select", type=_codes, action="extend", metavar="CODE,…", help="report these only")
    filters.add_argument("--ignore", type=_codes, action="extend", metavar="CODE,…", help="do not report these")
    filters.add_argument(
        "--fail-on", choices=(*SEVERITIES, NEVER), help="least severity for exit status 1 (default: fatal)"
    )
    filters.add_argument("--compare", type=Path, metavar="EARLIER", help="stored results: only new findings count")
    baseline = filters.add_mutually_exclusive_group()
    baseline.add_argument("--baseline", type=Path, metavar="FILE", help="do not report the findings accepted in FILE")
    baseline.add_argument("--write-baseline", type=Path, metavar="FILE", help="accept the findings: write them to FILE")


def _add_run_options(parser: argparse.ArgumentParser) -> None:
    many = parser.add_argument_group("many files")
    many.add_argument(
        "--workers",
        type=int,
        metavar="N",
        help="processes (default: one per processor, none for few files); 0: in this process",
    )
    many.add_argument("--progress", action="store_true", help="show the progress even if this is no terminal")


def _codes(text: str) -> list[str]:
    return [code for code in (part.strip() for part in text.split(",")) if code]


def _separator(text: str) -> str:
    separator = "\t" if text in ("tab", "\\t") else text
    if len(separator) != 1 or separator in '"\r\n':
        raise argparse.ArgumentTypeError(f"must be one character or tab, not {text!r}")
    return separator


def _encoding(name: str) -> str:
    try:
        "".encode(name)
    except LookupError:
        raise argparse.ArgumentTypeError(f"unknown encoding {name!r}") from None
    return name


def run(options: argparse.Namespace) -> int:
    """Validate the files, print the report, and return the exit status; 2 for an invalid option or rule file, too."""
    if not options.files and not options.allow_empty:
        options.reject("no files to validate; --allow-empty accepts that")
    try:
        data = rule_data(options.rules)
        Options(**{name: getattr(options, name) for name in _ARGUMENTS}, data=data)
    except (RuleError, OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return UNREADABLE
    batched = _is_batch(options)
    if options.causes and options.format != "table":
        options.reject("argument --causes: needs --format table")
    _check_assess(options, batched)
    if batched:
        from einvoice.cli import batch

        return batch.run(options)
    try:
        with output_to(options.output, quiet=options.quiet):
            return _write(options)
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            raise
        report_problem(str(options.output), error, options.lang)
        return UNREADABLE


def _check_assess(options: argparse.Namespace, batched: bool) -> None:
    """Reject options that do not go with --assess, and an unknown law."""
    check_assess(options)
    if options.assess and (batched or options.format not in _ASSESSED):
        options.reject("argument --assess: needs files that are named one by one, and --format table or json")


def _is_batch(options: argparse.Namespace) -> bool:
    """Return whether there are several files, or options that one file does not need.

    Files named one by one get a full report each if they are assessed, or compared with the Schematron or the current
    release.
    """
    is_plain = options.engine == "native" and options.mode == "current" and not options.assess
    return (
        (len(options.files) > 1 and is_plain)
        or options.format in _BATCH_FORMATS
        or (options.output is not None and options.output.suffix.lower() in _BATCH_SUFFIXES)
        or any(getattr(options, name) not in (None, False) for name in _BATCH_OPTIONS)
        or any(map(_holds_files, options.files))
    )


def _holds_files(argument: str) -> bool:
    """Return whether an argument is a folder, an archive or a pattern."""
    path = Path(argument)
    if not path.is_file():
        return argument != "-" and (path.is_dir() or (not path.exists() and any(char in argument for char in _GLOB)))
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD)
    except OSError:
        return False
    if sniff(head) in ("xml", "pdf"):
        return False
    from einvoice.bulk.files.archive import is_archive

    return bool(is_archive(path))


def _write(options: argparse.Namespace) -> int:
    worst = VALID

    def outcomes() -> Iterator[Outcome]:
        nonlocal worst
        for file in options.files:
            outcome = _validate(file, options)
            worst = max(worst, _status(outcome))
            yield outcome

    layout = FORMATS[options.format]
    if layout.is_machine_readable:
        use_utf8_stdout()
    for text in layout.write(outcomes(), options.lang):
        sys.stdout.write(text)
    return worst


def _validate(file: str, options: argparse.Namespace) -> Outcome:
    try:
        arguments = {name: getattr(options, name) for name in _ARGUMENTS}
        result = validate(source(file), **arguments, rules=options.rules)
        assessed: Assessment | Literal[False] | None = assessment(result, options) if options.assess else False
        if options.causes:
            return Outcome(file, result, causes=result.causes(), lists_causes=True, assessment=assessed)
        is_shown = bool(result.findings) and options.format == "table" and not options.quiet
        causes = result.causes(seconds=_MAX_SECONDS) if is_shown else ()
        return Outcome(file, result, causes=causes, assessment=assessed)
    except (UnreadableDocument, OSError) as error:
        return Outcome(file, problem=report_problem(file, error, options.lang))


def _status(outcome: Outcome) -> int:
    if outcome.result is None:
        return UNREADABLE
    return VALID if outcome.result.is_valid else FINDINGS
