"""From a finding to the field of the draft that causes it.

The fields say which business terms they hold; the model says where each term stands in the invoice. Of the terms of a
finding the one counts whose place in the generated document is nearest to where the finding points; the lists on the
way to it tell which line, which allowance it is.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from einvoice.draft.draft import Draft
from einvoice.draft.part import Part, is_list, part_of, terms_of
from einvoice.model.group import Group
from einvoice.model.invoice import Invoice
from einvoice.model.terms import path_of
from einvoice.model.values import Value, absent
from einvoice.result import Finding

_EACH: Final = "*"


class Field(NamedTuple):
    """A field of the draft: the way to it, with `*` for the members of a list, and the term of each list passed."""

    path: tuple[str, ...]
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
        yield from ((number, here) for number in numbers)
        if (inner := part_of(info.annotation)) is not None:
            each = Field((*here.path, _EACH), (*above.lists, *numbers[:1]))
            yield from _fields(inner, each if is_list(info.annotation) else here)


def pointer(finding: Finding, invoice: Invoice, draft: Draft) -> str:
    """The JSON pointer of the field that causes a finding; "" (the whole draft) where no field does.

    `invoice` is the one that the finding is about, as it was read from the generated document.
    """
    node = finding.location.node
    ways = [_way(invoice, number, node) for number in _numbers(finding) if number in fields()]
    if not ways:
        return ""
    nearest = max(ways, key=lambda way: way.depth)  # of equals the first: the leading term
    candidates = [_filled(field, nearest) for field in fields()[nearest.number]]
    present = (steps for steps in candidates if _is_there(draft, steps))
    return "".join(f"/{step}" for step in next(present, candidates[0]))


def _numbers(finding: Finding) -> Iterator[str]:
    """The terms of a finding; for a group that no field of the draft is, its first term."""
    yield from finding.terms
    if finding.bt_field:
        yield finding.bt_field


class _Way(NamedTuple):
    """How far one can go from the invoice towards a term without leaving what is around (or is) a node."""

    number: str
    depth: int
    indices: Mapping[str, int]  # by path in the model: with which member of a list one has gone on


def _way(invoice: Invoice, number: str, node: Any) -> _Way:
    around = [] if node is None else [node, *node.iterancestors()]
    depths = {element: len(around) - index for index, element in enumerate(around)}
    indices: dict[str, int] = {}
    depth, content, path = 0, [invoice], path_of(number).split(".")
    for length, step in enumerate(path, 1):
        found = getattr(content[0], step, absent)
        content = _several(found)
        index = next((i for i, it in enumerate(content) if it.node in depths), None)
        if index is None:
            # What is not in the document, or elsewhere in it: a missing thing. Alone, it tells no other way.
            if len(content) != 1:
                break
            index = 0
        if isinstance(found, list | tuple):
            indices[".".join(path[:length])] = index
        content = content[index:]
        depth = max(depth, depths.get(content[0].node, 0))
    return _Way(number, depth, indices)


def _several(content: Any) -> list[Any]:
    """What a field of the model holds, one or many; its attributes are no place of their own."""
    several = content if isinstance(content, list | tuple) else [content]
    return [it for it in several if isinstance(it, Group | Value)]


def _filled(field: Field, way: _Way) -> tuple[str, ...]:
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


def _is_there(draft: Draft, steps: tuple[str, ...]) -> bool:
    content: Any = draft
    for step in steps:
        if isinstance(content, list):
            content = content[int(step)] if int(step) < len(content) else None
        else:
            content = getattr(content, step, None)
    return content is not None
