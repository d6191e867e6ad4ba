"""Finds the causes of findings and repairs documents: byte-precise edits of the XML, each tried on the document."""

from einvoice.repair.api import find_causes

__all__ = ["find_causes"]
