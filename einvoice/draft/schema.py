"""The JSON Schema of drafts: 2020-12, with titles and descriptions in English and, under `x-de`, in German."""

from __future__ import annotations

from typing import Any, Final

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from einvoice.draft.draft import Draft
from einvoice.draft.fields.part import Part

SCHEMA_VERSION: Final = "1.1.0"
"""Of the draft and of the answer that generating gives; changes with the fields."""

_DIALECT: Final = "https://json-schema.org/draft/2020-12/schema"
_ID: Final = f"urn:einvoice:invoice-draft:{SCHEMA_VERSION}"

_EXAMPLE: Final[dict[str, Any]] = {
    "invoice_number": "R-2026-0001",
    "issue_date": "2026-11-20",
    "due_date": "2026-12-20",
    "service_date": "2026-11-18",
    "format": "UBL",
    "buyer_reference": "04011000-12345-34",
    "seller": {
        "name": "Muster Handwerk GmbH",
        "street": "Werkstraße 1",
        "postal_code": "10115",
        "city": "Berlin",
        "country_code": "DE",
        "tax_id": "DE123456789",
        "electronic_address": {"id": "rechnung@handwerk.example", "scheme": "EM"},
        "contact": {"name": "Erika Beispiel", "telephone": "+49 30 1234567", "email": "rechnung@handwerk.example"},
    },
    "buyer": {
        "name": "Amt für Beispiele",
        "street": "Am Markt 2",
        "postal_code": "20095",
        "city": "Hamburg",
        "country_code": "DE",
        "electronic_address": {"id": "04011000-12345-34", "scheme": "0204"},
    },
    "payment": {"iban": "DE02120300000000202051", "payment_means_code": "58", "payment_reference": "R-2026-0001"},
    "lines": [
        {
            "line_id": "1",
            "name": "Beratung",
            "quantity": "2",
            "unit_code": "HUR",
            "unit_price": "100.00",
            "tax_category": "S",
            "tax_rate": "19.00",
        }
    ],
}


def schema() -> dict[str, Any]:
    """The schema of drafts as plain data, the same each time.

    Every field has `title`, `description` and mostly `examples`; beside them `x-de` with the German title and
    description, and `x-terms` with its business terms. It is a little stricter than the reader: null and blank text,
    which the reader takes for "not given", it does not mention.
    """
    made = Draft.model_json_schema(schema_generator=_Generator)
    head = {"$schema": _DIALECT, "$id": _ID, "x-schema-version": SCHEMA_VERSION, "title": "Invoice draft"}
    german = {"title": "Rechnungsentwurf", **made.pop("x-de")}
    return {**head, "x-de": german, **made, "examples": [_EXAMPLE]}


class _Generator(GenerateJsonSchema):
    """Pydantic's schema without null, and with German."""

    schema_dialect = _DIALECT

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        """A field that may be left out; saying null for that is tolerated, not taught."""
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        """Defaults, but not "nothing"."""
        if schema.get("default") is None:
            return self.generate_inner(schema["schema"])
        return super().default_schema(schema)

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        """A part of the draft, described in both languages; its class's name is no title."""
        made = super().model_schema(schema)
        cls = schema["cls"]
        assert issubclass(cls, Part)
        del made["title"]
        made["x-de"] = {"description": cls.german}
        return made
