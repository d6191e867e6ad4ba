"""The web app in Chromium, with recorded requests and console messages."""

import csv
import io
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.helpers.chromium import MonitoredPage


class Page(MonitoredPage):
    """The web app in a separate browser context, with or without a key."""

    def __init__(self, browser, server, *, key=True, **options):
        super().__init__(browser, **{"locale": "de-DE", "viewport": {"width": 1300, "height": 900}, **options})
        self.server = server
        self.folder = TemporaryDirectory()
        # Violations of Trusted Types are reported by events only, not on the console.
        self.page.add_init_script(
            "window.violations = [];"
            "document.addEventListener('securitypolicyviolation', (e) => violations.push(e.violatedDirective))"
        )
        try:
            self.page.goto(str(server.base))
            self.page.wait_for_selector("[data-lang]")  # the labels have been loaded; the page listens from now on
            if key:
                self.enter_key()
        except Exception as error:
            error.add_note(f"shown: {self.text('body')!r}, console: {self.console_errors}, requests: {self.requests}")
            self.close()
            raise

    def enter_key(self, key=None):
        self.page.fill("#key", key or self.server.client.headers["x-api-key"])
        self.page.press("#key", "Tab")
        if key is None:
            self.page.wait_for_selector(".key-valid")

    def choose(self, *files):
        """Select files (name, content), and wait for the results."""
        paths = [Path(self.folder.name) / name for name, _ in files]
        for path, (_, content) in zip(paths, files, strict=True):
            path.write_bytes(content)
        self.page.evaluate("document.getElementById('result').replaceChildren()")
        self.page.set_input_files("#files", paths)
        self.page.wait_for_selector("#result-title")
        self.page.wait_for_selector("#xml[hidden], .row", state="attached")

    def text(self, selector):
        return self.page.locator(selector).inner_text()

    def texts(self, selector):
        return self.page.locator(selector).all_inner_texts()

    def download(self, selector):
        """Click, and return name and content of the downloaded file."""
        with self.page.expect_download() as download_info:
            self.page.click(selector)
        return download_info.value.suggested_filename, Path(download_info.value.path()).read_bytes()

    def violations(self):
        return self.page.evaluate("violations")

    def close(self):
        super().close()
        self.folder.cleanup()


def assert_highlighted(page, *lines):
    """Assert that these lines, and no others in view, are highlighted: the list is drawn when it has been scrolled."""
    page.assert_becomes(lambda: highlighted_lines(page), list(lines))


def highlighted_lines(page):
    """Return the numbers of the highlighted lines in view."""
    return page.page.evaluate(
        """() => [...document.querySelectorAll('.row.highlighted')].filter((row) => {
            const [it, box] = [row, document.getElementById('xml')].map((element) => element.getBoundingClientRect());
            return it.top >= box.top && it.bottom <= box.bottom;
        }).map((row) => row.dataset.line)"""
    )


def line_of(document, piece):
    """Return the number of the line with this piece, as shown."""
    return str(document[: document.index(piece)].count(b"\n") + 1)


def table(content, separator):
    """Return the rows of a CSV file, as downloaded."""
    assert content.startswith(b"\xef\xbb\xbf"), "Excel takes it for UTF-8 by that mark only"
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""), delimiter=separator))
