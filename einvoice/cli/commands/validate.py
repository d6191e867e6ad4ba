"""`einvoice validate FILE…`: the verdict on each file, for people or for programs."""

from __future__ import annotations

import argparse
import datetime
import sys
from collections.abc import Iterator
from typing import Any

from einvoice.cli.common import add_lang, print_for_programs, source
from einvoice.cli.formats import FORMATS
from einvoice.cli.outcome import Judged, complain
from einvoice.errors import UnreadableDocument
from einvoice.rulebook.releases import named
from einvoice.validation import ENGINES, MODES, validate

VALID, FINDINGS, UNREADABLE = range(3)


def add_to(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser("validate", help="judge invoices", description="Judge invoices.")
    parser.add_argument("files", nargs="+", metavar="FILE", help="an invoice: UBL, CII or PDF; - is the standard input")
    add_lang(parser)
    parser.add_argument(
        "--profile", choices=["xrechnung"], help="judge by EN 16931 and XRechnung, whatever the invoice declares"
    )
    parser.add_argument(
        "--mode",
        choices=MODES,
        default="current",
        help="compatibility judges by what the invoice declares, and tells what today's rules find differently",
    )
    parser.add_argument(
        "--ruleset", type=_ruleset, metavar="NAME", help="the rules to judge by, such as xrechnung-2.3.1"
    )
    parser.add_argument(
        "--as-of", type=datetime.date.fromisoformat, metavar="DAY", help="judge by the rules in force on YYYY-MM-DD"
    )
    parser.add_argument(
        "--engine",
        choices=ENGINES,
        default="native",
        help="reference judges by the official artefacts (einvoice rules add); both compares them with our rules",
    )
    parser.add_argument("--format", choices=FORMATS, default="table", help="how to print it (default: table)")
    parser.set_defaults(run=run)


def _ruleset(name: str) -> str:
    try:
        return named(name).name
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def run(options: argparse.Namespace) -> int:
    """Judge the files one after the other, print what was found, return the exit status."""
    worst = VALID

    def watched() -> Iterator[Judged]:
        nonlocal worst
        for file in options.files:
            judged = _judge(file, options)
            worst = max(worst, _status(judged))
            yield judged

    layout = FORMATS[options.format]
    if layout.for_programs:
        print_for_programs()
    for text in layout.print(watched(), options.lang):
        sys.stdout.write(text)
    return worst


def _judge(file: str, options: argparse.Namespace) -> Judged:
    try:
        asked = {name: getattr(options, name) for name in ("lang", "profile", "mode", "ruleset", "as_of", "engine")}
        return Judged(file, validate(source(file), **asked))
    except (UnreadableDocument, OSError) as error:
        return Judged(file, problem=complain(file, error, options.lang))


def _status(judged: Judged) -> int:
    if judged.result is None:
        return UNREADABLE
    return VALID if judged.result.is_valid else FINDINGS
