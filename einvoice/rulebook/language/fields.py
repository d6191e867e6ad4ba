"""The fields of the model that rules may read, with their types and business terms."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, ClassVar, get_type_hints

from einvoice.model.group import Group, terms_of, types_of
from einvoice.model.values import Value
from einvoice.rulebook.language.types import Type


def fields_of(cls: type[object]) -> Mapping[str, tuple[type, bool]]:
    """Return the fields of a class that rules may read, each with its class and whether it is a sequence.

    For a group, these are its terms, its boolean properties and its class variables that are text (syntax and root
    element of the invoice); for a value, its attributes in the document (`scheme`, `currency` …). Rules cannot read
    the location in the document.
    """
    key: Any = cls  # mypy treats a class as unhashable if its instances are
    return _fields_of(key)


@functools.cache
def _fields_of(cls: Any) -> Mapping[str, tuple[type, bool]]:
    if issubclass(cls, Group):
        fields = {name: declared for name, declared in types_of(cls).items() if name not in types_of(Group)}
        texts = [name for name, hint in get_type_hints(cls).items() if hint == ClassVar[str]]
        return fields | dict.fromkeys(texts, (str, False))
    attributes = dir(cls) if issubclass(cls, Value) else ()
    return {name: (str, False) for name in attributes if name not in dir(Value) and _is_text(getattr(cls, name))}


def is_stored(cls: type[object], name: str) -> bool:
    """Return whether a field is stored in the instance, so that reading it computes nothing."""
    return issubclass(cls, Group) and name in cls.fields and not isinstance(getattr(cls, name), property)


def _is_text(declared: object) -> bool:
    return isinstance(declared, property) and get_type_hints(declared.fget).get("return") is str


def type_of(owner: Type, name: str, group: str = "") -> Type:
    """Return the type of a field of `owner`, with its business terms.

    A class that represents several groups lists the terms of each group in turn; `owner.group`, or else `group`,
    selects the group.
    """
    cls, many = fields_of(owner.cls)[name]
    if not issubclass(owner.cls, Group):
        return Type(cls, many)
    narrowed = owner.group or (group if group in owner.cls.groups else "")
    terms = _terms(owner.cls, name, narrowed)
    return Type(cls, many, _group_of(cls, terms, narrowed), terms)


def _group_of(cls: type[object], terms: tuple[str, ...], group: str) -> str:
    """Return the business group of a field: the one that its terms name, or else that of its owner."""
    if not issubclass(cls, Group):
        return ""
    named = {term for term in terms if term in cls.groups}
    if len(named) == 1:
        return named.pop()
    return group if group in cls.groups else ""


def _terms(cls: type[Group], name: str, group: str) -> tuple[str, ...]:
    try:
        terms = terms_of(cls, name)
    except LookupError:  # a class variable, or a boolean property
        return ()
    per_group, rest = divmod(len(terms), len(cls.groups) or 1)
    if group in cls.groups and not rest:
        start = cls.groups.index(group) * per_group
        terms = terms[start : start + per_group]
    return tuple(filter(None, terms))
