"""Loop fusion: merges the functions of contexts with the same first loop, such as over all lines.

The lines of a large invoice do not fit into the caches of the processor: each loop reads them from memory again.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence

from einvoice.rulebook.program.optimize import LocalVariables, local_name


def fused(functions: Sequence[ast.FunctionDef]) -> ast.FunctionDef:
    """Return a function that does what all functions do, with their first loop only once; the first one is changed.

    If there are several, the last statement of each is that loop, and those before it only assign local variables.
    """
    first, *others = functions
    if not others:
        return first
    reads = {ast.unparse(read): read for function in functions for read in function.body[:-1]}
    loop, *same = [it for function in functions if isinstance(it := function.body[-1], ast.For)]
    block = [statement for it in (loop, *same) for statement in _without_continue(it.body)]
    loop.body = _with_shared_conditions(block, ast.unparse(loop.target))
    first.body = [*reads.values(), loop]
    return ast.fix_missing_locations(first)


def _without_continue(block: list[ast.stmt]) -> list[ast.stmt]:
    """Return a block with conditions instead of ``continue`` at its start, which would leave out other contexts."""
    match block:
        case [ast.If(test, [ast.Continue()]), *rest]:
            return [ast.If(ast.UnaryOp(ast.Not(), test), _without_continue(rest), [])]
    return block


def _with_shared_conditions(block: list[ast.stmt], variable: str) -> list[ast.stmt]:
    """Return a block that reads each property of the loop variable that is a condition for all contexts once."""
    paths = {path for statement in block if (path := _condition(statement)).startswith(f"{variable}.")}
    reads = [ast.parse(f"{local_name(path)} = {path}").body[0] for path in sorted(paths)]
    locals_ = LocalVariables({path: local_name(path) for path in paths})
    return [*reads, *(locals_.visit(statement) for statement in block)]


def _condition(statement: ast.stmt) -> str:
    """Return ``variable.property`` if that alone is the condition of a statement; "" for any other."""
    match statement:
        case ast.If(ast.UnaryOp(ast.Not(), ast.Attribute(ast.Name()) as path)):
            return ast.unparse(path)
        case ast.If(ast.UnaryOp(ast.Not(), ast.UnaryOp(ast.Not(), ast.Attribute(ast.Name()) as path))):
            return ast.unparse(path)
    return ""
