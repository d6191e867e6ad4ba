"""What can be explored in a notebook."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from einvoice.result.languages import Language


class Explorable:
    """A result that opens as a widget. The widgets stand above the results: `einvoice` itself says who opens them."""

    opener: ClassVar[Callable[..., Any]]

    def explore(self, *, lang: Language | None = None) -> Any:
        """The same as a widget to filter, to choose from and to look into: see `einvoice.explore`.

        Raises:
            ImportError: anywidget is not installed (extra "notebook").
        """
        return Explorable.opener(self, lang=lang)
