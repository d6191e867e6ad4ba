"""Converts invoices between UBL and CII, and proves what happened.

read -> meaning (specification, lines, charges) -> write -> read again -> compare -> Converted
"""

from einvoice.conversion.changes import TermChange
from einvoice.conversion.convert import Converted, convert

__all__ = ["Converted", "TermChange", "convert"]
