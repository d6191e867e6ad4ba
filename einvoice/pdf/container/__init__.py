"""Container checks: does the PDF meet the requirements of ZUGFeRD, Factur-X and PDF/A-3?

They cover what a hybrid invoice depends on; they are not a full PDF/A validation. A check is a function in a module of
this package with the decorator `@check("PDF-…")`; all of them are found automatically. It receives the open PDF and
yields, for each fault, the values to insert into the texts of its code. The texts are in `rules/pdf/`: a warning makes
the container invalid, an information finding does not.
"""

from __future__ import annotations

import importlib
import itertools
import pkgutil
from typing import Final

from einvoice.pdf.container.check import CHECKS
from einvoice.pdf.hybrid import Fault
from einvoice.pdf.reader.opened_pdf import OpenedPdf

_MAX_PER_CODE: Final = 5

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")


def check(opened: OpenedPdf) -> tuple[tuple[Fault, ...], int]:
    """Return the faults, up to a limit per code, and the number of checks."""
    import pikepdf

    faults = []
    for code, function in CHECKS.items():
        try:
            found = [Fault(code, values) for values in itertools.islice(function(opened), _MAX_PER_CODE)]
        except (pikepdf.PdfError, RuntimeError, ValueError, TypeError, AttributeError):
            # A damaged file can fail any check; the failed check is reported.
            found = [Fault("PDF-CHECK-FAILED", {"check": code})]
        faults += found
    return tuple(faults), len(CHECKS)
