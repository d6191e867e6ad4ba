"""Interactive widgets for notebooks."""

from __future__ import annotations

from typing import TYPE_CHECKING, overload

from einvoice.bulk import ResultSet
from einvoice.result import Language, ValidationResult

if TYPE_CHECKING:
    from einvoice.notebook.many_view import ManyView
    from einvoice.notebook.view import ResultView

__all__ = ["explore"]


@overload
def explore(result: ValidationResult, *, lang: Language | None = None) -> ResultView: ...
@overload
def explore(result: ResultSet, *, lang: Language | None = None) -> ManyView: ...
def explore(result: ValidationResult | ResultSet, *, lang: Language | None = None) -> ResultView | ManyView:
    """Return an interactive widget for a result or a result set.

    A single result is shown as a list of findings with filters; the selected finding is shown with its location in the
    XML. A result set is shown as a heatmap of codes by folder, seller or month, with details down to a single file. All
    selections can also be read and set in code; see the attributes of `ResultView` and `ManyView`.

    Args:
        result: result of `einvoice.validate` or `einvoice.validate_many`.
        lang: language of the texts (default: that of the result).

    Raises:
        ImportError: anywidget is not installed (extra "notebook").
        TypeError: `result` has another type.
    """
    if not isinstance(result, ValidationResult | ResultSet):
        raise TypeError(f"argument 'result' must be a ValidationResult or a ResultSet, not {type(result).__name__}")
    if isinstance(result, ResultSet):
        return _many_view(result, lang)
    return _result_view(result, lang)


def _result_view(result: ValidationResult, lang: Language | None) -> ResultView:
    _require_anywidget()
    from einvoice.notebook.view import ResultView

    return ResultView(result, lang=lang or result.lang)


def _many_view(results: ResultSet, lang: Language | None) -> ManyView:
    _require_anywidget()
    from einvoice.notebook.many_view import ManyView

    return ManyView(results, lang=lang or results.lang)


def _require_anywidget() -> None:
    try:
        import anywidget  # noqa: F401
    except ImportError as error:
        raise ImportError("widgets need anywidget: pip install 'einvoice-toolkit[notebook]'") from error
