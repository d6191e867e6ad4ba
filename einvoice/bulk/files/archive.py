"""Reads files from ZIP and TAR archives, one by one and in memory; nothing is written to disk.

Limits against decompression bombs: the size limit of a single file, and `MAX_FILES` and `MAX_BYTES` per archive.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Final, Literal, TypeAlias

from einvoice.errors import ArchiveMemberUnreadable, ArchiveUnreadable, TooLarge, UnreadableDocument
from einvoice.syntax.xml import DEFAULT

SUFFIXES: Final = (".xml", ".pdf")
"""Suffixes of the validated files in folders and archives; hidden files are skipped."""

MAX_FILES: Final = 1_000_000
MAX_BYTES: Final = 64 * 1024**3
"""Maximum decompressed size, including skipped files."""

_MAX_READ: Final = 16 * 1024**2  # larger single reads come from hostile headers only
_BROKEN: Final = (
    OSError, EOFError, ValueError, RuntimeError, NotImplementedError, OverflowError,
    tarfile.TarError, zipfile.BadZipFile, zlib.error, lzma.LZMAError,
)  # fmt: skip
_OPENERS: Final[tuple[tuple[bytes, Any], ...]] = (
    (b"\x1f\x8b", gzip.open),
    (b"BZh", bz2.open),
    (b"\xfd7zXZ\x00", lzma.open),
)

Unpacked: TypeAlias = tuple[str, "bytes | UnreadableDocument"]


def is_archive(path: Path) -> Literal["zip", "tar", ""]:
    """Return the type of an archive, detected by its content; "" if the file is not an archive."""
    with path.open("rb") as file:
        head = file.read(512)
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "zip"
    packed = any(head.startswith(signature) for signature, _ in _OPENERS)
    return "tar" if packed or head[257:262] == b"ustar" else ""


def zip_size(path: Path) -> int | None:
    """Return the number of files listed in a ZIP; None if the ZIP cannot be read."""
    try:
        with zipfile.ZipFile(path) as archive:
            return sum(_is_included(info.filename, info.is_dir()) for info in archive.infolist())
    except _BROKEN:
        return None


def zip_items(path: Path) -> Iterator[Unpacked]:
    """Yield the files of a ZIP, in archive order."""
    budget = _Budget()
    try:
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                if not _is_included(info.filename, info.is_dir()):
                    continue
                budget.count_file()
                yield _name(info.filename), _member(archive, info, budget)
    except _BROKEN as error:
        yield path.name, ArchiveUnreadable(reason=_reason(error))


def tar_items(path: Path) -> Iterator[Unpacked]:
    """Yield the files of a TAR (plain, gzip, bzip2 or xz), in archive order; links and devices are skipped."""
    budget = _Budget()
    try:
        with _open(path) as plain, tarfile.open(fileobj=_MeteredFile(plain, budget), mode="r:") as archive:
            while (info := archive.next()) is not None:
                archive.members.clear()  # type: ignore[attr-defined]  # otherwise it keeps every member in memory
                if not _is_included(info.name, not info.isreg()):
                    continue
                budget.count_file()
                yield _name(info.name), _tar_member(archive, info)
    except _BROKEN as error:
        yield path.name, ArchiveUnreadable(reason=_reason(error))


def _open(path: Path) -> IO[bytes]:
    with path.open("rb") as file:
        head = file.read(6)
    opened: IO[bytes] = next((opener for signature, opener in _OPENERS if head.startswith(signature)), open)(path, "rb")
    return opened


def _tar_member(archive: tarfile.TarFile, info: tarfile.TarInfo) -> bytes | UnreadableDocument:
    if info.size > DEFAULT.bytes:
        return TooLarge(limit=DEFAULT.bytes)
    file = archive.extractfile(info)
    return file.read() if file else b""


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, budget: _Budget) -> bytes | UnreadableDocument:
    """Return the content of a file; a damaged or encrypted file is an error for that file only."""
    try:
        with archive.open(info) as file:
            data: bytes = file.read(DEFAULT.bytes + 1)
    except _BROKEN as error:
        return ArchiveMemberUnreadable(reason=_reason(error))
    budget.count_bytes(len(data))
    return data if len(data) <= DEFAULT.bytes else TooLarge(limit=DEFAULT.bytes)


def _is_included(name: str, is_other: bool) -> bool:
    """Return whether a member is a file to validate: it has the right suffix and is not hidden."""
    parts = name.removeprefix("./").split("/")
    is_hidden = any((part.startswith(".") and part != "..") or part == "__MACOSX" for part in parts)
    return not is_other and not is_hidden and parts[-1].lower().endswith(SUFFIXES)


def _name(name: str) -> str:
    return name.removeprefix("./").encode("utf-8", "backslashreplace").decode()


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__


class _Budget:
    """The number of files and bytes that may still be read from an archive."""

    def __init__(self) -> None:
        self._files = MAX_FILES
        self._bytes = MAX_BYTES

    def count_file(self) -> None:
        """Count a file."""
        self._files -= 1
        if self._files < 0:
            raise ValueError(f"more than {MAX_FILES} files")

    def count_bytes(self, size: int) -> None:
        """Count decompressed bytes."""
        self._bytes -= size
        if self._bytes < 0:
            raise ValueError(f"more than {MAX_BYTES} bytes")


class _MeteredFile(io.BufferedIOBase):
    """The decompressed archive as a file object that counts the bytes read and skipped."""

    def __init__(self, file: IO[bytes], budget: _Budget) -> None:
        self._file = file
        self._budget = budget

    def read(self, size: int | None = -1) -> bytes:
        """Read `size` bytes."""
        if size is None or not 0 <= size <= _MAX_READ:
            raise ValueError("the header exceeds the size limit")
        self._budget.count_bytes(size)
        return self._file.read(size)

    def tell(self) -> int:
        """Return the current position."""
        return self._file.tell()

    def seekable(self) -> bool:
        """Return True; seeking backwards decompresses the file again."""
        return True

    def seek(self, position: int, whence: int = io.SEEK_SET) -> int:
        """Move to a position, decompressing everything before it."""
        self._budget.count_bytes(max(0, position - self._file.tell()))
        return self._file.seek(position, whence)
