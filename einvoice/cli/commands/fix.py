"""`einvoice fix FILE`: correct an invoice where its content says how."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TextIO

from einvoice.cli.common import add_lang, replace_file, source, use_utf8_stdout
from einvoice.cli.outcome import report_problem
from einvoice.errors import SignedDocument, UnreadableDocument
from einvoice.localization import Messages
from einvoice.quotation import printable
from einvoice.validation import validate

if TYPE_CHECKING:
    from einvoice.repair.fixed import Fixed

VALID, FINDINGS, REFUSED = range(3)
UNCHANGED, CHANGES = range(2)
"""Exit status with --diff."""
_STREAM: Final = "-"

_LABELS: Final = Messages("einvoice.cli", "fix")


def add_to(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "fix",
        help="correct an invoice where its content says how",
        description="Make the changes that resolve findings, each validated, and leave all other bytes of the XML as "
        "they are: form that has one reading, and amounts that all sums around them demand. What only the issuer knows "
        "stays a question. An invoice already sent must be corrected by its issuer, not edited by its recipient. "
        "Signed documents are not changed. Exit status: 0 no errors left, 1 errors left, 2 not changed (unreadable, "
        "signed, or a PDF without -o); with --diff 0 no changes, 1 changes.",
    )
    parser.add_argument("file", metavar="FILE", help="invoice in UBL or CII; a PDF needs -o; - for standard input")
    parser.add_argument(
        "-o", "--output", metavar="OUT", type=Path, help="output file; - for standard output (default: FILE itself)"
    )
    parser.add_argument("--diff", action="store_true", help="print the changes as a unified diff and write no file")
    parser.add_argument("--unsafe", action="store_true", help="also make changes that leave one thing open; check them")
    add_lang(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the corrected XML or the diff, print what was changed, and return the exit status."""
    labels = _LABELS[options.lang]
    try:
        result = validate(source(options.file), lang=options.lang)
        if result.container and not options.diff and not _is_for_xml(options.output):
            print(f"{printable(options.file)}: {labels['pdf']}", file=sys.stderr)
            return REFUSED
        fixed: Fixed = result.fixed(unsafe=options.unsafe)
        stream = _write(fixed, options)
    except SignedDocument as error:
        print(f"{printable(options.file)}: {labels['signed_' + error.part]}", file=sys.stderr)
        return REFUSED
    except (UnreadableDocument, OSError) as error:
        if isinstance(error, BrokenPipeError):
            raise
        report_problem(options.file, error, options.lang)
        return REFUSED
    print(f"{printable(options.file)}: {fixed}", *_remarks(fixed, options), sep="\n", file=stream)
    if options.diff:
        return CHANGES if fixed.is_changed else UNCHANGED
    return VALID if fixed.after.is_valid else FINDINGS


def _is_for_xml(output: Path | None) -> bool:
    """Return whether there is an output, and it is no PDF."""
    return output is not None and output.suffix.lower() != ".pdf"


def _write(fixed: Fixed, options: argparse.Namespace) -> TextIO:
    """Write the diff or the XML; return the stream for the summary, which is not the stream of the output."""
    if options.diff:
        use_utf8_stdout()
        sys.stdout.write(fixed.diff(printable(options.file)))
        return sys.stderr
    output = str(options.output or options.file)
    if output == _STREAM:
        sys.stdout.buffer.write(fixed.xml)
        return sys.stderr
    if fixed.is_changed or options.output:
        replace_file(Path(output), fixed.xml)
    return sys.stdout


def _remarks(fixed: Fixed, options: argparse.Namespace) -> Iterator[str]:
    labels = _LABELS[options.lang]
    if fixed.unsafe:
        yield labels["unsafe"].format(count=len(fixed.unsafe))
    if fixed.is_changed:
        if fixed.before.container:
            yield labels["page"]
        yield labels["issuer"]
