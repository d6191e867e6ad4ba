"""Confines this process with Landlock, which Linux has since 5.13. See landlock(7).

Landlock grants access to what lies beneath a folder, and denies the rest. To hide a folder in one that can be read,
access is granted to everything beside it and beside each of its parents. Landlock also keeps the process from the
memory of processes outside, and an unprivileged one from their environment. What it can deny depends on its version:

    1  opening, creating, removing files (5.13)      4  TCP connections (6.7)
    2  moving files between folders (5.19)           5  control of devices (6.10)
    3  truncating files (6.2)                        6  signals, abstract Unix sockets (6.12)

It does not deny datagrams (UDP) and Unix sockets in a folder (`appliance.workers.seccomp` does), nor changes of the
mode, the owner or the times of files.
"""

import ctypes
import os
import struct
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

COMPLETE: Final = 6
"""Version of Landlock from which on all that `confine` says is denied."""

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION, _PATH_BENEATH = 1, 1
_PR_SET_NO_NEW_PRIVS: Final = 38
_FILE_RIGHTS: Final = {1: 13, 2: 14, 3: 15, 5: 16}
"""Number of rights on files and folders, by the version of Landlock that introduced it."""
_READ: Final = 0b1101
"""Rights to execute, to read a file, and to read a folder."""
_RIGHTS_ON_FILES: Final = 0b111 | 1 << 14 | 1 << 15
"""Rights that apply to a file: execute, write, read, truncate, control a device."""
_NETWORK: Final = 0b11
"""Rights to bind and to connect TCP sockets."""
_SCOPES: Final = 0b11
"""Abstract Unix sockets, and signals."""
_NULL: Final = Path(os.devnull)


def confine(
    readable: Iterable[Path], hidden: Iterable[Path], visible: Iterable[Path] = (), writable: Iterable[Path] = ()
) -> int:
    """Confine this process and its children, as far as the kernel can; return the version of Landlock, 0 for none.

    They cannot open files that are not `readable`, nor `hidden` ones, cannot write, except for the null device, cannot
    connect to others by TCP, and cannot send signals to processes outside.

    Args:
        readable: files and folders that can be read. Missing ones are skipped.
        hidden: files and folders in them to hide. Hidden too, beside them and beside each of their parents, is what is
            created later, and files that the process may write, such as logs: once granted, they would take up space
            after they are deleted, until the process ends.
        visible: folders that can be read, wherever they are. Missing ones are skipped.
        writable: folders that can be written. Missing ones are skipped.

    Raises:
        OSError: Landlock is available, but failed.
    """
    version = _version()
    if not version:
        return 0
    rights = (1 << max(count for since, count in _FILE_RIGHTS.items() if since <= version)) - 1
    handled = [rights, *([_NETWORK] if version >= 4 else []), *([_SCOPES] if version >= 6 else [])]
    attributes = struct.pack(f"={len(handled)}Q", *handled)
    ruleset = _call("syscall", _CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), 0)
    concealed = {path.resolve() for path in hidden}
    for path in {*_without(concealed, {path.resolve() for path in readable}), *visible}:
        _grant(ruleset, path, _READ)
    for path in (_NULL, *writable):
        _grant(ruleset, path, rights)
    _call("prctl", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    _call("syscall", _RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)
    return version


def _version() -> int:
    """Return the version of Landlock; 0 if the system has none or does not allow it."""
    if sys.platform != "linux":
        return 0
    try:
        return _call("syscall", _CREATE_RULESET, None, ctypes.c_size_t(0), _ASK_VERSION)
    except OSError:
        return 0


def _grant(ruleset: int, path: Path, rights: int) -> None:
    """Grant access to a file, or to all beneath a folder; to nothing if it is missing."""
    try:
        opened = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    granted = rights if path.is_dir() else rights & _RIGHTS_ON_FILES
    try:
        _call("syscall", _ADD_RULE, ruleset, _PATH_BENEATH, struct.pack("=Qi", granted, opened), 0)
    finally:
        os.close(opened)


def _call(function: str, *arguments: object) -> int:
    """Call a function of the C library; raise OSError if it fails."""
    result: int = getattr(ctypes.CDLL(None, use_errno=True), function)(*arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


def _without(hidden: set[Path], readable: set[Path]) -> Iterator[Path]:
    """Yield the `readable` paths; of those that contain `hidden` ones, what is beside these and their parents."""
    parents = {parent for path in hidden for parent in path.parents}
    for path in readable:
        if hidden & {path, *path.parents}:
            continue
        if path not in parents:
            yield path
        elif os.access(path, os.R_OK):
            entries = {it for it in path.iterdir() if not it.is_symlink()}
            yield from _without(hidden, {it for it in entries if it.is_dir() or not os.access(it, os.W_OK)})
