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
from einvoice.errors import (
    DraftError,
    EinvoiceError,
    FindingsError,
    ResourceLimitExceeded,
    RuleError,
    UnreadableDocument,
)
from einvoice.generate import Generated, generate
from einvoice.model.invoice import Invoice
from einvoice.model.location import NAMESPACES
from einvoice.model.values import absent
from einvoice.pdf.api import Extracted, extract
from einvoice.pdf.writer.embed import embed
from einvoice.result import Finding, ValidationResult, explain_error
from einvoice.result.catalog import catalog
from einvoice.result.widget_hook import Explorable
from einvoice.rulebook.catalog import CatalogEntry
from einvoice.rulebook.releases import rule_sets
from einvoice.syntax.writer import write
from einvoice.validation import read, validate
from einvoice.visualization import invoice_pdf, report_pdf

if TYPE_CHECKING:
    from einvoice.bulk import ResultSet, validate_many
    from einvoice.draft import Draft
    from einvoice.draft.schema import schema as draft_schema
    from einvoice.notebook import explore
    from einvoice.reference import engines
    from einvoice.result.rule_changes import rule_changes

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
    "ResourceLimitExceeded",
    "ResultSet",
    "RuleError",
    "UnreadableDocument",
    "ValidationResult",
    "absent",
    "catalog",
    "convert",
    "draft_schema",
    "embed",
    "engines",
    "explain_error",
    "explore",
    "extract",
    "generate",
    "invoice_pdf",
    "read",
    "report_pdf",
    "rule_changes",
    "rule_sets",
    "validate",
    "validate_many",
    "write",
]


#: What needs pydantic, processes, widgets or all of the rules comes when it is asked for: judging needs none of that.
_LATER = {
    "Draft": ("einvoice.draft", "Draft"),
    "ResultSet": ("einvoice.bulk", "ResultSet"),
    "draft_schema": ("einvoice.draft", "schema"),
    "engines": ("einvoice.reference", "engines"),
    "explore": ("einvoice.notebook", "explore"),
    "rule_changes": ("einvoice.result.rule_changes", "rule_changes"),
    "validate_many": ("einvoice.bulk", "validate_many"),
}


def __getattr__(name: str) -> Any:
    """A name of `_LATER`."""
    if name in _LATER:
        module, within = _LATER[name]
        return getattr(import_module(module), within)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


Explorable.opener = staticmethod(lambda result, **options: __getattr__("explore")(result, **options))
