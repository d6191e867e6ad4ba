"""Results in the hands of an analyst: what a notebook shows beyond the plain HTML of a result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from einvoice.result import Language, ValidationResult

if TYPE_CHECKING:
    from einvoice.notebook.view import ResultView

__all__ = ["explore"]


def explore(result: ValidationResult, *, lang: Language | None = None) -> ResultView:
    """A result as a widget: findings to filter and choose from, with the place in the XML beside them.

    What a click changes, a program can set and read: `filters`, `selected` and `lang` are traits of the widget.

    Args:
        result: of `einvoice.validate`.
        lang: language of the texts; that of the result where none is given.

    Raises:
        ImportError: anywidget is not installed (extra "notebook").
        TypeError: it is no result.
    """
    try:
        import anywidget  # noqa: F401  (only to say in time what is missing)
    except ImportError as error:
        raise ImportError("A widget needs anywidget: pip install 'einvoice-toolkit[notebook]'") from error
    from einvoice.notebook.view import ResultView

    known: Any = result
    if not isinstance(known, ValidationResult):
        raise TypeError(f"Expected a ValidationResult, not {type(known).__name__}.")
    return ResultView(result, lang=lang or result.lang)
