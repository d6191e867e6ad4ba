"""Conditions of the paths and contexts of syntax rules: XPath in the file `syntax/conditions.toml` of a rule set.

A condition is an expression of XPath 1.0 from the element that must meet it, which is also `$this`; `{name}` stands for
another one of the syntax. It can also be a table with `xpath` and `decided_by`: the path from the element to what makes
it meet the condition, for the texts of findings. All rule sets share their conditions.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Any, Final

from einvoice import cache
from einvoice.resources import RuleData, shipped

FILE: Final = "syntax/conditions.toml"
_REFERENCE: Final = re.compile(r"\{([A-Za-z_]\w*)\}")


@functools.cache
def conditions(syntax: str, data: RuleData | None = None) -> Mapping[str, Any]:
    """Return the conditions of a syntax by name."""
    files = (data or shipped()).files(FILE)
    return {name: written for path in files for name, written in cache.toml(path).get(syntax, {}).items()}


def xpath_of(syntax: str, name: str, data: RuleData | None = None) -> str:
    """Return the XPath of a condition, also of one written as `@schemeID=0225`; raise `KeyError` for an unknown one."""
    path, equals, value = name.partition("=")
    if equals:
        return f"{path} = '{value}'"
    found = conditions(syntax, data)[name]
    written: str = found if isinstance(found, str) else found["xpath"]
    return _REFERENCE.sub(lambda match: _operand(xpath_of(syntax, match[1], data)), written)


def _operand(xpath: str) -> str:
    """Return an expression as a part of another: in parentheses, unless it is a path or the call of a function.

    >>> _operand("a[b = c]/d"), _operand("a or b")
    ('a[b = c]/d', '(a or b)')
    """
    depth = 0
    for sign in xpath:
        depth += (sign in "[(") - (sign in "])")
        if sign == " " and not depth:
            return f"({xpath})"
    return xpath


def decided_by(syntax: str, name: str, data: RuleData | None = None) -> str:
    """Return the path from an element to what makes it meet a condition; "" if it has none."""
    found = conditions(syntax, data).get(name, "")
    return "" if isinstance(found, str) else str(found["decided_by"])
