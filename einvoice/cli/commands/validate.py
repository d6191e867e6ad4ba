"""`einvoice validate FILE…`: validate invoices."""

from __future__ import annotations

import argparse
import datetime
import sys
from collections.abc import Iterator
from typing import Any

from einvoice.cli.common import add_lang, add_rules, source, use_utf8_stdout
from einvoice.cli.formats import FORMATS
from einvoice.cli.outcome import Outcome, report_problem
from einvoice.errors import RuleError, UnreadableDocument
from einvoice.rulebook.added import rule_data
from einvoice.validation import ENGINES, MODES, Options, validate

VALID, FINDINGS, UNREADABLE = range(3)
_ARGUMENTS = ("lang", "profile", "mode", "ruleset", "as_of", "engine")


def add_to(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser("validate", help="validate invoices", description="Validate invoices.")
    parser.add_argument("files", nargs="*", metavar="FILE", help="invoice: UBL, CII or PDF; - for standard input")
    parser.add_argument("--allow-empty", action="store_true", help="succeed without files")
    add_lang(parser)
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
    add_rules(parser)
    parser.add_argument("--format", choices=FORMATS, default="table", help="output format (default: table)")
    parser.set_defaults(run=run, reject=parser.error)


def run(options: argparse.Namespace) -> int:
    """Validate the files, print the findings, and return the exit status; 2 for an invalid option or rule file, too."""
    if not options.files and not options.allow_empty:
        options.reject("no files to validate; --allow-empty accepts that")
    worst = VALID
    try:
        data = rule_data(options.rules)
        Options(**{name: getattr(options, name) for name in _ARGUMENTS}, data=data)
    except (RuleError, OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return UNREADABLE

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
        return Outcome(file, validate(source(file), **arguments, rules=options.rules))
    except (UnreadableDocument, OSError) as error:
        return Outcome(file, problem=report_problem(file, error, options.lang))


def _status(outcome: Outcome) -> int:
    if outcome.result is None:
        return UNREADABLE
    return VALID if outcome.result.is_valid else FINDINGS
