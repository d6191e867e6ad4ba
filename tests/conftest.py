"""Shared fixtures: sample invoices, comparison cases and a browser."""

import gc
import os
from contextlib import contextmanager

import pytest
from hypothesis import HealthCheck, settings

from einvoice.errors import MissingDependency
from tests.cases import corpus
from tests.helpers import doctests, durations
from tests.helpers.chromium import chromium
from tests.helpers.paths import ROOT

# The first documents of a fresh checkout take long, whatever the strategy: no cache is warm yet.
settings.register_profile("project", suppress_health_check=[HealthCheck.too_slow], deadline=None)
settings.register_profile("quick", settings.get_profile("project"), max_examples=10)
settings.load_profile("project")

os.environ.pop("EINVOICE_LANG", None)
os.environ["LC_ALL"] = "C.UTF-8"  # the language of the command line depends on the locale

# With the default of 700 new objects, collections take a tenth of the time: most of what tests make stays in use.
gc.set_threshold(10_000)

#: Fixtures that start other programs.
PROGRAMS = {"browser", "module_redis", "own_redis", "prefixed", "redis_url", "server", "without_redis"}


def pytest_configure(config):
    """Register the plugin here, as hooks of this file see the files below `tests` only."""
    config.pluginmanager.register(doctests)
    config.pluginmanager.register(durations.Durations(config))


@pytest.fixture(scope="session")
def sample():
    """Return the path of a (fictitious, valid) invoice in tests/samples."""

    def path(name):
        return ROOT / "tests" / "samples" / name

    return path


@pytest.fixture(scope="session")
def cases():
    """Iterate the comparison cases of folders as (official result, document bytes)."""
    return corpus.cases


def pytest_report_header():
    """Say which comparison cases there are."""
    return f"comparison cases: {len(corpus.generated())} generated, {'more' if corpus.beside() else 'none'} beside"


@pytest.fixture(scope="module")
def browser():
    """Chromium; not session-scoped, as the event loop of its driver would conflict with other tests."""
    with chromium() as browser:
        yield browser


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup():
    """See `_unless_absent`."""
    with _unless_absent():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call():
    """See `_unless_absent`."""
    with _unless_absent():
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report():
    """Skip modules that cannot be imported, in the same way."""
    report = yield
    text = str(report.longrepr)
    if report.failed and (name := _absent(text, "No module named '{}") or _absent(text, "while importing {}")):
        report.outcome, report.longrepr = "skipped", (report.nodeid, None, f"needs {name}")
    return report


@contextmanager
def _unless_absent():
    """Skip a test that fails for a package in EINVOICE_TEST_WITHOUT, which names what a system cannot have."""
    try:
        yield
    except Exception as error:
        causes = [error]
        while cause := causes[-1].__cause__ or causes[-1].__context__:
            causes.append(cause)
        texts = [str(it) for it in causes if isinstance(it, ImportError | MissingDependency)]
        if name := _absent("\n".join(texts), "{}"):
            pytest.skip(f"needs {name}")
        raise


def _absent(text, pattern):
    names = os.environ.get("EINVOICE_TEST_WITHOUT", "").split()
    return next((name for name in names if pattern.format(name) in text), None)


@pytest.hookimpl(tryfirst=True)  # before the markers are evaluated
def pytest_collection_modifyitems(config, items):
    """Mark the tests that need other programs as slow, and select live tests only if requested.

    In parallel, begin with the modules that took longest, so that the processes end at about the same time, and with
    those that have slow tests.
    """
    if "live" not in config.getoption("-m"):
        live = [item for item in items if item.get_closest_marker("live")]
        config.hook.pytest_deselected(items=live)
        items[:] = [item for item in items if not item.get_closest_marker("live")]
    for item in items:
        if not PROGRAMS.isdisjoint(item.fixturenames):
            item.add_marker(pytest.mark.slow)
    if hasattr(config, "workerinput"):  # a process of pytest-xdist
        slow = {item.path for item in items if item.get_closest_marker("slow")}
        seconds = durations.known(config)
        items.sort(key=lambda item: (-seconds.get(durations.module(item.nodeid), 0), item.path not in slow))


def pytest_collection_finish():
    """Leave out what exists for the whole run, thousands of tests and all modules, when garbage is collected."""
    gc.collect()
    gc.freeze()
