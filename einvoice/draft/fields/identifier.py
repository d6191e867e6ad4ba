"""Identifiers of the draft with their schemes."""

from __future__ import annotations

from typing import Any

from einvoice.draft.fields.base import DraftModel, draft_field
from einvoice.draft.fields.types import Text, as_identifier


class SchemedIdentifier(DraftModel):
    """An identifier and the scheme that it is from.

    Each subclass names the business term of the identifier, whose scheme has the suffix -1, and examples of both.
    """

    id: Text
    scheme: Text | None = None

    def __init_subclass__(cls, *, term: str, example: str, scheme: str = "0088", hint: str = "scheme") -> None:
        """Declare the fields; `hint` is the key of the hint on the scheme."""
        super().__init_subclass__()
        cls.id = draft_field(term, example=example, required=True)
        cls.scheme = draft_field(f"{term}-1", hint=hint, example=scheme)

    def build(self) -> Any:
        """Return the identifier of the invoice."""
        return as_identifier(self.id, schemeID=self.scheme)
