"""What differs on macOS, tried with its name of the platform: getrlimit(2), getrusage(2) and fork(2) of Darwin."""

import importlib.util
import sys
from pathlib import Path

import pytest

from einvoice.bulk.execution import executors
from einvoice.sandbox import posix

resource = pytest.importorskip("resource")


@pytest.fixture
def on_macos(monkeypatch):
    """Return the module of the sandbox as macOS imports it."""
    monkeypatch.setattr(sys, "platform", "darwin")
    spec = importlib.util.spec_from_file_location("sandbox_on_macos", posix.__file__)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_memory_is_not_bounded(on_macos, monkeypatch):
    """The system refuses a limit of the address space below what a process has, which is gigabytes."""
    limits = {}
    monkeypatch.setattr(resource, "setrlimit", lambda limit, both: limits.update({limit: both}))
    monkeypatch.setattr(resource, "getrlimit", lambda _: (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    monkeypatch.setattr(on_macos.signal, "signal", lambda *_: None)
    on_macos.set_limits(address_space=1 << 30, data=1 << 30, processor=7)
    assert limits == {resource.RLIMIT_CPU: (7, 7), resource.RLIMIT_FSIZE: (0, 0), resource.RLIMIT_CORE: (0, 0)}
    assert "memory" not in on_macos.BOUNDED
    assert {"time", "processor_time", "file_size", "one_document"} == {*on_macos.BOUNDED}


@pytest.mark.skipif(sys.platform != "linux", reason="what else is bounded on Linux")
def test_memory_is_bounded_on_linux():
    assert "memory" in posix.BOUNDED


@pytest.mark.parametrize(("system", "unit"), [("darwin", 1), ("freebsd14", 1024)])
def test_peak_memory_is_in_bytes(on_macos, monkeypatch, system, unit):
    """There is no /proc; `ru_maxrss` is in bytes on macOS, and in KiB on other systems."""

    def no_proc(*_, **__):
        raise FileNotFoundError

    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr(Path, "read_text", no_proc)
    monkeypatch.setattr(resource, "getrusage", lambda _: resource.struct_rusage([0.0, 0.0, 5000, *[0] * 13]))
    assert on_macos.peak_memory() == 5000 * unit


def test_worker_processes_are_spawned(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    with executors._pool(1) as pool:
        assert pool._mp_context.get_start_method() == "spawn"


def test_processors_are_counted_without_affinity(monkeypatch):
    monkeypatch.delattr(executors.os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(executors.os, "cpu_count", lambda: 3)
    assert executors._cpu_count() == 3
