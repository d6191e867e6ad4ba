"""Bulk validation: validate many files in parallel; store, compare and tabulate the results."""

from einvoice.bulk.baseline import AcceptedFinding, Baseline
from einvoice.bulk.comparison import Change, Comparison
from einvoice.bulk.invoices import InvoiceSet, read_many
from einvoice.bulk.overview import Overview
from einvoice.bulk.record import FileResult
from einvoice.bulk.results import ResultSet
from einvoice.bulk.run import validate_many

__all__ = [
    "AcceptedFinding",
    "Baseline",
    "Change",
    "Comparison",
    "FileResult",
    "InvoiceSet",
    "Overview",
    "ResultSet",
    "read_many",
    "validate_many",
]
