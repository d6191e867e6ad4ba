"""A server of the Model Context Protocol: an assistant validates, explains, reads, converts and generates invoices.

Files are read and written only below the folders that are named at the start, and nothing is overwritten. Answers are
bounded in size.
"""

from einvoice.mcp.server import server

__all__ = ["server"]
