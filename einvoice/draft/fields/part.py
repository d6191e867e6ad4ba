"""The words that declare the draft: a part of it, and a field that says which business terms it holds.

Titles, and the first sentence of every description, are the names of the terms in `einvoice.model`; pointers from
findings to fields follow the numbers given here. A new field needs nothing else than its declaration.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticUndefined

from einvoice.errors import DraftProblem
from einvoice.model.terms import name

#: A text in English and in German.
Both = tuple[str, str]


def term(
    *numbers: str,
    title: Both | None = None,
    about: Both = ("", ""),
    example: Any = None,
    default: Any = None,
    required: bool = False,
    least: int | None = None,
) -> Any:
    """A field of the draft.

    Args:
        numbers: the business terms that it holds, the leading one first; none where the norm has no such term.
        title: its name in English and German, where it is not that of the leading term.
        about: what to know about it, in English and German, after the name of the term.
        example: a value that the schema shows.
        default: what holds where the draft says nothing.
        required: whether a draft without it is none.
        least: so many members a list has at least.
    """
    english, german = title or (name(numbers[0], "en"), name(numbers[0], "de"))
    said = f" ({', '.join(numbers)})" if numbers else ""
    extra: dict[str, Any] = {
        "x-terms": list(numbers),
        "x-de": {"title": german, "description": f"{german}{said}. {about[1]}".strip()},
    }
    return Field(
        PydanticUndefined if required else default,
        title=english,
        description=f"{english}{said}. {about[0]}".strip(),
        examples=None if example is None else [example],
        json_schema_extra=extra,
        min_length=least,
    )


class Part(BaseModel):
    """A part of the draft. What is null or blank is not given; what no field is called is refused."""

    model_config = ConfigDict(extra="forbid")

    #: The class's own docstring in German, for the schema.
    german: ClassVar[str] = ""

    @model_validator(mode="before")
    @classmethod
    def _only_what_is_given(cls, content: Any) -> Any:
        if not isinstance(content, Mapping):
            return content
        return {key: value for key, value in content.items() if key not in cls.model_fields or not _is_blank(value)}

    def problems(self) -> Iterator[DraftProblem]:
        """What is wrong between the fields of this part; pointers begin at the part."""
        yield from ()

    def parts(self) -> Iterator[tuple[str, Part]]:
        """This part and every part below it, each with its JSON pointer from here."""
        yield "", self
        for field in type(self).model_fields:
            content = getattr(self, field)
            several = enumerate(content) if isinstance(content, list) else [("", content)]
            for index, item in several:
                if isinstance(item, Part):
                    here = f"/{field}" if index == "" else f"/{field}/{index}"
                    yield from ((here + pointer, part) for pointer, part in item.parts())


def terms_of(cls: type[Part], field: str) -> tuple[str, ...]:
    """The business terms that a field of the draft holds, the leading one first."""
    extra = cls.model_fields[field].json_schema_extra
    assert isinstance(extra, dict)
    return tuple(str(number) for number in extra["x-terms"])  # type: ignore[union-attr]


def part_of(annotation: Any) -> type[Part] | None:
    """The part of the draft that an annotation holds, alone, in a list, or perhaps; None for a value."""
    if isinstance(annotation, type) and issubclass(annotation, Part):
        return annotation
    return next(filter(None, map(part_of, get_args(annotation))), None)


def is_list(annotation: Any) -> bool:
    """Whether there may be many of what an annotation names."""
    return get_origin(annotation) is list or any(map(is_list, get_args(annotation)))


def _is_blank(value: Any) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())
