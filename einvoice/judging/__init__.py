"""How a document that has been parsed and read is judged: by which layers, and what becomes of what they find."""

from einvoice.judging.judging import Judging
from einvoice.judging.layers import chosen, in_force, national, status

__all__ = ["Judging", "chosen", "in_force", "national", "status"]
