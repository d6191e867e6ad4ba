"""Evaluates the conditions of paths and contexts, which `rulebook.files.conditions` reads, as XPath.

Besides the functions of XPath 1.0, they have some of XPath 2.0, and others that the official tests need.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable
from typing import Any, Final, TypeAlias

from lxml import etree

from einvoice.model.location import NAMESPACES
from einvoice.model.values import Text, absent, normalize_space, parse_number
from einvoice.resources import RuleData
from einvoice.rulebook.files.conditions import decided_by, xpath_of
from einvoice.rulebook.functions.arithmetic import double, total
from einvoice.rulebook.syntax_rules.xpath import text, texts

Condition: TypeAlias = Callable[[Any], bool]


@functools.cache
def condition(syntax: str, name: str, data: RuleData | None = None) -> Condition:
    """Return whether an element meets a condition, as a function.

    Raises:
        KeyError: an unknown condition.
        ValueError: it is not an XPath.
    """
    meets = _compiled(f"boolean({xpath_of(syntax, name, data)})")
    return lambda element: bool(meets(element, this=element))


def deciding(syntax: str, name: str, element: Any, data: RuleData | None = None) -> str | None:
    """Return what makes an element meet a condition, "" if it is missing; None if the condition does not name it."""
    path = decided_by(syntax, name, data)
    if not path:
        return None
    nodes: Any = _compiled(path)(element)
    found = (node if isinstance(node, str) else node.text or "" for node in nodes)
    return next(filter(None, map(str.strip, found)), "")


@functools.cache
def _compiled(xpath: str) -> etree.XPath:
    try:
        return etree.XPath(xpath, namespaces=NAMESPACES, extensions=_FUNCTIONS, smart_strings=False)
    except etree.XPathSyntaxError as error:
        raise ValueError(f"{error}: {xpath}") from None


# ------------------------------------------------------------------------------------------------ of XPath 2.0


def _string(content: Any) -> str:
    """Return the string value of an argument: a text, or the first node."""
    if isinstance(content, list):
        content = content[0] if content else ""
    return content if isinstance(content, str) else text(content)


def _matches(_: Any, content: Any, pattern: str) -> bool:
    return re.search(pattern, _string(content)) is not None


def _upper_case(_: Any, content: Any) -> str:
    return _string(content).upper()


def _string_join(_: Any, nodes: list[Any]) -> str:
    return "".join(map(text, nodes))


def _double(_: Any, content: Any) -> float:
    """`xs:double`; NaN for a text that is no number."""
    number = double(Text(_string(content)))
    return math.nan if number is absent else float(number)


def _abs(_: Any, number: float) -> float:
    return abs(number)


# ------------------------------------------------------------------------------------------------ others


def _normalized(_: Any, nodes: list[Any]) -> str:
    """Return the texts of nodes, each in a line, with normalized white space."""
    return "\n".join(normalize_space(text(node)) for node in nodes)


def _total(_: Any, nodes: list[Any]) -> float:
    """Return the sum of numbers, without texts that are none."""
    return float(total(double(Text(text(node))) for node in nodes))


def _any_same_number(_: Any, some: list[Any], others: list[Any]) -> bool:
    """Return whether an element of one list has the number of an element of the other."""
    numbers = {parse_number(text(node)) for node in some} - {absent}
    return not numbers.isdisjoint(parse_number(text(node)) for node in others)


def _repeats(_: Any, nodes: list[Any], among: list[Any], apart: bool) -> bool:
    """Return whether a node has the text of an earlier one of others, with `apart` of one in another parent."""
    wanted, first = set(nodes), dict[str, Any]()
    for node in among:
        earlier = first.setdefault(text(node), node)
        if node in wanted and earlier is not node and not (apart and earlier.getparent() is node.getparent()):
            return True
    return False


def _machine_line(_: Any, nodes: list[Any]) -> str:
    """Return the first line that begins with `#`, with normalized white space; "" if there is none."""
    lines = (normalize_space(line) for node in nodes for line in re.split(r"\r?\n", text(node)))
    return next((line for line in lines if line.startswith("#")), "")


def _supplier_country(_: Any, of_seller: list[Any], of_representative: list[Any], of_address: str) -> str:
    """Return the country of the first VAT registration that has an identifier, or else of the address.

    If one of both parties has several registrations, it is "".
    """
    for registrations in (of_seller, of_representative):
        if len(registrations) > 1:
            return ""
        for registration in registrations:
            if country := "".join(texts(registration, "cbc:CompanyID"))[:2]:
                return country
    return of_address


_FUNCTIONS: Final = {
    (None, name): function
    for name, function in {
        "matches": _matches,
        "upper-case": _upper_case,
        "string-join": _string_join,
        "double": _double,
        "abs": _abs,
        "total": _total,
        "normalized": _normalized,
        "any-same-number": _any_same_number,
        "repeats": _repeats,
        "machine-line": _machine_line,
        "supplier-country": _supplier_country,
    }.items()
}
