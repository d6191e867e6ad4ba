"""Plugin for pytest: how long each module took, in the last run of all tests."""

import pytest

KEY = "einvoice/durations"
"""Name in pytest's cache."""


def known(config: pytest.Config) -> dict[str, float]:
    """Return the seconds of each module in the last run of all tests; empty if there was none."""
    cache = _cache(config)
    return cache.get(KEY, {}) if cache else {}


def module(node: str) -> str:
    """Return the module of a test, for example `tests/test_cache.py`."""
    return node.partition("::")[0]


class Durations:
    """Adds up the durations of tests by module, and stores them after a run of all tests."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config
        self._seconds: dict[str, float] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        path = module(report.nodeid)
        self._seconds[path] = round(self._seconds.get(path, 0) + report.duration, 1)

    def pytest_sessionfinish(self) -> None:
        config = self._config
        in_parallel = hasattr(config, "workerinput")  # the process that started it stores the durations
        everything = config.args_source is not config.ArgsSource.ARGS and not (
            config.option.markexpr or config.option.keyword
        )
        cache = _cache(config)
        if everything and not in_parallel and cache:
            cache.set(KEY, self._seconds)


def _cache(config: pytest.Config) -> pytest.Cache | None:
    """Return pytest's cache; with `-p no:cacheprovider` there is none."""
    return getattr(config, "cache", None)
