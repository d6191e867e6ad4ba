"""Loop fusion: merges the functions of contexts with the same first loop, such as over all lines.

The lines of a large invoice do not fit into the caches of the processor: each loop reads them from memory again.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence


def fused(functions: Sequence[ast.FunctionDef]) -> ast.FunctionDef:
    """Return a function that does what all functions do, with their first loop only once; the first one is changed.

    If there are several, the last statement of each is that loop, and those before it only assign local variables.
    """
    first, *others = functions
    if not others:
        return first
    reads = {ast.unparse(read): read for function in functions for read in function.body[:-1]}
    loops = [loop for function in functions if isinstance(loop := function.body[-1], ast.For)]
    loops[0].body = [statement for loop in loops for statement in _without_continue(loop.body)]
    first.body = [*reads.values(), loops[0]]
    return first


def _without_continue(block: list[ast.stmt]) -> list[ast.stmt]:
    """Return a block with conditions instead of ``continue`` at its start, which would leave out other contexts."""
    match block:
        case [ast.If(test, [ast.Continue()]), *rest]:
            condition = ast.If(ast.UnaryOp(ast.Not(), test), _without_continue(rest), [])
            return [ast.fix_missing_locations(ast.copy_location(condition, test))]
    return block
