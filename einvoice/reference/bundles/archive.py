"""Unpacking a configuration's ZIP: bounded, and nothing of it lands outside of its folder."""

from __future__ import annotations

import io
import lzma
import re
import stat
import zipfile
import zlib
from pathlib import Path, PurePosixPath
from typing import Final

from einvoice.errors import quote
from einvoice.reference.bundles.errors import BundleRejected

MOST_MEMBERS: Final = 2000
MOST_BYTES: Final = 200 << 20
"""Of all members together, unpacked; KoSIT's configuration comes to some 20 MB."""

MOST_RATIO: Final = 200
"""So many times its packed size a member may have; stylesheets reach 40."""

_BROKEN: Final = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, NotImplementedError, EOFError, OverflowError, RuntimeError,
    ValueError,
)  # fmt: skip
_SCENARIOS: Final = "scenarios.xml"
_DRIVE: Final = re.compile(r"[A-Za-z]:")


def unpack(data: bytes, folder: Path, file: str) -> None:
    """Unpack the part of a ZIP that lies beside its scenarios.xml into `folder`.

    Args:
        data: the ZIP.
        folder: where to; it is there, and empty.
        file: name of the ZIP, for the message.

    Raises:
        BundleRejected: it is damaged, encrypted or too large, or has members that lie outside of it.
        OSError: a file cannot be written.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = [it for it in archive.infolist() if not it.is_dir()]
            for member in members:
                _check(member)
            if len(members) > MOST_MEMBERS:
                raise BundleRejected("large", file=file, limit=str(MOST_MEMBERS))
            top = _top(members)
            left = MOST_BYTES
            for member in members:
                path = PurePosixPath(member.filename)
                if path.is_relative_to(top):
                    left -= _unpack(archive, member, folder / path.relative_to(top), left, file)
    except _BROKEN as error:
        raise BundleRejected("archive", reason=quote(str(error), limit=200)) from None


def _check(member: zipfile.ZipInfo) -> None:
    """Refuse a member that is no file inside of the archive."""
    kind = stat.S_IFMT(member.external_attr >> 16)
    if kind not in (0, stat.S_IFREG):
        raise BundleRejected("link", path=quote(member.filename))
    # zipfile cuts a name at NUL, and what stands behind it would be seen by nobody.
    name = member.orig_filename
    parts = name.split("/")
    if name.startswith("/") or _DRIVE.match(name) or "\\" in name or "\0" in name or {"..", ".", ""} & {*parts}:
        raise BundleRejected("outside", path=quote(name))


def _top(members: list[zipfile.ZipInfo]) -> PurePosixPath:
    """The folder in the archive that has the scenarios.xml: its root, or the only folder there."""
    names = {member.filename for member in members}
    if _SCENARIOS in names:
        return PurePosixPath()
    tops = {PurePosixPath(name).parts[0] for name in names}
    if len(tops) == 1 and f"{(top := tops.pop())}/{_SCENARIOS}" in names:
        return PurePosixPath(top)
    raise BundleRejected("no_scenarios")


def _unpack(archive: zipfile.ZipFile, member: zipfile.ZipInfo, path: Path, left: int, file: str) -> int:
    """Write a member to `path`, and return how many bytes it has; what it says of its size is not believed."""
    most = min(left, MOST_RATIO * max(member.compress_size, 1000))
    with archive.open(member) as packed:
        content = packed.read(most + 1)
    if len(content) > most:
        limit = f"{MOST_BYTES >> 20} MB" if most == left else f"{MOST_RATIO}:1"
        raise BundleRejected("large", file=file, limit=limit)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return len(content)
