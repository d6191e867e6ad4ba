"""The words that declare the invoice: groups, their terms, and views on them.

A field says which business terms it holds; everything else (tables, checks of rules, documentation) is derived from
there. Names, types and cardinalities of the terms stand in ``terms.csv``.
"""

from __future__ import annotations

import copy
import functools
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final, TypeVar, dataclass_transform, get_args, get_origin, get_type_hints

from einvoice.model import location
from einvoice.model.values import absent

G = TypeVar("G", bound="type[Group]")
T = TypeVar("T")


class Field:
    """A field as a class body declares it; the class keeps the default in its place."""

    __slots__ = ("default", "terms")

    def __init__(self, default: Any, terms: tuple[str, ...] = ()) -> None:
        self.default = default
        self.terms = terms


def term(*numbers: str) -> Any:
    """A field for one value or one group; ``numbers`` are its business terms, one for each group it serves."""
    return Field(absent, numbers)


def terms(*numbers: str) -> Any:
    """A field for any number of values or groups, in the order of the document."""
    return Field((), numbers)


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


#: What a group has from the document that it was read from.
_OF_DOCUMENT: Final = ("node", "around", "marks", "elsewhere", "uncovered", "lines_by_place",
                       "allowances_and_charges_by_place")  # fmt: skip


@dataclass_transform(kw_only_default=True)
class Group:
    """A business group: what belongs together. Fields that the document does not fill are ``absent`` or empty.

    ``groups`` names the business groups that the class stands for, in the order in which its fields name their terms.
    To type checkers a group is a dataclass that is built by keyword. It is none, because dataclasses compile methods
    for each class, which for all the groups took a third of the time to import einvoice.
    """

    groups: ClassVar[tuple[str, ...]] = ()
    known: ClassVar[dict[str, type[Group]]] = {}  # every class of groups by its name
    numbers: ClassVar[dict[str, tuple[str, ...]]] = {}
    fields: ClassVar[Mapping[str, Field]] = {"more": Field(())}
    node: ClassVar[Any] = None  # set on the instance by the reader: a group made by hand has no source
    around: ClassVar[weakref.ref[Group] | None] = None  # what ``parent`` looks at
    marks: ClassVar[Mapping[str, list[Any]]] = {}  # elements that only wrap others, where rules ask whether they exist

    more: Sequence[Any] = ()

    def __init_subclass__(cls) -> None:
        own = {name: declared for name, declared in vars(cls).items() if isinstance(declared, Field)}
        cls.fields = {name: field for name, field in cls.fields.items() if name not in own} | own
        for name, declared in own.items():
            setattr(cls, name, declared.default)
        Group.known[cls.__name__] = cls

    def __init__(self, **content: Any) -> None:
        for name in content:
            if name not in self.fields:
                raise TypeError(f"{type(self).__name__} has no field {name!r}")
        self.__dict__.update(content)

    @property
    def parent(self) -> Any:
        """The group of the element around this one, as the reader found it; None for a group made by hand.

        It is not kept alive by what is below it: without cycles a large invoice is gone as soon as nobody has it.
        """
        return None if self.around is None else self.around()

    @parent.setter
    def parent(self, group: Group) -> None:
        self.around = weakref.ref(group)  # type: ignore[misc]

    @property
    def line(self) -> int | None:
        """The line of the document where the group begins; None for a group that no document gave."""
        return location.line(self.node)

    @property
    def xpath(self) -> str:
        """Where the group stands in its document; empty for a group that no document gave."""
        return location.xpath(self.node)

    def walk(self) -> Iterator[Group]:
        """This group and every group below it, in the order of the model."""
        yield self
        for name in self.fields:
            content = getattr(self, name)
            for item in content if isinstance(content, list | tuple) else (content,):
                if isinstance(item, Group):
                    yield from item.walk()

    def __getstate__(self) -> dict[str, Any]:
        """For a deep copy or another process: what was said, without the document that said it."""
        return {name: content for name, content in vars(self).items() if name not in _OF_DOCUMENT}

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(_same(getattr(self, name), getattr(other, name)) for name in self.fields)

    def __repr__(self) -> str:
        content = ((name, getattr(self, name)) for name in self.fields)
        shown = ", ".join(f"{name}={it!r}" for name, it in content if it is not absent and it != () and it != [])
        return f"{type(self).__name__}({shown})"


def first(occurrences: Iterable[T]) -> T:
    """The first of several occurrences that is there; ``absent`` where none is."""
    return next((occurrence for occurrence in occurrences if occurrence is not absent), absent)


def inside(element: Any, value: Any) -> Any:
    """The occurrences of a value that stand inside an element."""
    found = [it for it in (() if value is absent else (value, *value.more)) if element in it.node.iterancestors()]
    for it in found[:1]:
        value = copy.copy(it)
        value.more = found[1:]
    return value if found else absent


def invoice_of(group: Group | None) -> Any:
    """The invoice that a group was read from; None for a group made by hand."""
    while group is not None and group.groups != ("BG-0",):
        group = group.parent
    return group


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return list(one) == list(other)
    return one is other or bool(one == other)  # absent equals nothing, itself neither


def terms_of(cls: type[Group], name: str) -> tuple[str, ...]:
    """The business terms of a field or view of ``cls``; empty for a field that serves the syntax alone.

    Raises ``LookupError`` where ``cls`` has no such field.
    """
    if name in cls.numbers:
        return cls.numbers[name]
    declared = getattr(cls, name, None)
    if isinstance(declared, property):
        return getattr(declared.fget, "terms", ())
    if name in cls.fields:
        return cls.fields[name].terms
    raise LookupError(name)


def kinds_of(cls: type[Group]) -> Mapping[str, tuple[type, bool]]:
    """What each field or view of ``cls`` holds: its class, and whether there may be many."""
    key: Any = cls  # mypy takes a class for unhashable where its instances are
    return _kinds_of(key)


@functools.cache
def _kinds_of(cls: Any) -> Mapping[str, tuple[type, bool]]:
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
