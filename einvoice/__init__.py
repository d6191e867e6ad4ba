"""Validates and generates European e-invoices: EN 16931, XRechnung, ZUGFeRD / Factur-X.

    import einvoice

    einvoice.options.lang = "en"
    result = einvoice.validate("invoice.xml")
    for finding in result.errors:
        print(finding.code, finding.line, finding.title(), finding.fix())

    generated = einvoice.generate("draft.json", "UBL")
    print(generated.is_valid, generated.xml)

`__all__` lists the public API. Exceptions are described in `einvoice.errors`; findings are values, never exceptions.
`einvoice.localization` has the available languages and their formats.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from einvoice.authoring.added import copy_rules, rule_sets
    from einvoice.bulk import InvoiceSet, ResultSet, read_many, validate_many
    from einvoice.code_catalog import CatalogEntry
    from einvoice.comparison.diff import InvoiceDiff, diff
    from einvoice.conversion.changes import TermChange
    from einvoice.conversion.convert import Converted, convert
    from einvoice.draft import Draft, draft_schema
    from einvoice.errors import (
        ConversionRefused,
        DraftError,
        EinvoiceError,
        FindingsError,
        ResourceLimitExceeded,
        RuleError,
        UnreadableDocument,
    )
    from einvoice.generation import Generated, generate
    from einvoice.localization.options import options
    from einvoice.model.invoice import Invoice
    from einvoice.model.location import NAMESPACES
    from einvoice.model.values import absent
    from einvoice.notebook import explore
    from einvoice.pdf.api import Extracted, extract
    from einvoice.pdf.writer.attachments import AttachedFile, NotAttachable
    from einvoice.pdf.writer.embed import embed
    from einvoice.reference import engines
    from einvoice.resources import samples
    from einvoice.result import Finding, ValidationResult, explain_error
    from einvoice.result.catalog import catalog
    from einvoice.result.rule_changes import rule_changes
    from einvoice.syntax.writer import write
    from einvoice.validation import read, validate
    from einvoice.visualization import invoice_pdf, report_pdf

__all__ = [
    "NAMESPACES",
    "AttachedFile",
    "CatalogEntry",
    "ConversionRefused",
    "Converted",
    "Draft",
    "DraftError",
    "EinvoiceError",
    "Extracted",
    "Finding",
    "FindingsError",
    "Generated",
    "Invoice",
    "InvoiceDiff",
    "InvoiceSet",
    "NotAttachable",
    "ResourceLimitExceeded",
    "ResultSet",
    "RuleError",
    "TermChange",
    "UnreadableDocument",
    "ValidationResult",
    "absent",
    "catalog",
    "convert",
    "copy_rules",
    "diff",
    "draft_schema",
    "embed",
    "engines",
    "explain_error",
    "explore",
    "extract",
    "generate",
    "invoice_pdf",
    "options",
    "read",
    "read_many",
    "report_pdf",
    "rule_changes",
    "rule_sets",
    "samples",
    "validate",
    "validate_many",
    "write",
]


#: The module of each name. Modules are imported on first access: a script pays only for what it uses.
_MODULES = {
    "NAMESPACES": "model.location",
    "AttachedFile": "pdf.writer.attachments",
    "CatalogEntry": "code_catalog",
    "ConversionRefused": "errors",
    "Converted": "conversion.convert",
    "Draft": "draft",
    "DraftError": "errors",
    "EinvoiceError": "errors",
    "Extracted": "pdf.api",
    "Finding": "result",
    "FindingsError": "errors",
    "Generated": "generation",
    "Invoice": "model.invoice",
    "InvoiceDiff": "comparison.diff",
    "InvoiceSet": "bulk",
    "NotAttachable": "pdf.writer.attachments",
    "ResourceLimitExceeded": "errors",
    "ResultSet": "bulk",
    "RuleError": "errors",
    "TermChange": "conversion.changes",
    "UnreadableDocument": "errors",
    "ValidationResult": "result",
    "absent": "model.values",
    "catalog": "result.catalog",
    "convert": "conversion.convert",
    "copy_rules": "authoring.added",
    "diff": "comparison.diff",
    "draft_schema": "draft",
    "embed": "pdf.writer.embed",
    "engines": "reference",
    "explain_error": "result",
    "explore": "notebook",
    "extract": "pdf.api",
    "generate": "generation",
    "invoice_pdf": "visualization",
    "options": "localization.options",
    "read": "validation",
    "read_many": "bulk",
    "report_pdf": "visualization",
    "rule_changes": "result.rule_changes",
    "rule_sets": "authoring.added",
    "samples": "resources",
    "validate": "validation",
    "validate_many": "bulk",
    "write": "syntax.writer",
}


def __getattr__(name: str) -> Any:
    """Import a name of the public API."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    return value


def __dir__() -> list[str]:
    """Return the public API, for completion and `help`, with the lazily imported names and without imported modules."""
    return [*(name for name in globals() if name.startswith("__")), *__all__]
