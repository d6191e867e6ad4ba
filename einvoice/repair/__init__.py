"""Causes of findings, and repairs: byte-precise edits of the XML, each tried on the document."""

from einvoice.repair.api import find_causes
from einvoice.repair.cause import Cause
from einvoice.repair.change import Change

__all__ = ["Cause", "Change", "find_causes"]
