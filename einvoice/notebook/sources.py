"""What widgets are made of: their own scripts and styles, and the document that they show."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Final

from einvoice.syntax import xml

if TYPE_CHECKING:
    from einvoice.result import ValidationResult

_HERE: Final = files("einvoice.notebook")


def script(name: str) -> str:
    """The script of a widget, which is one text: what the widgets share comes first."""
    return "\n".join((_HERE / f"{it}.mjs").read_text(encoding="utf-8") for it in ("components", name))


def style(*names: str) -> str:
    """The style sheets of a widget."""
    return "\n".join((_HERE / f"{name}.css").read_text(encoding="utf-8") for name in names)


def lines(result: ValidationResult) -> list[str]:
    """The document of a result, line by line as libxml2 counts them."""
    return [line.removesuffix("\r") for line in xml.text(result.document.data).split("\n")]
