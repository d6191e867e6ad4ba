"""Validates a document: open it, select the rules, run the passes, return the result.

Document.open(source) -> select(identity, options) -> run(document, selection, passes) -> ValidationResult
"""

from einvoice.validation.api import read, validate
from einvoice.validation.selection import ENGINES, MODES, Options

__all__ = ["ENGINES", "MODES", "Options", "read", "validate"]
