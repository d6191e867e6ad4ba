"""Maps a finding to the field of the draft that causes it.

Each field declares its business terms, and the model knows the path of each term in the invoice. Among the finding's
terms, the one whose element in the generated document is closest to the finding's location is used. The lists on the
path to that element determine the index of the line, the allowance, and so on.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

from einvoice.draft.calculation import VatSubtotal
from einvoice.draft.draft import Draft
from einvoice.draft.fields.base import DraftModel, is_list, model_of, terms_of
from einvoice.draft.fields.totals import VatCategory
from einvoice.model.group import Group
from einvoice.model.invoice import Invoice
from einvoice.model.terms import path_of
from einvoice.model.values import Value, absent
from einvoice.result import Finding

Steps: TypeAlias = tuple[str, ...]

_ANY_INDEX: Final = "*"
_APPEND: Final = "-"  # RFC 6901: the element after the last one


class Field(NamedTuple):
    """A field of the draft: its path, with `*` for list indices, and the term of each list on the path."""

    path: Steps
    lists: tuple[str, ...]


@functools.cache
def fields() -> Mapping[str, tuple[Field, ...]]:
    """Return the fields of the draft by business term, in declaration order."""
    by_term: dict[str, tuple[Field, ...]] = {}
    for number, field in _fields(Draft, Field((), ())):
        by_term[number] = (*by_term.get(number, ()), field)
    return by_term


def _fields(cls: type[DraftModel], parent: Field) -> Iterator[tuple[str, Field]]:
    for name, info in cls.model_fields.items():
        numbers = terms_of(cls, name)
        field = Field((*parent.path, name), parent.lists)
        if is_list(info.annotation):
            field = Field((*field.path, _ANY_INDEX), (*parent.lists, *numbers[:1]))
        yield from ((number, field) for number in numbers)
        if (inner := model_of(info.annotation)) not in (None, cls):  # a finding on a sub-line points to the sub-lines
            yield from _fields(inner, field)


class _Match(NamedTuple):
    """The longest part of a term's path whose elements are the finding's element or its ancestors."""

    number: str
    depth: int  # of the last matching element in the document; 0 is the invoice itself
    indices: Mapping[str, int]  # list indices on the path, by path in the model


class Pointers:
    """Maps findings of one generated invoice to the fields of its draft.

    `invoice` was read from the generated document.
    """

    def __init__(self, draft: Draft, invoice: Invoice) -> None:
        self._draft = draft
        self._invoice = invoice
        self._members: dict[tuple[int, str], tuple[list[Any], dict[Any, int]]] = {}

    def of(self, finding: Finding) -> str:
        """Return the JSON pointer of the field that causes a finding; "" (the whole draft) if no field does.

        `-` is an entry that a list does not contain yet (RFC 6901).
        """
        node = finding.location.node
        matches = [self._match(number, node) for number in (*finding.terms, finding.bt_field) if number in fields()]
        steps = self._missing(finding) or self._closest(matches)
        if not steps:  # any field at the finding's location
            steps = self._closest(match for number in fields() if (match := self._match(number, node)).depth)
        return "".join(f"/{step}" for step in self._up_to_missing_list(steps))

    def _missing(self, finding: Finding) -> Steps:
        """Return the path of the leading term if it occurs once in a draft and is missing, whatever the location.

        A rule on the VAT breakdown may require a term of the whole invoice, such as the delivery date.
        """
        known = fields().get(finding.bt_field, ()) if finding.bt_field in finding.terms else ()
        is_missing = len(known) == 1 and not known[0].lists and self._at(known[0].path) is None
        return known[0].path if is_missing else ()

    @functools.cached_property
    def _vat(self) -> Sequence[VatSubtotal]:
        return self._draft.calculated.vat

    def _closest(self, matches: Iterable[_Match]) -> Steps:
        """Return the path of the field with the deepest match; in a tie, the first, starting with the leading term."""
        for match in sorted(matches, key=lambda match: -match.depth):
            paths = [self._cause(_with_indices(field, match)) for field in fields()[match.number]]
            possible = [steps for steps in paths if self._exists(steps)]
            present = (steps for steps in possible if self._at(steps) is not None)
            if possible:
                return next(present, possible[0])
        return ()

    def _match(self, number: str, node: Any) -> _Match:
        ancestors = [] if node is None else [node, *node.iterancestors()]
        indices: dict[str, int] = {}
        depth, group, path = 0, self._invoice, path_of(number).split(".")
        for length, step in enumerate(path, 1):
            members, by_element = self._content(group, step)
            element = next((element for element in ancestors if element in by_element), None)
            if element is not None:
                index, depth = by_element[element], max(depth, len(ancestors) - ancestors.index(element))
            elif len(members) == 1 and _is_below(members[0].node, node):
                index = 0  # the only member, although the finding points at an ancestor
            else:
                break
            if _is_list(group, step):
                indices[".".join(path[:length])] = index
            group = members[index]
        return _Match(number, depth, indices)

    def _content(self, group: Any, step: str) -> tuple[list[Any], Mapping[Any, int]]:
        """Return the members of a field of the model, and their indices by element."""
        key = id(group), step
        if key not in self._members:
            content = getattr(group, step, absent)
            items = content if isinstance(content, list | tuple) else [content]
            members = [it for it in items if isinstance(it, Group | Value)]  # attributes have no element
            elements = {it.node: index for index, it in reversed(list(enumerate(members))) if it.node is not None}
            self._members[key] = members, elements
        return self._members[key]

    def _cause(self, steps: Steps) -> Steps:
        """Map a calculated entry of the VAT breakdown to the line, allowance or charge it is calculated from."""
        given = len(self._draft.vat_breakdown or ())
        if steps[0] != "vat_breakdown" or len(steps) < 2 or int(steps[1]) < given:
            return steps
        cause = VatCategory.causes.get(steps[-1])
        if cause is None:
            return (steps[0], _APPEND, *steps[2:])
        return (*self._vat[int(steps[1])].source.split("/")[1:], cause)

    def _exists(self, steps: Steps) -> bool:
        """Whether the list indices on a path exist in the draft."""
        for length, step in enumerate(steps):
            value = self._at(steps[:length])
            if isinstance(value, list) and step != _APPEND and int(step) >= len(value):
                return False
        return True

    def _up_to_missing_list(self, steps: Steps) -> Steps:
        """Shorten a path to a list that the draft does not contain."""
        for length, step in enumerate(steps):
            if step.isdigit() and self._at(steps[:length]) is None:
                return steps[:length]
        return steps

    def _at(self, steps: Steps) -> Any:
        value: Any = self._draft
        for step in steps:
            if isinstance(value, list):
                value = value[int(step)] if step != _APPEND and int(step) < len(value) else None
            else:
                value = getattr(value, step, None)
        return value


def _is_list(group: Any, step: str) -> bool:
    return isinstance(getattr(group, step, absent), list | tuple)


def _is_below(element: Any, node: Any) -> bool:
    return element is not None and node in element.iterancestors()


def _with_indices(field: Field, match: _Match) -> Steps:
    """Return the path of a field with its list indices, up to the first unknown index."""
    lists = iter(field.lists)
    steps: list[str] = []
    previous = ""
    for step in field.path:
        if step == _ANY_INDEX:
            previous = _last_list(path_of(next(lists)), previous, match.indices)
            if not previous:
                break
            step = str(match.indices[previous])
        steps.append(step)
    return tuple(steps)


def _last_list(path: str, previous: str, indices: Mapping[str, int]) -> str:
    """Return the innermost list with a known index on a path of the model; "" if it is not below `previous`."""
    while path and path not in indices:
        path = path.rpartition(".")[0]
    return "" if len(path) <= len(previous) else path
