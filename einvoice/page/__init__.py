"""What people read, as PDF: the invoice on a page that is printed, kept and read aloud.

``invoice`` puts the page together from its parts (``head``, ``lines``, ``sums``, ``payment``, ``rest``), each of which
takes values from the ``sheet``; ``render`` makes the PDF of it.
"""

from einvoice.page.invoice import invoice_pdf
from einvoice.page.render import render

__all__ = ["invoice_pdf", "render"]
