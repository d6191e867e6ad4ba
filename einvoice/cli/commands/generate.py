"""`einvoice generate DRAFT.json`: generate an invoice from a draft and validate it."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from einvoice.cli.attachments import add_attach, attached_files
from einvoice.cli.common import add_lang, replace_file, source
from einvoice.cli.formats import FORMATS
from einvoice.cli.letterhead import add_letterhead, letterhead
from einvoice.cli.outcome import FINDINGS, UNREADABLE, VALID, Outcome, report_problem
from einvoice.errors import DraftError, LetterheadError, MissingDependency
from einvoice.generation import Generated, generate
from einvoice.localization import Messages
from einvoice.pdf.writer.attachments import NotAttachable
from einvoice.quotation import printable

_LABELS = Messages("einvoice.cli", "embed")
_FORMATS = ("UBL", "CII", "ZUGFERD")


def add_to(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "generate",
        help="generate an invoice from a draft",
        description="Generate an invoice from a JSON draft (see `einvoice schema`) and validate it. "
        "Exit status: 0 valid, 1 written with errors, 2 invalid draft.",
    )
    parser.add_argument("file", metavar="DRAFT.json", help="the draft; - for standard input")
    parser.add_argument("-o", "--output", metavar="OUT", type=Path, help="output file (default: standard output)")
    parser.add_argument("--format", type=str.upper, choices=_FORMATS, help="output format (default: as in the draft)")
    add_attach(parser)
    add_letterhead(parser)
    add_lang(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the invoice, print the findings, and return the exit status."""
    try:
        attach = attached_files(options.attach)
        page = letterhead(options)
        generated = generate(source(options.file), options.format, lang=options.lang, attach=attach, **page)
        if options.output is not None:
            replace_file(options.output, generated.data)
    except DraftError as error:
        for problem in error.errors:
            where = (printable(options.file), problem.pointer, problem.message(options.lang))
            print(": ".join(part for part in where if part), file=sys.stderr)
        return UNREADABLE
    except NotAttachable as error:
        print(error.text(options.lang), file=sys.stderr)
        return UNREADABLE
    except (MissingDependency, LetterheadError) as error:
        print(error, file=sys.stderr)
        return UNREADABLE
    except OSError as error:
        report_problem(str(error.filename or options.file), error, options.lang)
        return UNREADABLE
    _write(generated, options)
    return VALID if generated.is_valid else FINDINGS


def _write(generated: Generated, options: argparse.Namespace) -> None:
    """Write the result; to standard error if standard output holds the invoice."""
    if options.output is None:
        sys.stdout.buffer.write(generated.data)
        sys.stdout.buffer.flush()
    stream = sys.stdout if options.output is not None else sys.stderr
    name = options.file if options.output is None else str(options.output)
    if generated.attached:
        names = ", ".join(map(printable, generated.attached))
        print(_LABELS[options.lang]["attached"].format(names=names), file=stream)
    for text in FORMATS["table"].write(iter([Outcome(name, generated.validation)]), options.lang):
        stream.write(text)
