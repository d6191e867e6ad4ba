"""`einvoice extract FILE.pdf`: the invoice out of a hybrid PDF."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from einvoice.cli.common import add_lang, source
from einvoice.cli.outcome import complain
from einvoice.errors import UnreadableDocument, quote
from einvoice.pdf.api import Extracted, extract
from einvoice.pdf.hybrid import Attachment
from einvoice.render.text import LABELS
from einvoice.result import Language, explain_error

DONE, UNREADABLE = 0, 2

_SOURCES: Final = {
    "de": {
        "names": "Liste der Anlagen",
        "catalog": "Dokument (AF)",
        "page": "Seite (AF)",
        "annotation": "Anmerkung auf einer Seite",
        "unreferenced": "nirgends genannt",
    },
    "en": {
        "names": "list of attachments",
        "catalog": "document (AF)",
        "page": "page (AF)",
        "annotation": "annotation on a page",
        "unreferenced": "named nowhere",
    },
}


def add_to(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "extract",
        help="take the XML out of a hybrid PDF",
        description="Take the invoice out of a hybrid PDF (ZUGFeRD, Factur-X), byte for byte and unjudged.",
    )
    parser.add_argument("file", metavar="FILE.pdf", help="a PDF; - is the standard input")
    parser.add_argument("-o", "--output", metavar="OUT.xml", help="where to write it (default: the standard output)")
    add_lang(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the XML, say what was found, return the exit status."""
    try:
        found = extract(source(options.file))
        told = sys.stderr  # the XML has the standard output to itself
        if options.output in (None, "-"):
            sys.stdout.buffer.write(found.xml)
        else:
            Path(options.output).write_bytes(found.xml)
            told = sys.stdout
    except (UnreadableDocument, OSError) as error:
        complain(options.file, error, options.lang)
        return UNREADABLE
    for line in _told(found, options.lang):
        print(line, file=told)
    return DONE


def _told(found: Extracted, lang: Language) -> Iterator[str]:
    """All attachments, the chosen one marked, and what there is to know about that."""
    labels = LABELS[lang]
    chosen = found.candidates[0]
    for file in found.attachments:
        yield ("* " if file == chosen else "  ") + ", ".join(_facts(file, lang))
    if len(found.candidates) > 1:
        names = ", ".join(quote(file.name) for file in found.candidates)
        yield labels["several_invoices"].format(names=names, chosen=quote(chosen.name))
    if found.profile:
        yield f"{labels['profile']}: {found.profile}"
    if found.problem is not None:
        title, detail = explain_error(found.problem, lang)
        yield f"{found.problem.code}: {title}. {detail}"


def _facts(file: Attachment, lang: Language) -> Iterator[str]:
    yield quote(file.name) or "–"
    yield from filter(None, (quote(file.relationship), quote(file.mime)))
    if file.size is not None:
        yield f"{file.size} bytes"
    yield from (_SOURCES[lang][source] for source in file.sources)
    yield from filter(None, (file.root, file.guideline, file.problem))
