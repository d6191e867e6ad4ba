"""Compares two invoices term by term.

content_of(a), content_of(b) -> pairs of groups and values -> InvoiceDiff
"""

from einvoice.comparison.compared import ComparedTerm
from einvoice.comparison.diff import InvoiceDiff, diff

__all__ = ["ComparedTerm", "InvoiceDiff", "diff"]
