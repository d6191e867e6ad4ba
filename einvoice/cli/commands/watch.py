"""`einvoice watch IN OUT`: sort the invoices that arrive in a folder."""

from __future__ import annotations

import argparse
import signal
import sys
from datetime import datetime
from pathlib import Path
from typing import Any, Final

from einvoice.cli.common import add_lang, add_rules
from einvoice.cli.outcome import report_problem
from einvoice.errors import MissingDependency, RuleError
from einvoice.localization import Messages
from einvoice.localization.formatting import with_colon
from einvoice.quotation import printable

DONE, FAILED = 0, 2
_LABELS: Final = Messages("einvoice.cli", "watch")


def add_to(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "watch",
        help="sort the invoices that arrive in a folder",
        description="Validate each invoice that arrives in a folder and move it to OUT/valid, OUT/invalid or "
        "OUT/unreadable, with its result (JSON) and report beside it. Several may watch the same folder. Ends with "
        "SIGTERM or SIGINT. Exit status: 0 ended as asked; 2 a folder or rule set cannot be used, or, with --once, a "
        "file could not be sorted.",
    )
    parser.add_argument("inbox", metavar="IN", type=Path, help="folder in which invoices arrive")
    parser.add_argument("outbox", metavar="OUT", type=Path, help="folder for the sorted invoices")
    parser.add_argument("--once", action="store_true", help="end when all files that are there have been sorted")
    parser.add_argument("--interval", type=_seconds, default=1.0, metavar="SECONDS", help="time between looks (1)")
    parser.add_argument(
        "--settle", type=_seconds, default=2.0, metavar="SECONDS", help="age at which a file is complete (2)"
    )
    parser.add_argument("--report", choices=("html", "pdf", "none"), default="html", help="report (default: html)")
    add_lang(parser)
    add_rules(parser)
    parser.set_defaults(run=run, reject=parser.error)


def _seconds(text: str) -> float:
    value = float(text)
    if not 0 <= value <= 86_400:
        raise argparse.ArgumentTypeError("must be between 0 and 86400")
    return value


def run(options: argparse.Namespace) -> int:
    """Sort until asked to end; print a line for each invoice and return the exit status."""
    from einvoice.watch import Inbox, Outbox, watch

    if not options.inbox.is_dir():
        options.reject(f"{printable(str(options.inbox))} is not a folder")
    if options.inbox.resolve().is_relative_to(options.outbox.resolve()):
        options.reject("IN and OUT must be different folders, and IN must not be inside OUT")
    stopped: list[int] = []
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda signum, frame: stopped.append(signum))
    labels = _LABELS[options.lang]

    problems: list[str] = []

    def failed(name: str, error: OSError) -> None:
        problems.append(name)
        print(f"{_now()} {labels['again'].format(file=printable(name))}", file=sys.stderr, end=" ", flush=True)
        report_problem(name, error, options.lang)

    try:
        outbox = Outbox(options.outbox, lang=options.lang, report=options.report, rules=options.rules)
        with Inbox(options.inbox, options.settle) as inbox:
            for claim, done in watch(
                inbox,
                outbox,
                interval=options.interval,
                is_stopped=lambda: bool(stopped),
                failed=failed,
                once=options.once,
            ):
                verdict = with_colon(labels[done.verdict], options.lang, printable(claim.name))
                print(f"{_now()} {verdict}", flush=True)
    except (MissingDependency, RuleError) as error:
        print(error, file=sys.stderr)
        return FAILED
    except OSError as error:
        report_problem("", error, options.lang)
        return FAILED
    return FAILED if options.once and problems else DONE


def _now() -> str:
    return datetime.now().astimezone().isoformat(timespec="seconds")
