"""Moves elements to the place that the XML schema prescribes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from einvoice.model.location import name
from einvoice.repair.case import Candidate, Case
from einvoice.repair.edits import Edit, Insert, Remove
from einvoice.syntax import schema

_RANK = 15


def candidates(case: Case) -> Iterator[Candidate]:
    """Yield a candidate for each parent whose children are in the wrong order."""
    if not any(finding.code == "SCHEMA-ELEMENT-ORDER" for finding in case.findings):
        return
    models = schema.content_models(case.root.tag.rpartition("}")[2])
    for finding in case.findings:
        node = finding.location.node
        if finding.code != "SCHEMA-ELEMENT-ORDER" or node is None:
            continue
        parent = node.getparent()
        ranks = {particle.tag: rank for rank, particle in enumerate(models.sequence_of(parent))}
        moved = _moved([child for child in parent if isinstance(child.tag, str)], ranks)
        edits = [edit for child in moved for edit in _move(case, parent, child, moved)]
        if edits:
            yield Candidate(tuple(edits), _RANK, safe=True, terms=finding.terms[:1], moved=case.xpath(node))


def _moved(children: list[Any], ranks: dict[str, int]) -> list[Any]:
    """Return the children that stand before one that belongs before them."""
    known = [child for child in children if child.tag in ranks]
    return [
        child for at, child in enumerate(known) if any(ranks[later.tag] < ranks[child.tag] for later in known[at + 1 :])
    ]


def _move(case: Case, parent: Any, child: Any, moved: list[Any]) -> Iterator[Edit]:
    """Yield the edits that remove an element and insert it, with its content, behind those of its name."""
    same = [it for it in parent if it.tag == child.tag]
    number = len(same) + 1 + [it for it in moved if it.tag == child.tag].index(child)
    yield Remove(case.xpath(child))
    yield from _copied(case.xpath(parent), (f"{name(child.tag)}[{number}]",), child)


def _copied(parent: str, path: tuple[str, ...], element: Any) -> Iterator[Edit]:
    children = [child for child in element if isinstance(child.tag, str)]
    if not children or element.attrib:
        yield Insert(parent, path, "" if children else element.text or "", dict(element.attrib))
    numbers: Counter[str] = Counter()
    for child in children:
        numbers[child.tag] += 1
        yield from _copied(parent, (*path, f"{name(child.tag)}[{numbers[child.tag]}]"), child)
