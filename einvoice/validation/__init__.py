"""How a document that has been parsed and read is judged: by which layers, and what becomes of what they find."""

from einvoice.validation.run import Judging
from einvoice.validation.selection import by_now, chosen, in_force, national, status

__all__ = ["Judging", "by_now", "chosen", "in_force", "national", "status"]
