"""Violations that libxml2 does not see because of another one.

After a child that is not expected, libxml2 validates neither that child nor the remaining children of its parent.
Validators with Xerces do. So the document is validated again with the children of such a parent arranged as its type
requires: in order, without children that the type lacks or that are too many, and with empty elements for missing ones.
What is then reported below the parent, but not about the arrangement itself, is a violation that was hidden.
"""

import copy
from collections.abc import Callable, Collection, Iterator
from typing import Any, Final, NamedTuple, TypeAlias

from lxml import etree

from einvoice.syntax.schema.content_model import ContentModels
from einvoice.syntax.schema.messages import SchemaError

PASSES: Final = 10
"""Maximum number of validations."""

Validate: TypeAlias = Callable[[etree._ElementTree], list[SchemaError]]
"""Returns the errors of a document."""


class Hidden(NamedTuple):
    """An error, and the child that was not expected, because of which it was not seen."""

    error: SchemaError
    cause: etree._Element


class Result(NamedTuple):
    """The errors that others hide, and the first child that `PASSES` validations left unseen; None if all were seen."""

    found: list[Hidden]
    unseen: etree._Element | None


def hidden(
    document: etree._ElementTree, errors: Collection[SchemaError], models: ContentModels, validate: Validate
) -> Result:
    """Return the errors that others hide: those found in `PASSES` further validations.

    Args:
        document: the document; it is not changed.
        errors: the errors of the document.
        models: content models of the schema.
        validate: returns the errors of another document.
    """
    return _Search(document, errors, models).run(validate)


class _Search:
    """The arrangement of a copy of the document, from which the hidden errors are read."""

    def __init__(self, document: etree._ElementTree, errors: Collection[SchemaError], models: ContentModels) -> None:
        self._models = models
        self._copy = copy.deepcopy(document)
        pairs = [*zip(document.iter(), self._copy.iter(), strict=True)]
        self._copies = dict(pairs)
        self._originals = {twin: it for it, twin in pairs}
        self._known = {_key(it) for it in errors}
        self._causes: dict[etree._Element, etree._Element] = {}  # by parent
        self._unseen: dict[etree._Element, list[etree._Element]] = {}  # by parent; all are of the document
        self._found: list[Hidden] = []
        for error in errors:
            self._add_parent(error)

    def run(self, validate: Validate) -> Result:
        for _ in range(PASSES):
            waiting = [it for it, unseen in self._unseen.items() if unseen]
            if not waiting:
                break
            alone = [it for parent in waiting for it in self._arrange(parent)]
            for tree in (self._copy, *map(etree.ElementTree, alone)):
                for error in validate(tree):
                    self._add(error)
        return Result(self._found, next((unseen[0] for unseen in self._unseen.values() if unseen), None))

    def _add_parent(self, error: SchemaError) -> None:
        """Note the children that libxml2 did not validate because of an error."""
        parent = error.element.getparent()
        if _is_unexpected(error) and parent is not None and parent not in self._causes:
            self._causes[parent] = error.element
            self._unseen[parent] = [error.element, *error.element.itersiblings("*")]

    def _add(self, error: SchemaError) -> None:
        """Add an error of the copy, unless it is known, or is about the arrangement."""
        element = self._originals.get(error.element)
        if element is None:
            return
        error = error._replace(element=element)
        changed = element.getparent() if _is_unexpected(error) else element if _is_incomplete(error) else None
        cause = next((self._causes[it] for it in (element, *element.iterancestors()) if it in self._causes), None)
        if _key(error) in self._known or changed in self._causes or cause is None:
            return
        self._known.add(_key(error))
        self._found.append(Hidden(error, cause))
        self._add_parent(error)

    def _arrange(self, parent: etree._Element) -> Iterator[etree._Element]:
        """Give the copy of a parent the children that its type requires, those first that were not validated yet.

        Yields:
            children that the type lacks, but which are valid as a root element of the schema.
        """
        twin, unseen = self._copies[parent], self._unseen[parent]
        sequence = self._models.sequence_of(parent)
        tags = {it.tag for it in sequence}
        children = [it for it in parent.iterchildren("*") if it.tag in tags]
        yield from (self._copies[it] for it in unseen if it.tag not in tags and self._models.is_global(it.tag))
        arranged: list[etree._Element] = []
        for particle in sequence:
            of_name = [it for it in children if it.tag == particle.tag]
            of_name.sort(key=lambda it: it not in unseen)
            chosen = of_name[: particle.max_occurs]
            arranged += [self._copies[it] for it in chosen]
            arranged += [etree.Element(particle.tag) for _ in range(particle.min_occurs - len(chosen))]
            unseen = [it for it in unseen if it not in chosen]
        self._unseen[parent] = [it for it in unseen if it.tag in tags]
        twin[:] = arranged


def _key(error: SchemaError) -> tuple[Any, ...]:
    return error.element, error.kind, error.message


def _is_unexpected(error: SchemaError) -> bool:
    return error.kind == "SCHEMAV_ELEMENT_CONTENT" and not _is_incomplete(error)


def _is_incomplete(error: SchemaError) -> bool:
    return error.kind == "SCHEMAV_ELEMENT_CONTENT" and "Missing child element" in error.message
