"""Waiting for what other processes do: until it has happened, since on a busy machine nothing takes a known time."""

import time

SECONDS = 120
"""Limit of every wait; reached only if what is waited for never happens."""


def wait_until(condition, message=lambda: ""):
    """Return the first true result of `condition()`; after `SECONDS`, fail with `message()`."""
    deadline = time.monotonic() + SECONDS
    while not (result := condition()):
        assert time.monotonic() < deadline, message()
        time.sleep(0.02)
    return result
