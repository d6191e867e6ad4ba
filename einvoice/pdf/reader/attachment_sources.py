"""Where a PDF may keep its attachments: looked through in this order, each place within bounds.

The list of embedded files (ISO 32000-1, 7.11.4), the associated files of the document (ISO 32000-2, 14.13; PDF/A-3),
those of its pages, the annotations that are attachments; and where nothing is found there, all objects of the file,
since a damaged file has lost its lists first.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from einvoice.pdf.hybrid import Place
from einvoice.pdf.reader.file_spec import Embedded
from einvoice.pdf.reader.streams import entry, identity, items, text

if TYPE_CHECKING:
    import pikepdf

_MOST_FILES: Final = 256
_MOST_NODES: Final = 1_000
_MOST_PAGES: Final = 2_000
_MOST_ANNOTATIONS: Final = 10_000
_MOST_OBJECTS: Final = 50_000


def embedded_files(pdf: pikepdf.Pdf) -> list[Embedded]:
    """Return the files embedded in a PDF, each once, with all the places that name it."""
    found: dict[object, Embedded] = {}
    for search in (_in_names, _in_catalog, _in_pages):
        _add(search(pdf), found)
    if not any(file.stream is not None for file in found.values()):
        _add(_unreferenced(pdf), found)
    return list(found.values())


def _add(searched: Iterator[tuple[str, Any, Place]], found: dict[object, Embedded]) -> None:
    """Add what a search finds. In a damaged file a search may stop anywhere: what it has found by then counts."""
    import pikepdf

    try:
        for key, spec, place in searched:
            if not isinstance(spec, pikepdf.Dictionary):
                continue
            file = Embedded(spec, key)
            known = found.setdefault(identity(file.stream) or identity(spec) or (file.name, place), file)
            if place not in known.places:
                known.places.append(place)
            if len(found) >= _MOST_FILES:
                return
    except (pikepdf.PdfError, RuntimeError, ValueError, TypeError, AttributeError):
        return


def _in_names(pdf: pikepdf.Pdf) -> Iterator[tuple[str, Any, Place]]:
    """The name tree of the embedded files, breadth first; a node that comes again is not visited again."""
    waiting = [entry(pdf.Root, "/Names", "/EmbeddedFiles")]
    seen = set()
    for _ in range(_MOST_NODES):
        if not waiting:
            return
        node = waiting.pop(0)
        number = identity(node)
        if number is not None:
            if number in seen:
                continue
            seen.add(number)
        names = list(items(entry(node, "/Names"), 2 * _MOST_FILES))
        for key, spec in zip(names[::2], names[1::2], strict=False):
            yield text(key), spec, "names"
        waiting.extend(items(entry(node, "/Kids"), _MOST_NODES))


def _in_catalog(pdf: pikepdf.Pdf) -> Iterator[tuple[str, Any, Place]]:
    for spec in associated(pdf.Root):
        yield "", spec, "catalog"


def associated(holder: Any) -> Iterator[Any]:
    """The file specifications under /AF: an array, or in files that err one alone."""
    import pikepdf

    found = entry(holder, "/AF")
    if isinstance(found, pikepdf.Dictionary):
        yield found
    yield from items(found, _MOST_FILES)


def _in_pages(pdf: pikepdf.Pdf) -> Iterator[tuple[str, Any, Place]]:
    left = _MOST_ANNOTATIONS
    for page, _ in zip(pdf.pages, range(_MOST_PAGES), strict=False):
        for spec in associated(page.obj):
            yield "", spec, "page"
        for annotation in items(entry(page.obj, "/Annots"), left):
            left -= 1
            if text(entry(annotation, "/Subtype")) == "/FileAttachment":
                yield "", entry(annotation, "/FS"), "annotation"


def _unreferenced(pdf: pikepdf.Pdf) -> Iterator[tuple[str, Any, Place]]:
    for thing, _ in zip(pdf.objects, range(_MOST_OBJECTS), strict=False):
        if text(entry(thing, "/Type")) in ("/Filespec", "/F") or entry(thing, "/EF") is not None:
            yield "", thing, "unreferenced"
