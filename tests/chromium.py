"""A real Chromium, and a page in it that is listened to."""

import shutil
from contextlib import contextmanager

import pytest

PROGRAM = shutil.which("chromium") or shutil.which("chromium-browser")
THIS_MACHINE = "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"


@contextmanager
def chromium():
    """A browser that knows no host but this machine; skipped where it or its driver is missing."""
    driver = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if PROGRAM is None:
        pytest.skip("chromium is not installed")
    with driver.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=PROGRAM, args=["--no-sandbox", THIS_MACHINE])
        try:
            yield browser
        finally:
            browser.close()


class Watched:
    """A page: the addresses it `asked` for, and its `complaints`: errors, warnings, and dialogs."""

    def __init__(self, browser, **options):
        self.page = browser.new_page(**options)
        self.asked = []
        self.complaints = []
        self.page.on("request", lambda request: self.asked.append(request.url))
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", self._read)
        self.page.on("dialog", self._dismiss)

    def _read(self, message):
        if message.type in ("error", "warning"):
            self.complaints.append(message.text)

    def _dismiss(self, dialog):
        self.complaints.append(dialog.message)
        dialog.dismiss()

    def asked_of_others(self, *own):
        """The addresses that do not begin like these, and are no objects of the page itself."""
        return [url for url in self.asked if not url.startswith((*own, "blob:"))]

    def close(self):
        self.page.close()
