"""What each rule of EN 16931 looks at in a UBL document, by its business terms and the binding of UBL."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from documents import document_of
from lxml import etree

from einvoice.errors import RuleError
from einvoice.model.group import Group, kinds_of, terms_of
from einvoice.resources import rules_folder
from einvoice.rulebook.files.definition import Definition
from einvoice.rulebook.files.examples import examples_of
from einvoice.rulebook.files.load import read_file, rule_files
from einvoice.rulebook.files.versions import RuleSet, read_ruleset
from einvoice.rulebook.program.build import BASE
from einvoice.syntax.mapping.binding import Row
from einvoice.syntax.mapping.tables import table

SYNTAX = "UBL"

_LITERAL = re.compile(r"'([^' ]+)'")


@dataclass(frozen=True)
class Target:
    """A rule, the names of the elements that it reads, the words that it knows, and documents that keep or break it."""

    code: str
    tags: tuple[str, ...]
    attributes: tuple[str, ...]
    words: tuple[str, ...]
    documents: tuple[bytes, ...]


@functools.cache
def ruleset() -> RuleSet:
    """The rules of EN 16931."""
    return read_ruleset(rules_folder() / BASE)


@functools.cache
def definitions() -> tuple[Definition, ...]:
    """Every rule of EN 16931 that a UBL document can break."""
    found: list[Definition] = []
    for file in rule_files(rules_folder() / BASE):
        with suppress(RuleError):  # test_rulebook tells of it
            found += read_file(file, ruleset())
    newest = ruleset().newest
    return tuple(it for it in found if it.in_version(newest) and not it.sentence(SYNTAX, newest).not_applicable)


@functools.cache
def targets() -> tuple[Target, ...]:
    """Every rule with what it looks at."""
    return tuple(map(_target, definitions()))


def _target(definition: Definition) -> Target:
    sentence = definition.sentence(SYNTAX, ruleset().newest)
    places = [place for term in sentence.terms for place in _places().get(term, ())]
    said = [*sentence.let.values(), sentence.when, sentence.assertion]
    constants = [it for it in sentence.parameters.values() if isinstance(it, str)]
    words = [*(word for text in said for word in _LITERAL.findall(text)), *constants]
    examples = [example for _, example in examples_of(definition, SYNTAX)]
    return Target(
        definition.code,
        tuple(dict.fromkeys(tag for tag, _ in places)),
        tuple(dict.fromkeys(attribute for _, attribute in places if attribute)),
        tuple(dict.fromkeys(words)),
        tuple(etree.tostring(document_of(example, definition.file, SYNTAX)) for example in examples),
    )


@functools.cache
def _places() -> dict[str, list[tuple[str, str]]]:
    """By business term or group: the element that says it, and the attribute, '' for none."""
    found: dict[str, list[tuple[str, str]]] = {}
    binding = table(SYNTAX)
    for term, place in _walk(binding.rows, binding.model, binding.model, ""):
        found.setdefault(term, []).append(place)
    return found


def _walk(
    rows: tuple[Row, ...], owner: type[Group], above: type[Group], around: str
) -> Iterator[tuple[str, tuple[str, str]]]:
    for row in rows:
        tag = row.path[-1] if row.path else around
        if row.field is None:
            yield from _walk(row.rows or (), owner, above, tag)
            continue
        holder = above if row.of_parent else owner
        kind = kinds_of(holder)[row.field][0]
        for term in terms_of(holder, row.field) or getattr(kind, "groups", ()):
            yield term, (tag, row.attribute or "")
        if row.is_group:
            for term in kind.groups:
                yield term, (tag, "")
            yield from _walk(row.rows or (), kind, owner, tag)
