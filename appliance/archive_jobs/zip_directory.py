"""Reads ZIP archives (APPNOTE 6.3.10): the list of files as a stream, then one file at a time.

`zipfile` of the standard library keeps an object for each file, and reads a list of any size that an archive declares.
"""

import struct
import zlib
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple, TypeAlias

ReadAt: TypeAlias = Callable[[int, int], bytes]
"""Returns the bytes of an archive from an offset: as many as the second argument says, fewer at its end."""

_END: Final = struct.Struct("<4s4H2LH")
_END_64_LOCATOR: Final = struct.Struct("<4sLQL")
_END_64: Final = struct.Struct("<4sQ2H2L4Q")
_LISTED: Final = struct.Struct("<4s6H3L5H2L")
_LOCAL: Final = struct.Struct("<4s5H3L2H")
_EXTRA: Final = struct.Struct("<2H")
_MAX_COMMENT: Final = 65_535
_READ_BYTES: Final = 1 << 18
_EVERY_FILE: Final = 3 * 65_535 + _LISTED.size
"""Maximum size of a file in the list."""
_IN_EXTRA: Final = 0xFFFFFFFF
_ZIP_64: Final = 1
_ENCRYPTED, _UTF_8 = 1, 1 << 11
_STORED, _DEFLATED = 0, 8
_SPARE_BYTES: Final = 1 << 20
"""Bytes by which the compressed content of a file may exceed the maximum size of a file."""


class ArchiveError(Exception):
    """The archive is no ZIP, or damaged."""


class TooManyFiles(Exception):  # noqa: N818 (a limit)
    """The archive lists more files than are allowed."""


class MemberError(Exception):
    """A file of the archive cannot be read; the message says why, in English."""


class MemberTooLarge(Exception):  # noqa: N818 (a limit)
    """A file of the archive exceeds the maximum size."""


class Entry(NamedTuple):
    """A file in the list: its name, where it begins, its sizes and checksum, and how it is stored."""

    name: str
    offset: int
    packed: int
    size: int
    checksum: int
    method: int
    is_encrypted: bool


def entries(read_at: ReadAt, size: int, max_files: int) -> Iterator[Entry]:
    """Yield the files in the list of an archive, without folders and hidden files.

    Args:
        read_at: reads the archive.
        size: size of the archive in bytes.
        max_files: maximum number of entries, folders and hidden files included.

    Raises:
        ArchiveError: it is no ZIP, or damaged.
        TooManyFiles: the list has more entries.
    """
    count, listed, start, shift = _list(read_at, size)
    if count > max_files:
        raise TooManyFiles
    buffer, position = b"", start
    for _ in range(count):
        if len(buffer) < _EVERY_FILE and position < start + listed:
            more = read_at(position, min(_READ_BYTES, start + listed - position))
            buffer, position = buffer + more, position + len(more)
        entry, used = _entry(buffer, shift)
        buffer = buffer[used:]
        if entry.offset + entry.packed > start:
            raise ArchiveError
        if not _is_skipped(entry.name):
            yield entry


def content(read_at: ReadAt, entry: Entry, max_bytes: int) -> bytes:
    """Return the content of a file.

    Raises:
        MemberTooLarge: it exceeds `max_bytes`.
        MemberError: it is encrypted, compressed by another method than deflate, or damaged.
    """
    if entry.is_encrypted:
        raise MemberError("encrypted")
    if entry.method not in (_STORED, _DEFLATED):
        raise MemberError(f"compression method {entry.method} is not supported")
    if max(entry.size, entry.packed - _SPARE_BYTES) > max_bytes:
        raise MemberTooLarge
    header = read_at(entry.offset, _LOCAL.size)
    if len(header) < _LOCAL.size or not header.startswith(b"PK\3\4"):
        raise MemberError("damaged")
    *_, name_bytes, extra_bytes = _LOCAL.unpack(header)
    data = read_at(entry.offset + _LOCAL.size + name_bytes + extra_bytes, entry.packed)
    if entry.method == _DEFLATED:
        try:
            data = zlib.decompressobj(-zlib.MAX_WBITS).decompress(data, entry.size + 1)
        except zlib.error:
            raise MemberError("damaged") from None
    if len(data) != entry.size or zlib.crc32(data) != entry.checksum:
        raise MemberError("damaged")
    return data


def _list(read_at: ReadAt, size: int) -> tuple[int, int, int, int]:
    """Return the number of entries, the size of the list, where it begins, and what precedes the archive."""
    tail_at = max(0, size - _END.size - _MAX_COMMENT)
    tail = read_at(tail_at, size - tail_at)
    at = tail.rfind(b"PK\5\6")
    if at < 0 or len(tail) < at + _END.size:
        raise ArchiveError
    _, disk, list_disk, _, count, listed, offset, _ = _END.unpack_from(tail, at)
    end = tail_at + at
    locator = read_at(max(0, end - _END_64_LOCATOR.size), _END_64_LOCATOR.size)
    if locator.startswith(b"PK\6\7"):
        end = _END_64_LOCATOR.unpack(locator)[2]
        record = read_at(end, _END_64.size)
        if len(record) < _END_64.size or not record.startswith(b"PK\6\6"):
            raise ArchiveError
        *_, disk, list_disk, _, count, listed, offset = _END_64.unpack(record)
    shift = end - listed - offset
    if disk or list_disk or shift < 0:
        raise ArchiveError
    return count, listed, offset + shift, shift


def _entry(buffer: bytes, shift: int) -> tuple[Entry, int]:
    """Return the first entry in a part of the list, and its size there."""
    if len(buffer) < _LISTED.size or not buffer.startswith(b"PK\1\2"):
        raise ArchiveError
    fields = _LISTED.unpack_from(buffer)
    flags, method = fields[3], fields[4]
    checksum, packed, size = fields[7:10]
    name_bytes, extra_bytes, comment_bytes = fields[10:13]
    extra_at = _LISTED.size + name_bytes
    used = extra_at + extra_bytes + comment_bytes
    if len(buffer) < used:
        raise ArchiveError
    large = _large(buffer[extra_at : extra_at + extra_bytes])
    size, packed, offset = (next(large, it) if it == _IN_EXTRA else it for it in (size, packed, fields[16]))
    name = buffer[_LISTED.size : extra_at].decode("utf-8" if flags & _UTF_8 else "cp437", "backslashreplace")
    return Entry(name, offset + shift, packed, size, checksum, method, bool(flags & _ENCRYPTED)), used


def _large(extra: bytes) -> Iterator[int]:
    """Yield the sizes and the offset that do not fit into the fields of an entry."""
    while len(extra) >= _EXTRA.size:
        kind, length = _EXTRA.unpack_from(extra)
        value, extra = extra[_EXTRA.size : _EXTRA.size + length], extra[_EXTRA.size + length :]
        if kind == _ZIP_64:
            yield from (number for (number,) in struct.iter_unpack("<Q", value[: len(value) // 8 * 8]))


def _is_skipped(name: str) -> bool:
    """Return whether an entry is a folder, or hidden, such as what macOS adds."""
    parts = name.replace("\\", "/").split("/")
    return not parts[-1] or any(
        part == "__MACOSX" or (part.startswith(".") and part not in (".", "..")) for part in parts
    )
