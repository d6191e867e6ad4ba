"""Bytes out of streams, bounded; and what else is needed to look into a PDF that may be anything."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import pikepdf

_MEMORY: Final = 32 << 20
_MOST_FILTERS: Final = 2
_FILTERS: Final = frozenset({"/FlateDecode", "/Fl", "/ASCIIHexDecode", "/AHx", "/ASCII85Decode", "/A85"})
"""PDF/A forbids LZW (ISO 19005-3, 6.1.7.2), and qpdf unpacks it without any bound; the others are for images."""


class NotUnpacked(Exception):  # noqa: N818 (a reason, told as a value)
    """The stream's bytes cannot be had; the text says why."""


def bound_unpacking() -> None:
    """Bound what qpdf unpacks on its own, such as object streams, for the whole process."""
    from pikepdf.settings import set_qpdf_limits

    set_qpdf_limits(
        flate_max_memory=_MEMORY,
        run_length_max_memory=_MEMORY,
        png_max_memory=_MEMORY,
        tiff_max_memory=_MEMORY,
        max_stream_filters=4,
        doc_max_warnings=200,
    )


def unpacked(stream: pikepdf.Stream, limit: int) -> bytes:
    """Return the bytes of a stream, `limit` of them at most.

    Raises:
        NotUnpacked: a filter that is not allowed, damaged data, or too much of them.
    """
    import pikepdf

    names = filters(stream)
    if len(names) > _MOST_FILTERS or not set(names) <= _FILTERS:
        raise NotUnpacked("packed by " + " ".join(name.lstrip("/")[:40] for name in names[:4]))
    try:
        data = bytes(stream.read_bytes())
    except (pikepdf.PdfError, RuntimeError, ValueError) as error:
        raise NotUnpacked(message(error)[:100]) from None
    if len(data) > limit:
        raise NotUnpacked(f"more than {limit} bytes")
    return data


_FILE: Final = re.compile(r".*<_io\.BytesIO object at \w+>:?\s*")


def message(problem: object) -> str:
    """qpdf's message without the name of the stream that stands in for a file.

    >>> message("stream <_io.BytesIO object at 0x7f1e>: unable to find /Root dictionary")
    'unable to find /Root dictionary'
    """
    return _FILE.sub("", str(problem))


def filters(stream: pikepdf.Stream) -> list[str]:
    """The names of the filters that a stream was packed with."""
    import pikepdf

    found = stream.get("/Filter")
    if isinstance(found, pikepdf.Array):
        return [text(name) for name in items(found, _MOST_FILTERS + 2)]
    return [] if found is None else [text(found)]


def items(array: Any, most: int) -> Iterator[Any]:
    """The first entries of a PDF array; none of anything else."""
    import pikepdf

    if isinstance(array, pikepdf.Array):
        for number in range(min(len(array), most)):
            yield array[number]


def entry(holder: Any, *keys: str) -> Any:
    """What a dictionary or stream has under a key, and that under the next one; None where that leads nowhere."""
    import pikepdf

    for key in keys:
        if not isinstance(holder, pikepdf.Dictionary | pikepdf.Stream):
            return None
        holder = holder.get(key)
    return holder


def text(thing: Any) -> str:
    """A PDF string or name as text; "" for anything else."""
    import pikepdf

    if not isinstance(thing, pikepdf.String | pikepdf.Name):
        return ""
    try:
        return str(thing)
    except UnicodeDecodeError:
        return bytes(thing).decode("latin-1")


def identity(thing: Any) -> tuple[int, int] | None:
    """The number of an indirect object; None for a direct one."""
    import pikepdf

    if isinstance(thing, pikepdf.Object) and thing.objgen != (0, 0):
        return thing.objgen
    return None
