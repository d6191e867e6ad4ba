"""Moves elements to the place that the XML schema prescribes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from einvoice.causes.applicability import SAFE
from einvoice.editing.edits import Edit, Move
from einvoice.editing.moving import ranks
from einvoice.repair.case import Case
from einvoice.repair.proposal import MoveElement, Proposal


def proposals(case: Case) -> Iterator[Proposal]:
    """Yield a proposal for each parent whose children are in the wrong order."""
    for finding in case.findings:
        node = finding.location.node
        if finding.code != "SCHEMA-ELEMENT-ORDER" or node is None:
            continue
        parent = node.getparent()
        edits: tuple[Edit, ...] = tuple(Move(case.xpath(child)) for child in _moved(parent, ranks(parent)))
        if edits:
            yield Proposal(edits, SAFE, finding.terms[:1], action=MoveElement(case.xpath(node)))


def _moved(parent: Any, rank: Mapping[str, int]) -> list[Any]:
    """Return the children that stand before one that belongs before them."""
    known = [child for child in parent if child.tag in rank]
    return [child for at, child in enumerate(known) if any(rank[it.tag] < rank[child.tag] for it in known[at + 1 :])]
