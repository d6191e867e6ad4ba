"""The names of Schematron, SVRL and XSLT, and what both readers need."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

SCHEMATRON: Final = "{http://purl.oclc.org/dsdl/schematron}"
SVRL: Final = "{http://purl.oclc.org/dsdl/svrl}"
XSL: Final = "{http://www.w3.org/1999/XSL/Transform}"
XS: Final = "http://www.w3.org/2001/XMLSchema"


def children(element: Any, *names: str) -> Iterator[Any]:
    """Yield the elements directly inside an element; all, or those with one of the names."""
    for child in element:
        if isinstance(child.tag, str) and (not names or child.tag in names):
            yield child


def line(element: Any) -> int:
    """Return the line of an element in its sheet."""
    return int(element.sourceline or 0)


def message(
    element: Any, value_of: Callable[[Any], str | None], *, keeps_blanks: bool = True
) -> list[str | tuple[str]]:
    """Return the message in an element.

    Args:
        element: the element.
        value_of: gives the expression of an element that stands for a value; None for others.
        keeps_blanks: whether a text of blanks alone counts; in XSLT only one in `xsl:text` does.
    """
    parts: list[str | tuple[str]] = [element.text or ""]
    for child in element:
        expression = value_of(child) if isinstance(child.tag, str) else None
        if expression:
            parts.append((expression,))
        elif isinstance(child.tag, str):
            parts += message(child, value_of, keeps_blanks=keeps_blanks or child.tag == f"{XSL}text")
        parts.append(child.tail or "")
    return [it for it in parts if it and (keeps_blanks or isinstance(it, tuple) or it.strip())]
