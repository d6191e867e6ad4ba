"""Elements read by each EN 16931 rule in UBL, from its business terms and the UBL mapping."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from lxml import etree

from einvoice.errors import RuleError
from einvoice.model.group import Group, terms_of, types_of
from einvoice.resources import rules_folder
from einvoice.rulebook.files.definition import Definition
from einvoice.rulebook.files.examples import examples_of
from einvoice.rulebook.files.load import read_file, rule_files
from einvoice.rulebook.files.versions import RuleSet, read_ruleset
from einvoice.syntax.mapping.binding import Row
from einvoice.syntax.mapping.tables import table
from tests.helpers.documents import document_of

SYNTAX = "UBL"

_LITERAL = re.compile(r"'([^' ]+)'")


@dataclass(frozen=True)
class Target:
    """A rule with the elements and attributes it reads, the literals it contains, and its example documents."""

    code: str
    tags: tuple[str, ...]
    attributes: tuple[str, ...]
    literals: tuple[str, ...]
    documents: tuple[bytes, ...]


@functools.cache
def ruleset() -> RuleSet:
    """Return the EN 16931 rule set."""
    return read_ruleset(rules_folder() / "en16931")


@functools.cache
def definitions() -> tuple[Definition, ...]:
    """Return every EN 16931 rule that applies to UBL."""
    found: list[Definition] = []
    for file in rule_files(rules_folder() / "en16931"):
        with suppress(RuleError):  # reported by test_rulebook
            found += read_file(file, ruleset())
    newest = ruleset().newest
    return tuple(it for it in found if it.in_version(newest) and not it.resolved(SYNTAX, newest).not_applicable)


@functools.cache
def targets() -> tuple[Target, ...]:
    """Return the targets of all rules."""
    return tuple(map(_target, definitions()))


def _target(definition: Definition) -> Target:
    resolved = definition.resolved(SYNTAX, ruleset().newest)
    locations = [location for term in resolved.terms for location in _locations().get(term, ())]
    expressions = [*resolved.let.values(), resolved.when, resolved.assertion]
    constants = [it for it in resolved.parameters.values() if isinstance(it, str)]
    literals = [*(literal for text in expressions for literal in _LITERAL.findall(text)), *constants]
    examples = [example for _, example in examples_of(definition, SYNTAX)]
    return Target(
        definition.code,
        tuple(dict.fromkeys(tag for tag, _ in locations)),
        tuple(dict.fromkeys(attribute for _, attribute in locations if attribute)),
        tuple(dict.fromkeys(literals)),
        tuple(etree.tostring(document_of(example, example.file, SYNTAX)) for example in examples),
    )


@functools.cache
def _locations() -> dict[str, list[tuple[str, str]]]:
    """Return element and attribute ('' for none) of each business term or group."""
    found: dict[str, list[tuple[str, str]]] = {}
    binding = table(SYNTAX)
    for term, location in _walk(binding.rows, binding.model, binding.model, ""):
        found.setdefault(term, []).append(location)
    return found


def _walk(
    rows: tuple[Row, ...], owner: type[Group], parent: type[Group], parent_tag: str
) -> Iterator[tuple[str, tuple[str, str]]]:
    for row in rows:
        tag = row.path[-1] if row.path else parent_tag
        if row.field is None:
            yield from _walk(row.rows or (), owner, parent, tag)
            continue
        holder = parent if row.of_parent else owner
        kind = types_of(holder)[row.field][0]
        for term in terms_of(holder, row.field) or getattr(kind, "groups", ()):
            yield term, (tag, row.attribute or "")
        if row.is_group:
            for term in kind.groups:
                yield term, (tag, "")
            yield from _walk(row.rows or (), kind, owner, tag)
