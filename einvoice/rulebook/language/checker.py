"""Checks an expression of the rule language: infers types, and collects the terms it reads."""

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
from einvoice.rulebook.language import fields
from einvoice.rulebook.language.calls import checked_call
from einvoice.rulebook.language.conversions import (
    ExpressionError,
    as_boolean,
    as_number,
    as_text,
    common,
    loop_source,
    numbers,
)
from einvoice.rulebook.language.expression import Expression, Loop, Where
from einvoice.rulebook.language.nodes import (
    Call,
    Clause,
    Constant,
    Field,
    Generator,
    Literal,
    Name,
    Node,
)
from einvoice.rulebook.language.types import BOOLEAN, COUNT, NUMBER, TEXT, Type

_OPERATORS: Final[dict[type[ast.AST], str]] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
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
    """Checks one expression; `terms` and `used` collect what it reads."""

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
        """Return the checked expression; with `boolean`, its result must be true or false."""
        try:
            node = self._visit(self._parse())
            if isinstance(node, Generator):
                raise ExpressionError(
                    node,
                    "a generator expression is only allowed as an operand of a function",
                    "any(…), all(…), sum(…), count(…)",
                )
            return self._expression(as_boolean(node) if boolean else _plain(node))
        except ExpressionError as wrong:
            raise self._error(wrong) from None

    def loop(self, name: str, group: str) -> Loop:
        """Return the expression as a loop over `name`; `group` is the business group that the name represents."""
        try:
            parsed = self._parse()
            self._free(name, parsed)
            node = loop_source(self._visit(parsed, step=True))
        except ExpressionError as wrong:
            raise self._error(wrong) from None
        type_ = node.type.one
        if group:
            type_ = replace(type_, group=group, terms=(group,) if group in type_.terms else type_.terms)
        return Loop(name, self._expression(node), type_)

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

    def _expression(self, node: Node) -> Expression:
        return Expression(self.source.strip(), node, frozenset(self.terms), frozenset(self.used & self.declared))

    # -------------------------------------------------------------------------------- its parts

    def _visit(self, node: ast.expr, step: bool = False) -> Node:
        """Check one node. As a `step` of a path or the source of a loop, a group does not count as read."""
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
                operands = tuple(as_boolean(self._visit(value)) for value in node.values)
                return Call(node, BOOLEAN, _OPERATORS[type(node.op)], operands)
            case ast.UnaryOp(op=ast.Not()):
                return Call(node, BOOLEAN, "not", (as_boolean(self._visit(node.operand)),))
            case ast.UnaryOp(op=ast.USub()):
                operands, type_ = numbers([self._visit(node.operand)])
                return Call(node, type_, "-", operands)
            case ast.BinOp():
                return self._calculation(node)
            case ast.Compare():
                return self._comparison(node)
            case ast.IfExp():
                test = as_boolean(self._visit(node.test))
                operands, type_ = common([self._visit(node.body), self._visit(node.orelse)])
                return Call(node, type_, "if", (test, *operands))
            case ast.GeneratorExp():
                return self._generator(node)
        raise ExpressionError(node, f"{type(node).__name__} is not part of the rule language")

    def _constant(self, node: ast.Constant) -> Node:
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
        r"""Reject `'\d'`, which is no escape of a text, and `'\b'`, which is one for a control character."""
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

    def _name(self, node: ast.Name, step: bool) -> Node:
        if node.id in self.constants:
            return _literal(node, self.constants[node.id])
        if node.id not in self.names:
            if node.id in functions.GLOBALS:
                raise ExpressionError(node, f"'{node.id}' is a function", f"{node.id}(…)")
            raise ExpressionError(node, f"unknown name '{node.id}'", _near(node.id, [*self.names, *self.constants]))
        self.used.add(node.id)
        type_ = self.names[node.id]
        self._read(type_, step)
        return Name(node, type_, node.id)

    def _attribute(self, node: ast.Attribute, step: bool) -> Node:
        owner = self._visit(node.value, step=True)
        if owner.type.many:
            raise ExpressionError(node.value, f"{owner} is a sequence", f"… for x in {ast.unparse(node.value)}")
        known = fields.fields_of(owner.type.cls)
        if node.attr not in known:
            what = owner.type.cls.__name__
            raise ExpressionError(node, f"{what} has no field '{node.attr}'", _near(node.attr, known))
        type_ = fields.type_of(owner.type, node.attr, self.group)
        self._read(type_, step)
        return Field(node, type_, owner, node.attr)

    def _read(self, type_: Type, step: bool) -> None:
        if not step or (type_.is_value and not type_.many):
            self.terms.update(type_.terms)

    def _call(self, node: ast.Call) -> Node:
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
        return checked_call(node, name, [self._visit(operand) for operand in node.args])

    def _descendants(self, node: ast.Call) -> Node:
        match node.args:
            case [ast.Name(id=name)] if cls := Group.known.get(name):
                self._visit(ast.copy_location(ast.Name("invoice", ast.Load()), node), step=True)
                return Call(node, Type(cls, many=True, terms=cls.groups), "descendants", (_literal(node, name),))
        raise ExpressionError(
            node, "descendants takes the name of a group", _near(ast.unparse(node)[12:-1], Group.known)
        )

    def _with_vat(self, node: ast.Call) -> Node:
        """Check `with_vat(items, category)` or `with_vat(items, category, rate)`; both read the taxes of items."""
        if len(node.args) not in (2, 3):
            raise ExpressionError(node, f"'with_vat' takes 2 or 3 operands, not {len(node.args)}")
        items, category, *rate = self._visit(node.args[0], step=True), *map(self._visit, node.args[1:])
        self._read_fields(self._taxes(items), ("category", "rate")[: len(node.args) - 1])
        return Call(node, items.type, "with_vat", (items, as_text(category), *map(as_number, rate)))

    def _with_same_exemption(self, node: ast.Call) -> Node:
        """Check `with_same_exemption(items, tax)`; it reads the exemption reasons of both."""
        if len(node.args) != 2:
            raise ExpressionError(node, f"'with_same_exemption' takes 2 operands, not {len(node.args)}")
        items, tax = (self._visit(operand, step=True) for operand in node.args)
        if tax.type.many or not issubclass(tax.type.cls, TaxCategory):
            raise ExpressionError(tax, f"{tax} is {tax.type}, not a tax")
        for taxes in (self._taxes(items), tax.type):
            self._read_fields(taxes, ("exemption_reason", "exemption_reason_code"))
        return Call(node, items.type, "with_same_exemption", (items, tax))

    def _taxes(self, items: Node) -> Type:
        """Return the type of the taxes of a sequence of groups."""
        if not items.type.many or "taxes" not in fields.fields_of(items.type.cls):
            raise ExpressionError(
                items, f"{items} is {items.type}, not a sequence of groups with taxes", "invoice.lines"
            )
        return fields.type_of(items.type, "taxes", self.group).one

    def _read_fields(self, owner: Type, names: Iterable[str]) -> None:
        for name in names:
            self._read(fields.type_of(owner, name, self.group), step=False)

    def _calculation(self, node: ast.BinOp) -> Node:
        operands = [self._visit(node.left), self._visit(node.right)]
        converted, type_ = numbers(operands)
        if type(node.op) not in _OPERATORS:
            raise ExpressionError(node, "the only operators are + - * /")
        if not isinstance(node.op, ast.Div) and all(operand.type.cls is int for operand in operands):
            type_ = COUNT
        return Call(node, type_, _OPERATORS[type(node.op)], converted)

    def _comparison(self, node: ast.Compare) -> Node:
        operators = [_OPERATORS.get(type(operator)) for operator in node.ops]
        if None in operators:
            raise ExpressionError(node, "the only comparisons are == != < <= > >= in and not in")
        if operators[0] in ("in", "not in") and len(operators) == 1:
            return self._membership(node, str(operators[0]))
        if "in" in operators or "not in" in operators:
            raise ExpressionError(node, "'in' cannot be part of a chained comparison")
        operands = tuple(self._visit(operand) for operand in (node.left, *node.comparators))
        if any(operand.type.cls is not int for operand in operands):
            operands, _ = common(operands)
        pairs = zip(operands, operators, operands[1:], strict=False)
        tests = tuple(Call(node, BOOLEAN, str(operator), (left, right)) for left, operator, right in pairs)
        return tests[0] if len(tests) == 1 else Call(node, BOOLEAN, "and", tests)

    def _membership(self, node: ast.Compare, operator: str) -> Node:
        operand, right = self._visit(node.left), node.comparators[0]
        if isinstance(right, ast.Tuple):
            members = [self._visit(member) for member in right.elts]
        elif isinstance(right, ast.Name) and isinstance(self.constants.get(right.id), tuple | list):
            members = [_literal(right, text) for text in self.constants[right.id]]  # type: ignore[union-attr]
        else:
            raise ExpressionError(
                right, f"'{operator}' needs constants in brackets", "any_equal(…) or any(… for x in …)"
            )
        if not members or not all(isinstance(member, Literal) for member in members):
            raise ExpressionError(right, f"'{operator}' needs constants in brackets")
        test = Call(node, BOOLEAN, "in", common([operand, *members])[0])
        return test if operator == "in" else Call(node, BOOLEAN, "not", (test,))

    def _generator(self, node: ast.GeneratorExp) -> Node:
        outer = dict(self.names)
        clauses = []
        for part in node.generators:
            if not isinstance(part.target, ast.Name) or part.is_async:
                raise ExpressionError(part.target, "a loop has one name")
            self._free(part.target.id, part.target)
            source = loop_source(self._visit(part.iter, step=True))
            self.names[part.target.id] = source.type.one
            tests = tuple(as_boolean(self._visit(test)) for test in part.ifs)
            clauses.append(Clause(part.target.id, source, tests))
        member = _plain(self._visit(node.elt))
        self.names = outer
        if member.type.many:
            raise ExpressionError(node.elt, f"{member} is a sequence", "a second 'for'")
        return Generator(node.elt, replace(member.type, many=True), member, tuple(clauses))

    def _free(self, name: str, node: ast.AST) -> None:
        if name in functions.GLOBALS or name in self.names or name in self.constants or name.startswith("_"):
            raise ExpressionError(node, f"'{name}' is already in use; choose another name for the loop")


def _literal(node: ast.expr, value: Constant) -> Literal:
    for cls, type_ in ((bool, BOOLEAN), (int, COUNT), (Decimal, NUMBER), (str, TEXT)):
        if isinstance(value, cls):
            return Literal(node, type_, value)
    raise ExpressionError(node, f"'{ast.unparse(node)}' is a list of constants", "x in " + ast.unparse(node))


def _escape_hint(sign: str) -> str:
    """Return how to write an escape in a pattern, which is a text in a text of TOML.

    >>> _escape_hint("d"), _escape_hint(".")
    ('write [0-9]', 'write [.]')
    """
    if instead := {"\\d": "[0-9]", **patterns.INSTEAD}.get(f"\\{sign}"):
        return f"write {instead}"
    return rf"write \\{sign}, in a text in quotes \\\\{sign}" if sign.isalnum() else f"write [{sign}]"


def _plain(node: Node) -> Node:
    """Return a constant number as an exact one (`sum(1 for …)`); any other node as it is."""
    return as_number(node) if isinstance(node, Literal) and node.type.sort == "number" else node


def _near(name: str, known: Iterable[str]) -> str:
    matches = get_close_matches(name, list(known), 1)
    return f"did you mean '{matches[0]}'?" if matches else ""
