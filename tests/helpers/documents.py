"""Documents from the examples of rules."""

from einvoice.rulebook.example_documents import ROOTS, document_of, insert

__all__ = ["ROOTS", "document_of", "insert"]
