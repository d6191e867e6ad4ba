"""Validation results: findings, layers, the PDF container."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from einvoice.result.finding import Finding, Note, Severity
from einvoice.result.languages import Language, explain_error
from einvoice.result.location import Location, Places
from einvoice.result.options import Options
from einvoice.result.source_document import SourceDocument
from einvoice.result.stack import Engine, Layer, Mode, Stack, Status
from einvoice.result.validation import Summary, ValidationResult

if TYPE_CHECKING:
    from einvoice.result.agreement import Agreement
    from einvoice.result.container import Container

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


_MODULES = {"Agreement": "agreement", "Container": "container"}
"""Modules that few validations use, by name; imported on first access."""


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    return value
