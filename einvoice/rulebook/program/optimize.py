"""Rewrites generated code into faster code with the same results.

Generated expressions have no side effects, so parts of them may be evaluated earlier, or not at all:

- ``any`` and ``all`` over a term, or over a list of the model, test the first occurrence without a generator. Nearly
  all terms and most lists have only one.
- ``any`` and counts over groups of the document that have a certain text look at those in an index, if there are any.
- Sums and counts over an empty list are zero without a comprehension, and its members distinct.
- The sum over a list with one member is that member.
- A field that several rules of a context read, or an index, is read once, into a local variable.
"""

from __future__ import annotations

import ast
import copy
import functools
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any, Final

from einvoice.model.group import Group

_STORED_IN_VALUES: Final = frozenset({"filled", "more", "raw", "text"})
_MIN_READS: Final = 2
"""Number of reads from which a field is kept in a local variable."""
_MAX_STEPS: Final = 4
"""Maximum number of steps of a path that local variables hold."""


def optimize(module: ast.Module) -> ast.Module:
    """Rewrite each function of a generated module, in place, and return the module."""
    for function in module.body:
        if isinstance(function, ast.FunctionDef):
            _Occurrences().visit(function)
            _share_fields(function)
            _share_indices(function)
    return ast.fix_missing_locations(module)


@functools.cache
def _lists() -> frozenset[str]:
    """Return the names that are stored lists in every class of the model that has them."""
    return frozenset(_fields(many=True) - _fields(many=False) - _properties())


@functools.cache
def _stored() -> frozenset[str]:
    """Return the names of fields that are read without a computation."""
    return frozenset((_fields(many=True) | _fields(many=False)) - _properties()) | _STORED_IN_VALUES


def _fields(*, many: bool) -> set[str]:
    fields = (field for cls in Group.known.values() for field in cls.fields.items())
    return {name for name, field in fields if (field.default == ()) is many}


def _properties() -> set[str]:
    return {name for cls in Group.known.values() for name in dir(cls) if isinstance(getattr(cls, name), property)}


class _Transformer(ast.NodeTransformer):
    """A transformer that skips operators and the contexts of names: most nodes, which nothing rewrites."""

    def generic_visit(self, node: ast.AST) -> ast.AST:
        """Rewrite the members of a node; none is removed."""
        for name in node._fields:
            member = getattr(node, name, None)
            if isinstance(member, list):
                member[:] = [self.visit(it) if isinstance(it, ast.AST) and it._fields else it for it in member]
            elif isinstance(member, ast.AST) and member._fields:
                setattr(node, name, self.visit(member))
        return node


# ------------------------------------------------------------------------------------------------ occurrences


class _Occurrences(_Transformer):
    """Rewrites ``any``, ``all``, sums and counts over occurrences."""

    def visit_Call(self, call: ast.Call) -> ast.expr:
        """Rewrite a call and its operands."""
        match call:
            case ast.Call(ast.Name("any"), [ast.GeneratorExp(member, clauses)]):
                return self._any(member, clauses)
            case ast.Call(ast.Name("all"), [ast.GeneratorExp(member, clauses)]):
                return _not(self._any(_not(member), clauses))
            case ast.Call(ast.Name("reduce"), [_, ast.BoolOp(values=[ast.ListComp(_, clauses), _])]):
                return self._sum(call, clauses)
            case ast.Call(ast.Name("len"), [ast.ListComp(_, clauses)]):
                has_any = _narrow(clauses)
                self.generic_visit(call)
                return ast.IfExp(has_any, call, ast.Constant(0)) if has_any else _zero_if_empty(call, clauses)
            case ast.Call(ast.Name("all_distinct"), [ast.ListComp(generators=[first, *_])]) if _is_path(first.iter):
                return ast.BoolOp(ast.Or(), [_parse("not _", first.iter), call])
        self.generic_visit(call)
        match call:
            case ast.Call(ast.Name("round2"), [ast.IfExp(_, total, ast.Constant(0)) as otherwise_zero]):
                call.args, otherwise_zero.body = [total], call
                return otherwise_zero
        return call

    def _sum(self, call: ast.Call, clauses: list[ast.comprehension]) -> ast.expr:
        """Return code for a sum, whose addends are the values of ``_value`` that the last test accepts."""
        self.generic_visit(call)
        match clauses:
            case [ast.comprehension(target, ast.Name() as members, [test])]:
                addend = _Renamed(ast.unparse(target), _parse("_[0]", members)).visit(copy.deepcopy(test))
                only = ast.IfExp(addend, ast.Name("_value", ast.Load()), ast.Constant(0))
                return ast.IfExp(_parse("len(_) == 1", members), only, call)
        return _zero_if_empty(call, clauses)

    def _any(self, member: ast.expr, clauses: list[ast.comprehension]) -> ast.expr:
        """Return code for ``any(member clauses)``; its result is a boolean."""
        clause, *inner = clauses
        if _single(clause.iter) is None and not _is_list(clause.iter):
            has_any = _narrow(clauses, member)
            result = _call("any", ast.GeneratorExp(self.visit(member), clauses))
            return _and(has_any, result) if has_any else result
        if inner:
            member = _call("any", ast.GeneratorExp(member, inner))
        if clause.ifs:
            member = ast.BoolOp(ast.And(), [*clause.ifs, member])
        name = ast.unparse(clause.target)
        if (single := _single(clause.iter)) is not None:
            source, parts = single, ("_ is not absent", "_", "_.more", "not not _.more")
        else:
            source, parts = clause.iter, ("not not _", "_[0]", "_[1:]", "len(_) > 1")
        exists, one, others, several = (_parse(part, source) for part in parts)
        rest = _call("any", ast.GeneratorExp(copy.deepcopy(member), [_clause(clause, others)]))
        first = self.visit(_Renamed(name, one).visit(member))
        return _and(exists, ast.BoolOp(ast.Or(), [first, _and(several, rest)]))


def _zero_if_empty(call: ast.Call, clauses: list[ast.comprehension]) -> ast.expr:
    members = clauses[0].iter
    return ast.IfExp(copy.deepcopy(members), call, ast.Constant(0)) if _is_list(members) else call


class _Renamed(_Transformer):
    """Replaces a name by an expression."""

    def __init__(self, name: str, by: ast.expr) -> None:
        self._name = name
        self._by = by

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Replace the name."""
        return copy.deepcopy(self._by) if node.id == self._name else node


def _single(source: ast.expr) -> ast.expr | None:
    """Return ``x`` of a loop over ``() if x is absent else (x, *x.more)``."""
    match source:
        case ast.IfExp(ast.Compare(single, [ast.Is()], _), ast.Tuple(elts=[]), _):
            return single
    return None


def _narrow(clauses: list[ast.comprehension], *required: ast.expr) -> ast.expr | None:
    """Take the groups of a loop from an index, if what it requires is that a field of theirs has a certain text.

    Return the test that the index has the text; None if the groups stay as they are, or are those of ``with_vat``.
    """
    groups = clauses[0].iter
    is_lookup = isinstance(groups, ast.Call) and ast.unparse(groups.func) == "descendants"
    is_indexed = is_lookup or _is_list_of_invoice(groups)
    for owner, field, text in _required_texts(clauses, *required):
        match [(clause.target, clause.iter) for clause in clauses]:
            case [(ast.Name(group), _), *_] if is_indexed and group == owner:
                index = _parse(f"with_vat.by_text(_, {field!r})", groups)
                clauses[0].iter = _parse(f"_[{text!r}]", index)
                return _parse(f"{text!r} in _", index)
            case [(ast.Name(item), _), (ast.Name(tax), ast.Attribute(ast.Name(holder), "taxes"))]:
                if (item, tax, "category") == (holder, owner, field) and (is_lookup or _is_path(groups)):
                    clauses[0].iter = _parse(f"with_vat(_, {text!r})", groups)
                    return None
    return None


def _required_texts(clauses: list[ast.comprehension], *required: ast.expr) -> Iterator[tuple[str, str, Any]]:
    """Yield what a loop requires: the name of a group, its field, and a text that an occurrence of it must have."""
    terms: dict[str, tuple[str, str]] = {}  # the group and field that a variable has an occurrence of
    for clause in clauses:
        match clause.target, _single(clause.iter):
            case ast.Name(occurrence), ast.Attribute(ast.Name(group), field):
                terms[occurrence] = group, field
    for operand in _conjuncts(*required, *(test for clause in clauses for test in clause.ifs)):
        match operand:
            case ast.Compare(ast.Attribute(ast.Name(name), "text"), [ast.Eq()], [ast.Constant(value)]) if name in terms:
                yield *terms[name], value
            case ast.BoolOp(ast.Or(), [ast.Compare(ast.Attribute(first, "text")), ast.BoolOp(ast.And(), [_, several])]):
                match first, several:  # of ``group.field == 'text'``
                    case ast.Attribute(ast.Name(group), field), ast.Call(ast.Name("any_equal"), [term, text]):
                        if isinstance(text, ast.Constant) and ast.dump(term) == ast.dump(first):
                            yield group, field, text.value


def _conjuncts(*operands: ast.expr) -> Iterator[ast.expr]:
    for operand in operands:
        match operand:
            case ast.BoolOp(ast.And(), nested):
                yield from _conjuncts(*nested)
            case _:
                yield operand


def _is_list(source: ast.expr) -> bool:
    """Return whether a source is a stored list of the model; those of the invoice usually have several members."""
    match source:
        case ast.Attribute(ast.Name("invoice")):
            return False
        case ast.Attribute(_, name):
            return name in _lists() and _is_path(source)
    return False


def _is_list_of_invoice(source: ast.expr) -> bool:
    match source:
        case ast.Attribute(ast.Name("invoice"), name):
            return isinstance(getattr(Group.known["Invoice"], name, None), tuple)
    return False


def _is_path(node: ast.expr) -> bool:
    """Return whether ``node`` is a path of stored fields, which may be read repeatedly."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        if isinstance(node, ast.Attribute) and node.attr not in _stored():
            return False
        node = node.value
    return isinstance(node, ast.Name)


def _parse(code: str, operand: ast.expr) -> ast.expr:
    """Return the expression ``code``, with ``operand`` for ``_``."""
    parsed: ast.expr = _Renamed("_", operand).visit(ast.parse(code, mode="eval").body)
    return parsed


def _call(name: str, operand: ast.expr) -> ast.expr:
    return ast.Call(ast.Name(name, ast.Load()), [operand], [])


def _clause(clause: ast.comprehension, source: ast.expr) -> ast.comprehension:
    return ast.comprehension(clause.target, source, [], 0)


def _not(operand: ast.expr) -> ast.expr:
    return ast.UnaryOp(ast.Not(), operand)


def _and(*operands: ast.expr) -> ast.expr:
    return ast.BoolOp(ast.And(), list(operands))


# ------------------------------------------------------------------------------------------------ shared fields


def _share_fields(function: ast.FunctionDef) -> None:
    """Read fields of the invoice once before the loops, those of the loop variables once in each run."""
    variables: set[str] = set()
    block = function.body
    while isinstance(loop := block[0], ast.For):
        variables.add(ast.unparse(loop.target))
        block = loop.body
    start = next((number for number, statement in enumerate(block) if not _is_guard(statement)), len(block))
    before, rules = _share({"invoice"}, block[start:])
    inside, rules = _share(variables, rules)
    block[start:] = [*inside, *rules]
    function.body[:0] = before


def _is_guard(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.If) and isinstance(statement.body[0], ast.Continue)


def _share(variables: set[str], rules: list[ast.stmt]) -> tuple[list[ast.stmt], list[ast.stmt]]:
    """Return assignments of the fields that ``rules`` share, and the rules with local variables for these fields.

    A field is shared if it is read repeatedly, and at least once in any case: the assignment never reads in vain.
    """
    reads: list[ast.stmt] = []
    for _ in range(_MAX_STEPS):
        found = [(path, always) for path, always in _paths(rules, True) if _variable(path) in variables]
        counts, needed = Counter(path for path, _ in found), {path for path, always in found if always}
        shared = {path: local_name(path) for path, count in counts.items() if count >= _MIN_READS and path in needed}
        if not shared:
            break
        reads += [ast.parse(f"{local} = {_reading(path)}").body[0] for path, local in shared.items()]
        rules = [LocalVariables(shared).visit(rule) for rule in rules]
        variables = set(shared.values())
    return reads, rules


def _paths(parts: Iterable[ast.AST], always: bool) -> Iterator[tuple[str, bool]]:
    """Yield the paths of one step in conditions, and whether they are read in any case.

    Reports are left out, because they are rare.
    """
    for part in parts:
        match part:
            case ast.Expr() | ast.Name() | ast.Constant() | ast.expr_context():
                pass
            case ast.If(test, body):
                yield from _paths([test], always)
                if not isinstance(body[-1], ast.Expr):
                    yield from _paths(body, False)
            case ast.IfExp(test, then, otherwise):
                yield from _paths([test], always)
                yield from _paths([then, otherwise], False)
            case ast.BoolOp(operator, operands):
                reached = always
                for operand in operands:
                    yield from _paths([operand], reached)
                    reached = reached and (isinstance(operator, ast.Or) or _tests_existence(operand))
            case ast.GeneratorExp() | ast.ListComp():  # only its first source belongs to the scope of the function
                yield from _paths([part.generators[0].iter], always)
            case _ if path := _path(part):
                yield path, always
            case _:
                yield from _paths(ast.iter_child_nodes(part), always)


def _tests_existence(operand: ast.expr) -> bool:
    """Return whether an operand tests that a term or list exists, which is the usual case."""
    match operand:
        case ast.Compare(_, [ast.IsNot()], _) | ast.UnaryOp(ast.Not(), ast.UnaryOp(ast.Not(), _)):
            return True
    return False


def _path(node: ast.AST) -> str:
    """Return ``variable.field`` or ``variable[0]`` if a node reads a stored field, or the first member; else ""."""
    match node:
        case ast.Attribute(_, field) if field not in _stored():
            return ""
    return _step(node)


def _step(node: ast.AST) -> str:
    """Return ``variable.field`` or ``variable[0]``; "" for a node of another kind."""
    match node:
        case ast.Attribute(ast.Name(variable), field):
            return f"{variable}.{field}"
        case ast.Subscript(ast.Name(variable), ast.Constant(0)):
            return f"{variable}[0]"
    return ""


def _variable(path: str) -> str:
    return path.removesuffix("[0]").partition(".")[0]


def local_name(path: str) -> str:
    """Return a name that no rule can use: names that begin with an underscore are reserved."""
    return "_" + path.lstrip("_").replace(".", "_").replace("[0]", "_first")


def _reading(path: str) -> str:
    """Return code that reads a path; the first member of an empty list is ``absent``."""
    sequence = path.removesuffix("[0]")
    return path if sequence == path else f"{path} if {sequence} else absent"


class LocalVariables(_Transformer):
    """Replaces paths by local variables."""

    def __init__(self, shared: dict[str, str]) -> None:
        self._shared = shared

    def visit(self, node: ast.AST) -> Any:
        """Replace a path; of a comprehension rewrite only the first source, as the rest has a scope of its own."""
        if local := self._shared.get(_step(node)):
            return ast.Name(local, ast.Load())
        if isinstance(node, ast.GeneratorExp | ast.ListComp):
            node.generators[0].iter = self.visit(node.generators[0].iter)
            return node
        return self.generic_visit(node)


# ------------------------------------------------------------------------------------------------ shared indices


def _share_indices(function: ast.FunctionDef) -> None:
    """Look up each index of the document that a function uses repeatedly once, at its beginning."""
    lookups = Counter(code for node in ast.walk(function) if (code := _index(node)))
    shared = {code: "_" + "_".join(re.findall(r"\w+", code)) for code, count in lookups.items() if count >= _MIN_READS}
    _SharedIndices(shared).visit(function)
    function.body[:0] = [ast.parse(f"{local} = {code}").body[0] for code, local in shared.items()]


def _index(node: ast.AST) -> str:
    """Return the code of a lookup of an index; "" for another node."""
    match node:
        case ast.Call(ast.Attribute(ast.Name("with_vat"), "by_text")):
            return ast.unparse(node)
    return ""


class _SharedIndices(_Transformer):
    """Replaces lookups of indices by local variables."""

    def __init__(self, shared: dict[str, str]) -> None:
        self._shared = shared

    def visit_Call(self, call: ast.Call) -> ast.AST:
        """Replace a lookup."""
        local = self._shared.get(_index(call))
        return ast.Name(local, ast.Load()) if local else self.generic_visit(call)
