"""Validates and explains European e-invoices: EN 16931, XRechnung, ZUGFeRD / Factur-X.

    import einvoice

    result = einvoice.validate("invoice.xml", lang="en")
    for finding in result.errors:
        print(finding.code, finding.line, finding.title(), finding.fix())

    made = einvoice.generate("draft.json", "UBL")
    print(made.is_valid, made.xml)

This is the whole public face. What is raised is drawn in `einvoice.errors`; a finding is never raised.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from einvoice.convert import Converted, Loss, convert
from einvoice.errors import DraftError, EinvoiceError, FindingsError, RuleError, UnreadableDocument
from einvoice.generate import Generated, generate
from einvoice.model.invoice import Invoice
from einvoice.model.source import NAMESPACES
from einvoice.model.values import absent
from einvoice.pdf.embed import embed
from einvoice.pdf.extracted import Extracted, extract
from einvoice.result import Finding, ValidationResult, explain_error
from einvoice.result.catalog import catalog
from einvoice.rulebook.catalog import CatalogEntry
from einvoice.syntax.writer import write
from einvoice.validate import read, validate

if TYPE_CHECKING:
    from einvoice.bulk import ResultSet, validate_many
    from einvoice.draft import Draft

__all__ = [
    "NAMESPACES",
    "CatalogEntry",
    "Converted",
    "Draft",
    "DraftError",
    "EinvoiceError",
    "Extracted",
    "Finding",
    "FindingsError",
    "Generated",
    "Invoice",
    "Loss",
    "ResultSet",
    "RuleError",
    "UnreadableDocument",
    "ValidationResult",
    "absent",
    "catalog",
    "convert",
    "embed",
    "explain_error",
    "extract",
    "generate",
    "read",
    "validate",
    "validate_many",
    "write",
]


_LATER = {"Draft": "einvoice.draft", "ResultSet": "einvoice.bulk", "validate_many": "einvoice.bulk"}


def __getattr__(name: str) -> Any:
    """What needs pydantic, or processes, comes when it is asked for: judging one invoice needs neither."""
    if name in _LATER:
        return getattr(import_module(_LATER[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
