"""The rule language: checks the expressions of rule files and returns them as typed nodes.

The language is a subset of Python expressions: names and paths, `and or not`, comparisons, `in`, `+ - * /`,
`a if … else b`, constants, calls of `functions`, and generator expressions as their operands. `check` takes any
expression, `condition` takes a boolean one, and `loops` takes the `x in …; y in …` of a context.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping
from typing import Any, Final

from einvoice import codelists
from einvoice.errors import RuleError
from einvoice.resources import RuleData
from einvoice.rulebook import functions
from einvoice.rulebook.language.checker import Checker
from einvoice.rulebook.language.expression import Expression, Loop, Where
from einvoice.rulebook.language.nodes import Constant
from einvoice.rulebook.language.python import CODE_TEXT, CODES
from einvoice.rulebook.language.types import Type

__all__ = ["Constant", "Expression", "Loop", "Where", "bind", "check", "condition", "loops"]


def check(
    source: str,
    names: Mapping[str, Type],
    where: Where,
    *,
    group: str | None = None,
    constants: Mapping[str, Constant] = {},
    boolean: bool = False,
) -> Expression:
    """Check an expression.

    Args:
        source: the expression.
        names: the names it may use, with their types.
        where: its location, for errors.
        group: the business group whose terms count if a class of the model represents several groups and its type
            does not name one.
        constants: names that are replaced by a constant (those of `[variants]`).
        boolean: whether its result must be true or false.

    Raises:
        RuleError: with file, key, column and a correction.
    """
    return Checker(source, names, where, group or "", constants).expression(boolean=boolean)


condition: Final = functools.partial(check, boolean=True)
"""Checks a boolean expression, such as `when` or `assert`; see `check`."""


def loops(
    source: str,
    names: Mapping[str, Type],
    where: Where,
    *,
    group: str | None = None,
    constants: Mapping[str, Constant] = {},
) -> tuple[Loop, ...]:
    """Check `x in <expression>; y in <expression>`; a later loop may use the names of the earlier ones.

    Business terms in the source of a loop do not count as read. `group` is the business group that the last name
    represents.
    """
    result: list[Loop] = []
    known = dict(names)
    column = 0
    parts = source.split(";")
    for part in parts:
        name, separator, path = part.partition(" in ")
        if not separator or not name.strip().isidentifier():
            raise RuleError(
                "is not a loop", file=where.file, key=where.key, column=column + 1, hint="write x in invoice.lines"
            )
        before = " " * (column + len(name) + len(separator))  # keeps the columns of the source
        checker = Checker(before + path, known, where, "", constants)
        loop = checker.loop(name.strip(), group or "" if part is parts[-1] else "")
        result.append(loop)
        known[loop.name] = loop.type
        column += len(part) + 1
    return tuple(result)


def bind(
    lists: Iterable[str], releases: Mapping[str, str], syntax: str | None = None, data: RuleData | None = None
) -> dict[str, Any]:
    """Return the globals for the code lists of expressions, in the releases of their rule sets and a syntax."""
    result: dict[str, Any] = {}
    for name in lists:
        is_set = name.startswith(CODES)
        code_list = name.removeprefix(CODES if is_set else CODE_TEXT)
        release = releases.get(codelists.ruleset_of(code_list, data))
        listed = codelists.ordered(code_list, release, syntax, data)
        result[name] = frozenset(listed) if is_set else functions.joined_codes(listed)
    return result
