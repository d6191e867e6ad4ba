"""The words that declare the invoice: groups, their terms, and views on them.

A field says which business terms it holds; everything else (tables, checks of rules, documentation) is derived from
there. Names, types and cardinalities of the terms stand in ``terms.csv``.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, TypeVar, get_args, get_origin, get_type_hints

from einvoice.model import source
from einvoice.model.values import absent

G = TypeVar("G", bound="type[Group]")


def term(*numbers: str) -> Any:
    """A field for one value or one group; ``numbers`` are its business terms, one for each group it serves."""
    return field(default=absent, metadata={"terms": numbers})


def terms(*numbers: str) -> Any:
    """A field for any number of values or groups, in the order of the document."""
    return field(default=(), metadata={"terms": numbers})


def view(*numbers: str) -> Callable[[Callable[[Any], Any]], Any]:
    """A business term that is found by looking at occurrences, such as "the first registration for VAT"."""

    def declare(function: Callable[[Any], Any]) -> Any:
        function.terms = numbers  # type: ignore[attr-defined]
        return property(function)

    return declare


def numbered(groups: str, **numbers: str) -> Callable[[G], G]:
    """Give the fields of a shared shape (an address, a contact …) their business terms in these groups."""

    def declare(cls: G) -> G:
        cls.groups = tuple(groups.split())
        cls.numbers = {name: tuple(number.split()) for name, number in numbers.items()}
        return cls

    return declare


@dataclass
class Group:
    """A business group: what belongs together. Fields that the document does not fill are ``absent`` or empty.

    ``groups`` names the business groups that the class stands for, in the order in which its fields name their terms.
    """

    groups: ClassVar[tuple[str, ...]] = ()
    numbers: ClassVar[dict[str, tuple[str, ...]]] = {}
    node: ClassVar[Any] = None  # set on the instance by the reader: a group made by hand has no source
    parent: ClassVar[Any] = None  # the group of the element around it, where the reader found one

    more: Sequence[Any] = field(default=(), kw_only=True, metadata={"terms": ()})

    @property
    def line(self) -> int | None:
        """The line of the document where the group begins; None for a group that no document gave."""
        return source.line(self.node)

    @property
    def xpath(self) -> str:
        """Where the group stands in its document; empty for a group that no document gave."""
        return source.xpath(self.node)

    def walk(self) -> Iterator[Group]:
        """This group and every group below it, in the order of the model."""
        yield self
        for f in fields(self):
            content = getattr(self, f.name)
            for item in content if isinstance(content, list | tuple) else (content,):
                if isinstance(item, Group):
                    yield from item.walk()

    def __repr__(self) -> str:
        shown = ", ".join(
            f"{f.name}={getattr(self, f.name)!r}" for f in fields(self) if _is_there(getattr(self, f.name))
        )
        return f"{type(self).__name__}({shown})"


def _is_there(content: Any) -> bool:
    return content is not absent and content != () and content != []


def terms_of(cls: type[Group], name: str) -> tuple[str, ...]:
    """The business terms of a field or view of ``cls``; empty for a field that serves the syntax alone.

    Raises ``LookupError`` where ``cls`` has no such field.
    """
    if name in cls.numbers:
        return cls.numbers[name]
    declared = getattr(cls, name, None)
    if isinstance(declared, property):
        return getattr(declared.fget, "terms", ())
    for f in fields(cls):
        if f.name == name:
            return tuple(f.metadata.get("terms", ()))
    raise LookupError(name)


@functools.cache
def kinds_of(cls: type[Group]) -> dict[str, tuple[type, bool]]:
    """What each field or view of ``cls`` holds: its class, and whether there may be many."""
    hints = {name: hint for name, hint in get_type_hints(cls).items() if get_origin(hint) is not ClassVar}
    for name in dir(cls):
        declared = getattr(cls, name)
        if isinstance(declared, property) and declared.fget is not None:
            hints[name] = get_type_hints(declared.fget).get("return", Any)
    return {name: _kind(hint) for name, hint in hints.items()}


def _kind(hint: Any) -> tuple[type, bool]:
    many = get_origin(hint) in (list, tuple, Sequence)
    inner = get_args(hint)[0] if many else hint
    return (inner, many)
