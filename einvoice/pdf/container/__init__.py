"""The checks of the container: is the PDF around the invoice what ZUGFeRD, Factur-X and PDF/A-3 ask for?

They look at what an invoice depends on and are no full validation of PDF/A. A check is a function in a module of this
package with `@check("PDF-…")` above it; being there is all it takes. It is given the open PDF and yields, for each
fault, the values that the texts of its code quote. The texts are in `rules/pdf/`; a warning there says that the
container is not valid, an information that it could be better.
"""

from __future__ import annotations

import importlib
import itertools
import pkgutil
from typing import Final

from einvoice.pdf.container.check import CHECKS
from einvoice.pdf.hybrid import Fault
from einvoice.pdf.reader.opened import Opened

_MOST_OF_A_CODE: Final = 5

for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")


def check(opened: Opened) -> tuple[tuple[Fault, ...], int]:
    """Return what the checks find, the first few of each code, and how many checks there are."""
    import pikepdf

    faults = []
    for code, function in CHECKS.items():
        try:
            found = [Fault(code, values) for values in itertools.islice(function(opened), _MOST_OF_A_CODE)]
        except (pikepdf.PdfError, RuntimeError, ValueError, TypeError, AttributeError):
            # A damaged file may fail anywhere. It must not pass for checked.
            found = [Fault("PDF-CHECK-FAILED", {"check": code})]
        faults += found
    return tuple(faults), len(CHECKS)
