"""Hides folders and files from this process with Landlock, which Linux has since 5.13. See landlock(7).

Landlock grants access to what lies beneath a folder, and denies the rest. To hide a folder, access is granted to
everything beside it and beside each of its parents. Landlock also keeps the process from the memory of processes
outside, and an unprivileged one from their environment.
"""

import ctypes
import os
import struct
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_ASK_VERSION, _PATH_BENEATH = 1, 1
_PR_SET_NO_NEW_PRIVS: Final = 38
_ALL_RIGHTS: Final = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1}
"""All rights on files and folders, by version of Landlock; the third has the right to truncate files."""
_FILE_RIGHTS: Final = 0b111 | 1 << 14
"""Rights that apply to a file: execute, write, read, truncate."""


def hide(paths: Iterable[Path], except_for: Iterable[Path] = ()) -> bool:
    """Deny access to files and folders, for this process and its children; return False if there is no Landlock.

    Args:
        paths: files and folders to hide. Hidden too, beside them and beside each of their parents, is what is created
            later, and files that the process may write, such as logs: once granted, they would take up space after
            they are deleted, until the process ends.
        except_for: folders that stay accessible, wherever they are. Missing ones are skipped.

    Raises:
        OSError: Landlock is available, but failed.
    """
    version = _version()
    if not version:
        return False
    rights = _ALL_RIGHTS[min(version, 3)]
    ruleset = _call("syscall", _CREATE_RULESET, struct.pack("=Q", rights), ctypes.c_size_t(8), 0)
    for path in {*_beside({path.resolve() for path in paths}), *except_for}:
        _grant(ruleset, path, rights)
    _call("prctl", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    _call("syscall", _RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)
    return True


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
    granted = rights if path.is_dir() else rights & _FILE_RIGHTS
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


def _beside(hidden: set[Path]) -> Iterable[Path]:
    """Yield the entries of all parents of `hidden` paths, but those paths and parents; if none is hidden, the root."""
    if not hidden:
        yield Path("/")
    parents = {parent for path in hidden for parent in path.parents}
    for parent in parents - hidden:
        if parent.is_dir() and os.access(parent, os.R_OK) and not hidden & set(parent.parents):
            entries = (it for it in parent.iterdir() if it not in parents | hidden and not it.is_symlink())
            yield from (it for it in entries if it.is_dir() or not os.access(it, os.W_OK))
