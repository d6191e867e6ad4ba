"""Reads streams with size limits, and accesses objects of an untrusted PDF without assumptions about their types."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import pikepdf

_MEMORY: Final = 32 << 20
_MAX_FILTERS: Final = 2
_FILTERS: Final = frozenset({"/FlateDecode", "/Fl", "/ASCIIHexDecode", "/AHx", "/ASCII85Decode", "/A85"})
"""PDF/A forbids LZW (ISO 19005-3, 6.1.7.2), which qpdf decodes without a limit; other filters are for images."""


class StreamUnreadable(Exception):  # noqa: N818 (names the state)
    """The stream cannot be decoded; the message says why."""


def limit_decompression() -> None:
    """Limit what qpdf decodes on its own, such as object streams, for the whole process."""
    from pikepdf.settings import set_qpdf_limits

    set_qpdf_limits(
        flate_max_memory=_MEMORY,
        run_length_max_memory=_MEMORY,
        png_max_memory=_MEMORY,
        tiff_max_memory=_MEMORY,
        max_stream_filters=4,
        doc_max_warnings=200,
    )


def read_stream(stream: pikepdf.Stream, limit: int) -> bytes:
    """Return the decoded bytes of a stream, at most `limit`.

    Raises:
        StreamUnreadable: the stream has an unsupported filter, is damaged, or is too large.
    """
    import pikepdf

    names = filters(stream)
    if len(names) > _MAX_FILTERS or not set(names) <= _FILTERS:
        raise StreamUnreadable("unsupported filter " + " ".join(name.lstrip("/")[:40] for name in names[:4]))
    try:
        data = bytes(stream.read_bytes())
    except (pikepdf.PdfError, RuntimeError, ValueError) as error:
        raise StreamUnreadable(message(error)[:100]) from None
    if len(data) > limit:
        raise StreamUnreadable(f"more than {limit} bytes")
    return data


_FILE: Final = re.compile(r".*<_io\.BytesIO object at \w+>:?\s*")


def message(problem: object) -> str:
    """Return qpdf's message without the representation of the in-memory file.

    >>> message("stream <_io.BytesIO object at 0x7f1e>: unable to find /Root dictionary")
    'unable to find /Root dictionary'
    """
    return _FILE.sub("", str(problem))


def filters(stream: pikepdf.Stream) -> list[str]:
    """Return the names of a stream's filters."""
    import pikepdf

    found = stream.get("/Filter")
    if isinstance(found, pikepdf.Array):
        return [text(name) for name in items(found, _MAX_FILTERS + 2)]
    return [] if found is None else [text(found)]


def items(array: Any, limit: int) -> Iterator[Any]:
    """Yield the first entries of a PDF array; none for other objects."""
    import pikepdf

    if isinstance(array, pikepdf.Array):
        for index in range(min(len(array), limit)):
            yield array[index]


def entry(holder: Any, *keys: str) -> Any:
    """Follow keys through nested dictionaries and streams; return None if one is missing."""
    import pikepdf

    for key in keys:
        if not isinstance(holder, pikepdf.Dictionary | pikepdf.Stream):
            return None
        holder = holder.get(key)
    return holder


def text(obj: Any) -> str:
    """Return a PDF string or name as text; "" for other objects."""
    import pikepdf

    if not isinstance(obj, pikepdf.String | pikepdf.Name):
        return ""
    try:
        return str(obj)
    except UnicodeDecodeError:
        return bytes(obj).decode("latin-1")


def identity(obj: Any) -> tuple[int, int] | None:
    """Return the object and generation number of an indirect object; None for a direct one."""
    import pikepdf

    if isinstance(obj, pikepdf.Object) and obj.objgen != (0, 0):
        return obj.objgen
    return None
