"""Check a rule: its paths exist in the model, its types fit, and it lists exactly the terms that it reads."""

from __future__ import annotations

import ast
import functools
import itertools
import keyword
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Final, NamedTuple, TypeAlias

from einvoice.errors import RuleError
from einvoice.localization import languages
from einvoice.model.group import Group, terms_of
from einvoice.model.values import Value
from einvoice.rulebook import sections
from einvoice.rulebook.files import situations as files
from einvoice.rulebook.files.contexts import INVOICE, STANDARD, Contexts, Scope
from einvoice.rulebook.files.definition import Definition
from einvoice.rulebook.files.notes import Note
from einvoice.rulebook.files.resolve import ResolvedRule
from einvoice.rulebook.files.situations import KEY
from einvoice.rulebook.functions import GLOBALS
from einvoice.rulebook.language import Expression, Where, check, condition
from einvoice.rulebook.language.fields import fields_of, type_of
from einvoice.rulebook.language.types import Type
from einvoice.rulebook.program.operands import CheckedOperand, operands_of
from einvoice.rulebook.rule import ACTUAL, EXPECTED, LEADING, Rule, Situation

#: Names that a violation adds to those that a text may quote.
DERIVED: Final = ("actual", "difference", LEADING)
_Lets: TypeAlias = tuple[tuple[str, Expression], ...]
_NAME: Final = re.compile(r"[a-z][a-z0-9_]*\Z")
_OF_LEADING: Final = (f"{LEADING}.name", f"{LEADING}.named")
_QUOTED: Final = re.compile(r"\{([^{}]*)\}")


class CheckedSituation(NamedTuple):
    """A situation of a rule, its `let` values, and its condition; None for a situation that always applies."""

    situation: Situation
    lets: _Lets
    when: Expression | None


@dataclass(frozen=True)
class CheckedRule:
    """A rule that is valid in one syntax and release, ready for code generation."""

    rule: Rule
    scope: Scope
    lets: _Lets
    when: Expression | None
    assertion: Expression
    note_conditions: tuple[Expression | None, ...] = ()  # of the notes; None for a note without condition
    situations: tuple[CheckedSituation, ...] = ()
    operands: tuple[CheckedOperand, ...] = ()


def check_rule(definition: Definition, syntax: str, version: str, contexts: Contexts) -> CheckedRule | None:
    """Check a rule in one syntax and release; return None if it is not applicable there.

    A rule that is the same in several releases is checked once.

    Raises:
        RuleError: with file, key, column and a hint.
    """
    resolved = definition.resolved(syntax, version)
    if resolved.not_applicable or contexts.is_not_applicable(resolved.context, syntax, version):
        return None
    scope = contexts.scope(resolved.context, syntax, resolved.where("for"), version)
    parts = (resolved, scope, definition.notes_for(syntax, version), definition.situations_for(syntax, version))
    known = definition.checked.setdefault(syntax, [])
    checked = next((rule for inputs, rule in known if inputs == parts), None)
    if checked is None:
        _, _, notes, situations = parts
        checked = _Checker(definition, resolved, scope).check(notes, situations)
        known.append((parts, checked))
    return checked


def check_standard(definition: Definition, contexts: Contexts) -> CheckedRule | None:
    """Check a rule as in the standard; return None if a program cannot check it.

    Raises:
        RuleError: with file, key, column and a hint.
    """
    resolved = definition.standard
    if resolved.not_applicable:
        return None
    scope = contexts.scope(resolved.context, STANDARD, resolved.where("for"))
    return _Checker(definition, resolved, scope).check({}, ())


class _Checker:
    """Checks one rule; `names` grows with every `let`."""

    def __init__(self, definition: Definition, resolved: ResolvedRule, scope: Scope) -> None:
        self.definition = definition
        self.resolved = resolved
        self.scope = scope
        self.names: dict[str, Type] = dict(scope.names)

    def check(self, notes: Mapping[int, Note], situations: Sequence[files.Situation]) -> CheckedRule:
        resolved = self.resolved
        for name in resolved.parameters:
            self._check_name(name, Where(self.definition.file, "variants"))
        lets = self._lets(resolved.let)
        when = self._condition("when", resolved.when) if resolved.when else None
        assertion = self._condition("assert", resolved.assertion)
        read = [assertion, *([when] if when else []), *(expression for _, expression in lets)]
        self._check_terms(frozenset().union(*(expression.terms for expression in read)))
        rule = self._rule(read, lets)._replace(notes=tuple(notes))
        conditions = tuple(self._condition("notes", note.when) if note.when else None for note in notes.values())
        checked = tuple(self._situation(it, rule, read, lets) for it in situations)
        operands = tuple(self._operands(rule, assertion, lets))
        rule = rule._replace(
            situations=tuple(tuple(it.situation) for it in checked),
            operands=tuple(tuple(it.operand) for it in operands),
        )
        return CheckedRule(rule, self.scope, lets, when, assertion, conditions, checked, operands)

    def _operands(self, rule: Rule, assertion: Expression, lets: _Lets) -> list[CheckedOperand]:
        where = self.resolved.where("assert")
        leading = next(iter(rule.terms), "")
        return operands_of(assertion, dict(lets), leading, rule.path, lambda source: self._expression(source, where))

    def _lets(self, let: Mapping[str, str], prefix: str = "") -> _Lets:
        """Check values, and add their names to those that later expressions can use."""
        lets = []
        for name, source in let.items():
            where = self.resolved.where(f"{prefix}let.{name}")
            self._check_name(name, where)
            expression = self._expression(source, where)
            self.names[name] = expression.type
            lets.append((name, expression))
        return tuple(lets)

    def _situation(
        self, situation: files.Situation, rule: Rule, read: list[Expression], of_rule: _Lets
    ) -> CheckedSituation:
        """Check a situation; its names are its own."""
        common, self.names = self.names, dict(self.names)
        lets = self._lets(situation.let, f"{KEY}.")
        when = self._condition(KEY, situation.when) if situation.when else None
        quotes = (*rule.quotes, *self._quotes({lang: dict(texts) for lang, texts in situation.texts.items()}, KEY))
        read = [*read, *([when] if when else []), *(expression for _, expression in lets)]
        path = self._path_to(situation.terms[0], read, (*of_rule, *lets)) if situation.terms else ""
        self.names = common
        names = tuple(name for name, _ in lets)
        leads = situation.terms[:1] not in ((), rule.terms[:1])
        foreign = (EXPECTED, *(() if path else (ACTUAL,)), *self._calculated(situation.terms, of_rule)) if leads else ()
        hidden = tuple(name for name in foreign if not situation.shows(name, self.definition.texts))
        row = Situation(
            situation.key, names, tuple(dict.fromkeys(quotes)), situation.terms, path, hidden, situation.before_operands
        )
        return CheckedSituation(row, lets, when)

    def _calculated(self, terms: tuple[str, ...], of_rule: _Lets) -> tuple[str, ...]:
        """Return the names of values calculated from the first term, but the expected one and those that notes quote.

        A term that is missing or not a number counts as another value in such calculations.
        """
        notes = [text for note in self.definition.notes for text in note.texts.values()]
        names = (name for name in _calculated_from(terms[0], of_rule) if name != EXPECTED)
        return tuple(name for name in names if not any(f"{{{name}}}" in text for text in notes))

    def _path_to(self, term: str, read: list[Expression], lets: _Lets) -> str:
        """Return a path to the single value of a term that expressions read; '' if there is none.

        It can be the name of a `let` value that is the first of several.
        """
        single = (path for path in _paths(read, self.names) if term in self._terms_at(path))
        first = (name for name, it in lets if term in self._terms_at(_path_of_first(it), through_many=True))
        return next(itertools.chain(single, first), "")

    def _terms_at(self, path: str, *, through_many: bool = False) -> tuple[str, ...]:
        return terms_at(path, self.names, self.scope.group or "", through_many=through_many)

    def _expression(self, source: str, where: Where) -> Expression:
        return check(source, self.names, where, group=self.scope.group, constants=self.resolved.parameters)

    def _condition(self, part: str, source: str) -> Expression:
        where = self.resolved.where(part)
        return condition(source, self.names, where, group=self.scope.group, constants=self.resolved.parameters)

    def _fail(self, message: str, where: Where, hint: str = "") -> RuleError:
        return RuleError(message, file=where.file, key=where.key, hint=hint)

    def _check_name(self, name: str, where: Where) -> None:
        """Reject a name that is in use: all rules of a context, and the functions, share a namespace."""
        if not _NAME.match(name) or keyword.iskeyword(name):
            raise self._fail(f"'{name}' is not a valid name", where, "use lower case letters, digits and _")
        if name in GLOBALS or name in self.names or name in DERIVED:
            raise self._fail(f"'{name}' is already in use", where, "choose another name")

    def _check_terms(self, read: frozenset[str]) -> None:
        listed = set(self.resolved.terms)
        if read == listed:
            return
        missing, unread = ", ".join(sorted(read - listed)), ", ".join(sorted(listed - read))
        problems = [f"the condition reads {missing}, which is not listed"] if missing else []
        problems += [f"it never reads {unread}"] if unread else []
        hint = "list it, or correct the condition" if missing else "remove it, or correct the condition"
        raise self._fail("; ".join(problems), self.resolved.where("terms"), hint)

    def _rule(self, read: list[Expression], lets: _Lets) -> Rule:
        definition, resolved = self.definition, self.resolved
        first = resolved.terms[0] if resolved.terms else ""
        names = tuple(self.names)
        path = self._path_to(first, read, lets)
        return Rule(
            resolved.code,
            resolved.severity,
            definition.layer,
            sections.section(definition.data.get("section"), resolved.terms, definition.file),
            resolved.terms,
            definition.file,
            names,
            names.index(self.scope.item),
            path,
            self._quotes(self._texts()),
            location=self.scope.location,
            shared=self._is_shared(path, lets),
        )

    def _is_shared(self, path: str, lets: _Lets) -> bool:
        """Return whether the value at a path, or else the checked value, can have one of several terms."""
        if not path:
            return issubclass(self.names[self.scope.item].cls, Value) and len(self.resolved.terms) > 1
        path = next((_path_of_first(it) for name, it in lets if name == path), path)
        first, *steps = path.split(".")
        type_ = self.names[first]
        for step in steps[:-1]:
            type_ = type_of(type_, step)
        return bool(steps) and _has_several_terms(type_.cls, steps[-1])

    def _texts(self) -> dict[str, dict[str, str]]:
        """Return the texts of the rule and of its notes, by language and key."""
        own = self.definition.texts
        return {lang: own.get(lang, {}) | self.definition.texts_of_notes(lang) for lang in languages()}

    def _quotes(self, texts: Mapping[str, Mapping[str, str]], prefix: str = "") -> tuple[str, ...]:
        """Return the paths that the texts quote; raise `RuleError` for a name that violations do not have."""
        paths: dict[str, None] = {}
        for language, by_key in texts.items():
            for key, text in by_key.items():
                where = Where(self.definition.file, f"{prefix}.{language}.{key}".lstrip("."))
                for quoted in _QUOTED.findall(text):
                    if quoted in _OF_LEADING:
                        continue
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
        for steps in _steps(expression.source):
            if steps[0] in names:
                yield from (".".join(steps[: n + 1]) for n in range(len(steps)))


@functools.lru_cache(maxsize=1024)
def _steps(source: str) -> tuple[tuple[str, ...], ...]:
    """Return the steps of every path in an expression."""
    nodes = ast.walk(_InlineLoops().visit(ast.parse(source.strip(), mode="eval")))
    paths = (ast.unparse(node).split(".") for node in nodes if isinstance(node, ast.Attribute | ast.Name))
    return tuple(tuple(steps) for steps in paths if all(map(str.isidentifier, steps)))


class _InlineLoops(ast.NodeTransformer):
    """Replaces each loop variable with the source of its loop.

    `seller.name for seller in invoice.seller` becomes `invoice.seller.name`, the path that it reads.
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


def _path_of_first(expression: Expression) -> str:
    """Return the path to the values that `first(value for … in …)` selects from; "" for another expression."""
    call = ast.parse(expression.source.strip(), mode="eval").body
    if not (isinstance(call, ast.Call) and ast.unparse(call.func) == "first" and len(call.args) == 1):
        return ""
    values = _InlineLoops().visit(call.args[0])
    path = ast.unparse(values.elt) if isinstance(values, ast.GeneratorExp) else ""
    return path if all(map(str.isidentifier, path.split("."))) else ""


def _calculated_from(term: str, lets: _Lets) -> list[str]:
    """Return the names of `let` values that are calculated from a term, directly or from each other."""
    names: list[str] = []
    for name, it in lets:
        if term in it.terms or not it.names.isdisjoint(names):
            names.append(name)
    return names


def terms_at(path: str, names: Mapping[str, Type], group: str = "", *, through_many: bool = False) -> tuple[str, ...]:
    """Return the business terms at the end of a path of single groups, or of any groups if `through_many`.

    A path from a `let` value, which is not in `names`, has no terms, like one that leads through a sequence.
    `group` is that of the context: the period of a line has other terms than that of the invoice.
    """
    first, *steps = path.split(".")
    if first not in names:
        return ()
    type_ = names[first]
    terms: tuple[str, ...] = _groups(type_.cls) if issubclass(type_.cls, Group) and first != INVOICE else ()
    for step in steps:
        if (type_.many and not through_many) or not issubclass(type_.cls, Group) or step not in fields_of(type_.cls):
            return ()
        type_ = type_of(type_, step, group)
        terms = type_.terms
    return () if (type_.many and not through_many) or not issubclass(type_.cls, Group | Value) else terms


def _has_several_terms(cls: type[object], field: str) -> bool:
    """Return whether a field has another term in some groups of the class, or of one derived from it."""
    if not issubclass(cls, Group) or field not in fields_of(cls):
        return False
    terms = {term for it in (cls, *cls.__subclasses__()) for term in terms_of(it, field) if term}
    return len(terms) > 1 or hasattr(cls, f"{field}_term")


def _groups(cls: type[Group]) -> tuple[str, ...]:
    """Return the business groups of a class, and of those derived from it for other places, such as lines."""
    return (*cls.groups, *(group for derived in cls.__subclasses__() for group in _groups(derived)))
