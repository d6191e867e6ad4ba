"""What the pages of a PDF use: fonts, pictures, streams, actions; each once, and within bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from einvoice.pdf.reader.streams import entry, identity, items, text

if TYPE_CHECKING:
    import pikepdf

_MOST_PAGES: Final = 1_000
_MOST_THINGS: Final = 20_000
_DEEPEST: Final = 8
_MOST_IN_A_CHAIN: Final = 20

_FORBIDDEN: Final = frozenset(
    {
        *("Launch", "JavaScript", "ImportData", "ResetForm"),
        *("Sound", "Movie", "Rendition", "Trans", "GoTo3DView"),
        *("Hide", "SetOCGState"),
    }
)
"""Actions that PDF/A-3 does not allow (ISO 19005-3, 6.5.1)."""


class Resources:
    """All that the pages use, and the catalog where it starts actions.

    Attributes:
        fonts, images, streams: PDF objects; `images` are among the `streams`.
        actions: names of the forbidden actions that something starts, such as "Launch".
        pages: how many pages were looked at; `cut_off` if the bounds ended it before the end.
    """

    def __init__(self, pdf: pikepdf.Pdf) -> None:
        self.fonts: list[Any] = []
        self.images: list[Any] = []
        self.streams: list[Any] = []
        self.actions: set[str] = set()
        self.pages = 0
        self._seen: set[tuple[int, int]] = set()
        self._left = _MOST_THINGS
        self._catalog(pdf.Root)
        for page in pdf.pages:
            if self.pages >= _MOST_PAGES or self.cut_off:
                self._left = 0
                break
            self.pages += 1
            self._page(page.obj)

    @property
    def cut_off(self) -> bool:
        """Whether the bounds were reached."""
        return self._left <= 0

    def _catalog(self, root: Any) -> None:
        self._action(entry(root, "/OpenAction"))
        self._actions_of(root)
        if entry(root, "/Names", "/JavaScript") is not None:
            self.actions.add("JavaScript")

    def _page(self, page: Any) -> None:
        self._actions_of(page)
        contents = entry(page, "/Contents")
        for stream in (*items(contents, self._left), contents):
            self._stream(stream)
        self._of(entry(page, "/Resources"), 0)  # pikepdf has brought down what is inherited
        for annotation in items(entry(page, "/Annots"), self._left):
            self._left -= 1
            self._action(entry(annotation, "/A"))
            self._actions_of(annotation)
            appearance = entry(annotation, "/AP", "/N")
            self._form(appearance, 0)
            for state in _values(appearance):
                self._form(state, 0)

    def _of(self, resources: Any, depth: int) -> None:
        if depth > _DEEPEST or not self._is_new(resources):
            return
        for font in _values(entry(resources, "/Font")):
            if self._is_new(font):
                self.fonts.append(font)
                for procedure in _values(entry(font, "/CharProcs")):
                    self._stream(procedure)
                self._of(entry(font, "/Resources"), depth + 1)
        for kind in ("/XObject", "/Pattern"):
            for thing in _values(entry(resources, kind)):
                self._form(thing, depth)

    def _form(self, thing: Any, depth: int) -> None:
        """A form, a picture or a pattern, with what it uses itself."""
        if self._stream(thing):
            if text(entry(thing, "/Subtype")) == "/Image":
                self.images.append(thing)
            self._form(entry(thing, "/SMask"), depth + 1)
            self._of(entry(thing, "/Resources"), depth + 1)

    def _stream(self, thing: Any) -> bool:
        import pikepdf

        if isinstance(thing, pikepdf.Stream) and self._is_new(thing):
            self.streams.append(thing)
            return True
        return False

    def _is_new(self, thing: Any) -> bool:
        """Whether a thing comes for the first time, and there is room for it."""
        import pikepdf

        if self._left <= 0 or not isinstance(thing, pikepdf.Dictionary | pikepdf.Stream):
            return False
        number = identity(thing)
        if number in self._seen:
            return False
        if number is not None:
            self._seen.add(number)
        self._left -= 1
        return True

    def _actions_of(self, holder: Any) -> None:
        for action in _values(entry(holder, "/AA")):
            self._action(action)

    def _action(self, action: Any) -> None:
        """An action and those that follow it."""
        waiting = [action]
        for _ in range(_MOST_IN_A_CHAIN):
            if not waiting:
                return
            action = waiting.pop()
            name = text(entry(action, "/S")).lstrip("/")
            if name in _FORBIDDEN:
                self.actions.add(name)
            following = entry(action, "/Next")
            waiting += [following, *items(following, _MOST_IN_A_CHAIN)] if following is not None else []


def _values(holder: Any) -> list[Any]:
    """The values of a dictionary; none of anything else."""
    import pikepdf

    if not isinstance(holder, pikepdf.Dictionary):
        return []
    return [holder[key] for key, _ in zip(holder.keys(), range(_MOST_THINGS), strict=False)]
