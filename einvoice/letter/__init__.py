"""A letter that asks the issuer of an invoice to correct it: plain text for a mail."""

from einvoice.letter.writer import letter

__all__ = ["letter"]
