"""Declares the models of the draft and their fields, each with its business terms.

Titles, and the first sentence of each description, are the names of the terms in `einvoice.model`. Findings are mapped
to fields by the terms declared here, so a new field only needs its declaration.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticUndefined

from einvoice.errors import DraftProblem
from einvoice.model.terms import name

#: A text in English and in German.
Bilingual = tuple[str, str]


def draft_field(
    *numbers: str,
    title: Bilingual | None = None,
    hint: Bilingual = ("", ""),
    example: Any = None,
    default: Any = None,
    required: bool = False,
    min_items: int | None = None,
) -> Any:
    """Declare a field of the draft.

    Args:
        numbers: its business terms, the leading one first; none if EN 16931 has no such term.
        title: title in English and German; by default the name of the leading term.
        hint: second sentence of the description, in English and German.
        example: example in the schema.
        default: default value.
        required: whether the field is mandatory.
        min_items: minimum length of a list.
    """
    english, german = title or (name(numbers[0], "en"), name(numbers[0], "de"))
    terms = f" ({', '.join(numbers)})" if numbers else ""
    extra: dict[str, Any] = {
        "x-terms": list(numbers),
        "x-de": {"title": german, "description": f"{german}{terms}. {hint[1]}".strip()},
    }
    return Field(
        PydanticUndefined if required else default,
        title=english,
        description=f"{english}{terms}. {hint[0]}".strip(),
        examples=None if example is None else [example],
        json_schema_extra=extra,
        min_length=min_items,
    )


class DraftModel(BaseModel):
    """Base class of the draft's models. Null and blank values count as missing; unknown fields are errors."""

    model_config = ConfigDict(extra="forbid")

    #: The class docstring in German, for the schema.
    doc_de: ClassVar[str] = ""

    @model_validator(mode="before")
    @classmethod
    def _without_blank_fields(cls, content: Any) -> Any:
        if not isinstance(content, Mapping):
            return content
        return {key: value for key, value in content.items() if key not in cls.model_fields or not _is_blank(value)}

    def problems(self) -> Iterator[DraftProblem]:
        """Yield errors that involve several fields of this model; pointers are relative to it."""
        yield from ()

    def walk(self) -> Iterator[tuple[str, DraftModel]]:
        """Yield this model and all models below it, with their JSON pointers relative to it."""
        yield "", self
        for field in type(self).model_fields:
            content = getattr(self, field)
            items = enumerate(content) if isinstance(content, list) else [("", content)]
            for index, item in items:
                if isinstance(item, DraftModel):
                    prefix = f"/{field}" if index == "" else f"/{field}/{index}"
                    yield from ((prefix + pointer, model) for pointer, model in item.walk())


def terms_of(cls: type[DraftModel], field: str) -> tuple[str, ...]:
    """Return the business terms of a field of the draft, the leading one first."""
    extra = cls.model_fields[field].json_schema_extra
    assert isinstance(extra, dict)
    return tuple(str(number) for number in extra["x-terms"])  # type: ignore[union-attr]


def model_of(annotation: Any) -> type[DraftModel] | None:
    """Return the model class in an annotation (plain, optional or in a list); None for a value."""
    if isinstance(annotation, type) and issubclass(annotation, DraftModel):
        return annotation
    return next(filter(None, map(model_of, get_args(annotation))), None)


def is_list(annotation: Any) -> bool:
    """Whether an annotation is a list."""
    return get_origin(annotation) is list or any(map(is_list, get_args(annotation)))


def _is_blank(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())
