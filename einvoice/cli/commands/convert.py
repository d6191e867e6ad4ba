"""`einvoice convert FILE`: the same invoice in the other syntax, and what was lost on the way."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any, Final

from einvoice.cli.common import add_lang, source
from einvoice.cli.outcome import complain
from einvoice.convert import Converted, Loss, convert
from einvoice.errors import UnreadableDocument, quote
from einvoice.model.terms import name
from einvoice.render.text import LABELS
from einvoice.result import Language

DONE, LOST, UNREADABLE = range(3)

_LABELS: Final = {
    "de": {"none": "Nichts ging verloren.", "some": "Dafür hat {syntax} keinen Platz ({count}):"},
    "en": {"none": "Nothing was lost.", "some": "{syntax} has no place for this ({count}):"},
}


def add_to(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "convert",
        help="write an invoice in the other syntax",
        description="Write an invoice in the other syntax, and tell what has no place there. "
        "Exit status: 0 nothing was lost, 1 something was, 2 the file cannot be read.",
    )
    parser.add_argument("file", metavar="FILE", help="an invoice in UBL or CII; - is the standard input")
    parser.add_argument("--to", choices=("UBL", "CII"), help="the syntax (default: the one that FILE is not in)")
    parser.add_argument("-o", "--output", metavar="OUT", type=Path, help="where to write (default: standard output)")
    add_lang(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the document, tell on the error stream what was lost, return the exit status."""
    try:
        converted = convert(source(options.file), options.to)
        if options.output is not None:
            options.output.write_bytes(converted.xml)
    except (UnreadableDocument, OSError) as error:
        complain(options.file, error, options.lang)
        return UNREADABLE
    if options.output is None:
        sys.stdout.buffer.write(converted.xml)
    _tell(converted, options.lang)
    return LOST if converted.losses else DONE


def _tell(converted: Converted, lang: Language) -> None:
    labels, losses = _LABELS[lang], converted.losses
    if not losses:
        print(labels["none"], file=sys.stderr)
        return
    print(labels["some"].format(syntax=converted.syntax, count=len(losses)), file=sys.stderr)
    for loss in losses:
        print("  " + _line(loss, lang), file=sys.stderr)


def _line(loss: Loss, lang: Language) -> str:
    """ "line 35: BT-41 Seller contact point: Accounts"; for what no term covers its place."""
    place = f"{LABELS[lang]['line']} {loss.line}" if loss.line else ""
    what = f"{loss.terms[0]} {name(loss.terms[0], lang)}" if loss.terms else loss.xpath
    return ": ".join(part for part in (place, what, quote(loss.text)) if part)
