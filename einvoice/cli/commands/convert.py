"""`einvoice convert FILE`: convert an invoice between UBL and CII."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any, Final

from einvoice.cli.common import add_lang, source
from einvoice.cli.outcome import report_problem
from einvoice.conversion import Converted, Loss, convert
from einvoice.errors import UnreadableDocument
from einvoice.localization import Messages
from einvoice.model.terms import name
from einvoice.quotation import quote
from einvoice.render.text import LABELS
from einvoice.result import Language

DONE, LOST, UNREADABLE = range(3)

_LABELS: Final = Messages("einvoice.cli", "convert")


def add_to(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "convert",
        help="convert an invoice between UBL and CII",
        description="Convert an invoice to the other syntax and list elements that it cannot represent. "
        "Exit status: 0 lossless, 1 with losses, 2 unreadable file.",
    )
    parser.add_argument("file", metavar="FILE", help="invoice in UBL or CII; - for standard input")
    parser.add_argument("--to", choices=("UBL", "CII"), help="target syntax (default: the other one)")
    parser.add_argument("-o", "--output", metavar="OUT", type=Path, help="output file (default: standard output)")
    add_lang(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the document, list losses on standard error, and return the exit status."""
    try:
        converted = convert(source(options.file), options.to)
        if options.output is not None:
            options.output.write_bytes(converted.xml)
    except (UnreadableDocument, OSError) as error:
        report_problem(options.file, error, options.lang)
        return UNREADABLE
    if options.output is None:
        sys.stdout.buffer.write(converted.xml)
    _print_losses(converted, options.lang)
    return LOST if converted.losses else DONE


def _print_losses(converted: Converted, lang: Language) -> None:
    labels, losses = _LABELS[lang], converted.losses
    if not losses:
        print(labels["none"], file=sys.stderr)
        return
    print(labels["some"].format(syntax=converted.syntax, count=len(losses)), file=sys.stderr)
    for loss in losses:
        print("  " + _line(loss, lang), file=sys.stderr)


def _line(loss: Loss, lang: Language) -> str:
    """Return "line 35: BT-41 Seller contact point: Accounts", or the XPath of an element without a business term."""
    place = f"{LABELS[lang]['line']} {loss.line}" if loss.line else ""
    what = f"{loss.terms[0]} {name(loss.terms[0], lang)}" if loss.terms else loss.xpath
    return ": ".join(part for part in (place, what, quote(loss.text)) if part)
