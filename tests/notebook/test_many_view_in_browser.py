"""Widget of a result set in Chromium: charts, heat map, file list and excerpt."""

import re

import pytest

import einvoice
from tests.helpers.widgets import NotebookPage, marks

pytestmark = marks


@pytest.fixture(scope="module")
def results(sample):
    """Ten files in two folders, of two sellers and two months, with different errors per folder."""
    good = sample("ubl-invoice.xml").read_bytes()
    wrong = good.replace(b'EUR">260.00', b'EUR">261.00')
    april = wrong.replace(b"<cbc:IssueDate>2026-05-04", b"<cbc:IssueDate>2026-04-04")
    other = re.sub(rb"  <cbc:BuyerReference>.*\n", b"", good).replace(b">Lindenhof Gartenbau GmbH<", b">Hafenkran AG<")
    files = {f"a/{number}.xml": good for number in range(4)} | {f"b/{number}.xml": other for number in range(3)}
    files |= {"a/wrong.xml": wrong, "a/april.xml": april, "b/cut.xml": good[:500]}
    return einvoice.validate_many(files, workers=0, progress=False, lang="en")


@pytest.fixture
def shown(browser, results):
    view, shown = results.explore(), NotebookPage(browser)
    shown.widget(view)
    yield view, shown
    shown.page.close()
    assert shown.problems == []


def status(page, expected):
    page.wait_for_selector(f'[role=status] >> text="{expected}"')


def listed_files(page):
    return page.locator("tr[data-key] td.ev-file").all_inner_texts()


def test_selection_from_heat_map_to_excerpt(shown):
    view, page = shown[0], shown[1].page
    page.click("button[aria-label='BR-S-08, a (6): 2']")
    status(page, "2 of 10 files")
    assert view.filters == {"code": "BR-S-08", "folder": "a"}
    assert listed_files(page) == ["a/wrong.xml", "a/april.xml"]
    page.click("text=a/april.xml")
    page.wait_for_selector("pre [aria-current=true]")
    assert page.inner_text(".ev-file .ev-title") == "a/april.xml"
    assert page.inner_text("mark") == "<cac:TaxSubtotal>"
    assert view.finding.fix() in page.inner_text(".ev-explanation")
    page.click("button[aria-label='BR-S-08, a (6): 2']")
    status(page, "10 of 10 files")
    assert view.filters == {}


def test_chart_bar_selects_group_and_grouping(shown):
    view, page = shown[0], shown[1].page
    page.click("button[aria-label='Hafenkran AG: 3 of 3 not valid']")
    status(page, "3 of 10 files")
    assert (view.by, view.filters) == ("seller", {"seller": "Hafenkran AG"})
    assert page.get_attribute("[data-by=seller][data-group='Hafenkran AG']", "aria-pressed") == "true"
    headers = page.locator(".ev-heatmap th[scope=col]").all_inner_texts()
    assert headers[3:] == ["Hafenkran AG (3)", "Lindenhof Gartenbau GmbH (6)", "(no seller) (1)"]  # the worst first
    page.click("button[data-by=month]:not([data-group])")
    page.click(".ev-reset")
    status(page, "10 of 10 files")
    assert page.locator(".ev-heatmap th[scope=col]").all_inner_texts()[3:] == [
        "(no date) (1)",
        "2026-04 (1)",
        "2026-05 (8)",
    ]


def test_length_of_chart_bars(shown):
    page = shown[1].page
    lengths = page.evaluate(
        """[...document.querySelectorAll('[data-by=folder][data-group]')].map((bar) => [
            bar.dataset.group, ...[...bar.querySelectorAll('.ev-stacked-bar > *')].map((it) => it.offsetWidth)])"""
    )
    (first, *b), (second, *a) = lengths  # the folder with more invalid files comes first
    assert (first, second) == ("b", "a")
    assert sum(b) / sum(a) == pytest.approx(4 / 6, abs=0.03)
    assert [it / sum(b) for it in b] == [pytest.approx(3 / 4, abs=0.03), pytest.approx(1 / 4, abs=0.03), 0]
    assert [it / sum(a) for it in a] == [pytest.approx(2 / 6, abs=0.03), 0, pytest.approx(4 / 6, abs=0.03)]


def test_keyboard_navigation(shown):
    view, shown = shown
    page, keys = shown.page, shown.page.keyboard
    page.focus(".ev-heatmap [tabindex='0']")
    assert page.locator(".ev-heatmap [tabindex='0']").count() == 1
    assert shown.focus() == "BR-DE-15: 3"
    for key, focus in {
        "ArrowRight": "BR-DE-15, b (4): 3",
        "ArrowDown": "BR-S-08, b (4): 0",
        "ArrowLeft": "BR-S-08: 2",
        "ArrowUp": "BR-DE-15: 3",
    }.items():
        keys.press(key)
        assert shown.focus() == focus
    keys.press("Enter")
    status(page, "3 of 10 files")
    keys.press("Escape")
    status(page, "10 of 10 files")
    keys.press("/")
    assert shown.focus() == "Search by file, seller, number or rule"
    keys.type("wrong.xml")
    status(page, "1 of 10 files")
    keys.press("Enter")
    assert shown.focus() == "Files"
    keys.press("ArrowDown")
    page.wait_for_selector("pre [aria-current=true]")
    keys.press("Enter")
    assert shown.focus() == "Findings"
    keys.press("Enter")
    assert shown.focus() == "Finding details"
    for focus in ("Findings", "Files", "Search by file, seller, number or rule"):
        keys.press("Escape")
        assert shown.focus() == focus
    assert view.file == "a/wrong.xml"


def test_filters_and_sorting_by_keyboard(shown):
    """Every filter, the order of the files, and the toggle work without a mouse."""
    view, shown = shown
    page, keys = shown.page, shown.page.keyboard
    page.focus("[data-value=invalid]")
    keys.press("Space")
    status(page, "5 of 10 files")
    assert page.get_attribute("[data-value=invalid]", "aria-pressed") == "true"
    assert shown.focus().startswith("✗ not valid")
    page.focus("select[data-key=seller]")
    keys.press("ArrowDown")
    status(page, "3 of 10 files")
    assert view.filters == {"verdict": ["invalid"], "seller": "Hafenkran AG"}
    keys.press("Tab")
    assert page.evaluate("document.activeElement.dataset.key") == "month"
    page.focus(".ev-reset")
    keys.press("Enter")
    status(page, "10 of 10 files")
    assert page.locator("select[data-key=seller]").input_value() == ""
    page.focus("th.ev-file button")
    for order, first in {"ascending": "a/0.xml", "descending": "b/cut.xml"}.items():
        keys.press("Enter")
        page.wait_for_selector(f"th.ev-file[aria-sort={order}]")
        assert listed_files(page)[0] == first
        assert shown.focus().startswith("File")
    keys.press("/")
    keys.type("br-de-15")
    status(page, "3 of 10 files")


def test_long_lists_have_pages_and_columns_of_constant_width(browser, sample):
    data = sample("ubl-invoice.xml").read_bytes()
    files = {f"{number:03}.xml": data for number in range(150)}
    files |= {f"{'long-' * 50}{number}.xml": data for number in range(60)}
    view = einvoice.validate_many(files, workers=0, progress=False, lang="en").explore()
    shown = NotebookPage(browser)
    page = shown.widget(view)
    widths = "[...document.querySelectorAll('.ev-list th')].map((it) => it.offsetWidth)"
    first = page.evaluate(widths)
    page.focus("button[data-key=next_page]")
    for text in ("101–200 of 210", "201–210 of 210", "201–210 of 210"):
        page.keyboard.press("Enter")
        page.wait_for_selector(f"text={text}")
        assert page.evaluate(widths) == first
        assert shown.focus() == "Next page"
    assert view.page == 3
    name = page.locator("td.ev-file span").last
    assert name.get_attribute("title") == name.text_content() == f"{'long-' * 50}59.xml"
    for width in (1100, 860, 620, 420):
        page.set_viewport_size({"width": width, "height": 1000})
        assert page.evaluate("document.body.scrollWidth <= innerWidth")
        assert page.locator("th.ev-file").bounding_box()["width"] > width * 0.3
    page.click("button[data-key=first_page]")
    page.wait_for_selector("text=1–100 of 210")
    page.close()
    assert shown.problems == []


def test_code_to_open_a_file_is_selected_without_a_clipboard(shown):
    page = shown[1].page
    page.click("text=a/wrong.xml")
    code = page.inner_text(".ev-open code")
    assert code == "results.result('a/wrong.xml').explore()"
    page.click(".ev-copy")
    page.wait_for_function("(code) => getSelection().toString() === code", arg=code)  # no clipboard on this page


def test_language_changes_all_texts(shown):
    view, page = shown[0], shown[1].page
    view.file = "b/0.xml"
    page.click("button[lang=de]")
    status(page, "10 von 10 Dateien")
    assert page.evaluate("document.activeElement.lang") == "de"
    assert page.locator(".ev-chart-header button").all_inner_texts() == ["Nach Ordner", "Nach Verkäufer", "Nach Monat"]
    assert view.results["b/0.xml"].findings[0].fix("de") in page.inner_text(".ev-explanation")
    texts = [page.inner_text(place) for place in (".ev-header", ".ev-heatmap", ".ev-toolbar", ".ev-list", ".ev-footer")]
    assert not re.search("[Ss]eller|valid|[Ff]inding|[Ss]earch", "".join(texts))


def test_controls_have_accessible_names(shown):
    page = shown[1].page
    page.click("text=a/wrong.xml")
    page.wait_for_selector("pre")
    for role in ("button", "searchbox", "grid", "region", "search", "columnheader", "rowheader"):
        elements = page.get_by_role(role).all()
        assert elements, role
        for element in elements:
            assert re.search(rf'{role} "[^"]', element.aria_snapshot()), element.evaluate("it => it.outerHTML")


@pytest.mark.parametrize("width", [1100, 420])
@pytest.mark.parametrize("dark", [False, True])
def test_text_contrast(browser, results, dark, width):
    view, shown = results.explore(), NotebookPage(browser, dark)
    shown.page.set_viewport_size({"width": width, "height": 1000})
    shown.widget(view)
    shown.page.click("text=a/wrong.xml")
    shown.page.wait_for_selector("pre")
    assert shown.page.evaluate("document.body.scrollWidth <= innerWidth")
    worst, element = shown.contrasts()[0]
    assert worst >= 1, element
    shown.write(view._repr_mimebundle_()[0]["text/html"])
    worst, element = shown.contrasts()[0]
    assert worst >= 1, element
    shown.page.close()


def test_a_cause_filters_the_files(shown):
    view, shown = shown
    page, keys = shown.page, shown.page.keyboard
    page.focus("text=Find causes")
    keys.press("Enter")
    page.wait_for_selector("[data-cause]")
    assert page.locator("[data-cause]").evaluate_all("all => all.map((it) => it.dataset.cause)") == [
        it.name for it in view.causes
    ]
    cells = page.locator(".ev-causes tbody tr", has_text="BT-116").locator("td").all_inner_texts()
    assert cells == ["2", "2", "2"]
    page.focus("[data-cause='set BT-116']")
    keys.press("Space")
    status(page, "2 of 10 files")
    assert listed_files(page) == ["a/wrong.xml", "a/april.xml"]
    page.wait_for_selector("[data-cause='set BT-116'][aria-pressed=true]")
    assert page.evaluate("document.activeElement.dataset.cause") == "set BT-116"
    keys.press("Enter")
    status(page, "10 of 10 files")
    assert view.filters == {}
    page.click("[data-cause='BR-DE-15']")
    status(page, "3 of 10 files")
    page.click("text=Hide the causes")
    status(page, "10 of 10 files")
    assert page.locator("[data-cause]:visible").count() == 0


@pytest.mark.parametrize(
    ("lang", "dark", "width"), [("de", False, 420), ("de", True, 1100), ("en", False, 1100), ("fr", True, 420)]
)
def test_contrast_of_causes(browser, results, lang, dark, width):
    view, shown = results.explore(lang=lang), NotebookPage(browser, dark)
    view.with_causes = True
    view.filters = {"cause": "set BT-116"}
    shown.page.set_viewport_size({"width": width, "height": 1000})
    shown.widget(view)
    assert shown.page.locator("[data-cause]:visible").count() == len(view.causes) > 0
    for button in shown.page.locator("[data-cause]").all():
        assert re.search(r'button "[^"]', button.aria_snapshot())
    assert shown.page.evaluate("document.body.scrollWidth <= innerWidth")
    worst, element = shown.contrasts()[0]
    assert worst >= 1, element
    shown.write(view._repr_mimebundle_()[0]["text/html"])
    worst, element = shown.contrasts()[0]
    assert worst >= 1, element
    shown.page.close()
    assert shown.problems == []
