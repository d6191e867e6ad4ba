"""Check a rule: its paths exist in the model, its types fit, and it lists exactly the terms that it reads."""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final

from einvoice.errors import RuleError
from einvoice.localization import languages
from einvoice.model.group import Group, terms_of, types_of
from einvoice.model.values import Value
from einvoice.rulebook import sections
from einvoice.rulebook.files.contexts import INVOICE, NORM, Contexts, Scope
from einvoice.rulebook.files.definition import Definition, Sentence
from einvoice.rulebook.files.notes import Note
from einvoice.rulebook.functions import GLOBALS
from einvoice.rulebook.language import Expression, Where, check, condition
from einvoice.rulebook.language.types import Type
from einvoice.rulebook.rule import Rule

#: Names that a violation adds to those that a text may quote.
DERIVED: Final = ("actual", "difference")
_NAME: Final = re.compile(r"[a-z][a-z0-9_]*\Z")
_QUOTED: Final = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True)
class CheckedRule:
    """A rule that is valid in one syntax and release, ready for code generation."""

    rule: Rule
    scope: Scope
    lets: tuple[tuple[str, Expression], ...]
    when: Expression | None
    assertion: Expression
    note_conditions: tuple[Expression | None, ...] = ()  # of the notes; None for a note without condition


def check_rule(definition: Definition, syntax: str, version: str, contexts: Contexts) -> CheckedRule | None:
    """Check a rule in one syntax and release; return None if it is not applicable there.

    Raises:
        RuleError: with file, key, column and a hint.
    """
    sentence = definition.sentence(syntax, version)
    if sentence.not_applicable or contexts.is_not_applicable(sentence.context, syntax, version):
        return None
    scope = contexts.scope(sentence.context, syntax, sentence.where("for"), version)
    return _Checker(definition, sentence, scope).check(definition.notes_for(syntax, version))


def check_norm(definition: Definition, contexts: Contexts) -> CheckedRule | None:
    """Check a rule as in the standard; return None if a program cannot check it.

    Raises:
        RuleError: with file, key, column and a hint.
    """
    sentence = definition.norm
    if sentence.not_applicable:
        return None
    scope = contexts.scope(sentence.context, NORM, sentence.where("for"))
    return _Checker(definition, sentence, scope).check({})


class _Checker:
    """Checks one rule; ``names`` grows with every ``let``."""

    def __init__(self, definition: Definition, sentence: Sentence, scope: Scope) -> None:
        self.definition = definition
        self.sentence = sentence
        self.scope = scope
        self.names: dict[str, Type] = dict(scope.names)

    def check(self, notes: Mapping[int, Note]) -> CheckedRule:
        sentence = self.sentence
        for name in sentence.parameters:
            self._check_name(name, Where(self.definition.file, "variants"))
        lets = []
        for name, source in sentence.let.items():
            self._check_name(name, sentence.where(f"let.{name}"))
            expression = self._expression(source, sentence.where(f"let.{name}"))
            self.names[name] = expression.type
            lets.append((name, expression))
        when = self._condition("when", sentence.when) if sentence.when else None
        assertion = self._condition("assert", sentence.assertion)
        read = [assertion, *([when] if when else []), *(expression for _, expression in lets)]
        self._check_terms(frozenset().union(*(expression.terms for expression in read)))
        rule = self._rule(read)._replace(notes=tuple(notes))
        conditions = tuple(self._condition("notes", note.when) if note.when else None for note in notes.values())
        return CheckedRule(rule, self.scope, tuple(lets), when, assertion, conditions)

    def _expression(self, source: str, where: Where) -> Expression:
        return check(source, self.names, where, group=self.scope.group, constants=self.sentence.parameters)

    def _condition(self, part: str, source: str) -> Expression:
        where = self.sentence.where(part)
        return condition(source, self.names, where, group=self.scope.group, constants=self.sentence.parameters)

    def _fail(self, message: str, where: Where, hint: str = "") -> RuleError:
        return RuleError(message, file=where.file, key=where.key, hint=hint)

    def _check_name(self, name: str, where: Where) -> None:
        """Reject a name that is in use: all rules of a context, and the functions, share a namespace."""
        if not _NAME.match(name) or keyword.iskeyword(name):
            raise self._fail(f"'{name}' is not a valid name", where, "use lower case letters, digits and _")
        if name in GLOBALS or name in self.names or name in DERIVED:
            raise self._fail(f"'{name}' is already in use", where, "choose another name")

    def _check_terms(self, read: frozenset[str]) -> None:
        listed = set(self.sentence.terms)
        if read == listed:
            return
        missing, unread = ", ".join(sorted(read - listed)), ", ".join(sorted(listed - read))
        problems = [f"the condition reads {missing}, which is not listed"] if missing else []
        problems += [f"it never reads {unread}"] if unread else []
        hint = "list it, or correct the condition" if missing else "remove it, or correct the condition"
        raise self._fail("; ".join(problems), self.sentence.where("terms"), hint)

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
        """Return the paths that the texts quote; raise ``RuleError`` for a name that violations do not have."""
        paths: dict[str, None] = {}
        for language in languages():
            texts = self.definition.texts.get(language, {}) | self.definition.texts_of_notes(language)
            for key, text in texts.items():
                where = Where(self.definition.file, f"{language}.{key}")
                for quoted in _QUOTED.findall(text):
                    if "." in quoted:
                        self._check_path(quoted, where)
                        paths[quoted] = None
                    elif quoted not in self.names and quoted not in DERIVED:
                        near = get_close_matches(quoted, [*self.names, *DERIVED], 1)
                        hint = f"did you mean '{near[0]}'?" if near else f"valid names are {', '.join(self.names)}"
                        raise self._fail(f"quotes the unknown name '{quoted}'", where, hint)
        return tuple(paths)

    def _check_path(self, path: str, where: Where) -> None:
        type_ = self._expression(path, where).type
        if type_.many or type_.is_group:
            raise self._fail(f"quotes '{path}', which is not a single value", where)


def _paths(read: list[Expression], names: Mapping[str, Type]) -> Iterator[str]:
    """Yield every path that the expressions follow from one of the names, and all its prefixes."""
    for expression in read:
        for node in ast.walk(_InlineLoops().visit(ast.parse(expression.source.strip(), mode="eval"))):
            if isinstance(node, ast.Attribute | ast.Name):
                path = ast.unparse(node)
                steps = path.split(".")
                if all(map(str.isidentifier, steps)) and steps[0] in names:
                    yield from (".".join(steps[: n + 1]) for n in range(len(steps)))


class _InlineLoops(ast.NodeTransformer):
    """Replaces each loop variable with the source of its loop.

    ``seller.name for seller in invoice.seller`` becomes ``invoice.seller.name``, the path that it reads.
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


def terms_at(path: str, names: Mapping[str, Type]) -> tuple[str, ...]:
    """Return the business terms at the end of a path of single groups; empty if it leads through a sequence."""
    first, *steps = path.split(".")
    type_ = names[first]
    terms: tuple[str, ...] = type_.cls.groups if issubclass(type_.cls, Group) and first != INVOICE else ()
    for step in steps:
        if type_.many or not issubclass(type_.cls, Group) or step not in types_of(type_.cls):
            return ()
        terms = terms_of(type_.cls, step)
        type_ = Type(*types_of(type_.cls)[step])
    return () if type_.many or not issubclass(type_.cls, Group | Value) else terms
