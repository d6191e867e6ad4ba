"""`einvoice extract FILE.pdf`: extract the XML of a hybrid PDF."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from einvoice.cli.common import add_lang, replace_file, source
from einvoice.cli.outcome import report_problem
from einvoice.errors import UnreadableDocument
from einvoice.localization import Messages
from einvoice.localization.formatting import with_colon
from einvoice.pdf.api import Extracted, extract
from einvoice.pdf.hybrid import Attachment
from einvoice.quotation import quote
from einvoice.render.text import LABELS
from einvoice.result import Language, explain_error

DONE, UNREADABLE = 0, 2

_SOURCES: Final = Messages("einvoice.cli", "extract")


def add_to(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "extract",
        help="extract the XML of a hybrid PDF",
        description="Extract the invoice of a hybrid PDF (ZUGFeRD, Factur-X), byte for byte and without validation.",
    )
    parser.add_argument("file", metavar="FILE.pdf", help="a PDF; - for standard input")
    parser.add_argument("-o", "--output", metavar="OUT.xml", help="output file (default: standard output)")
    add_lang(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the XML, describe the attachments, and return the exit status."""
    try:
        extracted = extract(source(options.file))
        stream = sys.stderr  # standard output holds the XML only
        if options.output in (None, "-"):
            sys.stdout.buffer.write(extracted.xml)
        else:
            replace_file(Path(options.output), extracted.xml)
            stream = sys.stdout
    except (UnreadableDocument, OSError) as error:
        report_problem(options.file, error, options.lang)
        return UNREADABLE
    for line in _lines(extracted, options.lang):
        print(line, file=stream)
    return DONE


def _lines(extracted: Extracted, lang: Language) -> Iterator[str]:
    """Yield all attachments, with the selected one marked, and details of the selection."""
    labels = LABELS[lang]
    selected = extracted.candidates[0]
    for file in extracted.attachments:
        yield ("* " if file == selected else "  ") + ", ".join(_facts(file, lang))
    if len(extracted.candidates) > 1:
        names = ", ".join(quote(file.name) for file in extracted.candidates)
        yield labels["several_invoices"].format(names=names, chosen=quote(selected.name))
    if extracted.profile:
        yield with_colon(labels["profile"], lang, extracted.profile)
    if extracted.problem is not None:
        title, detail = explain_error(extracted.problem, lang)
        yield with_colon(extracted.problem.code, lang, f"{title}. {detail}")


def _facts(file: Attachment, lang: Language) -> Iterator[str]:
    yield quote(file.name) or "–"
    yield from filter(None, (quote(file.relationship), quote(file.mime)))
    if file.size is not None:
        yield f"{file.size} bytes"
    yield from (_SOURCES[lang][source] for source in file.sources)
    yield from filter(None, (file.root, file.guideline, file.problem))
