"""Validates a document: open it, select the rules, run the passes, return the result.

Document.open(source) -> select(identity, options) -> run(document, selection, passes) -> ValidationResult
"""

from einvoice.result.options import ENGINES, MODES, Options
from einvoice.validation.api import read, revalidate, validate, validate_xml

__all__ = ["ENGINES", "MODES", "Options", "read", "revalidate", "validate", "validate_xml"]
