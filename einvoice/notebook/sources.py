"""Scripts and style sheets of the widgets, and the lines of a document."""

from __future__ import annotations

from importlib.resources import files
from typing import TYPE_CHECKING, Final

from einvoice.syntax import xml

if TYPE_CHECKING:
    from einvoice.result import ValidationResult

_HERE: Final = files("einvoice.notebook")


def script(name: str) -> str:
    """Return the script of a widget, preceded by the shared components."""
    return "\n".join((_HERE / f"{it}.mjs").read_text(encoding="utf-8") for it in ("components", name))


def style(*names: str) -> str:
    """Return the combined style sheets of a widget."""
    return "\n".join((_HERE / f"{name}.css").read_text(encoding="utf-8") for name in names)


def lines(result: ValidationResult) -> list[str]:
    """Return the lines of the document as counted by libxml2."""
    return [line.removesuffix("\r") for line in xml.text(result.document.data).split("\n")]
