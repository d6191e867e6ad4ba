"""Walks over an expression of the rule language: types it, collects what it reads, and writes it in Python."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import replace
from decimal import Decimal
from difflib import get_close_matches
from typing import Final

from einvoice.errors import RuleError
from einvoice.model.group import Group
from einvoice.rulebook import functions
from einvoice.rulebook.language import fields, lowerings
from einvoice.rulebook.language.expression import Constant, Expression, Loop, Where
from einvoice.rulebook.language.operands import (
    Operand,
    Wrong,
    as_number,
    as_text,
    as_truth,
    constant_value,
    numbers,
    source,
    together,
)
from einvoice.rulebook.language.types import BINARY, COUNT, NUMBER, TEXT, TRUTH, Kind

_OPERATORS: Final[dict[type[ast.AST], str]] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.In: "in",
    ast.NotIn: "not in",
    ast.And: "and",
    ast.Or: "or",
}


class Checker:
    """One expression on its way through: what it may use, and what it turned out to read."""

    def __init__(
        self, source: str, names: Mapping[str, Kind], where: Where, group: str, constants: Mapping[str, Constant]
    ) -> None:
        self.source = source
        self.names = dict(names)
        self.given = frozenset(names)
        self.where = where
        self.group = group
        self.constants = constants
        self.terms: set[str] = set()
        self.used: set[str] = set()
        for name in functions.WORDS.keys() & {*names, *constants}:
            raise RuleError(f"'{name}' is a word of the language", file=where.file, key=where.key)

    # -------------------------------------------------------------------------------- the whole

    def expression(self, truth: bool = False) -> Expression:
        """The expression, checked; with ``truth`` it has to be true or false."""
        try:
            operand = self._visit(self._parse())
            if operand.clauses:
                raise Wrong(operand.node, "a generator stands only inside a word", "any(…), all(…), sum(…), count(…)")
            code = as_truth(operand) if truth else self._whole(operand)
        except Wrong as wrong:
            raise self._error(wrong) from None
        return self._expression(code, operand.kind)

    def loop(self, name: str, group: str) -> Loop:
        """The expression as what ``name`` loops over; ``group`` is the business group that it then stands for."""
        try:
            node = self._parse()
            self._free(name, node)
            operand = self._visit(node, step=True)
            code = source(operand)
        except Wrong as wrong:
            raise self._error(wrong) from None
        kind = operand.kind.one
        if group:
            kind = replace(kind, group=group, terms=(group,) if group in kind.terms else kind.terms)
        return Loop(name, self._expression(code, replace(kind, many=True)), kind)

    def _parse(self) -> ast.expr:
        # In brackets an expression may go over several lines, and columns count from 1.
        self.source = self.source.replace("\n", " ")
        try:
            return ast.parse(f"({self.source})", mode="eval").body
        except (SyntaxError, ValueError, RecursionError) as error:
            column = getattr(error, "offset", None)
            message = getattr(error, "msg", str(error))
            raise RuleError(
                message, file=self.where.file, key=self.where.key, column=max(1, column - 1) if column else None
            ) from None

    def _error(self, wrong: Wrong) -> RuleError:
        column = getattr(wrong.node, "col_offset", None)
        return RuleError(wrong.message, file=self.where.file, key=self.where.key, column=column, hint=wrong.hint)

    def _whole(self, operand: Operand) -> str:
        if operand.kind.sort == "number" and operand.literal is not None:
            return as_number(operand)
        return operand.code

    def _expression(self, code: str, kind: Kind) -> Expression:
        read = {node.id for node in ast.walk(ast.parse(code, mode="eval")) if isinstance(node, ast.Name)}
        exact = {name: number for name in sorted(read) if (number := constant_value(name)) is not None}
        lists = frozenset(name for name in read if name.startswith((lowerings.CODES, lowerings.CODE_TEXT)))
        terms, names = frozenset(self.terms), frozenset(self.used & self.given)
        return Expression(self.source.strip(), code, kind, terms, names, exact, lists)

    # -------------------------------------------------------------------------------- its parts

    def _visit(self, node: ast.expr, step: bool = False) -> Operand:
        """Check one part. As a ``step``, of a path or to iterate over, a group does not count as read."""
        match node:
            case ast.Constant():
                return self._constant(node)
            case ast.Name():
                return self._name(node, step)
            case ast.Attribute():
                return self._attribute(node, step)
            case ast.Call():
                return self._call(node)
            case ast.BoolOp():
                operator = _OPERATORS[type(node.op)]
                code = f" {operator} ".join(as_truth(self._visit(value)) for value in node.values)
                return Operand(node, f"({code})", TRUTH)
            case ast.UnaryOp(op=ast.Not()):
                return Operand(node, f"(not {as_truth(self._visit(node.operand))})", TRUTH)
            case ast.UnaryOp(op=ast.USub()):
                (code,), kind = numbers([self._visit(node.operand)])
                return Operand(node, f"(-{code})", kind)
            case ast.BinOp():
                return self._calculation(node)
            case ast.Compare():
                return self._comparison(node)
            case ast.IfExp():
                test = as_truth(self._visit(node.test))
                (code, otherwise), kind = together([self._visit(node.body), self._visit(node.orelse)])
                return Operand(node, f"({code} if {test} else {otherwise})", kind)
            case ast.GeneratorExp():
                return self._generator(node)
        raise Wrong(node, f"{type(node).__name__} is not part of the rule language")

    def _constant(self, node: ast.Constant) -> Operand:
        value: object = node.value
        if isinstance(value, float):
            written = ast.get_source_segment(f"({self.source})", node) or ""
            if not written.replace(".", "", 1).isdigit():
                raise Wrong(node, f"{written} is no plain decimal number")
            value = Decimal(written)
        if not isinstance(value, str | bool | int | Decimal):
            raise Wrong(node, f"{ast.unparse(node)} is not part of the rule language")
        return _literal(node, value)

    def _name(self, node: ast.Name, step: bool) -> Operand:
        if node.id in self.constants:
            return _literal(node, self.constants[node.id])
        if node.id not in self.names:
            if node.id in functions.WORDS:
                raise Wrong(node, f"'{node.id}' is a word", f"{node.id}(…)")
            raise Wrong(node, f"unknown name '{node.id}'", _near(node.id, [*self.names, *self.constants]))
        self.used.add(node.id)
        kind = self.names[node.id]
        self._read(kind, step)
        return Operand(node, node.id, kind, repeatable=True)

    def _attribute(self, node: ast.Attribute, step: bool) -> Operand:
        owner = self._visit(node.value, step=True)
        if owner.kind.many:
            raise Wrong(node.value, f"{owner} is a sequence", f"… for x in {ast.unparse(node.value)}")
        known = fields.of(owner.kind.cls)
        if node.attr not in known:
            what = owner.kind.cls.__name__
            raise Wrong(node, f"{what} has no field '{node.attr}'", _near(node.attr, known))
        kind = fields.kind_of(owner.kind, node.attr, self.group)
        self._read(kind, step)
        repeatable = isinstance(node.value, ast.Name) and fields.is_stored(owner.kind.cls, node.attr)
        return Operand(node, f"{owner.code}.{node.attr}", kind, repeatable=repeatable)

    def _read(self, kind: Kind, step: bool) -> None:
        if not step or (kind.is_value and not kind.many):
            self.terms.update(kind.terms)

    def _call(self, node: ast.Call) -> Operand:
        if not isinstance(node.func, ast.Name) or node.keywords:
            raise Wrong(node, "only words can be called, with operands and nothing else")
        word = node.func.id
        if word == "descendants":
            return self._descendants(node)
        if word == "with_vat":
            return self._with_vat(node)
        if word not in functions.CALLABLE:
            raise Wrong(node, f"unknown word '{word}'", _near(word, functions.CALLABLE))
        code, kind = lowerings.lower(node, [self._visit(operand) for operand in node.args])
        return Operand(node, code, kind)

    def _descendants(self, node: ast.Call) -> Operand:
        match node.args:
            case [ast.Name(id=name)] if cls := Group.known.get(name):
                self._visit(ast.copy_location(ast.Name("invoice", ast.Load()), node), step=True)
                return Operand(node, f"descendants({name!r}, ())", Kind(cls, many=True, terms=cls.groups))
        raise Wrong(node, "descendants takes the name of a group", _near(ast.unparse(node)[12:-1], Group.known))

    def _with_vat(self, node: ast.Call) -> Operand:
        """``with_vat(items, category)`` or ``with_vat(items, category, rate)``: it reads both of the taxes of the items."""
        if len(node.args) not in (2, 3):
            raise Wrong(node, f"'with_vat' takes 2 or 3 operands, not {len(node.args)}")
        items, category, *rate = self._visit(node.args[0], step=True), *map(self._visit, node.args[1:])
        if not items.kind.many or "taxes" not in fields.of(items.kind.cls):
            raise Wrong(items.node, f"{items} is {items.kind}, not one of groups with taxes", "invoice.lines")
        taxes = fields.kind_of(items.kind, "taxes", self.group).one
        for name in ("category", "rate")[: len(node.args) - 1]:
            self._read(fields.kind_of(taxes, name, self.group), step=False)
        codes = [items.code, as_text(category), *map(as_number, rate)]
        return Operand(node, f"with_vat({', '.join(codes)})", items.kind)

    def _calculation(self, node: ast.BinOp) -> Operand:
        operands = [self._visit(node.left), self._visit(node.right)]
        (left, right), kind = numbers(operands)
        if isinstance(node.op, ast.Div):
            word = "_divide_double" if kind == BINARY else "_divide"
            return Operand(node, f"{word}({left}, {right})", kind)
        if type(node.op) not in _OPERATORS:
            raise Wrong(node, "only + - * / calculate")
        if all(operand.kind.cls is int for operand in operands):
            kind = COUNT
        return Operand(node, f"({left} {_OPERATORS[type(node.op)]} {right})", kind)

    def _comparison(self, node: ast.Compare) -> Operand:
        operators = [_OPERATORS.get(type(operator)) for operator in node.ops]
        if None in operators:
            raise Wrong(node, "only == != < <= > >= in and not in compare")
        if operators[0] in ("in", "not in") and len(operators) == 1:
            return self._membership(node, str(operators[0]))
        if "in" in operators or "not in" in operators:
            raise Wrong(node, "'in' stands alone in a comparison")
        operands = [self._visit(operand) for operand in (node.left, *node.comparators)]
        if all(operand.kind.cls is int for operand in operands):
            codes = [operand.code for operand in operands]
        else:
            codes, _ = together(operands)
        chain = "".join(f" {operator} {code}" for operator, code in zip(operators, codes[1:], strict=True))
        return Operand(node, f"({codes[0]}{chain})", TRUTH)

    def _membership(self, node: ast.Compare, operator: str) -> Operand:
        operand, right = self._visit(node.left), node.comparators[0]
        if isinstance(right, ast.Tuple):
            members = [self._visit(member) for member in right.elts]
        elif isinstance(right, ast.Name) and isinstance(self.constants.get(right.id), tuple | list):
            members = [_literal(right, text) for text in self.constants[right.id]]  # type: ignore[union-attr]
        else:
            raise Wrong(right, f"'{operator}' looks into constants in brackets", "any_equal(…) or any(… for x in …)")
        if not members or any(member.literal is None for member in members):
            raise Wrong(right, f"'{operator}' looks into constants in brackets")
        (code, *listed), _ = together([operand, *members])
        # Python makes one constant of a set of texts; numbers are names and stay a tuple.
        inside = "{" + ", ".join(listed) + "}" if operand.kind.sort == "text" else f"({', '.join(listed)},)"
        found = f"({code} in {inside})"
        return Operand(node, found if operator == "in" else f"(not {found})", TRUTH)

    def _generator(self, node: ast.GeneratorExp) -> Operand:
        outer = dict(self.names)
        clauses = []
        for part in node.generators:
            if not isinstance(part.target, ast.Name) or part.is_async:
                raise Wrong(part.target, "a loop gives one name")
            self._free(part.target.id, part.target)
            operand = self._visit(part.iter, step=True)
            clauses.append(f"for {part.target.id} in {source(operand)}")
            self.names[part.target.id] = operand.kind.one
            clauses += [f"if {as_truth(self._visit(test))}" for test in part.ifs]
        member = self._visit(node.elt)
        self.names = outer
        if member.kind.many:
            raise Wrong(node.elt, f"{member} is a sequence", "a second 'for'")
        # A constant (sum(1 for …)) goes as the number that it is.
        code = self._whole(member)
        return Operand(node.elt, code, replace(member.kind, many=True), clauses=" ".join(clauses))

    def _free(self, name: str, node: ast.AST) -> None:
        if name in functions.WORDS or name in self.names or name in self.constants or name.startswith("_"):
            raise Wrong(node, f"'{name}' is taken; give the loop another name")


def _literal(node: ast.expr, value: Constant) -> Operand:
    if isinstance(value, bool):
        return Operand(node, repr(value), TRUTH, value)
    if isinstance(value, int):
        return Operand(node, repr(value), COUNT, value)
    if isinstance(value, Decimal):
        return Operand(node, repr(value), NUMBER, value)
    if isinstance(value, str):
        return Operand(node, repr(value), TEXT, value)
    raise Wrong(node, f"'{ast.unparse(node)}' stands for several constants", "x in " + ast.unparse(node))


def _near(name: str, known: Iterable[str]) -> str:
    found = get_close_matches(name, list(known), 1)
    return f"did you mean '{found[0]}'?" if found else ""
