"""Parses XPath: text -> nodes. Each method reads one production of the grammar (XPath 2.0, A.1)."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from typing import Final, NoReturn

from einvoice.schematron.errors import NotCompilable
from einvoice.schematron.xpath.axes import AXES
from einvoice.schematron.xpath.nodes import (
    Arithmetic,
    Call,
    Combination,
    Comparison,
    Condition,
    Constant,
    ContextItem,
    Expression,
    Filter,
    Items,
    Logic,
    Loop,
    Negative,
    Path,
    Range,
    Root,
    SimpleMap,
    Step,
    TypeTest,
    Variable,
)
from einvoice.schematron.xpath.tokens import Token, excerpt, tokens

_KINDS: Final = frozenset(
    ("node", "text", "comment", "processing-instruction", "element", "attribute", "document-node")
)
_GENERAL: Final = frozenset(("=", "!=", "<", "<=", ">", ">="))
_VALUE: Final = frozenset(("eq", "ne", "lt", "le", "gt", "ge"))
_NODE: Final = frozenset(("is", "<<", ">>"))
_LOOPS: Final = frozenset(("for", "let", "some", "every"))
_OPERATORS: Final = _VALUE | {
    *("and", "or", "div", "idiv", "mod", "is", "to", "union", "intersect", "except"),
    *("instance", "treat", "castable", "cast", "return", "satisfies", "in", "else", "then"),
}
"""Names that, after a slash, do not begin a step, unless something follows that only a name can have."""
_ANY: Final = "node()"
_EVERYWHERE: Final = "descendant-or-self"
_MAX_DEPTH: Final = 40


@lru_cache(maxsize=4096)
def parse(text: str) -> Expression:
    """Return the syntax tree of an expression.

    Raises:
        NotCompilable: it is no XPath 2.0, or uses a construct that is not supported.
    """
    return _Parser(text).whole()


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = tokens(text)
        self._at = 0
        self._depth = 0

    # ---------------------------------------------------------------- words

    def _peek(self, ahead: int = 0) -> Token:
        return self._tokens[min(self._at + ahead, len(self._tokens) - 1)]

    def _next(self) -> Token:
        token = self._peek()
        self._at += 1
        return token

    def _is(self, text: str, ahead: int = 0) -> bool:
        token = self._peek(ahead)
        return token.text == text and token.kind in ("sign", "name")

    def _take(self, *texts: str) -> str:
        """Read one of the words if it comes next; return it, or ""."""
        return self._next().text if any(map(self._is, texts)) else ""

    def _expect(self, text: str) -> None:
        if not self._take(text):
            self._fail(f"expected '{text}'")

    def _fail(self, reason: str) -> NoReturn:
        token = self._peek()
        raise NotCompilable(f"{reason}, found '{token.text}' in {excerpt(self._text, token.start)}")

    # ---------------------------------------------------------------- expressions

    def whole(self) -> Expression:
        """Read the whole text."""
        found = self._expression()
        if self._peek().kind != "end":
            self._fail("expected the end")
        return found

    def _expression(self) -> Expression:
        self._depth += 1
        if self._depth > _MAX_DEPTH:
            raise NotCompilable(f"an expression nested deeper than {_MAX_DEPTH} levels")
        items = [self._single()]
        while self._take(","):
            items.append(self._single())
        self._depth -= 1
        return items[0] if len(items) == 1 else Items(tuple(items))

    def _single(self) -> Expression:
        token, following = self._peek(), self._peek(1)
        if token.kind == "name" and token.text in _LOOPS and following.kind == "variable":
            return self._loop()
        if self._is("if") and self._is("(", 1):
            return self._condition()
        return self._or()

    def _condition(self) -> Expression:
        self._next()
        self._expect("(")
        test = self._expression()
        self._expect(")")
        self._expect("then")
        yes = self._single()
        self._expect("else")
        return Condition(test, yes, self._single())

    def _loop(self) -> Expression:
        kind = self._next().text
        bindings = []
        while True:
            name = self._variable(self._next())
            if self._is("as"):
                self._fail("a declared type is not supported")
            self._expect(":=" if kind == "let" else "in")
            bindings.append((name, self._single()))
            if not self._take(","):
                break
            if self._peek().kind != "variable":
                self._fail("expected a variable")
        self._expect("satisfies" if kind in ("some", "every") else "return")
        return Loop(kind, tuple(bindings), self._single())

    def _or(self) -> Expression:
        operands = [self._and()]
        while self._take("or"):
            operands.append(self._and())
        return operands[0] if len(operands) == 1 else Logic("or", tuple(operands))

    def _and(self) -> Expression:
        operands = [self._comparison()]
        while self._take("and"):
            operands.append(self._comparison())
        return operands[0] if len(operands) == 1 else Logic("and", tuple(operands))

    def _comparison(self) -> Expression:
        left = self._concatenation()
        operator = self._take(*_GENERAL, *_VALUE, *_NODE)
        return Comparison(operator, left, self._concatenation()) if operator else left

    def _concatenation(self) -> Expression:
        left = self._range()
        while self._take("||"):
            left = Call("concat", (left, self._range()))
        return left

    def _range(self) -> Expression:
        first = self._sum()
        return Range(first, self._sum()) if self._take("to") else first

    def _sum(self) -> Expression:
        return self._chain(self._product, Arithmetic, "+", "-")

    def _product(self) -> Expression:
        return self._chain(self._union, Arithmetic, "*", "div", "idiv", "mod")

    def _union(self) -> Expression:
        left = self._intersection()
        while self._take("|", "union"):
            left = Combination("union", left, self._intersection())
        return left

    def _intersection(self) -> Expression:
        return self._chain(self._type_test, Combination, "intersect", "except")

    def _chain(
        self, operand: Callable[[], Expression], make: Callable[[str, Expression, Expression], Expression], *signs: str
    ) -> Expression:
        left = operand()
        while operator := self._take(*signs):
            left = make(operator, left, operand())
        return left

    def _type_test(self) -> Expression:
        operand = self._arrow()
        for operator, word in (("instance", "of"), ("treat", "as"), ("castable", "as"), ("cast", "as")):
            if self._is(operator) and self._is(word, 1):
                self._at += 2
                operand = TypeTest(operator, operand, *self._type())
        return operand

    def _type(self) -> tuple[str, str]:
        name = self._next().text
        if self._take("("):
            while not self._take(")"):
                self._next()
                if self._peek().kind == "end":
                    self._fail("expected ')'")
            name += "()"
        return name, self._take("?", "*", "+")

    def _arrow(self) -> Expression:
        left = self._unary()
        while self._take("=>"):
            name = self._next().text
            left = Call(_function(name), (left, *self._arguments()))
        return left

    def _unary(self) -> Expression:
        is_negative = False
        while sign := self._take("+", "-"):
            is_negative ^= sign == "-"
        operand = self._path()
        while self._take("!"):
            operand = SimpleMap(operand, self._path())
        return Negative(operand) if is_negative else operand

    # ---------------------------------------------------------------- paths

    def _path(self) -> Expression:
        if self._take("//"):
            return self._steps(Step(Root(), _EVERYWHERE, _ANY))
        if self._take("/"):
            return self._steps(Root()) if self._begins_step() else Root()
        return self._steps(None)

    def _begins_step(self) -> bool:
        token = self._peek()
        if token.kind == "name":
            return token.text not in _OPERATORS or self._peek(1).text in ("(", "::", "/", "[")
        return token.kind == "variable" or token.text in (".", "..", "@", "*", "(")

    def _steps(self, base: Expression | None) -> Expression:
        found = self._step(base)
        while sign := self._take("//", "/"):
            found = self._step(Step(found, _EVERYWHERE, _ANY) if sign == "//" else found)
        return found

    def _step(self, base: Expression | None) -> Expression:
        token, origin = self._peek(), ContextItem() if base is None else base
        if self._take(".."):
            return Step(origin, "parent", _ANY, self._predicates())
        if self._take("@"):
            return Step(origin, "attribute", self._test(), self._predicates())
        if token.kind == "name" and self._is("::", 1):
            axis = self._next().text
            if axis not in AXES:
                self._fail(f"the axis '{axis}' is not supported")
            self._next()
            return Step(origin, axis, self._test(), self._predicates())
        is_kind = token.kind == "name" and token.text in _KINDS and self._is("(", 1)
        if is_kind or self._is("*") or (token.kind == "name" and not self._is("(", 1)):
            axis = "attribute" if is_kind and token.text == "attribute" else "child"
            return Step(origin, axis, self._test(), self._predicates())
        primary = self._primary()
        predicates = self._predicates()
        found = Filter(primary, predicates) if predicates else primary
        return found if base is None else Path(base, found)

    def _predicates(self) -> tuple[Expression, ...]:
        found = []
        while self._take("["):
            found.append(self._expression())
            self._expect("]")
        return tuple(found)

    def _test(self) -> str:
        token = self._next()
        if token.kind == "name" and token.text in _KINDS and self._take("("):
            if not self._take(")"):
                name = self._next().text
                self._expect(")")
                if token.text in ("element", "attribute") and name != "*":
                    return name
                if name != "*":
                    self._fail(f"the test {token.text}({name}) is not supported")
            return f"{token.text}()"
        if token.kind == "name" or token.text == "*":
            return token.text
        self._at -= 1
        self._fail("expected a name")

    # ---------------------------------------------------------------- primaries

    def _primary(self) -> Expression:
        token = self._peek()
        if token.kind == "number":
            return Constant(_number(self._next().text))
        if token.kind == "text":
            mark = self._next().text[0]
            return Constant(token.text[1:-1].replace(mark * 2, mark))
        if token.kind == "variable":
            return Variable(self._variable(self._next()))
        if self._take("."):
            return ContextItem()
        if self._take("("):
            if self._take(")"):
                return Items(())
            inner = self._expression()
            self._expect(")")
            return Items((inner,)) if isinstance(inner, Step | Path) else inner  # (a//b)[1] is not a//b[1]
        if token.kind == "name":
            return Call(_function(self._next().text), self._arguments())
        self._fail("expected an expression")

    def _arguments(self) -> tuple[Expression, ...]:
        self._expect("(")
        if self._take(")"):
            return ()
        found = [self._single()]
        while self._take(","):
            found.append(self._single())
        self._expect(")")
        return tuple(found)

    def _variable(self, token: Token) -> str:
        return token.text.removeprefix("$").strip()


def _function(name: str) -> str:
    return name.removeprefix("fn:")


def _number(text: str) -> int | Decimal | float:
    if "e" in text.lower():
        return float(text)  # xs:double, as XPath defines it
    return Decimal(text) if "." in text else int(text)
