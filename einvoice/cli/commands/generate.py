"""`einvoice generate DRAFT.json`: the invoice that a draft describes, and the verdict on it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from einvoice.cli.common import add_lang, source
from einvoice.cli.formats import FORMATS
from einvoice.cli.outcome import Judged, complain
from einvoice.errors import DraftError
from einvoice.generate import Generated, generate

VALID, FINDINGS, UNREADABLE = range(3)
_FORMATS = ("UBL", "CII", "ZUGFERD")


def add_to(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "generate",
        help="make an invoice from a draft",
        description="Make an invoice from a JSON draft (see `einvoice schema`), and judge it. "
        "Exit status: 0 it is valid, 1 it has errors (it is written all the same), 2 the draft is none.",
    )
    parser.add_argument("file", metavar="DRAFT.json", help="the draft; - is the standard input")
    parser.add_argument("-o", "--output", metavar="OUT", type=Path, help="where to write (default: standard output)")
    parser.add_argument("--format", choices=_FORMATS, help="in place of the format that the draft names")
    add_lang(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the invoice, print what was found, return the exit status."""
    try:
        generated = generate(source(options.file), options.format, lang=options.lang)
        if options.output is not None:
            options.output.write_bytes(generated.data)
    except DraftError as error:
        for problem in error.errors:
            where = (options.file, problem.pointer, problem.message(options.lang))
            print(": ".join(part for part in where if part), file=sys.stderr)
        return UNREADABLE
    except OSError as error:
        complain(options.file, error, options.lang)
        return UNREADABLE
    _tell(generated, options)
    return VALID if generated.is_valid else FINDINGS


def _tell(generated: Generated, options: argparse.Namespace) -> None:
    """The verdict; on the error stream where the invoice itself goes to the standard output."""
    if options.output is None:
        sys.stdout.buffer.write(generated.data)
        sys.stdout.buffer.flush()
    stream = sys.stdout if options.output is not None else sys.stderr
    name = options.file if options.output is None else str(options.output)
    for text in FORMATS["table"].print(iter([Judged(name, generated.validation)]), options.lang):
        stream.write(text)
