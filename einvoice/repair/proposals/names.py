"""Renames misspelt elements and attributes, and corrects namespaces."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, Final

from einvoice.causes.applicability import QUESTION, SAFE, UNSAFE
from einvoice.editing.edits import Rename, RenameAttribute, SetNamespace
from einvoice.model.location import NAMESPACES, name
from einvoice.repair.case import Case, plain_path
from einvoice.repair.proposal import Proposal
from einvoice.result import Finding
from einvoice.syntax import schema
from einvoice.syntax.schema.content_model import ContentModels
from einvoice.syntax.schema.files import ROOTS

_WRONG_NAMESPACE: Final = "SCHEMA-WRONG-NAMESPACE"
_UNKNOWN: Final = ("SCHEMA-UNKNOWN-ELEMENT", _WRONG_NAMESPACE)
_UNKNOWN_ATTRIBUTE: Final = "SCHEMA-ATTRIBUTE-UNKNOWN"
_SIMILARITY: Final = 0.75
"""Least similarity of a name, as difflib measures it."""


def proposals(case: Case) -> Iterator[Proposal]:
    """Yield a proposal for each similar name that the schema allows at the place.

    A proposal renames all elements or attributes of that name for which the schema allows the other one.
    """
    found = [it for it in case.findings if it.code in (*_UNKNOWN, _UNKNOWN_ATTRIBUTE) and it.location.node is not None]
    root = case.root.tag.rpartition("}")[2]
    if not found or root not in ROOTS:
        return
    models = schema.content_models(root)
    for finding in found:
        node = finding.location.node
        if finding.code == _UNKNOWN_ATTRIBUTE:
            yield from _attributes(case, finding, node, models)
        elif node is not case.root and models.sequence_of(node.getparent()):
            yield from _elements(case, node, models)
        elif finding.code == _WRONG_NAMESPACE:  # of a choice, such as that of the two forms of a date in CII
            same = [it for it in case.root.iter(node.tag) if not models.sequence_of(it.getparent())]
            edits = tuple(Rename(case.xpath(it), str(finding.values["expected"])) for it in same)
            yield Proposal(edits, SAFE)


def _elements(case: Case, node: Any, models: ContentModels) -> Iterator[Proposal]:
    given = node.tag.rpartition("}")[2]
    known = {it.tag.rpartition("}")[2]: it.tag for it in reversed(models.allowed_at(node))}
    similar = _similar(given, list(known))
    for local in similar or _missing(case, node, known):
        same = [
            node,
            *(it for it in case.root.iter(node.tag) if it is not node and _is_allowed(it, known[local], models)),
        ]
        edits = tuple(Rename(case.xpath(it), name(known[local])) for it in same)
        yield Proposal(edits, SAFE if local.casefold() == given.casefold() else UNSAFE if similar else QUESTION)


def _missing(case: Case, node: Any, known: Mapping[str, str]) -> list[str]:
    """Return the only element at the place of another one that findings say is missing; empty if it is one of more."""
    parent = plain_path(case.xpath(node.getparent()))
    missing = {case.path_of_leading(it) for it in case.findings}
    found = [
        local
        for local, tag in known.items()
        if f"{parent}/{name(tag)}" in missing and node.getparent().find(tag) is None
    ]
    return found if len(found) == 1 and not len(node) else []


def _is_allowed(element: Any, tag: str, models: ContentModels) -> bool:
    return any(it.tag == tag for it in models.allowed_at(element))


def _attributes(case: Case, finding: Finding, node: Any, models: ContentModels) -> Iterator[Proposal]:
    given = str(finding.values.get("attribute", ""))
    free = [it for it in models.attributes_of(node) if it not in node.attrib]
    for attribute in _similar(given, free) if given in node.attrib else ():
        same = [it for it in case.root.iter("*") if given in it.attrib and attribute in models.attributes_of(it)]
        edits = tuple(RenameAttribute(case.xpath(it), given, attribute) for it in same if attribute not in it.attrib)
        yield Proposal(edits, SAFE if attribute.casefold() == given.casefold() else UNSAFE)


def _similar(given: str, known: Sequence[str]) -> list[str]:
    """Return the same name in other spelling, or else the most similar one; empty if there is none.

    >>> _similar("IssueDat", ["ID", "IssueDate", "DueDate"]), _similar("id", ["ID", "IDs"])
    (['IssueDate'], ['ID'])
    """
    same = [it for it in known if it.casefold() == given.casefold()]
    if same:
        return same[:1]
    return get_close_matches(given, known, 1, _SIMILARITY)


def namespaces(case: Case) -> Iterator[Proposal]:
    """Yield a proposal for each namespace that the root element declares for a usual prefix, or misspells."""
    for prefix, uri in case.root.nsmap.items():
        if uri in NAMESPACES.values() or not any(it.startswith(f"{{{uri}}}") for it in _tags(case.root)):
            continue
        usual = NAMESPACES.get(prefix or "")
        near = get_close_matches(uri, list(NAMESPACES.values()), 1, 0.9)
        for right in [usual] if usual else near:
            edit = SetNamespace(case.xpath(case.root), prefix or "", right)
            yield Proposal((edit,), SAFE)


def _tags(root: Any) -> set[str]:
    return {element.tag for element in root.iter("*")}
