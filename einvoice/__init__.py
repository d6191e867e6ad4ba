"""Validates and explains European e-invoices: EN 16931, XRechnung, ZUGFeRD / Factur-X.

    import einvoice

    result = einvoice.validate("invoice.xml", lang="en")
    for finding in result.errors:
        print(finding.code, finding.line, finding.title(), finding.fix())

This is the whole public face. What is raised is drawn in `einvoice.errors`; a finding is never raised.
"""

from einvoice.convert import Converted, Loss, convert
from einvoice.errors import EinvoiceError, FindingsError, RuleError, UnreadableDocument
from einvoice.model.invoice import Invoice
from einvoice.model.source import NAMESPACES
from einvoice.model.values import absent
from einvoice.pdf.extracted import Extracted, extract
from einvoice.result import Finding, ValidationResult, explain_error
from einvoice.result.catalog import catalog
from einvoice.rulebook.catalog import CatalogEntry
from einvoice.syntax.writer import write
from einvoice.validate import read, validate

__all__ = [
    "NAMESPACES",
    "CatalogEntry",
    "Converted",
    "EinvoiceError",
    "Extracted",
    "Finding",
    "FindingsError",
    "Invoice",
    "Loss",
    "RuleError",
    "UnreadableDocument",
    "ValidationResult",
    "absent",
    "catalog",
    "convert",
    "explain_error",
    "extract",
    "read",
    "validate",
    "write",
]
