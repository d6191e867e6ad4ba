"""Declares the models of the draft and their fields, each with its business terms.

Titles, and the first sentence of each description, are the names of the terms in `einvoice.model`. Further texts are in
the message files. Findings are mapped
to fields by the terms declared here, so a new field only needs its declaration.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any, Final, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticUndefined

from einvoice.errors import DraftProblem
from einvoice.localization import Language, Messages
from einvoice.model.terms import name

_TITLES: Final = Messages("einvoice.draft", "titles")
_NAMES: Final = Messages("einvoice.draft", "names")
_HINTS: Final = Messages("einvoice.draft", "hints")
_TITLE: Final = "title-key"
_HINT: Final = "hint-key"


def draft_field(
    *numbers: str,
    title: str = "",
    hint: str = "",
    example: Any = None,
    default: Any = None,
    required: bool = False,
    min_items: int | None = None,
) -> Any:
    """Declare a field of the draft.

    Args:
        numbers: its business terms, the leading one first; none if EN 16931 has no such term.
        title: key of the title in the table `titles` of the message files; by default the name of the leading term.
        hint: key of the second sentence of the description, in the table `hints`.
        example: example in the schema.
        default: default value.
        required: whether the field is mandatory.
        min_items: minimum length of a list.
    """
    return Field(
        PydanticUndefined if required else default,
        examples=None if example is None else [example],
        json_schema_extra={"x-terms": list(numbers), _TITLE: title, _HINT: hint},
        min_length=min_items,
    )


def describe(field: dict[str, Any]) -> dict[str, Any]:
    """Return the JSON Schema of a field with its texts: English, and other languages under `x-de` and so on."""
    numbers, title, hint = field["x-terms"], field.pop(_TITLE), field.pop(_HINT)
    terms = f" ({', '.join(numbers)})" if numbers else ""
    texts = {}
    for lang in _HINTS.languages():
        heading = _TITLES[lang][title] if title else name(numbers[0], lang)
        description = f"{heading}{terms}. {_HINTS[lang][hint] if hint else ''}".strip()
        texts[lang] = {"title": heading, "description": description}
    return field | by_language(texts)


def by_language(texts: Mapping[Language, dict[str, str]]) -> dict[str, Any]:
    """Return texts for a JSON Schema: English, and the other languages under `x-de` and so on."""
    return {**texts["en"], **{f"x-{lang}": text for lang, text in texts.items() if lang != "en"}}


class DraftModel(BaseModel):
    """Base class of the draft's models. Null and blank values count as missing; unknown fields are errors."""

    model_config = ConfigDict(extra="forbid", validate_assignment=True)

    @model_validator(mode="before")
    @classmethod
    def _without_blank_fields(cls, content: Any) -> Any:
        """Replace blank values by the defaults; pydantic needs all optional fields when one is assigned."""
        if not isinstance(content, Mapping):
            return content
        known = cls.model_fields
        blank = [key for key, value in content.items() if key in known and _is_blank(value)]
        defaults = {key: known[key].default for key in blank if not known[key].is_required()}
        return {key: value for key, value in content.items() if key not in blank} | defaults

    def problems(self) -> Iterator[DraftProblem]:
        """Yield errors that involve several fields of this model; pointers are relative to it."""
        yield from ()

    def numbers(self, *fields: str) -> dict[str, list[Decimal]]:
        """Return the numbers of fields by business term, for the equations of the model; without missing ones."""
        given = {terms_of(type(self), field)[0]: getattr(self, field) for field in fields}
        return {term: [number] for term, number in given.items() if number is not None}

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


@functools.cache
def titles_of(cls: type[DraftModel], field: str) -> tuple[str, ...]:
    """Return the title of a field of the draft, and other usual names of it, in each language."""
    extra = cls.model_fields[field].json_schema_extra
    assert isinstance(extra, dict)
    title, numbers = str(extra[_TITLE]), terms_of(cls, field)
    titles = [_TITLES[lang][title] if title else name(numbers[0], lang) for lang in _TITLES.languages()]
    return (*titles, *(_NAMES[lang][field] for lang in _NAMES.languages() if field in _NAMES[lang]))


@functools.cache
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
