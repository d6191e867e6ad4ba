"""Chromium, and pages that record requests and console errors."""

import shutil
import time
from contextlib import contextmanager

import pytest

from tests.helpers.waiting import SECONDS

PROGRAMS = ("chromium-headless-shell", "chromium", "chromium-browser")
PROGRAM = next(filter(None, map(shutil.which, PROGRAMS)), None)
"""The first that is installed. The headless shell has no user interface: a page takes a quarter of the CPU time."""
THIS_MACHINE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"
FLAGS = ["--no-sandbox", "--disable-gpu", THIS_MACHINE]
TIMEOUT = SECONDS * 1000
"""Of everything that Playwright waits for, in milliseconds."""


@contextmanager
def chromium():
    """Provide a browser without access to other hosts; skip if it or its driver is missing."""
    driver = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if PROGRAM is None:
        pytest.skip("chromium is not installed")
    with driver.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=PROGRAM, args=FLAGS, timeout=TIMEOUT)
        try:
            yield browser
        finally:
            browser.close()


class MonitoredPage:
    """A page that records its `requests` and `console_errors` (errors, warnings and dialogs)."""

    def __init__(self, browser, **options):
        self.page = browser.new_page(**options)
        self.page.set_default_timeout(TIMEOUT)
        self.requests = []
        self.console_errors = []
        self.page.on("request", lambda request: self.requests.append(request.url))
        self.page.on("pageerror", lambda error: self.console_errors.append(str(error)))
        self.page.on("console", self._read)
        self.page.on("dialog", self._dismiss)

    def _read(self, message):
        if message.type in ("error", "warning"):
            self.console_errors.append(message.text)

    def _dismiss(self, dialog):
        self.console_errors.append(dialog.message)
        dialog.dismiss()

    def assert_becomes(self, ask, expected):
        """Assert that `ask()` returns a value, if not at once then soon: pages react to input in their own time."""
        deadline = time.monotonic() + SECONDS
        while (found := ask()) != expected and time.monotonic() < deadline:
            self.page.wait_for_timeout(20)  # unlike a sleep, this lets Playwright handle events
        assert found == expected

    def external_requests(self, *prefixes):
        """Return the requested URLs without these prefixes and without objects of the page itself."""
        return [url for url in self.requests if not url.startswith((*prefixes, "blob:"))]

    def close(self):
        self.page.close()
