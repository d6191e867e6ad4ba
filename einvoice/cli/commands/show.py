"""`einvoice show FILE`: the readable invoice, as text, PDF or HTML."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from einvoice.cli.common import add_lang, source
from einvoice.cli.documents import add_output, write
from einvoice.cli.letterhead import add_letterhead, letterhead
from einvoice.cli.outcome import report_problem
from einvoice.errors import LetterheadError, MissingDependency, UnreadableDocument

SHOWN, UNREADABLE = 0, 2


def add_to(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "show",
        help="show an invoice in readable form",
        description="Show every value of an invoice in readable form. Exit status: 0 shown, 2 unreadable file.",
    )
    parser.add_argument("file", metavar="FILE", help="invoice: UBL, CII or hybrid PDF; - for standard input")
    add_output(parser)
    add_letterhead(parser)
    add_lang(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the readable invoice and return the exit status."""
    from einvoice.validation import read
    from einvoice.visualization import invoice_html, invoice_pdf, invoice_text

    lang = options.lang
    try:
        invoice, page = read(source(options.file)), letterhead(options)
        write(
            options.output,
            pdf=lambda: invoice_pdf(invoice, lang, **page),
            html=lambda: invoice_html(invoice, lang),
            text=lambda width: invoice_text(invoice, lang, width=width),
        )
    except (MissingDependency, LetterheadError) as error:
        print(error, file=sys.stderr)
        return UNREADABLE
    except (UnreadableDocument, OSError) as error:
        report_problem(options.file, error, lang)
        return UNREADABLE
    return SHOWN
