"""The operands of a rule: the values that its assertion calculates with, compares or looks up.

They are derived from the checked expressions, for the diagnosis of a violation (`diagnosis`): a value that is missing,
or that is no number or date, decides before any other explanation.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

from einvoice.errors import RuleError
from einvoice.model.terms import term
from einvoice.model.values import Date, Number
from einvoice.rulebook.language import Expression
from einvoice.rulebook.language.conversions import MEMBER
from einvoice.rulebook.language.nodes import Call, Clause, Generator
from einvoice.rulebook.language.python import Writer
from einvoice.rulebook.rule import Operand

_NUMERIC: Final = frozenset({
    "abs", "all", "any", "compare", "date", "decimals", "default", "double", "first", "number", "round", "round2",
    "sum", "within", "within_exclusive",
})  # fmt: skip
"""Functions whose operands are numbers or dates; the others take texts, or ask only whether a value is there."""
_Loops: TypeAlias = tuple[tuple[str, str], ...]
"""Names of loop variables, each with the source of its loop."""
_OCCURRENCE, _TAX = "occurrence", "tax_of_item"  # names of loop variables that no rule uses

Check = Callable[[str], Expression]
"""Checks the source of an expression; raises `RuleError` for one that is not valid."""


@dataclass(frozen=True)
class CheckedOperand:
    """An operand with what collects its occurrences.

    Attributes:
        operand: its data.
        path: to one occurrence.
        group: expression for the group of the value; "" if there is none.
        occurrences: the expression for all of them.
    """

    operand: Operand
    path: str
    group: str
    occurrences: Expression

    def code(self, writer: Writer) -> str:
        """Return Python for a list of its occurrences, each with its group."""
        item = f"({self.path}, {self.group or None})"
        match self.occurrences.node:
            case Call(operands=[Generator(clauses=[Clause(name=variable), *_]) as loop]) if variable != MEMBER:
                return writer.items(loop, item)
        return f"[{item}]"


@dataclass(frozen=True)
class _Read:
    """One reading of a path, with the loops and conditions around it."""

    path: str
    loops: _Loops
    conditions: tuple[str, ...]

    @property
    def whole_path(self) -> str:
        """The path with the sources of the loops in place of their variables."""
        sources, path = dict(self.loops), self.path
        while (first := path.partition(".")[0]) in sources:
            path = sources.pop(first) + path[len(first) :]
        return path


def operands_of(
    assertion: Expression, lets: Mapping[str, Expression], leading: str, path: str, check: Check
) -> list[CheckedOperand]:
    """Return the operands of an assertion and of the values that it uses, the leading one first, if it is one.

    Args:
        assertion: the condition of the rule.
        lets: the values of the rule by name.
        leading: the leading business term of the rule.
        path: the path of its value; "" if it has no single value.
        check: checks the expressions that read the occurrences.
    """
    reader = _Reader({name: _parsed(it.source) for name, it in lets.items()})
    reads = dict.fromkeys(reader.of(_parsed(assertion.source)))
    found = {it.occurrences.source: it for read in reads if (it := _checked(read, leading, path, check))}
    return sorted(found.values(), key=lambda it: not it.operand.leads)


def _parsed(source: str) -> ast.expr:
    return ast.parse(f"({source})", mode="eval").body


def _checked(read: _Read, leading: str, path: str, check: Check) -> CheckedOperand | None:
    """Return the operand of a reading; None if no fault of its value can be told."""
    leads = bool(path) and read.whole_path == path
    read = _without_loop_over_value(read)
    if not read.loops and _is_sequence(read.path, check):
        read = replace(read, path=_OCCURRENCE, loops=((_OCCURRENCE, read.path),))
    loops = "".join(f" for {name} in {source}" for name, source in read.loops)
    conditions = f" if {' and '.join(read.conditions)}" if read.conditions and loops else ""
    try:
        values = check(f"first({read.path}{loops}{conditions})")
    except RuleError:
        return None
    cls = values.type.cls
    terms = tuple(dict.fromkeys(values.type.terms))
    if not terms or values.type.many or not issubclass(cls, Number | Date):
        return None
    required = all(term(it).cardinality[0] == "1" for it in terms)
    operand = Operand(terms, cls.datatype.lower(), leads or (not path and leading in terms), required)
    return CheckedOperand(operand, read.path, _group(read), values)


def _group(read: _Read) -> str:
    """Return the path of the group of a value, or of the group around it if it is missing."""
    path = read.path
    if read.loops and read.loops[0][0] == path:
        path = read.loops[0][1]
    group = path.rpartition(".")[0]
    outer = group.partition(".")[0]
    return (group if outer == group else f"({group} or {outer})") if re.fullmatch(r"[\w.]+", path) else ""


def _without_loop_over_value(read: _Read) -> _Read:
    """Return a reading of `amount for amount in line.net_amount` as one of `line.net_amount`, which can be missing."""
    *loops, (name, source) = read.loops or [("", "")]
    is_value = name == read.path and "." in source and not any(re.search(rf"\b{name}\b", it) for it in read.conditions)
    return _Read(source, tuple(loops), read.conditions) if is_value else read


def _is_sequence(path: str, check: Check) -> bool:
    try:
        return check(path).type.many
    except RuleError:
        return False


class _Reader:
    """Finds the paths to numbers and dates that an expression reads, also through the values that it uses."""

    def __init__(self, values: Mapping[str, ast.expr]) -> None:
        self._values = values

    def of(self, node: ast.expr, loops: _Loops = (), conditions: tuple[str, ...] = ()) -> Iterator[_Read]:
        """Yield the readings of an expression inside loops and conditions."""
        if isinstance(node, ast.Name) and node.id in self._values:
            yield from self.of(self._values[node.id])
            return
        match node:
            case ast.Name() | ast.Attribute() as path:
                yield _Read(ast.unparse(path), loops, conditions)
            case ast.GeneratorExp() as loop:
                yield from self._of_loop(loop, loops, conditions)
            case ast.Call(ast.Name(name)) if name not in _NUMERIC:
                pass
            case other:
                operands = other.args if isinstance(other, ast.Call) else ast.iter_child_nodes(other)
                for operand in operands:
                    if isinstance(operand, ast.expr):
                        yield from self.of(operand, loops, conditions)

    def _inlined(self, node: ast.expr) -> ast.expr:
        return self._values.get(node.id, node) if isinstance(node, ast.Name) else node

    def _of_loop(self, node: ast.GeneratorExp, loops: _Loops, conditions: tuple[str, ...]) -> Iterator[_Read]:
        """Yield the readings in a loop, which keep its conditions, and those of the conditions, which keep the others.

        The groups of `with_vat` are those of a category: a rate that is no number leaves them out.
        """
        for clause in node.generators:
            target, source = ast.unparse(clause.target), self._inlined(clause.iter)
            if isinstance(source, ast.Call) and ast.unparse(source.func) == "with_same_exemption":
                source = self._inlined(source.args[0])
            match source:
                case ast.Call(ast.Name("with_vat"), [groups, category, *rate]):
                    source = groups
                    of_category = f"any_equal({{}}.category, {ast.unparse(category)})".format
                    if rate:
                        taxes = (*loops, (target, ast.unparse(groups)), ("tax", f"{target}.taxes"))
                        yield _Read("tax.rate", taxes, (*conditions, of_category("tax")))
                        yield from self.of(rate[0], loops, conditions)
                    conditions = (*conditions, f"any({of_category(_TAX)} for {_TAX} in {target}.taxes)")
            loops = (*loops, (target, ast.unparse(source)))
            tests = [it for test in clause.ifs for it in _conjuncts(test)]
            for test in tests:
                others = tuple(ast.unparse(it) for it in tests if it is not test)
                yield from self.of(test, loops, (*conditions, *others))
            conditions = (*conditions, *map(ast.unparse, tests))
        yield from self.of(node.elt, loops, conditions)


def _conjuncts(test: ast.expr) -> list[ast.expr]:
    return test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
