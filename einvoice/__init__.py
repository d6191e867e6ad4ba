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

from einvoice import presentation
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
from einvoice.localization.options import options
from einvoice.model.invoice import Invoice
from einvoice.model.location import NAMESPACES
from einvoice.model.values import absent
from einvoice.pdf.api import Extracted, extract
from einvoice.pdf.writer.embed import embed
from einvoice.result import Finding, ValidationResult, explain_error
from einvoice.result.catalog import catalog
from einvoice.rulebook.added import rule_sets
from einvoice.rulebook.catalog import CatalogEntry
from einvoice.syntax.writer import write
from einvoice.validation import read, validate
from einvoice.visualization import invoice_pdf, report_pdf

if TYPE_CHECKING:
    from einvoice.bulk import ResultSet, validate_many
    from einvoice.draft import Draft, draft_schema
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
    "options",
    "read",
    "report_pdf",
    "rule_changes",
    "rule_sets",
    "validate",
    "validate_many",
    "write",
]


#: Names imported on first access: they need pydantic, worker processes, widgets or all rules.
_LAZY = {
    "Draft": ("einvoice.draft", "Draft"),
    "ResultSet": ("einvoice.bulk", "ResultSet"),
    "draft_schema": ("einvoice.draft", "draft_schema"),
    "engines": ("einvoice.reference", "engines"),
    "explore": ("einvoice.notebook", "explore"),
    "rule_changes": ("einvoice.result.rule_changes", "rule_changes"),
    "validate_many": ("einvoice.bulk", "validate_many"),
}


def __getattr__(name: str) -> Any:
    """Import a name of `_LAZY`."""
    if name in _LAZY:
        module, attribute = _LAZY[name]
        return getattr(import_module(module), attribute)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Return the public API, for completion and `help`, with the lazily imported names and without imported modules."""
    return [*(name for name in globals() if name.startswith("__")), *__all__]


#: Modules that implement the generic functions of `einvoice.presentation`, imported on first use.
presentation.implementations.update(
    to_dict=("einvoice.render.json", "einvoice.render.invoice_json"),
    to_text=("einvoice.render.text", "einvoice.render.rule_changes"),
    to_html=(
        "einvoice.render.html",
        "einvoice.render.invoice_html",
        "einvoice.render.catalog",
        "einvoice.render.rule_changes",
        "einvoice.bulk.html",
    ),
    to_xml=("einvoice.syntax.writer",),
    to_document=("einvoice.render.catalog",),
    to_csv=("einvoice.render.tables",),
    to_frame=(
        "einvoice.render.tables",
        "einvoice.render.invoice_table",
        "einvoice.render.catalog_table",
        "einvoice.render.rule_changes",
    ),
    to_widget=("einvoice.notebook",),
)
