"""`einvoice diff A B`: compare two invoices by their business terms."""

from __future__ import annotations

import argparse
import json
from typing import Any

from einvoice.cli.common import add_lang, source, use_utf8_stdout
from einvoice.cli.outcome import report_problem
from einvoice.comparison import diff
from einvoice.errors import UnreadableDocument
from einvoice.validation import read

SAME, DIFFERENT, UNREADABLE = range(3)


def add_to(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "diff",
        help="compare two invoices term by term",
        description="Compare two invoices by their business terms, in any syntax, without validating them. Exit "
        "status: 0 the same content, 1 different, 2 unreadable file.",
    )
    parser.add_argument("file", metavar="A", help="invoice in UBL or CII, or a hybrid PDF; - for standard input")
    parser.add_argument("other", metavar="B", help="the other invoice")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="output format (default: text)")
    add_lang(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the differences and return the exit status."""
    invoices = []
    for file in (options.file, options.other):
        try:
            invoices.append(read(source(file)))
        except (UnreadableDocument, OSError) as error:
            report_problem(file, error, options.lang, as_json=options.format == "json")
            return UNREADABLE
    found = diff(*invoices, lang=options.lang)
    if options.format == "json":
        use_utf8_stdout()
        print(json.dumps(found.to_dict(), ensure_ascii=False, indent=2))
    else:
        print(found)
    return DIFFERENT if found else SAME
