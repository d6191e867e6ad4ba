"""Causes of findings and the changes that resolve them, in words: what `einvoice.repair` finds and displays show."""

from einvoice.causes.cause import Cause
from einvoice.causes.change import Change

__all__ = ["Cause", "Change"]
