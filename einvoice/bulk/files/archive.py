"""Files out of a ZIP or TAR, one after the other, in memory and bounded: nothing is unpacked to disk.

A file counts as far as the limit of a single file, so that one of zeros without end costs no more than that; the
whole archive is left where `MOST_FILES` or `MOST_BYTES` are through.
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

from einvoice.errors import ArchiveUnreadable, TooLarge, UnreadableDocument
from einvoice.syntax.xml import DEFAULT

SUFFIXES: Final = (".xml", ".pdf")
"""Of a folder or an archive, and of the folders in it, these files are judged; hidden ones are not."""

MOST_FILES: Final = 1_000_000
MOST_BYTES: Final = 64 * 1024**3
"""Unpacked; what is passed over counts too."""

_PORTION: Final = 16 * 1024**2  # more at once only a header asks for that wants to fill the memory
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
    """Whether a file is an archive, told by its content; "" if it is none."""
    with path.open("rb") as file:
        head = file.read(512)
    if head.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "zip"
    packed = any(head.startswith(signature) for signature, _ in _OPENERS)
    return "tar" if packed or head[257:262] == b"ustar" else ""


def zip_size(path: Path) -> int | None:
    """How many files a ZIP says it has; None where it does not say."""
    try:
        with zipfile.ZipFile(path) as archive:
            return sum(_counts(info.filename, info.is_dir()) for info in archive.infolist())
    except _BROKEN:
        return None


def zip_items(path: Path) -> Iterator[Unpacked]:
    """The files of a ZIP, in its order."""
    budget = _Budget()
    try:
        with zipfile.ZipFile(path) as archive:
            for info in archive.infolist():
                if not _counts(info.filename, info.is_dir()):
                    continue
                budget.file()
                yield _name(info.filename), _member(archive, info, budget)
    except _BROKEN as error:
        yield path.name, ArchiveUnreadable(reason=_reason(error))


def tar_items(path: Path) -> Iterator[Unpacked]:
    """The files of a TAR, in its order, be it packed by gzip, bzip2 or xz; links and devices are passed over."""
    budget = _Budget()
    try:
        with _unpacking(path) as plain, tarfile.open(fileobj=_Metered(plain, budget), mode="r:") as archive:
            while (info := archive.next()) is not None:
                archive.members.clear()  # type: ignore[attr-defined]  # else it remembers every one
                if not _counts(info.name, not info.isreg()):
                    continue
                budget.file()
                yield _name(info.name), _tar_member(archive, info)
    except _BROKEN as error:
        yield path.name, ArchiveUnreadable(reason=_reason(error))


def _unpacking(path: Path) -> IO[bytes]:
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
    """A file of a ZIP; one that is damaged or encrypted does not keep the others from being read."""
    try:
        with archive.open(info) as file:
            data: bytes = file.read(DEFAULT.bytes + 1)
    except _BROKEN as error:
        return ArchiveUnreadable(reason=_reason(error))
    budget.spend(len(data))
    return data if len(data) <= DEFAULT.bytes else TooLarge(limit=DEFAULT.bytes)


def _counts(name: str, is_other: bool) -> bool:
    """Whether it is a file to judge, and none that an operating system or a person hides."""
    parts = name.removeprefix("./").split("/")
    is_hidden = any((part.startswith(".") and part != "..") or part == "__MACOSX" for part in parts)
    return not is_other and not is_hidden and parts[-1].lower().endswith(SUFFIXES)


def _name(name: str) -> str:
    return name.removeprefix("./").encode("utf-8", "backslashreplace").decode()


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__


class _Budget:
    """What may still be unpacked."""

    def __init__(self) -> None:
        self._files = MOST_FILES
        self._bytes = MOST_BYTES

    def file(self) -> None:
        """One more file."""
        self._files -= 1
        if self._files < 0:
            raise ValueError(f"more than {MOST_FILES} files")

    def spend(self, size: int) -> None:
        """So many bytes more."""
        self._bytes -= size
        if self._bytes < 0:
            raise ValueError(f"more than {MOST_BYTES} bytes")


class _Metered(io.BufferedIOBase):
    """What an archive is unpacked to, as a file that counts what is read and passed over."""

    def __init__(self, file: IO[bytes], budget: _Budget) -> None:
        self._file = file
        self._budget = budget

    def read(self, size: int | None = -1) -> bytes:
        """So many bytes."""
        if size is None or not 0 <= size <= _PORTION:
            raise ValueError("a header larger than any needs to be")
        self._budget.spend(size)
        return self._file.read(size)

    def tell(self) -> int:
        """Where it is."""
        return self._file.tell()

    def seekable(self) -> bool:
        """Yes, though backwards a packed file is unpacked once more."""
        return True

    def seek(self, position: int, whence: int = io.SEEK_SET) -> int:
        """Go there, which of a packed file means to unpack all before it."""
        self._budget.spend(max(0, position - self._file.tell()))
        return self._file.seek(position, whence)
