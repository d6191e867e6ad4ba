"""Declarations for the invoice model: groups, fields with their business terms, and views.

Binding tables, type checks of rules and documentation are derived from these declarations. Names, types and
cardinalities of the terms are in `terms.csv`.
"""

from __future__ import annotations

import builtins
import copy
import functools
import sys
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Final, TypeVar, dataclass_transform

from einvoice.model import editing, location
from einvoice.model.values import Absent, absent

G = TypeVar("G", bound="type[Group]")
T = TypeVar("T")


class Field:
    """Declaration of a field in a class body; the class replaces it with the default."""

    __slots__ = ("default", "terms")

    def __init__(self, default: Any, terms: tuple[str, ...] = ()) -> None:
        self.default = default
        self.terms = terms


def term(*numbers: str) -> Any:
    """Declare a field for one value or group; `numbers` are its business terms, one per group of the class."""
    return Field(absent, numbers)


def terms(*numbers: str) -> Any:
    """Declare a field for a list of values or groups, in document order."""
    return Field((), numbers)


def view(*numbers: str) -> Callable[[Callable[[Any], Any]], Any]:
    """Declare a property that derives business terms, such as the first VAT registration, from fields."""

    def declare(function: Callable[[Any], Any]) -> Any:
        function.terms = numbers  # type: ignore[attr-defined]
        return property(function)

    return declare


def numbered(groups: str, **numbers: str) -> Callable[[G], G]:
    """Assign the business terms of these groups to the fields of a shared class (address, contact …)."""

    def declare(cls: G) -> G:
        cls.groups = tuple(groups.split())
        cls.numbers = {name: tuple(number.split()) for name, number in numbers.items()}
        return cls

    return declare


_MAX_TERMS: Final = 4
"""Views of more terms serve rules, not readers."""


class _Documentation:
    """The docstring of a class with a table of its fields, which is written when it is read: `help(Invoice)`."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __get__(self, _: object, cls: type[Group]) -> str:
        """Return the text, then a line per field: its name, its business terms and their English name."""
        from einvoice.model.terms import name

        views = [it for base in cls.__mro__ for it, declared in vars(base).items() if isinstance(declared, property)]
        lines = []
        for field in dict.fromkeys((*cls.fields, *views)):
            if 0 < len(numbers := list(dict.fromkeys(terms_of(cls, field)))) <= _MAX_TERMS:
                lines.append(f"    {field}: " + ", ".join(f"{it} {name(it, 'en')}" for it in numbers))
        return "\n    ".join((self.text.rstrip(), "", "Fields:", *lines)) if lines else self.text


#: Attributes that refer to the document.
_OF_DOCUMENT: Final = ("node", "parent_ref", "find_invoice", "tracked", "misplaced", "unmapped", "repeated",
                       "lines_by_element", "allowances_and_charges_by_element", "breakdowns_by_total",
                       "is_mixed")  # fmt: skip


@dataclass_transform(kw_only_default=True)
class Group:
    """A business group. Fields without content in the document are `absent` or empty.

    For type checkers a group is a keyword-only dataclass. It is not one at run time, because dataclasses compile
    methods for each class, which took a third of the import time of einvoice.

    Assigned content is checked, and a plain value (text, `Decimal`, date, bytes) is converted; see `model.editing`.
    `del` removes a term.

    Attributes:
        groups: the business groups of the class, in the order in which its fields name their terms.
        known: all group classes, by name.
        node: the element, set by the reader; None for a group that was not read from a document.
        parent_ref: weak reference to `parent`.
        tracked: elements whose existence rules test, by name.
        more: further occurrences of a group that the standard allows once.
    """

    groups: ClassVar[tuple[str, ...]] = ()
    known: ClassVar[dict[str, type[Group]]] = {}
    numbers: ClassVar[dict[str, tuple[str, ...]]] = {}
    fields: ClassVar[Mapping[str, Field]] = {"more": Field(())}
    node: ClassVar[Any] = None
    parent_ref: ClassVar[weakref.ref[Group] | None] = None
    tracked: ClassVar[Mapping[str, list[Any]]] = {}

    more: Sequence[Any] = ()

    def __init_subclass__(cls) -> None:
        own = {name: declared for name, declared in vars(cls).items() if isinstance(declared, Field)}
        cls.fields = {name: field for name, field in cls.fields.items() if name not in own} | own
        for name, declared in own.items():
            setattr(cls, name, declared.default)
        for name in own | {it: 0 for it, declared in vars(cls).items() if isinstance(declared, property)}:
            setattr(Absent, name, absent)
        cls.__doc__ = _Documentation(cls.__doc__ or "")  # type: ignore[assignment]
        Group.known[cls.__name__] = cls

    def __init__(self, **content: Any) -> None:
        for name, given in content.items():
            if name not in self.fields:
                raise TypeError(editing.unknown_field(type(self).__name__, name, self.fields))
            self.__dict__[name] = self._checked(name, given)

    def __setattr__(self, name: str, given: Any) -> None:
        """Set a field to checked content.

        Raises:
            TypeError: the content has the wrong type.
            ValueError: a number is not finite.
            AttributeError: the class has no such field, or derives it from others.
        """
        cls = type(self)
        if name in self.fields:
            self.__dict__[name] = self._checked(name, given)
        elif not hasattr(cls, name):
            raise AttributeError(editing.unknown_field(cls.__name__, name, cls.fields))
        elif isinstance(declared := getattr(cls, name), property) and declared.fset is None:
            raise editing.derived(editing.Declared(cls.__name__, name, *types_of(cls)[name], terms_of(cls, name)))
        else:
            object.__setattr__(self, name, given)

    def _checked(self, name: str, given: Any) -> Any:
        cls = type(self)
        kind, many = (cls, True) if name == "more" else types_of(cls)[name]
        if not many and (given is absent or type(given) is kind):  # as almost always
            return given
        return editing.content_of(
            editing.Declared(cls.__name__, name, kind, many, terms_of(cls, name)), given, getattr(self, name)
        )

    @property
    def parent(self) -> Any:
        """The group of the parent element; None for a group that was not read from a document.

        The reference is weak: without cycles a large invoice is freed as soon as nothing refers to it.
        """
        return None if self.parent_ref is None else self.parent_ref()

    @parent.setter
    def parent(self, group: Group) -> None:
        self.parent_ref = weakref.ref(group)  # type: ignore[misc]

    def find_invoice(self) -> Any:
        """Return the invoice that contains the group; None for a group that was not read from a document.

        The reader replaces this method with a weak reference, since rules call it for every line.
        """
        group: Group | None = self
        while group is not None and group.groups != ("BG-0",):
            group = group.parent
        return group

    @property
    def line(self) -> int | None:
        """Line in the document, counted from 1; None for a group that was not read from a document."""
        return location.line(self.node)

    @property
    def xpath(self) -> str:
        """XPath of the group, with the prefixes of `NAMESPACES`; empty if it was not read from a document."""
        return location.xpath(self.node)

    def walk(self) -> Iterator[Group]:
        """Yield this group and all groups below it, in the order of the model."""
        yield self
        for name in self.fields:
            content = getattr(self, name)
            for item in content if isinstance(content, list | tuple) else (content,):
                if isinstance(item, Group):
                    yield from item.walk()

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for a deep copy or another process: the content without the document."""
        return {name: content for name, content in vars(self).items() if name not in _OF_DOCUMENT}

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        return all(_same(getattr(self, name), getattr(other, name)) for name in self.fields)

    def __repr__(self) -> str:
        content = ((name, getattr(self, name)) for name in self.fields)
        filled = ", ".join(f"{name}={it!r}" for name, it in content if it is not absent and it != () and it != [])
        return f"{type(self).__name__}({filled})"


def first(occurrences: Iterable[T]) -> T:
    """Return the first occurrence that is not `absent`; `absent` if there is none."""
    return next((occurrence for occurrence in occurrences if occurrence is not absent), absent)


def inside(element: Any, value: Any) -> Any:
    """Return the occurrences of a value inside an element: a copy of the first, with the others in `more`."""
    if value is absent:
        return absent
    return _merged([it for it in (value, *value.more) if element in it.node.iterancestors()])


def split(group: T, elements: Sequence[Any]) -> list[T]:
    """Return `group` once for each of the `elements` that it was read from, with the content inside the element.

    The reader merges elements that the XML schema allows once, such as the UBL party of a seller; the official rules
    check each of them.
    """
    return [group] if len(elements) == 1 else _parts(group, elements)


def _parts(group: Any, elements: Sequence[Any]) -> list[Any]:
    parts = {element: object.__new__(type(group)) for element in elements}
    for element, part in parts.items():
        part.__dict__.update(vars(group), node=element, more=(), tracked={})
    for name, found in group.tracked.items():
        for element, part_of in _by_element(found, parts, lambda it: it).items():
            parts[element].tracked[name] = part_of
    for name in vars(group).keys() & group.fields.keys() - {"more"}:
        content = getattr(group, name)
        is_list = isinstance(content, list)
        found = content if is_list else (content, *content.more)
        for element, part_of in _by_element(found, parts, lambda it: it.node).items():
            parts[element].__dict__[name] = part_of if is_list else _merged(part_of)
    return list(parts.values())


def _by_element(found: Iterable[Any], elements: Iterable[Any], node_of: Callable[[Any], Any]) -> dict[Any, list[Any]]:
    """Return for each of the elements what was found in it, itself included."""
    result: dict[Any, list[Any]] = {element: [] for element in elements}
    for it in found:
        node = node_of(it)
        for element in (node, *node.iterancestors()):
            if element in result:
                result[element].append(it)
    return result


def _merged(occurrences: Sequence[Any]) -> Any:
    """Return a copy of the first occurrence with the others in `more`; `absent` if there is none."""
    if not occurrences:
        return absent
    result = copy.copy(occurrences[0])
    if isinstance(result, Group):
        result.__dict__.update(vars(occurrences[0]))  # a copy has no reference to the document
        result.__dict__["more"] = occurrences[1:]
    else:
        result.more = occurrences[1:]
    return result


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return list(one) == list(other)
    return one is other or bool(one == other)  # `absent == absent` is false


def terms_of(cls: type[Group], name: str) -> tuple[str, ...]:
    """Return the business terms of a field or view of `cls`; empty for a field of one syntax only.

    Raises:
        LookupError: `cls` has no such field.
    """
    if name in cls.numbers:
        return cls.numbers[name]
    declared = getattr(cls, name, None)
    if isinstance(declared, property):
        return getattr(declared.fget, "terms", ())
    if name in cls.fields:
        return cls.fields[name].terms
    raise LookupError(name)


def types_of(cls: type[Group]) -> Mapping[str, tuple[type, bool]]:
    """Return the class of each field or view of `cls`, and whether it is a list."""
    key: Any = cls  # for mypy, a class with unhashable instances is unhashable
    return _types_of(key)


@functools.cache
def _types_of(cls: Any) -> Mapping[str, tuple[type, bool]]:
    types: dict[str, tuple[type, bool]] = {}
    for base in reversed(cls.__mro__):
        written = dict(vars(base).get("__annotations__", {}))
        for name, declared in vars(base).items():
            if isinstance(declared, property) and declared.fget is not None:
                written[name] = declared.fget.__annotations__["return"]
        annotations = ((name, hint) for name, hint in written.items() if not hint.startswith("ClassVar"))
        types.update((name, _type(hint, base.__module__)) for name, hint in annotations)
    return types


def _type(annotation: str, module: str) -> tuple[type, bool]:
    """Return the class that an annotation names, such as `Code` or `Sequence[Line]`, and whether it is a sequence.

    `typing.get_type_hints` returns the same, but takes seven times as long.
    """
    inner = annotation.removeprefix("Sequence[").removesuffix("]").removesuffix(" | None")
    names = vars(sys.modules[module])
    cls = names.get(inner) or Group.known.get(inner) or getattr(builtins, inner)
    return cls, inner != annotation and annotation.endswith("]")
