"""Validation results: findings, layers, the PDF container."""

from einvoice.result.agreement import Agreement
from einvoice.result.container import Container
from einvoice.result.finding import Finding, Note, Severity
from einvoice.result.languages import Language, explain_error
from einvoice.result.location import Location, Places
from einvoice.result.options import Options
from einvoice.result.source_document import SourceDocument
from einvoice.result.stack import Engine, Layer, Mode, Stack, Status
from einvoice.result.validation import Summary, ValidationResult

__all__ = [
    "Agreement",
    "Container",
    "Engine",
    "Finding",
    "Language",
    "Layer",
    "Location",
    "Mode",
    "Note",
    "Options",
    "Places",
    "Severity",
    "SourceDocument",
    "Stack",
    "Status",
    "Summary",
    "ValidationResult",
    "explain_error",
]
