"""The JSON draft of an invoice: its fields, JSON Schema, calculated totals, and conversion to an invoice."""

from einvoice.draft.draft import Draft, Format, Profile, draft_schema
from einvoice.draft.json_schema import SCHEMA_VERSION
from einvoice.draft.read import Source, read

__all__ = ["SCHEMA_VERSION", "Draft", "Format", "Profile", "Source", "draft_schema", "read"]
