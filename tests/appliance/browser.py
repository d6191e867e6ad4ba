"""The appliance's page in a real Chromium, watched: what it asks for, what it complains about."""

from pathlib import Path
from tempfile import TemporaryDirectory

from chromium import Watched


class Page(Watched):
    """The appliance's page in a window of its own, with a key or without."""

    def __init__(self, browser, server, *, key=True, **options):
        super().__init__(browser, **{"locale": "de-DE", "viewport": {"width": 1300, "height": 900}, **options})
        self.server = server
        self.folder = TemporaryDirectory()
        # Violations of the policy are events, too; those of Trusted Types never reach the console otherwise.
        self.page.add_init_script(
            "window.violations = [];"
            "document.addEventListener('securitypolicyviolation', (e) => violations.push(e.violatedDirective))"
        )
        self.page.goto(str(server.base))
        if key:
            self.give_key()

    def give_key(self, key=None):
        self.page.fill("#key", key or self.server.client.headers["x-api-key"])
        self.page.press("#key", "Tab")
        if key is None:
            self.page.wait_for_selector(".key-valid")

    def choose(self, *files):
        """Choose files (name, content), and wait for what is said of them."""
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
        """Click, and return the name and the content of what is saved."""
        with self.page.expect_download() as coming:
            self.page.click(selector)
        return coming.value.suggested_filename, Path(coming.value.path()).read_bytes()

    def violations(self):
        return self.page.evaluate("violations")

    def close(self):
        super().close()
        self.folder.cleanup()
