"""What people read, as PDF: the invoice and the report on it, on pages that are printed, kept and read aloud.

``invoice`` puts the page together from its parts (``head``, ``lines``, ``sums``, ``payment``, ``rest``), each of which
takes values from the ``sheet``; ``report`` does so from ``findings``; ``render`` makes the PDFs of them.
"""

from einvoice.page.invoice import invoice_pdf
from einvoice.page.render import render
from einvoice.page.report import report_pdf

__all__ = ["invoice_pdf", "render", "report_pdf"]
