"""`einvoice letter FILE`: a letter that asks the issuer to correct the invoice."""

from __future__ import annotations

import argparse
import datetime
import sys
from pathlib import Path
from typing import Any

from einvoice.cli.assess import add_law, check_law
from einvoice.cli.common import add_lang, add_rules, replace_file, source
from einvoice.cli.outcome import FINDINGS, UNREADABLE, VALID, report_problem
from einvoice.errors import RuleError, UnreadableDocument


def add_to(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "letter",
        help="write a letter that asks the issuer to correct an invoice",
        description="Validate an invoice and write a letter to its issuer, as plain text for a mail: what is wrong, "
        "where, and what is asked for. Exit status: 0 valid, 1 errors, 2 unreadable file.",
    )
    parser.add_argument("file", metavar="FILE", help="invoice: UBL, CII or hybrid PDF; - for standard input")
    add_law(parser)
    parser.add_argument("--items", action="store_true", help="also ask for what the law requires and EN 16931 does not")
    parser.add_argument(
        "--by",
        type=datetime.date.fromisoformat,
        metavar="DATE",
        help="day until which an answer is asked for (default: 14 days)",
    )
    parser.add_argument("--address", default="", metavar="TEXT", help="address of the recipient (default: as invoiced)")
    parser.add_argument("-o", "--output", metavar="OUT", type=Path, help="text file (default: standard output)")
    add_lang(parser)
    add_rules(parser)
    parser.set_defaults(run=run, reject=parser.error)


def run(options: argparse.Namespace) -> int:
    """Write the letter and return the exit status."""
    from einvoice.validation import validate

    check_law(options)
    try:
        result = validate(source(options.file), lang=options.lang, rules=options.rules)
        text = result.letter(law=options.law, items=options.items, by=options.by, address=options.address)
        if options.output is None:
            sys.stdout.write(text)
        else:
            replace_file(options.output, text.encode())
    except RuleError as error:
        print(error, file=sys.stderr)
        return UNREADABLE
    except (UnreadableDocument, OSError) as error:
        report_problem(options.file, error, options.lang)
        return UNREADABLE
    return VALID if result.is_valid else FINDINGS
