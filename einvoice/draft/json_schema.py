"""The JSON Schema of drafts: 2020-12, with titles and descriptions in English and, under `x-de`, in German."""

from __future__ import annotations

from typing import Any, Final

from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue
from pydantic_core import core_schema

from einvoice.draft.fields.base import DraftModel, by_language, describe
from einvoice.localization import Messages

SCHEMA_VERSION: Final = "1.1.0"
"""Version of the draft and of the result of `generate`, as clients compare it: optional fields may join without a new
one."""

_MODELS: Final = Messages("einvoice.draft", "models")
_TITLES: Final = Messages("einvoice.draft", "titles")
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


def build_schema(draft: type[DraftModel]) -> dict[str, Any]:
    """Return the JSON Schema of a draft class; the output is deterministic.

    Every field has `title`, `description` and usually `examples`, `x-de` with the German title and description, and
    `x-terms` with its business terms. The schema is slightly stricter than the reader, which treats null and blank text
    as missing.
    """
    schema = draft.model_json_schema(schema_generator=_Generator)
    head = {"$schema": _DIALECT, "$id": _ID, "x-schema-version": SCHEMA_VERSION}
    return {**head, **schema, **_described(draft, title="Draft"), "examples": [_EXAMPLE]}


class _Generator(GenerateJsonSchema):
    """Generates pydantic's schema without null, with titles and descriptions."""

    schema_dialect = _DIALECT

    def nullable_schema(self, schema: core_schema.NullableSchema) -> JsonSchemaValue:
        """Omit null: an optional field is left out instead."""
        return self.generate_inner(schema["schema"])

    def default_schema(self, schema: core_schema.WithDefaultSchema) -> JsonSchemaValue:
        """Omit the default None."""
        if schema.get("default") is None:
            return self.generate_inner(schema["schema"])
        return super().default_schema(schema)

    def model_schema(self, schema: core_schema.ModelSchema) -> JsonSchemaValue:
        """Add the texts of the message files, and remove the class name as title."""
        generated = super().model_schema(schema)
        cls = schema["cls"]
        assert issubclass(cls, DraftModel)
        generated.pop("title", None)  # not all versions of pydantic add it
        properties = {name: describe(field) for name, field in generated["properties"].items()}
        return {**generated, **_described(cls), "properties": properties}


def _described(cls: type[DraftModel], *, title: str = "") -> dict[str, Any]:
    """Return the description of a class, and a title of the table `titles` if given."""
    texts = {lang: {"description": _MODELS[lang][cls.__name__]} for lang in _MODELS.languages()}
    if title:
        texts = {lang: {"title": _TITLES[lang][title], **text} for lang, text in texts.items()}
    return by_language(texts)
