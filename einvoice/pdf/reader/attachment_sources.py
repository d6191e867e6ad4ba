"""Finds the attachments of a PDF in all sources, each with a limit on the number of objects.

The sources, in order, are the EmbeddedFiles name tree (ISO 32000-1, 7.11.4), the associated files of the document (ISO
32000-2, 14.13; PDF/A-3) and of its pages, and file attachment annotations. If these contain nothing, all objects of the
file are searched, since the lists may be missing from a damaged file.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from einvoice.pdf.hybrid import AttachmentSource
from einvoice.pdf.reader.file_spec import FileSpec
from einvoice.pdf.reader.streams import entry, identity, items, text

if TYPE_CHECKING:
    import pikepdf

_MAX_FILES: Final = 256
_MAX_NODES: Final = 1_000
_MAX_PAGES: Final = 2_000
_MAX_ANNOTATIONS: Final = 10_000
_MAX_OBJECTS: Final = 50_000


def embedded_files(pdf: pikepdf.Pdf) -> list[FileSpec]:
    """Return the files embedded in a PDF, each once, with all sources that refer to it."""
    found: dict[object, FileSpec] = {}
    for search in (_in_names, _in_catalog, _in_pages):
        _add(search(pdf), found)
    if not any(file.stream is not None for file in found.values()):
        _add(_unreferenced(pdf), found)
    return list(found.values())


def _add(searched: Iterator[tuple[str, Any, AttachmentSource]], found: dict[object, FileSpec]) -> None:
    """Add the results of a search, up to the first error that a damaged file causes."""
    import pikepdf

    try:
        for key, spec, source in searched:
            if not isinstance(spec, pikepdf.Dictionary):
                continue
            file = FileSpec(spec, key)
            known = found.setdefault(identity(file.stream) or identity(spec) or (file.name, source), file)
            if source not in known.sources:
                known.sources.append(source)
            if len(found) >= _MAX_FILES:
                return
    except (pikepdf.PdfError, RuntimeError, ValueError, TypeError, AttributeError):
        return


def _in_names(pdf: pikepdf.Pdf) -> Iterator[tuple[str, Any, AttachmentSource]]:
    """Traverse the EmbeddedFiles name tree, breadth first; each node is visited once."""
    waiting = [entry(pdf.Root, "/Names", "/EmbeddedFiles")]
    seen = set()
    for _ in range(_MAX_NODES):
        if not waiting:
            return
        node = waiting.pop(0)
        number = identity(node)
        if number is not None:
            if number in seen:
                continue
            seen.add(number)
        names = list(items(entry(node, "/Names"), 2 * _MAX_FILES))
        for key, spec in zip(names[::2], names[1::2], strict=False):
            yield text(key), spec, "names"
        waiting.extend(items(entry(node, "/Kids"), _MAX_NODES))


def _in_catalog(pdf: pikepdf.Pdf) -> Iterator[tuple[str, Any, AttachmentSource]]:
    for spec in associated(pdf.Root):
        yield "", spec, "catalog"


def associated(holder: Any) -> Iterator[Any]:
    """Yield the file specifications under /AF: an array, or a single dictionary in non-conforming files."""
    import pikepdf

    found = entry(holder, "/AF")
    if isinstance(found, pikepdf.Dictionary):
        yield found
    yield from items(found, _MAX_FILES)


def _in_pages(pdf: pikepdf.Pdf) -> Iterator[tuple[str, Any, AttachmentSource]]:
    remaining = _MAX_ANNOTATIONS
    for page, _ in zip(pdf.pages, range(_MAX_PAGES), strict=False):
        for spec in associated(page.obj):
            yield "", spec, "page"
        for annotation in items(entry(page.obj, "/Annots"), remaining):
            remaining -= 1
            if text(entry(annotation, "/Subtype")) == "/FileAttachment":
                yield "", entry(annotation, "/FS"), "annotation"


def _unreferenced(pdf: pikepdf.Pdf) -> Iterator[tuple[str, Any, AttachmentSource]]:
    for obj, _ in zip(pdf.objects, range(_MAX_OBJECTS), strict=False):
        if text(entry(obj, "/Type")) in ("/Filespec", "/F") or entry(obj, "/EF") is not None:
            yield "", obj, "unreferenced"
