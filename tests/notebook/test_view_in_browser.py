"""Widget of a result in Chromium: interaction, keyboard navigation and accessibility."""

import re

import pytest
from widgets import NotebookPage, marks

import einvoice

pytestmark = marks

ERRORS = {
    rb">DE123456789<": rb">123456789<",
    rb">58</cbc:PaymentMeansCode>": rb">0</cbc:PaymentMeansCode>",
    rb'EUR">260.00': rb'EUR">261.00',
}


@pytest.fixture
def shown(browser, sample):
    """The widget of an invoice with three errors, and its page."""
    data = sample("ubl-invoice.xml").read_bytes()
    for right, wrong in ERRORS.items():
        data = data.replace(right, wrong)
    view = einvoice.validate(data, lang="en").explore()
    shown = NotebookPage(browser)
    shown.widget(view)
    yield view, shown
    shown.page.close()
    assert shown.problems == []


def test_interaction_updates_python_traits(shown):
    view, page = shown[0], shown[1].page
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
    assert page.inner_text("mark") == "<cbc:CompanyID>123456789</cbc:CompanyID>"
    page.select_option("select[data-key=section]", "seller")
    page.click(".ev-reset")
    page.wait_for_function("document.querySelector('input[type=search]').value === ''")
    assert view.filters == {}


def test_keyboard_navigation(shown):
    view, shown = shown
    keys = shown.page.keyboard
    shown.page.focus("button[lang=en]")
    keys.press("/")
    assert shown.focus() == "Search"
    keys.type("BR-")
    shown.page.wait_for_function("document.querySelectorAll('tr[data-key]').length === 3")
    keys.press("Enter")
    assert shown.focus() == "Findings"
    keys.press("End")
    shown.page.wait_for_selector(f'tr[aria-selected=true] >> text="{view.findings[-1].code}"')
    active = shown.page.get_attribute("table", "aria-activedescendant")
    assert shown.page.locator(f"#{active}").get_attribute("aria-selected") == "true"
    keys.press("Enter")
    assert shown.focus() == "Finding details"
    keys.press("Escape")
    assert shown.focus() == "Findings"
    keys.press("Escape")
    keys.press("Escape")
    assert shown.focus() == "Findings"
    shown.page.wait_for_function("document.querySelector('input').value === ''")
    assert view.filters == {}


def test_keys_do_not_reach_the_notebook(shown):
    page = shown[1].page
    page.evaluate("window.heard = []; document.addEventListener('keydown', (event) => heard.push(event.key))")
    for place in ("table", "button[lang=de]", ".ev-detail", "input"):
        page.focus(place)
        for key in ("d", "ArrowDown", "Enter", "Escape", "Control+b"):
            page.keyboard.press(key)
    assert page.evaluate("heard.filter((key) => key !== 'Control')") == ["b"] * 4


def test_current_line_is_scrolled_into_view(shown):
    page = shown[1].page
    for row in page.locator("tr[data-key]").all():
        row.click()
        page.wait_for_function(
            """(line) => {
                const here = document.querySelector('[aria-current=true]'), pane = document.querySelector('pre');
                const [it, box] = [here, pane].map((element) => element.getBoundingClientRect());
                return here.innerText.startsWith(line) && it.top >= box.top && it.bottom <= box.bottom;
            }""",
            arg=row.locator(".ev-line").inner_text(),
        )


def test_controls_have_accessible_names(shown):
    page = shown[1].page
    for role in ("button", "searchbox", "combobox", "grid", "region", "search", "columnheader"):
        elements = page.get_by_role(role).all()
        assert elements, role
        for element in elements:
            assert re.search(rf'{role} "[^"]', element.aria_snapshot()), element.evaluate("it => it.outerHTML")
    assert (
        page.locator("[role=group]").count()
        == page.locator('[role=group]:not([aria-label=""])[aria-label]').count()
        > 0
    )


def test_focus_is_visible(shown):
    page = shown[1].page
    for _ in range(12):
        page.keyboard.press("Tab")
        outline = page.evaluate("getComputedStyle(document.activeElement).outline")
        assert "solid 2px" in outline, page.evaluate("document.activeElement.outerHTML")


@pytest.mark.parametrize("dark", [False, True])
def test_text_contrast(browser, sample, dark):
    wrong = sample("ubl-invoice.xml").read_bytes().replace(b">DE123456789<", b">123456789<")
    result = einvoice.validate(wrong, lang="en")
    shown = NotebookPage(browser, dark)
    shown.widget(result.explore())
    shown.page.click("summary")
    worst, element = shown.contrasts()[0]
    assert worst >= 1, element
    shown.write(result._repr_html_() + einvoice.read(wrong)._repr_html_() + einvoice.catalog()._repr_html_())
    worst, element = shown.contrasts()[0]
    assert worst >= 1, element
    shown.page.close()
