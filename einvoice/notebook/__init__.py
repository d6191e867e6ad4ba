"""Results in the hands of an analyst: what a notebook shows beyond the plain HTML of a result."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

from einvoice.result import Language, ValidationResult

if TYPE_CHECKING:
    from einvoice.bulk import ResultSet
    from einvoice.notebook.many_view import ManyView
    from einvoice.notebook.view import ResultView

__all__ = ["explore"]


@overload
def explore(result: ValidationResult, *, lang: Language | None = None) -> ResultView: ...
@overload
def explore(result: ResultSet, *, lang: Language | None = None) -> ManyView: ...
def explore(result: ValidationResult | ResultSet, *, lang: Language | None = None) -> ResultView | ManyView:
    """A result as a widget: findings to filter and choose from, with the place in the XML beside them.

    Many results open as a map: in how many files of a folder, seller or month each code was found, down to the file.
    What a click changes, a program can set and read: see the attributes of `ResultView` and `ManyView`.

    Args:
        result: of `einvoice.validate` or `einvoice.validate_many`.
        lang: language of the texts; that of the result where none is given.

    Raises:
        ImportError: anywidget is not installed (extra "notebook").
        TypeError: it is no result.
    """
    try:
        import anywidget  # noqa: F401  (only to say in time what is missing)
    except ImportError as error:
        raise ImportError("A widget needs anywidget: pip install 'einvoice-toolkit[notebook]'") from error
    from einvoice.bulk import ResultSet
    from einvoice.notebook.many_view import ManyView
    from einvoice.notebook.view import ResultView

    if isinstance(result, ResultSet):
        return ManyView(result, lang=lang or result.lang)
    if isinstance(result, ValidationResult):
        return ResultView(result, lang=lang or result.lang)
    raise TypeError(f"Expected a ValidationResult or a ResultSet, not {type(result).__name__}.")
