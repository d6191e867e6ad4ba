"""Collects the resources that the pages of a PDF use (fonts, images, streams, actions), each once, with limits."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Final

from einvoice.pdf.reader.streams import entry, identity, items, text

if TYPE_CHECKING:
    import pikepdf

_MAX_PAGES: Final = 1_000
_MAX_OBJECTS: Final = 20_000
_MAX_DEPTH: Final = 8
_MAX_ACTIONS: Final = 20

_FORBIDDEN: Final = frozenset(
    {
        *("Launch", "JavaScript", "ImportData", "ResetForm"),
        *("Sound", "Movie", "Rendition", "Trans", "GoTo3DView"),
        *("Hide", "SetOCGState"),
    }
)
"""Actions that PDF/A-3 forbids (ISO 19005-3, 6.5.1)."""


class Resources:
    """Resources of the pages, and the actions of the catalog.

    Attributes:
        fonts, images, streams: PDF objects; `images` is a subset of `streams`.
        actions: names of forbidden actions, such as "Launch".
        colour_spaces: names in the resources, such as "/DefaultRGB".
        pages: number of inspected pages.
    """

    def __init__(self, pdf: pikepdf.Pdf) -> None:
        self.fonts: list[Any] = []
        self.images: list[Any] = []
        self.streams: list[Any] = []
        self.actions: set[str] = set()
        self.colour_spaces: set[str] = set()
        self.pages = 0
        self._seen: set[tuple[int, int]] = set()
        self._remaining = _MAX_OBJECTS
        self._catalog(pdf.Root)
        for page in pdf.pages:
            if self.pages >= _MAX_PAGES or self.is_truncated:
                self._remaining = 0
                break
            self.pages += 1
            self._page(page.obj)

    @property
    def is_truncated(self) -> bool:
        """Whether a limit ended the inspection early."""
        return self._remaining <= 0

    def _catalog(self, root: Any) -> None:
        self._action(entry(root, "/OpenAction"))
        self._actions_of(root)
        if entry(root, "/Names", "/JavaScript") is not None:
            self.actions.add("JavaScript")

    def _page(self, page: Any) -> None:
        self._actions_of(page)
        contents = entry(page, "/Contents")
        for stream in (*items(contents, self._remaining), contents):
            self._stream(stream)
        self._resources(entry(page, "/Resources"), 0)  # pikepdf has resolved inherited resources
        for annotation in items(entry(page, "/Annots"), self._remaining):
            self._remaining -= 1
            self._action(entry(annotation, "/A"))
            self._actions_of(annotation)
            appearance = entry(annotation, "/AP", "/N")
            self._form(appearance, 0)
            for state in _values(appearance):
                self._form(state, 0)

    def _resources(self, resources: Any, depth: int) -> None:
        if depth > _MAX_DEPTH or not self._is_new(resources):
            return
        for font in _values(entry(resources, "/Font")):
            if self._is_new(font):
                self.fonts.append(font)
                for procedure in _values(entry(font, "/CharProcs")):
                    self._stream(procedure)
                self._resources(entry(font, "/Resources"), depth + 1)
        self.colour_spaces.update(_keys(entry(resources, "/ColorSpace")))
        for kind in ("/XObject", "/Pattern"):
            for obj in _values(entry(resources, kind)):
                self._form(obj, depth)

    def _form(self, obj: Any, depth: int) -> None:
        """Inspect a form, an image or a pattern, with its own resources."""
        if self._stream(obj):
            if text(entry(obj, "/Subtype")) == "/Image":
                self.images.append(obj)
            self._form(entry(obj, "/SMask"), depth + 1)
            self._resources(entry(obj, "/Resources"), depth + 1)

    def _stream(self, obj: Any) -> bool:
        import pikepdf

        if isinstance(obj, pikepdf.Stream) and self._is_new(obj):
            self.streams.append(obj)
            return True
        return False

    def _is_new(self, obj: Any) -> bool:
        """Whether an object has not been inspected yet and the limit allows it."""
        import pikepdf

        if self._remaining <= 0 or not isinstance(obj, pikepdf.Dictionary | pikepdf.Stream):
            return False
        number = identity(obj)
        if number in self._seen:
            return False
        if number is not None:
            self._seen.add(number)
        self._remaining -= 1
        return True

    def _actions_of(self, holder: Any) -> None:
        for action in _values(entry(holder, "/AA")):
            self._action(action)

    def _action(self, action: Any) -> None:
        """Inspect an action and its chain of following actions."""
        waiting = [action]
        for _ in range(_MAX_ACTIONS):
            if not waiting:
                return
            action = waiting.pop()
            name = text(entry(action, "/S")).lstrip("/")
            if name in _FORBIDDEN:
                self.actions.add(name)
            following = entry(action, "/Next")
            waiting += [following, *items(following, _MAX_ACTIONS)] if following is not None else []


def _values(holder: Any) -> list[Any]:
    """Return the values of a dictionary; an empty list for other objects."""
    return [holder[key] for key in _keys(holder)]


def _keys(holder: Any) -> list[str]:
    import pikepdf

    return list(itertools.islice(holder.keys(), _MAX_OBJECTS)) if isinstance(holder, pikepdf.Dictionary) else []
