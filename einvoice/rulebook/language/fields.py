"""The fields of the model that rules may read, with their kinds and business terms."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, ClassVar, get_type_hints

from einvoice.model.group import Group, kinds_of, terms_of
from einvoice.model.values import Value
from einvoice.rulebook.language.types import Kind


def of(cls: type[object]) -> Mapping[str, tuple[type, bool]]:
    """The fields of a class that rules may read: class and whether there may be many.

    Of a group its terms, its own truths, and class variables that are text (the syntax and the root element of the
    invoice); of a value what the document has beside it (``scheme``, ``currency`` …). Where something stands in the
    document is no rule's business.
    """
    key: Any = cls  # mypy takes a class for unhashable where its instances are
    return _of(key)


@functools.cache
def _of(cls: Any) -> Mapping[str, tuple[type, bool]]:
    if issubclass(cls, Group):
        found = {name: kind for name, kind in kinds_of(cls).items() if name not in kinds_of(Group)}
        texts = [name for name, hint in get_type_hints(cls).items() if hint == ClassVar[str]]
        return found | dict.fromkeys(texts, (str, False))
    beside = dir(cls) if issubclass(cls, Value) else ()
    return {name: (str, False) for name in beside if name not in dir(Value) and _is_text(getattr(cls, name))}


def is_stored(cls: type[object], name: str) -> bool:
    """Return whether a field is stored in the instance, so that reading it computes nothing."""
    return issubclass(cls, Group) and name in cls.fields and not isinstance(getattr(cls, name), property)


def _is_text(declared: object) -> bool:
    return isinstance(declared, property) and get_type_hints(declared.fget).get("return") is str


def kind_of(owner: Kind, name: str, group: str = "") -> Kind:
    """The kind of a field of ``owner``, with the business terms that reading it counts.

    A class that stands for several groups names the terms of one after those of the other; ``owner.group``, else
    ``group``, says which count.
    """
    cls, many = of(owner.cls)[name]
    if not issubclass(owner.cls, Group):
        return Kind(cls, many)
    narrowed = owner.group or (group if group in owner.cls.groups else "")
    terms = _terms(owner.cls, name, narrowed)
    return Kind(cls, many, _below(cls, terms, narrowed), terms)


def _below(cls: type[object], terms: tuple[str, ...], group: str) -> str:
    """The business group of what a field holds: the one that its terms name, else that of its owner."""
    if not issubclass(cls, Group):
        return ""
    named = {term for term in terms if term in cls.groups}
    if len(named) == 1:
        return named.pop()
    return group if group in cls.groups else ""


def _terms(cls: type[Group], name: str, group: str) -> tuple[str, ...]:
    try:
        terms = terms_of(cls, name)
    except LookupError:  # a class variable, or a truth about the group
        return ()
    each, rest = divmod(len(terms), len(cls.groups) or 1)
    if group in cls.groups and not rest:
        start = cls.groups.index(group) * each
        terms = terms[start : start + each]
    return tuple(filter(None, terms))
