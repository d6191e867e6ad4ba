"""The rule language: checks the expressions of a rule file and turns them into Python.

It is a closed part of Python's own expressions: names and paths, ``and or not``, comparisons, ``in``, ``+ - * /``,
``a if … else b``, constants, generator expressions as the operand of a word, and the words of ``functions``.
``check`` takes any expression, ``condition`` one that is true or false, ``loops`` the ``x in …; y in …`` of a context.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from einvoice import codelists
from einvoice.errors import RuleError
from einvoice.rulebook import functions
from einvoice.rulebook.language import lowerings
from einvoice.rulebook.language.checker import Checker
from einvoice.rulebook.language.expression import Constant, Expression, Loop, Where
from einvoice.rulebook.language.types import Kind

__all__ = ["Constant", "Expression", "Loop", "Where", "bind", "check", "condition", "loops"]


def check(
    source: str,
    names: Mapping[str, Kind],
    where: Where,
    *,
    group: str | None = None,
    constants: Mapping[str, Constant] = {},
) -> Expression:
    """Check an expression and lower it to Python.

    ``names`` are the names it may use, ``constants`` those that stand for a constant (the parameters of ``[variants]``),
    which is written in their place. ``group`` is the business group whose terms count where a class of the model
    serves several and its kind does not say which. Raises ``RuleError`` with file, key, column and what to write.
    """
    return Checker(source, names, where, group or "", constants).expression()


def condition(
    source: str,
    names: Mapping[str, Kind],
    where: Where,
    *,
    group: str | None = None,
    constants: Mapping[str, Constant] = {},
) -> Expression:
    """``check`` an expression that has to be true or false, such as that of ``when`` and ``assert``."""
    return Checker(source, names, where, group or "", constants).expression(truth=True)


def loops(
    source: str,
    names: Mapping[str, Kind],
    where: Where,
    *,
    group: str | None = None,
    constants: Mapping[str, Constant] = {},
) -> tuple[Loop, ...]:
    """Check ``x in <expression>; y in <expression>``; a later loop may use the names of the earlier ones.

    The path of a loop counts no business terms. ``group`` is the business group that the last name stands for.
    """
    found: list[Loop] = []
    known = dict(names)
    column = 0
    parts = source.split(";")
    for part in parts:
        name, separator, path = part.partition(" in ")
        if not separator or not name.strip().isidentifier():
            raise RuleError("is no loop", file=where.file, key=where.key, column=column + 1, hint="x in invoice.lines")
        before = " " * (column + len(name) + len(separator))  # so that columns are those of the whole
        checker = Checker(before + path, known, where, "", constants)
        loop = checker.loop(name.strip(), group or "" if part is parts[-1] else "")
        found.append(loop)
        known[loop.name] = loop.kind
        column += len(part) + 1
    return tuple(found)


def bind(lists: Iterable[str], version: str | None = None, syntax: str | None = None) -> dict[str, Any]:
    """The globals for the code lists of expressions, as they are in a release and a syntax."""
    found: dict[str, Any] = {}
    for name in lists:
        if name.startswith(lowerings.CODES):
            found[name] = codelists.codes(name.removeprefix(lowerings.CODES), version, syntax)
        else:
            listed = codelists.ordered(name.removeprefix(lowerings.CODE_TEXT), version, syntax)
            found[name] = functions.joined_codes(listed)
    return found
