"""`einvoice embed PAGE.pdf INVOICE.xml -o OUT.pdf`: a hybrid PDF from a page of one's own."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any, Final

from einvoice.cli.common import add_lang
from einvoice.cli.outcome import complain
from einvoice.errors import MissingDependency, PdfNotEmbeddable, UnreadableDocument
from einvoice.facturx.profile import PROFILES
from einvoice.pdf.writer.embed import HybridPdf, embed
from einvoice.result import Language
from einvoice.syntax.xml import source_bytes

DONE, NO_PDFA, REFUSED = range(3)

_LABELS: Final = {
    "de": {
        "written": "{profile}, angehängt als {name}.",
        "pdfa": "Die Datei nennt sich weiterhin PDF/A-3, und es wurde nichts gesehen, das dagegen spricht.",
        "no_pdfa": "Die Datei ist kein PDF/A-3:",
        "encrypted": "Die PDF ist verschlüsselt; ohne Kennwort speichern.",
        "damaged": "Die PDF ist beschädigt und lässt sich nicht öffnen.",
        "ubl": "In eine PDF gehört CII: die UBL-Datei erst mit „einvoice convert“ umwandeln.",
    },
    "en": {
        "written": "{profile}, attached as {name}.",
        "pdfa": "The file still claims to be PDF/A-3, and nothing was seen that belies it.",
        "no_pdfa": "The file is no PDF/A-3:",
        "encrypted": "The PDF is encrypted; save it without a password.",
        "damaged": "The PDF is damaged and cannot be opened.",
        "ubl": "A PDF carries CII: convert the UBL file with `einvoice convert` first.",
    },
}


def add_to(commands: Any) -> None:
    """Declare the command."""
    parser = commands.add_parser(
        "embed",
        help="put an invoice into a PDF",
        description="Attach an invoice to a PDF of your own, as ZUGFeRD and Factur-X want it. "
        "Exit status: 0 the result is PDF/A-3, 1 it is none (it is written all the same), 2 it could not be made.",
    )
    parser.add_argument("pdf", metavar="PAGE.pdf", help="the page that people read")
    parser.add_argument("invoice", metavar="INVOICE.xml", help="the invoice, in CII")
    parser.add_argument("-o", "--output", metavar="OUT.pdf", type=Path, required=True, help="where to write")
    parser.add_argument("--profile", choices=[it.name for it in PROFILES], help="default: what the invoice declares")
    add_lang(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the hybrid, say what is to be said of it, return the exit status."""
    labels, file = _LABELS[options.lang], options.pdf
    try:
        page, _ = source_bytes(file)
        file = options.invoice
        invoice, _ = source_bytes(file)
        made = embed(page, invoice, profile=options.profile, lang=options.lang)
        file = options.output
        file.write_bytes(made.pdf)
    except PdfNotEmbeddable as error:
        print(f"{options.pdf}: {labels[error.cause]}", file=sys.stderr)
        return REFUSED
    except MissingDependency as error:
        print(error, file=sys.stderr)
        return REFUSED
    except ValueError:
        print(f"{options.invoice}: {labels['ubl']}", file=sys.stderr)
        return REFUSED
    except (UnreadableDocument, OSError) as error:
        complain(str(file), error, options.lang)
        return REFUSED
    _tell(made, options.lang)
    return DONE if made.pdfa else NO_PDFA


def _tell(made: HybridPdf, lang: Language) -> None:
    labels = _LABELS[lang]
    print(labels["written"].format(profile=made.profile.conformance_level, name=made.filename))
    print(labels["pdfa" if made.pdfa else "no_pdfa"])
    for reason in (*made.reasons, *made.warnings):
        print(f"  {reason}")
