"""Prove a rule: every path exists in the model, every kind fits, and the terms it lists are the terms it reads."""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from einvoice.errors import RuleError
from einvoice.model.group import Group, kinds_of, terms_of
from einvoice.model.values import Value
from einvoice.rulebook import sections
from einvoice.rulebook.files.contexts import INVOICE, Contexts, Scope
from einvoice.rulebook.files.load import LANGUAGES, Definition, Sentence
from einvoice.rulebook.files.notes import Note
from einvoice.rulebook.functions import WORDS
from einvoice.rulebook.language import Expression, Where, check, condition
from einvoice.rulebook.language.types import Kind
from einvoice.rulebook.rule import Rule

#: What the engine adds to the names that a text may quote.
DERIVED: Final = ("actual", "difference")
_NAME: Final = re.compile(r"[a-z][a-z0-9_]*\Z")
_QUOTED: Final = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True)
class Proof:
    """A rule that holds together in one syntax and version, ready to be turned into code."""

    rule: Rule
    scope: Scope
    lets: tuple[tuple[str, Expression], ...]
    when: Expression | None
    assertion: Expression
    notes: tuple[Expression | None, ...] = ()  # the condition of each note of the rule; None for one that always holds


def prove(definition: Definition, syntax: str, version: str, contexts: Contexts) -> Proof | None:
    """Check a rule in one syntax and version of its rule set; None where nobody can break it there.

    Raises ``RuleError`` with file, key, column and a hint.
    """
    sentence = definition.sentence(syntax, version)
    if sentence.not_applicable or contexts.is_silent(sentence.context, syntax, version):
        return None
    scope = contexts.scope(sentence.context, syntax, Where(definition.file, sentence.key("for")), version)
    return _Proving(definition, sentence, scope).prove(definition.notes_for(syntax, version))


class _Proving:
    """One rule being proved; ``names`` grows with every ``let``."""

    def __init__(self, definition: Definition, sentence: Sentence, scope: Scope) -> None:
        self.definition = definition
        self.sentence = sentence
        self.scope = scope
        self.names: dict[str, Kind] = dict(scope.names)

    def prove(self, notes: Mapping[int, Note]) -> Proof:
        sentence = self.sentence
        for name in sentence.parameters:
            self._free(name, "variants")
        lets = []
        for name, source in sentence.let.items():
            self._free(name, f"{sentence.key('let')}.{name}")
            expression = self._check(source, self._where("let", name))
            self.names[name] = expression.kind
            lets.append((name, expression))
        when = self._condition("when", sentence.when) if sentence.when else None
        assertion = self._condition("assert", sentence.assertion)
        read = [assertion, *([when] if when else []), *(expression for _, expression in lets)]
        self._double_entry(frozenset().union(*(expression.terms for expression in read)))
        rule = self._rule(read)._replace(notes=tuple(notes))
        conditions = tuple(self._condition("notes", note.when) if note.when else None for note in notes.values())
        return Proof(rule, self.scope, tuple(lets), when, assertion, conditions)

    def _check(self, source: str, where: Where) -> Expression:
        return check(source, self.names, where, group=self.scope.group, constants=self.sentence.parameters)

    def _condition(self, part: str, source: str) -> Expression:
        where = self._where(part)
        return condition(source, self.names, where, group=self.scope.group, constants=self.sentence.parameters)

    def _where(self, part: str, name: str = "") -> Where:
        return Where(self.definition.file, f"{self.sentence.key(part)}.{name}".rstrip("."))

    def _fail(self, message: str, key: str, hint: str = "") -> RuleError:
        return RuleError(message, file=self.definition.file, key=key, hint=hint)

    def _free(self, name: str, key: str) -> None:
        """Refuse a name that the rule cannot give: all rules of a context, and the words, share one function."""
        if not _NAME.match(name) or keyword.iskeyword(name):
            raise self._fail(f"'{name}' is no name", key, "small letters, digits and _")
        if name in WORDS or name in self.names or name in DERIVED:
            raise self._fail(f"'{name}' means something else already", key, "choose another name")

    def _double_entry(self, read: frozenset[str]) -> None:
        listed = set(self.sentence.terms)
        if read == listed:
            return
        missing, unread = ", ".join(sorted(read - listed)), ", ".join(sorted(listed - read))
        says = [f"the condition reads {missing}, which is not listed"] if missing else []
        says += [f"it never reads {unread}"] if unread else []
        hint = "list it, or correct the condition" if missing else "remove it, or correct the condition"
        raise self._fail("; ".join(says), self.sentence.key("terms"), hint)

    def _rule(self, read: list[Expression]) -> Rule:
        definition, sentence = self.definition, self.sentence
        first = sentence.terms[0] if sentence.terms else ""
        names = tuple(self.names)
        return Rule(
            sentence.code,
            sentence.severity,
            definition.layer,
            sections.section(definition.data.get("section"), sentence.terms, definition.file),
            sentence.terms,
            definition.file,
            names,
            names.index(self.scope.item),
            next((path for path in _paths(read, self.names) if first in terms_at(path, self.names)), ""),
            self._quotes(),
            whole=self.scope.whole,
        )

    def _quotes(self) -> tuple[str, ...]:
        """The paths that the texts quote; ``RuleError`` for a name that a finding will not have."""
        paths: dict[str, None] = {}
        for language in LANGUAGES:
            for key, text in (self.definition.texts[language] | self.definition.texts_of_notes(language)).items():
                for quoted in _QUOTED.findall(text):
                    if "." in quoted:
                        self._check_path(quoted, f"{language}.{key}")
                        paths[quoted] = None
                    elif quoted not in self.names and quoted not in DERIVED:
                        near = get_close_matches(quoted, [*self.names, *DERIVED], 1)
                        hint = f"did you mean '{near[0]}'?" if near else f"there are {', '.join(self.names)}"
                        raise self._fail(f"quotes the unknown name '{quoted}'", f"{language}.{key}", hint)
        return tuple(paths)

    def _check_path(self, path: str, key: str) -> None:
        kind = self._check(path, Where(self.definition.file, key)).kind
        if kind.many or kind.is_group:
            raise self._fail(f"quotes '{path}', which is no single value", key)


def _paths(read: list[Expression], names: Mapping[str, Kind]) -> Iterator[str]:
    """Every path of single values that a rule follows from one of its names, as far as it leads to a value."""
    for expression in read:
        for node in ast.walk(_Followed().visit(ast.parse(expression.source.strip(), mode="eval"))):
            if isinstance(node, ast.Attribute | ast.Name):
                path = ast.unparse(node)
                steps = path.split(".")
                if all(map(str.isidentifier, steps)) and steps[0] in names:
                    yield from (".".join(steps[: n + 1]) for n in range(len(steps)))


class _Followed(ast.NodeTransformer):
    """Puts what a generator goes through in the place of its variable: ``seller.name for seller in invoice.seller``
    follows ``invoice.seller.name``, and only looks at further sellers too.
    """

    def __init__(self) -> None:
        self.sources: dict[str, ast.expr] = {}

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.sources.get(node.id, node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.expr:
        outer = self.sources
        for part in node.generators:
            part.iter = self.visit(part.iter)
            self.sources = {**self.sources, ast.unparse(part.target): part.iter}
            part.ifs = [self.visit(test) for test in part.ifs]
        node.elt = self.visit(node.elt)
        self.sources = outer
        return node


def terms_at(path: str, names: Mapping[str, Kind]) -> tuple[str, ...]:
    """The business terms of what a path of single groups leads to; empty where it leads through many."""
    first, *steps = path.split(".")
    kind = names[first]
    terms: tuple[str, ...] = kind.cls.groups if issubclass(kind.cls, Group) and first != INVOICE else ()
    for step in steps:
        if kind.many or not issubclass(kind.cls, Group) or step not in kinds_of(kind.cls):
            return ()
        terms = terms_of(kind.cls, step)
        kind = Kind(*kinds_of(kind.cls)[step])
    return () if kind.many or not issubclass(kind.cls, Group | Value) else terms
