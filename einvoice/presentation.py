"""Generic functions that present an object: as HTML, text, plain data, XML, table or widget.

Data classes call them from methods such as `to_dict` and `_repr_html_`. Packages of upper layers implement them by type
(`@to_dict.register`, see `functools.singledispatch`). `einvoice` names the modules that do; they are imported on first
use, so that validation alone loads none of them.
"""

from __future__ import annotations

from functools import singledispatch
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from einvoice.localization import Language

if TYPE_CHECKING:
    import pandas as pd

implementations: dict[str, tuple[str, ...]] = {}
"""Modules that implement each generic function, in the order in which they are imported until one supports the type."""


def _implementation(function: Any, value: object) -> Any:
    """Import modules until one implements the function for the type of `value`; return the implementation.

    Raises:
        TypeError: no module implements it.
    """
    default = function.dispatch(object)
    for module in implementations.get(function.__name__, ()):
        import_module(module)
        if (implementation := function.dispatch(type(value))) is not default:
            return implementation
    raise TypeError(f"{function.__name__}() is not implemented for {type(value).__name__}")


@singledispatch
def to_dict(value: object, lang: Language) -> dict[str, Any]:
    """Return plain data, ready for JSON; numbers are decimal text."""
    data: dict[str, Any] = _implementation(to_dict, value)(value, lang)
    return data


@singledispatch
def to_text(value: object, lang: Language) -> str:
    """Return plain text for a terminal."""
    text: str = _implementation(to_text, value)(value, lang)
    return text


@singledispatch
def to_html(value: object, lang: Language) -> str:
    """Return HTML for a notebook: without scripts, for light and dark pages; all content is escaped."""
    html: str = _implementation(to_html, value)(value, lang)
    return html


@singledispatch
def to_frame(value: object, lang: Language, **options: Any) -> pd.DataFrame:
    """Return a pandas table; `options` are those of the type of `value`.

    Raises:
        ImportError: pandas is not installed (extra "notebook").
    """
    frame: pd.DataFrame = _implementation(to_frame, value)(value, lang, **options)
    return frame


@singledispatch
def to_csv(value: object, lang: Language) -> str:
    """Return CSV with a header (RFC 4180)."""
    csv: str = _implementation(to_csv, value)(value, lang)
    return csv


@singledispatch
def to_xml(value: object, syntax: str | None) -> bytes:
    """Return an XML document in UTF-8.

    Raises:
        ValueError: the syntax is neither "UBL" nor "CII".
    """
    xml: bytes = _implementation(to_xml, value)(value, syntax)
    return xml


@singledispatch
def to_document(value: object, lang: Language, format: Literal["html", "markdown"]) -> str:
    """Return a complete document in HTML or Markdown."""
    document: str = _implementation(to_document, value)(value, lang, format)
    return document


@singledispatch
def to_widget(value: object, lang: Language | None) -> Any:
    """Return an interactive widget.

    Raises:
        ImportError: anywidget is not installed (extra "notebook").
    """
    return _implementation(to_widget, value)(value, lang)


@singledispatch
def causes(value: object, seconds: float | None = None) -> tuple[Any, ...]:
    """Return the causes of findings, the gravest first; `seconds` limits the search."""
    found: tuple[Any, ...] = _implementation(causes, value)(value, seconds)
    return found


@singledispatch
def fixed(value: object, unsafe: bool) -> Any:
    """Return the repaired document of a result."""
    return _implementation(fixed, value)(value, unsafe)
