"""Sandbox processes on Windows: job objects, which end a child with its parent and limit its memory.

There is no fork, so that a process serves several documents. Writing files is not forbidden, and there is no alarm: the
parent kills a child that takes too long.
"""

from __future__ import annotations

import ctypes
import os
import sys
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import socket
    import subprocess

BOUNDED: Final = ("time", "memory", "processes")
"""What is bounded; see `einvoice.reference.Engines`."""

_NO_WINDOW: Final = 0x08000000
_NEW_PROCESS_GROUP: Final = 0x00000200  # Ctrl-C in a console reaches the parent only

# JOBOBJECT_EXTENDED_LIMIT_INFORMATION (winnt.h)
_EXTENDED_LIMITS: Final = 9
_ACTIVE_PROCESSES: Final = 0x0008
_PROCESS_MEMORY: Final = 0x0100
_PROCESS_TIME: Final = 0x0002
_KILL_ON_CLOSE: Final = 0x2000
_TICKS: Final = 10**7
"""Units of processor time per second."""

_LENGTH: Final = 4
"""Bytes of the length of a shared socket."""


class _BasicLimits(ctypes.Structure):
    _fields_ = (
        ("process_time", ctypes.c_int64),
        ("job_time", ctypes.c_int64),
        ("flags", ctypes.c_uint32),
        ("minimum_working_set", ctypes.c_size_t),
        ("maximum_working_set", ctypes.c_size_t),
        ("active_processes", ctypes.c_uint32),
        ("affinity", ctypes.c_size_t),
        ("priority", ctypes.c_uint32),
        ("scheduling", ctypes.c_uint32),
    )


class _Limits(ctypes.Structure):
    _fields_ = (
        ("basic", _BasicLimits),
        ("io_counters", ctypes.c_uint64 * 6),
        ("process_memory", ctypes.c_size_t),
        ("job_memory", ctypes.c_size_t),
        ("peak_process_memory", ctypes.c_size_t),
        ("peak_job_memory", ctypes.c_size_t),
    )


class _MemoryCounters(ctypes.Structure):  # PROCESS_MEMORY_COUNTERS (psapi.h)
    _fields_ = (
        ("size", ctypes.c_uint32),
        ("page_faults", ctypes.c_uint32),
        ("peak_working_set", ctypes.c_size_t),
        ("others", ctypes.c_size_t * 7),
    )


class _Job:
    """A job object: limits for a process; closing it ends the process if `_KILL_ON_CLOSE` is set."""

    def __init__(self, limits: _Limits, process: int) -> None:
        """Put a process, given by its handle, under limits.

        Raises:
            OSError: the system refuses it.
        """
        self._system = _kernel32()
        self._handle = self._system.CreateJobObjectW(None, None)
        if not (
            self._handle
            and self._system.SetInformationJobObject(
                self._handle, _EXTENDED_LIMITS, ctypes.byref(limits), ctypes.sizeof(limits)
            )
            and self._system.AssignProcessToJobObject(self._handle, process)
        ):
            error = ctypes.get_last_error()  # type: ignore[attr-defined,unused-ignore]
            self.close()
            raise OSError(error, "the process cannot be limited")

    def close(self) -> None:
        if self._handle:
            self._system.CloseHandle(self._handle)
            self._handle = None


def _kernel32() -> Any:
    library = ctypes.WinDLL("kernel32", use_last_error=True)  # type: ignore[attr-defined,unused-ignore]
    for name in ("CreateJobObjectW", "GetCurrentProcess"):
        getattr(library, name).restype = ctypes.c_void_p
    library.CreateJobObjectW.argtypes = [ctypes.c_void_p, ctypes.c_wchar_p]
    library.SetInformationJobObject.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_uint32]
    library.AssignProcessToJobObject.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    library.CloseHandle.argtypes = [ctypes.c_void_p]
    return library


def launch(script: str) -> tuple[subprocess.Popen[bytes], list[Any]]:
    """Start Python with a script that calls `attach(*sys.argv[1:])`; return it and what to close to end it.

    The first of these is the parent's end of the connection.

    Raises:
        OSError: the process cannot be started.
    """
    import socket
    import subprocess

    # The program of a virtual environment only starts the other one, as a process of its own.
    program = getattr(sys, "_base_executable", None) or sys.executable
    environ = {**os.environ, "__PYVENV_LAUNCHER__": sys.executable} if program != sys.executable else None
    connection, child_connection = socket.socketpair()
    with child_connection:
        try:
            process = subprocess.Popen(
                [program, "-c", script],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,  # libraries print errors there, with text of the document
                env=environ,
                creationflags=_NO_WINDOW | _NEW_PROCESS_GROUP,
            )
            try:
                limits = _Limits()
                limits.basic.flags = _KILL_ON_CLOSE
                job = _Job(limits, int(process._handle))  # type: ignore[attr-defined,unused-ignore]
                with process.stdin as pipe:  # type: ignore[union-attr]
                    pipe.write(child_connection.share(process.pid))  # type: ignore[attr-defined,unused-ignore]
            except BaseException:
                process.kill()
                process.wait()
                raise
        except BaseException:
            connection.close()
            raise
    return process, [connection, job]


def hand_over(control: socket.socket, message: bytes, connection: socket.socket, pid: int) -> None:
    """Send a byte, and a connection for the process at the other end of `control`, which has this id."""
    shared = connection.share(pid)  # type: ignore[attr-defined,unused-ignore]
    control.sendall(message + len(shared).to_bytes(_LENGTH, "big") + shared)


# ---------------------------------------------------------------- in the child


def attach() -> socket.socket:
    """Return this end of the connection, which the parent wrote to standard input."""
    import socket

    return socket.fromshare(sys.stdin.buffer.read())  # type: ignore[attr-defined,no-any-return,unused-ignore]


def take_over(control: socket.socket) -> tuple[bytes, socket.socket] | None:
    """Return what `hand_over` sent; None when `control` is closed."""
    import socket

    head = _receive(control, 1 + _LENGTH)
    shared = _receive(control, int.from_bytes(head[1:], "big"))
    if not shared:
        return None
    return head[:1], socket.fromshare(shared)  # type: ignore[attr-defined,unused-ignore]


def _receive(control: socket.socket, length: int) -> bytes:
    """Return so many bytes; less if the other end was closed."""
    import socket

    try:
        return control.recv(length, socket.MSG_WAITALL)
    except ConnectionError:  # the parent was killed
        return b""


def set_limits(*, address_space: int | None = None, data: int | None = None, processor: int | None = None) -> None:
    """Limit the memory and the processor time of this process, for ever; it may start no other processes.

    Args:
        address_space, data: maximum committed memory (bytes); Windows makes no difference.
        processor: maximum processor time (seconds).
    """
    limits = _Limits()
    limits.basic.flags = _ACTIVE_PROCESSES
    limits.basic.active_processes = 1
    if memory := address_space or data:
        limits.basic.flags |= _PROCESS_MEMORY
        limits.process_memory = memory
    if processor:
        limits.basic.flags |= _PROCESS_TIME
        limits.basic.process_time = processor * _TICKS
    _Job(limits, _kernel32().GetCurrentProcess())


def alarm(_seconds: int) -> None:
    """Do nothing: there are no alarms."""


def peak_memory() -> int:
    """Return the peak memory of this process (bytes)."""
    counters = _MemoryCounters(size=ctypes.sizeof(_MemoryCounters))
    system = _kernel32()
    system.K32GetProcessMemoryInfo.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint32]
    system.K32GetProcessMemoryInfo(system.GetCurrentProcess(), ctypes.byref(counters), counters.size)
    return int(counters.peak_working_set)
