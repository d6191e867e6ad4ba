"""From a finding to the field of the draft that causes it.

The fields say which business terms they hold; the model says where each term stands in the invoice. Of the terms of a
finding the one counts whose place in the generated document is nearest to where the finding points; the lists on the
way to it tell which line, which allowance it is.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from einvoice.draft.calculation import Vat
from einvoice.draft.draft import Draft
from einvoice.draft.fields.part import Part, is_list, part_of, terms_of
from einvoice.draft.fields.totals import VatCategory
from einvoice.model.group import Group
from einvoice.model.invoice import Invoice
from einvoice.model.terms import path_of
from einvoice.model.values import Value, absent
from einvoice.result import Finding

Steps: TypeAlias = tuple[str, ...]

_EACH: Final = "*"
_NEXT: Final = "-"  # the member after the last one, in RFC 6901


class Field(NamedTuple):
    """A field of the draft: the way to it, with `*` for the members of a list, and the term of each list passed."""

    path: Steps
    lists: tuple[str, ...]


@functools.cache
def fields() -> Mapping[str, tuple[Field, ...]]:
    """The fields of the draft by business term, in the order of their declaration."""
    found: dict[str, tuple[Field, ...]] = {}
    for number, field in _fields(Draft, Field((), ())):
        found[number] = (*found.get(number, ()), field)
    return found


def _fields(cls: type[Part], above: Field) -> Iterator[tuple[str, Field]]:
    for name, info in cls.model_fields.items():
        numbers = terms_of(cls, name)
        here = Field((*above.path, name), above.lists)
        if is_list(info.annotation):
            here = Field((*here.path, _EACH), (*above.lists, numbers[0]))
        yield from ((number, here) for number in numbers)
        if (inner := part_of(info.annotation)) is not None:
            yield from _fields(inner, here)


class _Way(NamedTuple):
    """How far one can go from the invoice towards a term without leaving what is around (or is) a node."""

    number: str
    depth: int  # of the last thing on the way, in the document; 0 is the invoice itself
    indices: Mapping[str, int]  # by path in the model: with which member of a list one has gone on


class Pointers:
    """The fields of one draft that findings about its invoice point at.

    `invoice` is the one that was read from the generated document.
    """

    def __init__(self, draft: Draft, invoice: Invoice) -> None:
        self._draft = draft
        self._invoice = invoice
        self._members: dict[tuple[int, str], tuple[list[Any], dict[Any, int]]] = {}

    def of(self, finding: Finding) -> str:
        """The JSON pointer of the field that causes a finding; "" (the whole draft) where no field does.

        A member that a list does not have yet is `-`, as RFC 6901 has it.
        """
        node = finding.location.node
        about = [self._way(number, node) for number in (*finding.terms, finding.bt_field) if number in fields()]
        steps = self._nearest(about)
        if not steps:  # then whatever stands where it points
            steps = self._nearest(way for number in fields() if (way := self._way(number, node)).depth)
        return "".join(f"/{step}" for step in self._up_to_missing_list(steps))

    @functools.cached_property
    def _vat(self) -> Sequence[Vat]:
        return self._draft.sums.vat

    def _nearest(self, ways: Iterable[_Way]) -> Steps:
        """The way to the field of the deepest way; of equals the first, since that is the leading term's."""
        for way in sorted(ways, key=lambda way: -way.depth):
            found = [self._cause(_filled(field, way)) for field in fields()[way.number]]
            possible = [steps for steps in found if self._can_be(steps)]
            present = (steps for steps in possible if self._at(steps) is not None)
            if possible:
                return next(present, possible[0])
        return ()

    def _way(self, number: str, node: Any) -> _Way:
        around = [] if node is None else [node, *node.iterancestors()]
        indices: dict[str, int] = {}
        depth, place, path = 0, self._invoice, path_of(number).split(".")
        for length, step in enumerate(path, 1):
            members, known = self._several(place, step)
            element = next((element for element in around if element in known), None)
            if element is not None:
                index, depth = known[element], max(depth, len(around) - around.index(element))
            elif len(members) == 1 and _is_below(members[0].node, node):
                index = 0  # alone, it is meant even though the finding points at what is around it
            else:
                break
            if _is_many(place, step):
                indices[".".join(path[:length])] = index
            place = members[index]
        return _Way(number, depth, indices)

    def _several(self, place: Any, step: str) -> tuple[list[Any], Mapping[Any, int]]:
        """What a field of the model holds, one or many, and which is which element's."""
        key = id(place), step
        if key not in self._members:
            content = getattr(place, step, absent)
            several = content if isinstance(content, list | tuple) else [content]
            members = [it for it in several if isinstance(it, Group | Value)]  # an attribute has no place of its own
            elements = {it.node: index for index, it in reversed(list(enumerate(members))) if it.node is not None}
            self._members[key] = members, elements
        return self._members[key]

    def _cause(self, steps: Steps) -> Steps:
        """What lies behind an entry of the VAT breakdown that the draft leaves to be calculated."""
        given = len(self._draft.vat_breakdown or ())
        if steps[0] != "vat_breakdown" or len(steps) < 2 or int(steps[1]) < given:
            return steps
        cause = VatCategory.causes.get(steps[-1])
        if cause is None:
            return (steps[0], _NEXT, *steps[2:])
        return (*self._vat[int(steps[1])].source.split("/")[1:], cause)

    def _can_be(self, steps: Steps) -> bool:
        """Whether the draft has the members of lists that lie on the way."""
        for length, step in enumerate(steps):
            place = self._at(steps[:length])
            if isinstance(place, list) and step != _NEXT and int(step) >= len(place):
                return False
        return True

    def _up_to_missing_list(self, steps: Steps) -> Steps:
        """What a list lacks that is not there at all is the list."""
        for length, step in enumerate(steps):
            if step.isdigit() and self._at(steps[:length]) is None:
                return steps[:length]
        return steps

    def _at(self, steps: Steps) -> Any:
        place: Any = self._draft
        for step in steps:
            if isinstance(place, list):
                place = place[int(step)] if step != _NEXT and int(step) < len(place) else None
            else:
                place = getattr(place, step, None)
        return place


def _is_many(place: Any, step: str) -> bool:
    return isinstance(getattr(place, step, absent), list | tuple)


def _is_below(element: Any, node: Any) -> bool:
    return element is not None and node in element.iterancestors()


def _filled(field: Field, way: _Way) -> Steps:
    """The way to a field, with the numbers of the members of its lists, as far as they are known."""
    lists = iter(field.lists)
    steps: list[str] = []
    passed = ""
    for step in field.path:
        if step == _EACH:
            passed = _last_list(path_of(next(lists)), passed, way.indices)
            if not passed:
                break
            step = str(way.indices[passed])
        steps.append(step)
    return tuple(steps)


def _last_list(path: str, passed: str, indices: Mapping[str, int]) -> str:
    """The model's last list on the way to a path, beyond the one already passed; "" if one has not come that far."""
    while path and path not in indices:
        path = path.rpartition(".")[0]
    return "" if len(path) <= len(passed) else path
