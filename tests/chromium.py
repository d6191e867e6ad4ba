"""Chromium, and pages that record requests and console errors."""

import shutil
from contextlib import contextmanager

import pytest

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser")
THIS_MACHINE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"


@contextmanager
def chromium():
    """Provide a browser without access to other hosts; skip if it or its driver is missing."""
    driver = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if PROGRAM is None:
        pytest.skip("chromium is not installed")
    with driver.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=PROGRAM, args=["--no-sandbox", THIS_MACHINE])
        try:
            yield browser
        finally:
            browser.close()


class MonitoredPage:
    """A page that records its `requests` and `console_errors` (errors, warnings and dialogs)."""

    def __init__(self, browser, **options):
        self.page = browser.new_page(**options)
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

    def external_requests(self, *prefixes):
        """Return the requested URLs without these prefixes and without objects of the page itself."""
        return [url for url in self.requests if not url.startswith((*prefixes, "blob:"))]

    def close(self):
        self.page.close()
