"""The JSON draft of an invoice: its fields, its schema, its sums, and the invoice that it describes."""

from einvoice.draft.draft import Draft, Format, Profile
from einvoice.draft.read import Source, read
from einvoice.draft.schema import SCHEMA_VERSION, schema

__all__ = ["SCHEMA_VERSION", "Draft", "Format", "Profile", "Source", "read", "schema"]
