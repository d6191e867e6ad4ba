"""`einvoice embed PAGE.pdf INVOICE.xml -o OUT.pdf`: create a hybrid PDF."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any, Final

from einvoice.cli.attachments import add_attach, attached_files
from einvoice.cli.common import add_lang, replace_file
from einvoice.cli.outcome import report_problem
from einvoice.errors import MissingDependency, PdfNotEmbeddable, UnreadableDocument
from einvoice.facturx.profile import PROFILES
from einvoice.localization import Messages
from einvoice.pdf.writer.attachments import NotAttachable
from einvoice.pdf.writer.embed import HybridPdf, embed
from einvoice.quotation import printable
from einvoice.result import Language
from einvoice.syntax.xml import source_bytes

DONE, NO_PDFA, REFUSED = range(3)

_LABELS: Final = Messages("einvoice.cli", "embed")


def add_to(commands: Any) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "embed",
        help="embed an invoice in a PDF",
        description="Attach an invoice to a PDF as required by ZUGFeRD and Factur-X. "
        "Exit status: 0 PDF/A-3, 1 written, but not PDF/A-3, 2 not written.",
    )
    parser.add_argument("pdf", metavar="PAGE.pdf", help="the human-readable invoice")
    parser.add_argument("invoice", metavar="INVOICE.xml", help="the invoice in CII")
    parser.add_argument("-o", "--output", metavar="OUT.pdf", type=Path, required=True, help="output file")
    parser.add_argument(
        "--profile", type=str.upper, choices=[it.name for it in PROFILES], help="profile (default: as declared)"
    )
    add_attach(parser)
    add_lang(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the hybrid PDF, print its profile and PDF/A status, and return the exit status."""
    labels, file = _LABELS[options.lang], options.pdf
    try:
        attach = attached_files(options.attach)
    except NotAttachable as error:
        print(error.text(options.lang), file=sys.stderr)
        return REFUSED
    except OSError as error:
        report_problem(str(error.filename), error, options.lang)
        return REFUSED
    try:
        page, _ = source_bytes(file)
        file = options.invoice
        invoice, _ = source_bytes(file)
        made = embed(page, invoice, profile=options.profile, lang=options.lang, attach=attach)
        file = options.output
        replace_file(file, made.pdf)
    except PdfNotEmbeddable as error:
        file = options.invoice if error.cause == "invoice_pdf" else options.pdf
        print(f"{printable(str(file))}: {labels[error.cause]}", file=sys.stderr)
        return REFUSED
    except MissingDependency as error:
        print(error, file=sys.stderr)
        return REFUSED
    except NotAttachable as error:
        print(error.text(options.lang), file=sys.stderr)
        return REFUSED
    except ValueError:
        print(f"{printable(str(options.invoice))}: {labels['ubl']}", file=sys.stderr)
        return REFUSED
    except (UnreadableDocument, OSError) as error:
        report_problem(str(file), error, options.lang)
        return REFUSED
    _print_summary(made, options.lang)
    return DONE if made.pdfa else NO_PDFA


def _print_summary(made: HybridPdf, lang: Language) -> None:
    labels = _LABELS[lang]
    print(labels["written"].format(profile=made.profile.conformance_level, name=made.filename))
    if made.attached:
        print(labels["attached"].format(names=", ".join(map(printable, made.attached))))
    print(labels["pdfa" if made.pdfa else "no_pdfa"])
    for reason in (*made.reasons, *made.warnings):
        print(f"  {reason}")
