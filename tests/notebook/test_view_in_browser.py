"""The widget's own script in a real Chromium, with a stand-in for the notebook around it."""

import shutil

import pytest

import einvoice

pytest.importorskip("anywidget", reason="the extra notebook is not installed")
driver = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("browser"),
    pytest.mark.skipif(CHROMIUM is None, reason="chromium is not installed"),
]

TRAITS = ("filters", "selected", "lang", "_words", "_head", "_choices", "_table", "_detail")
NOTEBOOK = """async (script) => {
  const { default: widget } = await import(URL.createObjectURL(new Blob([script], { type: "text/javascript" })));
  const state = await ask({}), listeners = {};
  let changed = {};
  const tell = (key) => (listeners["change:" + key] ?? []).forEach((listener) => listener());
  const model = {
    get: (key) => state[key],
    set(key, value) { state[key] = changed[key] = value; tell(key); },
    async save_changes() { const now = await ask(changed); changed = {}; Object.assign(state, now); Object.keys(now).forEach(tell); },
    on: (event, listener) => (listeners[event] ??= []).push(listener),
  };
  widget.render({ model, el: document.body });
}"""  # noqa: E501
HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture
def shown(sample):
    """The widget of an invoice with hostile text at the places of its findings, and the page that it is on."""
    text = sample("ubl-invoice.xml").read_text(encoding="utf-8")
    quoted = HOSTILE.replace("<", "&lt;")
    text = text.replace(">DE123456789<", f">{quoted}<").replace(
        ">58</cbc:PaymentMeansCode>", f">{quoted}</cbc:PaymentMeansCode>"
    )
    view = einvoice.validate(text.replace(">LG-2026-0417<", f">{quoted}<").encode(), lang="en").explore()

    def ask(changed):
        for name, value in changed.items():
            setattr(view, name, value)
        return {name: getattr(view, name) for name in TRAITS}

    with driver.sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page()
        page.set_default_timeout(10_000)
        page.heard = []
        page.on("dialog", lambda dialog: (page.heard.append(dialog.message), dialog.dismiss()))
        page.on("pageerror", lambda error: page.heard.append(str(error)))
        page.on("request", lambda request: request.url.startswith("blob:") or page.heard.append(request.url))
        page.expose_function("ask", ask)
        page.evaluate(NOTEBOOK, view._esm)
        yield view, page
        browser.close()


def test_keys_and_clicks_reach_python_and_nothing_of_the_document_runs(shown):
    view, page = shown
    page.focus("table[role=grid]")
    page.keyboard.press("ArrowDown")
    page.wait_for_selector('tr[aria-selected=true] >> text="' + view.findings[1].code + '"')
    assert view.finding is view.findings[1]
    page.click("button[lang=de]")
    page.wait_for_selector(".einvoice-view[lang=de]")
    assert view.lang == "de"
    page.fill("input[type=search]", "br-co-09")
    page.wait_for_selector("tbody tr:only-child")
    page.click("tbody tr")
    page.wait_for_selector(".ev-detail >> text=BR-CO-09")
    assert page.inner_text("mark") == "<cbc:CompanyID>" + HOSTILE.replace("<", "&lt;") + "</cbc:CompanyID>"
    page.select_option("select[data-key=section]", "seller")
    page.click(".ev-reset")
    page.wait_for_function("document.querySelector('input[type=search]').value === ''")
    assert view.filters == {}
    assert HOSTILE in page.inner_text(".ev-detail")
    assert page.heard == []
