"""Checks an expression of the rule language: infers types, collects the terms it reads, and compiles it to Python."""

from __future__ import annotations

import ast
import re
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import replace
from decimal import Decimal
from difflib import get_close_matches
from typing import Final

from einvoice.errors import RuleError
from einvoice.model.group import Group
from einvoice.model.money import TaxCategory
from einvoice.rulebook import functions
from einvoice.rulebook.functions import patterns
from einvoice.rulebook.language import fields, lowerings
from einvoice.rulebook.language.expression import Constant, Expression, Loop, Where
from einvoice.rulebook.language.operands import (
    ExpressionError,
    Operand,
    as_boolean,
    as_number,
    as_text,
    common,
    constant_value,
    loop_source,
    numbers,
)
from einvoice.rulebook.language.types import BOOLEAN, COUNT, DOUBLE, NUMBER, TEXT, Type

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


_ESCAPED: Final = "\\'\"ntr"
"""Signs that a backslash may stand before in a text."""
_MAX_LENGTH: Final = 4000
"""Maximum number of characters of an expression; the compiler needs memory for each level of nesting."""


class Checker:
    """Checks one expression; ``terms`` and ``used`` collect what it reads."""

    def __init__(
        self, source: str, names: Mapping[str, Type], where: Where, group: str, constants: Mapping[str, Constant]
    ) -> None:
        self.source = source
        self.names = dict(names)
        self.declared = frozenset(names)
        self.where = where
        self.group = group
        self.constants = constants
        self.terms: set[str] = set()
        self.used: set[str] = set()
        for name in functions.GLOBALS.keys() & {*names, *constants}:
            raise RuleError(f"'{name}' is a function of the language", file=where.file, key=where.key)

    # -------------------------------------------------------------------------------- the expression

    def expression(self, boolean: bool = False) -> Expression:
        """Return the checked expression; with ``boolean``, its result must be true or false."""
        try:
            operand = self._visit(self._parse())
            if operand.clauses:
                raise ExpressionError(
                    operand.node,
                    "a generator expression is only allowed as an operand of a function",
                    "any(…), all(…), sum(…), count(…)",
                )
            code = as_boolean(operand) if boolean else self._code_of(operand)
        except ExpressionError as wrong:
            raise self._error(wrong) from None
        return self._expression(code, operand.type)

    def loop(self, name: str, group: str) -> Loop:
        """Return the expression as a loop over ``name``; ``group`` is the business group that the name represents."""
        try:
            node = self._parse()
            self._free(name, node)
            operand = self._visit(node, step=True)
            code = loop_source(operand)
        except ExpressionError as wrong:
            raise self._error(wrong) from None
        type_ = operand.type.one
        if group:
            type_ = replace(type_, group=group, terms=(group,) if group in type_.terms else type_.terms)
        return Loop(name, self._expression(code, replace(type_, many=True)), type_)

    def _parse(self) -> ast.expr:
        # Brackets allow several lines, and make columns count from 1.
        self.source = self.source.replace("\n", " ")
        if len(self.source) > _MAX_LENGTH:
            message = f"is longer than {_MAX_LENGTH} characters"
            raise RuleError(message, file=self.where.file, key=self.where.key, hint="divide it by let")
        try:
            if "\\" not in self.source:
                return ast.parse(f"({self.source})", mode="eval").body
            with warnings.catch_warnings(action="ignore"):  # about escapes, which _check_escapes reports as errors
                return ast.parse(f"({self.source})", mode="eval").body
        except (SyntaxError, ValueError, RecursionError) as error:
            column = getattr(error, "offset", None)
            message = getattr(error, "msg", str(error))
            raise RuleError(
                message, file=self.where.file, key=self.where.key, column=max(1, column - 1) if column else None
            ) from None

    def _error(self, error: ExpressionError) -> RuleError:
        column = getattr(error.node, "col_offset", None)
        return RuleError(error.message, file=self.where.file, key=self.where.key, column=column, hint=error.hint)

    def _code_of(self, operand: Operand) -> str:
        if operand.type.sort == "number" and operand.literal is not None:
            return as_number(operand)
        return operand.code

    def _expression(self, code: str, type_: Type) -> Expression:
        used = {node.id for node in ast.walk(ast.parse(code, mode="eval")) if isinstance(node, ast.Name)}
        exact = {name: number for name in sorted(used) if (number := constant_value(name)) is not None}
        lists = frozenset(name for name in used if name.startswith((lowerings.CODES, lowerings.CODE_TEXT)))
        terms, names = frozenset(self.terms), frozenset(self.used & self.declared)
        return Expression(self.source.strip(), code, type_, terms, names, exact, lists)

    # -------------------------------------------------------------------------------- its parts

    def _visit(self, node: ast.expr, step: bool = False) -> Operand:
        """Check one node. As a ``step`` of a path or the source of a loop, a group does not count as read."""
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
                code = f" {operator} ".join(as_boolean(self._visit(value)) for value in node.values)
                return Operand(node, f"({code})", BOOLEAN)
            case ast.UnaryOp(op=ast.Not()):
                return Operand(node, f"(not {as_boolean(self._visit(node.operand))})", BOOLEAN)
            case ast.UnaryOp(op=ast.USub()):
                (code,), type_ = numbers([self._visit(node.operand)])
                return Operand(node, f"(-{code})", type_)
            case ast.BinOp():
                return self._calculation(node)
            case ast.Compare():
                return self._comparison(node)
            case ast.IfExp():
                test = as_boolean(self._visit(node.test))
                (code, otherwise), type_ = common([self._visit(node.body), self._visit(node.orelse)])
                return Operand(node, f"({code} if {test} else {otherwise})", type_)
            case ast.GeneratorExp():
                return self._generator(node)
        raise ExpressionError(node, f"{type(node).__name__} is not part of the rule language")

    def _constant(self, node: ast.Constant) -> Operand:
        value: object = node.value
        if isinstance(value, float):
            written = ast.get_source_segment(f"({self.source})", node) or ""
            if not written.replace(".", "", 1).isdigit():
                raise ExpressionError(node, f"{written} is not a plain decimal number")
            value = Decimal(written)
        if not isinstance(value, str | bool | int | Decimal):
            raise ExpressionError(node, f"{ast.unparse(node)} is not part of the rule language")
        if isinstance(value, str):
            self._check_escapes(node, value)
        return _literal(node, value)

    def _check_escapes(self, node: ast.Constant, text: str) -> None:
        r"""Reject ``'\d'``, which is no escape of a text, and ``'\b'``, which is one for a control character."""
        written = ast.get_source_segment(f"({self.source})", node) or ""
        if written[:1] in ("r", "R"):
            return
        unknown = next((it for it in re.findall(r"\\(.)", written) if it not in _ESCAPED), "")
        if unknown:
            raise ExpressionError(node, f"\\{unknown} is not an escape of a text", _escape_hint(unknown))
        control = next((it for it in text if it < " " and it not in "\t\n\r"), "")
        if control:
            hint = r"write a backslash of a pattern as \\, in a text in quotes as \\\\"
            raise ExpressionError(node, f"the text contains the control character U+{ord(control):04X}", hint)

    def _name(self, node: ast.Name, step: bool) -> Operand:
        if node.id in self.constants:
            return _literal(node, self.constants[node.id])
        if node.id not in self.names:
            if node.id in functions.GLOBALS:
                raise ExpressionError(node, f"'{node.id}' is a function", f"{node.id}(…)")
            raise ExpressionError(node, f"unknown name '{node.id}'", _near(node.id, [*self.names, *self.constants]))
        self.used.add(node.id)
        type_ = self.names[node.id]
        self._read(type_, step)
        return Operand(node, node.id, type_, repeatable=True)

    def _attribute(self, node: ast.Attribute, step: bool) -> Operand:
        owner = self._visit(node.value, step=True)
        if owner.type.many:
            raise ExpressionError(node.value, f"{owner} is a sequence", f"… for x in {ast.unparse(node.value)}")
        known = fields.fields_of(owner.type.cls)
        if node.attr not in known:
            what = owner.type.cls.__name__
            raise ExpressionError(node, f"{what} has no field '{node.attr}'", _near(node.attr, known))
        type_ = fields.type_of(owner.type, node.attr, self.group)
        self._read(type_, step)
        repeatable = owner.repeatable and fields.is_stored(owner.type.cls, node.attr)
        return Operand(node, f"{owner.code}.{node.attr}", type_, repeatable=repeatable)

    def _read(self, type_: Type, step: bool) -> None:
        if not step or (type_.is_value and not type_.many):
            self.terms.update(type_.terms)

    def _call(self, node: ast.Call) -> Operand:
        if not isinstance(node.func, ast.Name) or node.keywords:
            raise ExpressionError(node, "only functions can be called, with positional operands")
        name = node.func.id
        if name == "descendants":
            return self._descendants(node)
        if name == "with_vat":
            return self._with_vat(node)
        if name == "with_same_exemption":
            return self._with_same_exemption(node)
        if name not in functions.CALLABLE:
            raise ExpressionError(node, f"unknown function '{name}'", _near(name, functions.CALLABLE))
        code, type_ = lowerings.lower(node, [self._visit(operand) for operand in node.args])
        return Operand(node, code, type_)

    def _descendants(self, node: ast.Call) -> Operand:
        match node.args:
            case [ast.Name(id=name)] if cls := Group.known.get(name):
                self._visit(ast.copy_location(ast.Name("invoice", ast.Load()), node), step=True)
                return Operand(node, f"descendants({name!r}, ())", Type(cls, many=True, terms=cls.groups))
        raise ExpressionError(
            node, "descendants takes the name of a group", _near(ast.unparse(node)[12:-1], Group.known)
        )

    def _with_vat(self, node: ast.Call) -> Operand:
        """Check ``with_vat(items, category)`` or ``with_vat(items, category, rate)``; both read the taxes of items."""
        if len(node.args) not in (2, 3):
            raise ExpressionError(node, f"'with_vat' takes 2 or 3 operands, not {len(node.args)}")
        items, category, *rate = self._visit(node.args[0], step=True), *map(self._visit, node.args[1:])
        self._read_fields(self._taxes(items), ("category", "rate")[: len(node.args) - 1])
        codes = [items.code, as_text(category), *map(as_number, rate)]
        return Operand(node, f"with_vat({', '.join(codes)})", items.type)

    def _with_same_exemption(self, node: ast.Call) -> Operand:
        """Check ``with_same_exemption(items, tax)``; it reads the exemption reasons of both."""
        if len(node.args) != 2:
            raise ExpressionError(node, f"'with_same_exemption' takes 2 operands, not {len(node.args)}")
        items, tax = (self._visit(operand, step=True) for operand in node.args)
        if tax.type.many or not issubclass(tax.type.cls, TaxCategory):
            raise ExpressionError(tax.node, f"{tax} is {tax.type}, not a tax")
        for taxes in (self._taxes(items), tax.type):
            self._read_fields(taxes, ("exemption_reason", "exemption_reason_code"))
        return Operand(node, f"with_same_exemption({items.code}, {tax.code})", items.type)

    def _taxes(self, items: Operand) -> Type:
        """Return the type of the taxes of a sequence of groups."""
        if not items.type.many or "taxes" not in fields.fields_of(items.type.cls):
            raise ExpressionError(
                items.node, f"{items} is {items.type}, not a sequence of groups with taxes", "invoice.lines"
            )
        return fields.type_of(items.type, "taxes", self.group).one

    def _read_fields(self, owner: Type, names: Iterable[str]) -> None:
        for name in names:
            self._read(fields.type_of(owner, name, self.group), step=False)

    def _calculation(self, node: ast.BinOp) -> Operand:
        operands = [self._visit(node.left), self._visit(node.right)]
        (left, right), type_ = numbers(operands)
        if isinstance(node.op, ast.Div):
            helper = "_divide_double" if type_ == DOUBLE else "_divide"
            return Operand(node, f"{helper}({left}, {right})", type_)
        if type(node.op) not in _OPERATORS:
            raise ExpressionError(node, "the only operators are + - * /")
        if all(operand.type.cls is int for operand in operands):
            type_ = COUNT
        return Operand(node, f"({left} {_OPERATORS[type(node.op)]} {right})", type_)

    def _comparison(self, node: ast.Compare) -> Operand:
        operators = [_OPERATORS.get(type(operator)) for operator in node.ops]
        if None in operators:
            raise ExpressionError(node, "the only comparisons are == != < <= > >= in and not in")
        if operators[0] in ("in", "not in") and len(operators) == 1:
            return self._membership(node, str(operators[0]))
        if "in" in operators or "not in" in operators:
            raise ExpressionError(node, "'in' cannot be part of a chained comparison")
        operands = [self._visit(operand) for operand in (node.left, *node.comparators)]
        if all(operand.type.cls is int for operand in operands):
            codes = [operand.code for operand in operands]
        else:
            codes, _ = common(operands)
        chain = "".join(f" {operator} {code}" for operator, code in zip(operators, codes[1:], strict=True))
        return Operand(node, f"({codes[0]}{chain})", BOOLEAN)

    def _membership(self, node: ast.Compare, operator: str) -> Operand:
        operand, right = self._visit(node.left), node.comparators[0]
        if isinstance(right, ast.Tuple):
            members = [self._visit(member) for member in right.elts]
        elif isinstance(right, ast.Name) and isinstance(self.constants.get(right.id), tuple | list):
            members = [_literal(right, text) for text in self.constants[right.id]]  # type: ignore[union-attr]
        else:
            raise ExpressionError(
                right, f"'{operator}' needs constants in brackets", "any_equal(…) or any(… for x in …)"
            )
        if not members or any(member.literal is None for member in members):
            raise ExpressionError(right, f"'{operator}' needs constants in brackets")
        (code, *listed), _ = common([operand, *members])
        # Python compiles a set of texts to one constant; numbers are global names, so they stay a tuple.
        inside = "{" + ", ".join(listed) + "}" if operand.type.sort == "text" else f"({', '.join(listed)},)"
        test = f"({code} in {inside})"
        return Operand(node, test if operator == "in" else f"(not {test})", BOOLEAN)

    def _generator(self, node: ast.GeneratorExp) -> Operand:
        outer = dict(self.names)
        clauses = []
        for part in node.generators:
            if not isinstance(part.target, ast.Name) or part.is_async:
                raise ExpressionError(part.target, "a loop has one name")
            self._free(part.target.id, part.target)
            operand = self._visit(part.iter, step=True)
            clauses.append(f"for {part.target.id} in {loop_source(operand)}")
            self.names[part.target.id] = operand.type.one
            clauses += [f"if {as_boolean(self._visit(test))}" for test in part.ifs]
        member = self._visit(node.elt)
        self.names = outer
        if member.type.many:
            raise ExpressionError(node.elt, f"{member} is a sequence", "a second 'for'")
        # A constant (sum(1 for …)) is written as a number.
        code = self._code_of(member)
        return Operand(node.elt, code, replace(member.type, many=True), clauses=" ".join(clauses))

    def _free(self, name: str, node: ast.AST) -> None:
        if name in functions.GLOBALS or name in self.names or name in self.constants or name.startswith("_"):
            raise ExpressionError(node, f"'{name}' is already in use; choose another name for the loop")


def _literal(node: ast.expr, value: Constant) -> Operand:
    if isinstance(value, bool):
        return Operand(node, repr(value), BOOLEAN, value)
    if isinstance(value, int):
        return Operand(node, repr(value), COUNT, value)
    if isinstance(value, Decimal):
        return Operand(node, repr(value), NUMBER, value)
    if isinstance(value, str):
        return Operand(node, repr(value), TEXT, value)
    raise ExpressionError(node, f"'{ast.unparse(node)}' is a list of constants", "x in " + ast.unparse(node))


def _escape_hint(sign: str) -> str:
    """Return how to write an escape in a pattern, which is a text in a text of TOML.

    >>> _escape_hint("d"), _escape_hint(".")
    ('write [0-9]', 'write [.]')
    """
    if instead := {"\\d": "[0-9]", **patterns.INSTEAD}.get(f"\\{sign}"):
        return f"write {instead}"
    return rf"write \\{sign}, in a text in quotes \\\\{sign}" if sign.isalnum() else f"write [{sign}]"


def _near(name: str, known: Iterable[str]) -> str:
    matches = get_close_matches(name, list(known), 1)
    return f"did you mean '{matches[0]}'?" if matches else ""
