"""Widget of a result in Chromium: interaction, keyboard navigation and accessibility."""

import re

import pytest

import einvoice
from tests.helpers.widgets import NotebookPage, marks

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
    shown[1].assert_becomes(lambda: view.finding is view.findings[1], True)
    page.click("button[lang=de]")
    page.wait_for_selector(".einvoice-view[lang=de]")
    shown[1].assert_becomes(lambda: view.lang, "de")
    page.fill("input[type=search]", "br-co-09")
    page.wait_for_selector("tbody tr:only-child")
    page.click("tbody tr")
    page.wait_for_selector(".ev-detail >> text=BR-CO-09")
    assert page.inner_text("mark") == "<cbc:CompanyID>123456789</cbc:CompanyID>"
    page.select_option("select[data-key=section]", "seller")
    page.click(".ev-reset")
    page.wait_for_function("document.querySelector('input[type=search]').value === ''")
    shown[1].assert_becomes(lambda: view.filters, {})


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
    shown.assert_becomes(lambda: view.filters, {})


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


def find_causes(page):
    page.click("text=Find causes")
    page.wait_for_selector("[data-cause]")


def test_causes_are_searched_on_request(shown):
    view, page = shown[0], shown[1].page
    assert page.inner_text(".ev-causes-title") == f"{len(view.findings)} findings"
    assert view.result.known_causes is None
    find_causes(page)
    causes = view.result.known_causes
    assert page.inner_text(".ev-causes-title") == f"{len(causes)} causes, {len(view.findings)} findings"
    texts = page.locator("[data-cause]").all_inner_texts()
    assert all(cause.text("en") in text for cause, text in zip(causes, texts, strict=True))
    assert not page.is_visible("text=Find causes")
    page.click("button[lang=de]")
    page.wait_for_selector(f"text={len(causes)} Ursachen")


def test_a_cause_opens_to_its_change_and_findings(shown):
    view, shown = shown
    page = shown.page
    find_causes(page)
    number = next(it for it, cause in enumerate(view.causes) if "BT-116" in cause.terms)
    button = page.locator(f"[data-cause='{number}']")
    assert button.get_attribute("aria-expanded") == "false"
    button.click()
    page.wait_for_selector(f"[data-cause='{number}'][aria-expanded=true]")
    body = page.locator(f"#{button.get_attribute('aria-controls')}")
    change = view.causes[number].changes[0]
    assert f"With this change, {len(change.resolves)} of the {len(view.findings)} findings" in body.inner_text()
    assert "BT-116: 261.00 -> 260.00\n/ubl:Invoice/cac:TaxTotal" in body.locator("pre").first.inner_text()
    finding = view.causes[number].findings[0]
    body.locator("[data-finding]").first.click()
    page.wait_for_selector(f".ev-detail >> text={finding.title('en')}")
    shown.assert_becomes(lambda: view.finding is finding, True)
    assert body.locator("[data-finding]").first.get_attribute("aria-pressed") == "true"
    button.click()
    page.wait_for_selector(f"[data-cause='{number}'][aria-expanded=false]")
    assert body.is_hidden()
    shown.assert_becomes(lambda: view.cause, -1)


def test_a_change_and_its_diff_can_be_copied(shown):
    """The page has no clipboard, so that the text is selected."""
    view, page = shown[0], shown[1].page
    find_causes(page)
    number = next(it for it, cause in enumerate(view.causes) if cause.changes)
    page.click(f"[data-cause='{number}']")
    page.click("text=Copy the change")
    page.wait_for_function("getSelection().toString().includes(' -> ')")
    page.click("summary >> text=Diff of the XML")
    page.click("text=Copy the diff")
    page.wait_for_function("getSelection().toString().startsWith('--- ')")


def test_causes_by_keyboard(shown):
    view, shown = shown
    page, keys = shown.page, shown.page.keyboard
    page.focus("text=Find causes")
    keys.press("Enter")
    page.wait_for_selector("[data-cause]")
    shown.assert_becomes(lambda: shown.focus()[0], "■")  # the first cause has the focus
    keys.press("Enter")
    page.wait_for_selector("[data-cause='0'][aria-expanded=true]")
    page.focus("[data-finding]")
    keys.press("Space")
    page.wait_for_selector("[data-finding][aria-pressed=true]")
    shown.assert_becomes(lambda: view.finding is view.causes[0].findings[0], True)
    keys.press("Escape")
    assert page.evaluate("document.activeElement.dataset.cause") == "0"
    keys.press("Space")
    page.wait_for_selector("[data-cause='0'][aria-expanded=false]")
    for cause in page.locator("[data-cause]").all():
        assert re.search(r'button "[^"]', cause.aria_snapshot())


@pytest.mark.parametrize("width", [1100, 420])
@pytest.mark.parametrize("dark", [False, True])
@pytest.mark.parametrize("lang", ["de", "en", "fr"])
def test_contrast_of_causes(browser, sample, dark, width, lang):
    data = sample("ubl-invoice.xml").read_bytes()
    for right, wrong in ERRORS.items():
        data = data.replace(right, wrong)
    result, shown = einvoice.validate(data, lang=lang), NotebookPage(browser, dark)
    shown.page.set_viewport_size({"width": width, "height": 1000})
    result.causes()
    view = result.explore()
    assert view.with_causes
    view.cause = next(it for it, cause in enumerate(view.causes) if cause.changes)
    shown.widget(view)
    shown.page.click(".ev-cause summary")
    assert shown.page.evaluate("document.body.scrollWidth <= innerWidth")
    worst, element = shown.contrasts()[0]
    assert worst >= 1, element
    shown.write(result._repr_html_())
    shown.page.evaluate("document.querySelectorAll('details').forEach((it) => (it.open = true))")
    assert shown.page.evaluate("document.body.scrollWidth <= innerWidth")
    worst, element = shown.contrasts()[0]
    assert worst >= 1, element
    shown.page.close()
    assert shown.problems == []


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


def test_letter_can_be_copied(shown):
    """The page has no clipboard, so that the text is selected."""
    view, page = shown[0], shown[1].page
    page.click(".ev-letter summary")
    page.click(".ev-letter button >> text=Copy message to the issuer")
    assert page.evaluate("getSelection().toString()").strip() == view.result.letter("en").strip()


def test_assessment_opens_above_the_findings(shown):
    view, page = shown[0], shown[1].page
    page.click(".ev-assessment summary")
    page.wait_for_selector(".ev-assessment[open] >> text=not tax advice")
    text = page.inner_text(".ev-assessment")
    assert [it for it in view.result.assessment().sentences("en") if it not in text] == []
    assert page.locator(".ev-assessment ol li").count() == len(view.result.assessment().steps())
    box, table = (page.locator(it).bounding_box()["y"] for it in (".ev-assessment", "table[role=grid]"))
    assert box < table
