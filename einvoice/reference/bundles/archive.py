"""Unpacks the ZIP of a configuration, with size limits and without paths that point outside its folder."""

from __future__ import annotations

import io
import lzma
import re
import stat
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import Final

from einvoice.quotation import quote
from einvoice.reference.bundles.errors import BundleRejected

MAX_MEMBERS: Final = 2000
MAX_BYTES: Final = 200 << 20
"""Maximum unpacked size of all members (bytes); KoSIT's configuration takes about 20 MB."""

MAX_RATIO: Final = 200
"""Maximum compression ratio of a member; stylesheets reach 40."""

_BROKEN: Final = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, NotImplementedError, EOFError, OverflowError, RuntimeError,
    ValueError,
)  # fmt: skip
_SCENARIOS: Final = "scenarios.xml"
_DRIVE: Final = re.compile(r"[A-Za-z]:")


def unpack(data: bytes, folder: Path, file: str, *, whole: bool = False) -> None:
    """Unpack the folder of a ZIP that contains the scenarios.xml into `folder`; all if `whole`.

    Args:
        data: the ZIP.
        folder: an existing, empty folder.
        file: name of the ZIP, for error messages.

    Raises:
        BundleRejected: the ZIP is damaged, encrypted or too large, or contains a path that points outside it.
        OSError: a file cannot be written.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [it for it in archive.infolist() if not it.is_dir()]
            for member in members:
                _check(member)
            if len(members) > MAX_MEMBERS:
                raise BundleRejected("large", file=file, limit=str(MAX_MEMBERS))
            top = PurePosixPath() if whole else _top_folder(members)
            remaining = MAX_BYTES
            for member in members:
                path = PurePosixPath(member.filename)
                if path.is_relative_to(top):
                    remaining -= _unpack(archive, member, folder / path.relative_to(top), remaining, file)
    except _BROKEN as error:
        raise BundleRejected("archive", reason=quote(str(error), limit=200)) from None


def _check(member: zipfile.ZipInfo) -> None:
    """Reject members that are not regular files, or whose path points outside the archive."""
    kind = stat.S_IFMT(member.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        raise BundleRejected("link", path=quote(member.filename))
    # zipfile truncates `filename` at NUL; `orig_filename` is complete.
    name = member.orig_filename
    parts = name.split("/")
    if name.startswith("/") or _DRIVE.match(name) or "\\" in name or "\0" in name or {"..", ".", ""} & {*parts}:
        raise BundleRejected("outside", path=quote(name))


def _top_folder(members: list[zipfile.ZipInfo]) -> PurePosixPath:
    """Return the folder that contains the scenarios.xml: the root, or the only top-level folder."""
    names = {member.filename for member in members}
    if _SCENARIOS in names:
        return PurePosixPath()
    tops = {PurePosixPath(name).parts[0] for name in names}
    if len(tops) == 1 and f"{(top := tops.pop())}/{_SCENARIOS}" in names:
        return PurePosixPath(top)
    raise BundleRejected("no_scenarios")


def _unpack(archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path, remaining: int, file: str) -> int:
    """Write a member to `path` and return its actual size; the declared size is not trusted."""
    allowed = min(remaining, MAX_RATIO * max(member.compress_size, 1000))
    with archive.open(member) as packed:
        content = packed.read(allowed + 1)
    if len(content) > allowed:
        limit = f"{MAX_BYTES >> 20} MB" if allowed == remaining else f"{MAX_RATIO}:1"
        raise BundleRejected("large", file=file, limit=limit)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return len(content)
