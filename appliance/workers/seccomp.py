"""Denies this process and its children new sockets, which Landlock denies in part only. See seccomp(2).

The kernel runs a small program before each system call. This one answers `socket` and `io_uring_setup` (which could
open sockets as well) with EACCES, and all calls in the conventions of another processor, whose numbers differ. Pairs of
connected sockets, which a process shares with its children, and sockets that are open already are not affected.
"""

import ctypes
import errno
import os
import platform
import struct
import sys
from typing import Final

_PR_SET_NO_NEW_PRIVS, _PR_SET_SECCOMP, _FILTER = 38, 22, 2
_CALLS: Final = {"x86_64": (0xC000003E, 41), "aarch64": (0xC00000B7, 198)}
"""Number of the convention, and of `socket` in it, by processor."""
_IO_URING_SETUP: Final = 425
_OTHER_CONVENTION: Final = 0x4000_0000
"""Bit of the numbers of a second convention on x86_64 (x32)."""
_LOAD, _EQUALS, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER, _CONVENTION = 0, 4
"""Where these are in what the program examines."""
_ALLOW, _REFUSE = 0x7FFF_0000, 0x0005_0000 | errno.EACCES


def deny_sockets() -> bool:
    """Deny new sockets; return whether the system can do that."""
    convention, socket = _CALLS.get(platform.machine(), (0, 0))
    if sys.platform != "linux" or not convention or sys.maxsize < 1 << 32:
        return False
    steps = (
        (_LOAD, 0, 0, _CONVENTION),
        (_EQUALS, 0, 5, convention),  # how many steps to skip if so, and if not
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 3, 0, _OTHER_CONVENTION),
        (_EQUALS, 2, 0, socket),
        (_EQUALS, 1, 0, _IO_URING_SETUP),
        (_RETURN, 0, 0, _ALLOW),
        (_RETURN, 0, 0, _REFUSE),
    )
    program = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in steps))
    described = ctypes.create_string_buffer(struct.pack("@HP", len(steps), ctypes.addressof(program)))
    library = ctypes.CDLL(None, use_errno=True)
    if library.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return not library.prctl(_PR_SET_SECCOMP, _FILTER, described, 0, 0)
