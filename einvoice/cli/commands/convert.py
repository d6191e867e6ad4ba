"""`einvoice convert FILE`: convert an invoice between UBL and CII."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from einvoice.cli.common import add_lang, replace_file, source
from einvoice.cli.outcome import Problem, print_json_problem, report_problem
from einvoice.conversion import convert
from einvoice.errors import ConversionRefused, UnreadableDocument
from einvoice.quotation import printable

FAITHFUL, CHANGED, UNREADABLE = range(3)


def add_to(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "convert",
        help="convert an invoice between UBL and CII",
        description="Convert an invoice to the other syntax, validate it before and after, compare both documents, and "
        "list each term that was joined, moved, changed, added or lost. Exit status: 0 no term of EN 16931 was lost, "
        "and a valid invoice stayed valid; 1 otherwise, or the invoice cannot be converted; 2 unreadable file or "
        "invalid option.",
    )
    parser.add_argument("file", metavar="FILE", help="invoice in UBL or CII, or a hybrid PDF; - for standard input")
    parser.add_argument("--to", type=str.upper, choices=("UBL", "CII"), help="target syntax (default: the other one)")
    parser.add_argument("-o", "--output", metavar="OUT", type=Path, help="output file (default: standard output)")
    parser.add_argument(
        "--specification",
        metavar="ID",
        help="what the result declares (BT-24): an identifier, or a name such as XRECHNUNG or EN16931 "
        "(default: as before; EN16931 for a profile of Factur-X that becomes UBL)",
    )
    parser.add_argument("--strict", action="store_true", help="write nothing if the exit status is 1")
    parser.add_argument("--json", action="store_true", help="print what happened as JSON, on standard error as text is")
    add_lang(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the document, print what happened on standard error, and return the exit status."""
    try:
        converted = convert(source(options.file), options.to, specification=options.specification, lang=options.lang)
        if converted.is_faithful or not options.strict:
            _write(converted.xml, options.output)
    except ConversionRefused as error:
        _refuse(options, error.text(options.lang), error.line)
        return CHANGED
    except ValueError as error:  # an unknown specification
        _refuse(options, str(error))
        return UNREADABLE
    except (UnreadableDocument, OSError) as error:
        if isinstance(error, BrokenPipeError):
            raise
        report_problem(options.file, error, options.lang, as_json=options.json)
        return UNREADABLE
    print(_told(converted, options), file=sys.stderr)
    return FAITHFUL if converted.is_faithful else CHANGED


def _refuse(options: argparse.Namespace, text: str, line: int | None = None) -> None:
    file = printable(options.file)
    if options.json:
        print_json_problem(file, Problem("", text, "", line))
    else:
        print(f"{file}:{line}: {text}" if line else f"{file}: {text}", file=sys.stderr)


def _write(document: bytes, output: Path | None) -> None:
    if output is None:
        sys.stdout.buffer.write(document)
        sys.stdout.buffer.flush()  # so that a full disk is told
    else:
        replace_file(output, document)


def _told(converted: Any, options: argparse.Namespace) -> str:
    if not options.json:
        return str(converted.to_text(options.lang))
    import json

    return json.dumps(converted.to_dict(options.lang), ensure_ascii=False, indent=2)
