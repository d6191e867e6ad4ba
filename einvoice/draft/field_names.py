"""Finds the field of the draft that an unknown field name means: misspelt, abbreviated or in another language."""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final, TypeAlias

from einvoice.draft.draft import Draft
from einvoice.draft.fields.base import DraftModel, model_of, titles_of
from einvoice.quotation import quote

Path: TypeAlias = Sequence[str | int]

_SIMILAR: Final = 0.85
"""Similarity (0 to 1) from which a name means a word of a title; names of fields need the default of `difflib`."""
_UMLAUTS: Final = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss"})
_MIN_PART: Final = 4
"""Minimum letters of a name that is a part of a compound word: "satz" in "Umsatzsteuersatz"."""


def field_meant(path: Path, missing: Collection[Path] = ()) -> str:
    """Return the name of the field that an unknown one means; "" if none is similar.

    Args:
        path: the unknown field.
        missing: the required fields that are missing; among equally similar fields, they are meant first.
    """
    cls = _model_at(path[:-1])
    if cls is None:
        return ""
    name = _normalized(quote(str(path[-1])))
    fields = sorted(cls.model_fields, key=lambda field: (*path[:-1], field) not in missing)
    for is_meant in _TESTS:
        if found := [field for field in fields if is_meant(name, cls, field)]:
            return max(found, key=lambda field: ((*path[:-1], field) in missing, _similarity(name, field)))
    return ""


def _model_at(path: Path) -> type[DraftModel] | None:
    model: Any = Draft
    for step in path:
        if isinstance(step, str) and model is not None:
            model = model_of(model.model_fields[step].annotation)
    return model  # type: ignore[no-any-return]


def _normalized(name: str) -> str:
    """Return a name in lower case with underscores and without umlauts.

    >>> _normalized("unitPrice"), _normalized("Fällig-am")
    ('unit_price', 'faellig_am')
    """
    parted = re.sub(r"(?<=[a-z])(?=[A-Z])|[^\w]+", "_", name)
    return parted.lower().translate(_UMLAUTS)


@functools.cache
def _title_words(cls: type[DraftModel], field: str) -> frozenset[str]:
    """Return the words of a field's titles in all languages."""
    return frozenset(_normalized(word) for title in titles_of(cls, field) for word in re.findall(r"[\w-]{2,}", title))


def _similarity(name: str, other: str) -> float:
    return difflib.SequenceMatcher(None, name, other).ratio()


def _is_same(name: str, _cls: type[DraftModel], field: str) -> bool:
    return name.replace("_", "") == field.replace("_", "")


def _is_title(name: str, cls: type[DraftModel], field: str) -> bool:
    return name in _title_words(cls, field)


def _is_similar(name: str, _cls: type[DraftModel], field: str) -> bool:
    return bool(difflib.get_close_matches(name, [field], 1))


def _is_abbreviation(name: str, _cls: type[DraftModel], field: str) -> bool:
    """Whether a name has letters of a field, in their order and starting with the first one.

    >>> _is_abbreviation("qty", Draft, "quantity"), _is_abbreviation("ty", Draft, "quantity")
    (True, False)
    """
    remaining = iter(field)
    return len(name) > 1 and name[0] == field[0] and all(letter in remaining for letter in name)


def _is_near_title(name: str, cls: type[DraftModel], field: str) -> bool:
    words = _title_words(cls, field)
    is_part = len(name) >= _MIN_PART and any(name in word for word in words)
    return is_part or bool(difflib.get_close_matches(name, words, 1, _SIMILAR))


#: From the strongest resemblance to the weakest.
_TESTS: Final[Sequence[Callable[[str, type[DraftModel], str], bool]]] = (
    _is_same,
    _is_title,
    _is_similar,
    _is_abbreviation,
    _is_near_title,
)
