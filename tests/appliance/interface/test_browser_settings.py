"""Language, colours, key and address of the web app, in Chromium against a real server."""

import dataclasses
import re

import pytest

from tests.helpers.served import CII, WRONG, http
from tests.helpers.web_app import Page

pytestmark = pytest.mark.slow


def test_switching_the_language(page):
    page.choose(("rechnung.xml", WRONG))
    page.page.click("[data-lang=en]")
    page.page.get_by_role("heading", name="Not valid").wait_for()
    found = page.server.validate(WRONG, lang="en").json()
    assert page.texts(".finding-header .title") == [finding["title"] for finding in found["errors"]]
    assert page.texts("#finding-0 dd") == ["692.99", "693.00", "−0.01"]
    assert page.page.evaluate("[document.documentElement.lang, document.title]") == ["en", "Validate an e-invoice"]
    assert page.page.locator("[data-lang=en]").get_attribute("aria-pressed") == "true"
    assert "Schlüssel" not in page.text("body")


def test_used_labels_exist(page):
    german = page.page.evaluate("import('/page/js/labels.js').then(({LABELS}) => Object.keys(LABELS.de))")
    used = page.page.evaluate(
        "[...document.querySelectorAll('[data-i18n], [data-i18n-aria]')]"
        ".map((it) => it.dataset.i18n ?? it.dataset.i18nAria)"
    )
    assert set(used) <= set(german)


@pytest.mark.parametrize(("scheme", "choice", "dark"), [("dark", "light", False), ("light", "dark", True)])
def test_color_scheme_follows_the_system_until_selected(opened, scheme, choice, dark):
    page = opened(color_scheme=scheme, key=False)
    brightness = "parseInt(getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0])"
    assert (page.page.evaluate(brightness) < 128) is not dark
    page.page.click(f"[data-theme-choice={choice}]")
    assert (page.page.evaluate(brightness) < 128) is dark
    page.page.click("[data-theme-choice=auto]")
    assert (page.page.evaluate(brightness) < 128) is not dark


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_contrast(opened, scheme):
    """WCAG 2.2, 1.4.3: a contrast ratio of at least 4.5:1, from computed styles."""
    page = opened(color_scheme=scheme)
    page.choose(("rechnung.xml", WRONG.replace(b">380<", b">999<")))
    page.page.wait_for_selector(".row.highlighted")
    pairs = page.page.evaluate(
        """() => [...document.querySelectorAll('body *')].filter((it) =>
            it.checkVisibility() && [...it.childNodes].some((node) => node.nodeType === 3 && node.data.trim())
        ).map((it) => {
            let ground = it;
            while (getComputedStyle(ground).backgroundColor === 'rgba(0, 0, 0, 0)') ground = ground.parentElement;
            return [it.className, getComputedStyle(it).color, getComputedStyle(ground).backgroundColor];
        })"""
    )
    assert len(pairs) > 100
    assert [pair for pair in pairs if contrast(*pair[1:]) < 4.5] == []


def contrast(*colours):
    def luminance(colour):
        parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted(map(luminance, colours))
    return (high + 0.05) / (low + 0.05)


def test_files_wait_for_a_key(opened):
    page = opened(key=False)
    page.page.set_input_files("#files", [{"name": "a.xml", "mimeType": "text/xml", "buffer": CII}])
    page.page.locator("#status", has_text="Schlüssel").wait_for()
    page.assert_becomes(lambda: page.page.evaluate("document.activeElement.id"), "key")
    page.enter_key("ei_wrong")
    page.page.get_by_role("alert").get_by_role("heading", name="Ungültiger API-Schlüssel").wait_for()
    page.enter_key()
    page.page.wait_for_selector("#result-title")
    assert page.text("#result-title") == "Gültig"
    assert page.text("#error") == ""
    page.console_errors.clear()  # the browser logs the status 401


def test_key_is_checked_once(page):
    page.page.focus("#key")
    page.page.click("[data-lang=en]")
    page.assert_becomes(lambda: page.text("#key-hint"), "The key is valid (plan business).")
    page.choose(("rechnung.xml", CII))
    assert sum("/capabilities" in url for url in page.requests) == 1


def test_key_is_kept_in_memory_only(page):
    page.choose(("rechnung.xml", WRONG))
    key = page.server.client.headers["x-api-key"]
    assert page.page.evaluate("[localStorage.length, sessionStorage.length, document.cookie]") == [0, 0, ""]
    assert page.page.evaluate("indexedDB.databases()") == []
    assert [url for url in page.requests if key in url] == []
    assert key not in page.page.content()
    page.page.reload()
    assert page.page.input_value("#key") == ""


def test_what_is_entered_before_the_labels_are_loaded(opened, server):
    page = opened(key=False)
    waiting = []
    page.page.route("**/languages.json", lambda route: waiting.append(route))
    page.page.reload(wait_until="commit")
    page.page.fill("#key", server.client.headers["x-api-key"])
    page.page.set_input_files("#files", [{"name": "a.xml", "mimeType": "text/xml", "buffer": CII}])
    page.assert_becomes(lambda: bool(waiting), True)
    assert page.page.locator("[data-lang]").count() == 0, "the labels are still loading"
    for route in waiting:
        route.continue_()
    page.page.wait_for_selector(".key-valid")
    page.page.wait_for_selector("#result-title")
    assert page.text("#result-title") == "Gültig"


def test_behind_a_proxy_with_a_path(browser, prefixed):
    """Links in the response work although the public URL differs from the one in the browser."""
    page = Page(browser, dataclasses.replace(prefixed, base=prefixed.base.copy_with(path="/e/")))
    page.choose(("rechnung.xml", WRONG))
    assert page.download("text=Prüfbericht (PDF)")[1].startswith(b"%PDF-")
    assert page.console_errors == []
    page.close()


def test_content_security_policy(server):
    for path in ("/", "/page/js/app.js", "/page/style.css", "/page/icon.svg"):
        headers = http.get(server.base.join(path)).raise_for_status().headers
        policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
        assert policy.pop("default-src") == "'none'"
        assert policy.pop("frame-ancestors") == "'none'"
        assert policy.pop("img-src") == "'self' data:"
        assert {policy[name] for name in ("script-src", "style-src", "connect-src")} == {"'self'"}
        assert "unsafe" not in str(policy)
        assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "no-referrer")
    for path in ("/page/", "/page/README.md", "/page/..%2fkeys.py"):
        assert http.get(server.base.join(path)).status_code == 404


@pytest.mark.parametrize("path", ["/docs", "/catalog/BR-CO-10"])
def test_pages_fit_a_phone(browser, server, path):
    page = browser.new_page(viewport={"width": 360, "height": 740})
    page.goto(str(server.base.join(path)))
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.close()
