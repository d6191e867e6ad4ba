"""Widget of a result set in Chromium: charts, heat map, file list and excerpt."""

import re

import pytest
from widgets import NotebookPage, marks

import einvoice

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
    assert (view.code, view.group) == ("BR-S-08", "a")
    assert listed_files(page) == ["a/wrong.xml", "a/april.xml"]
    page.click("text=a/april.xml")
    page.wait_for_selector("pre [aria-current=true]")
    assert page.inner_text(".ev-file .ev-title") == "a/april.xml"
    assert page.inner_text("mark") == "<cac:TaxSubtotal>"
    assert view.finding.fix() in page.inner_text(".ev-explanation")
    page.click("button[aria-label='BR-S-08, a (6): 2']")
    status(page, "10 of 10 files")
    assert (view.code, view.group) == (None, None)


def test_chart_bar_selects_group_and_grouping(shown):
    view, page = shown[0], shown[1].page
    page.click("button[aria-label='Hafenkran AG: 3 of 3 not valid']")
    status(page, "3 of 10 files")
    assert (view.by, view.group) == ("seller", "Hafenkran AG")
    assert page.get_attribute("[data-by=seller][data-group='Hafenkran AG']", "aria-pressed") == "true"
    headers = page.locator(".ev-heatmap th[scope=col]").all_inner_texts()
    assert headers[3:] == ["(no seller) (1)", "Hafenkran AG (3)", "Lindenhof Gartenbau GmbH (6)"]
    page.click("button[data-by=month]:not([data-group])")
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
    assert (b[1], a[0] / sum(a)) == (0, pytest.approx(2 / 6, abs=0.03))


def test_keyboard_navigation(shown):
    view, shown = shown
    page, keys = shown.page, shown.page.keyboard
    page.focus(".ev-heatmap [tabindex='0']")
    assert page.locator(".ev-heatmap [tabindex='0']").count() == 1
    assert shown.focus() == "BR-DE-15: 3"
    for key, focus in {
        "ArrowRight": "BR-DE-15, a (6): 0",
        "ArrowDown": "BR-S-08, a (6): 2",
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
    assert shown.focus() == "Search by file, seller or number"
    keys.type("wrong")
    status(page, "1 of 10 files")
    keys.press("Enter")
    assert shown.focus() == "Files"
    keys.press("ArrowDown")
    page.wait_for_selector("pre [aria-current=true]")
    keys.press("Enter")
    assert shown.focus() == "Findings"
    keys.press("Enter")
    assert shown.focus() == "Finding details"
    for focus in ("Findings", "Files", "Search by file, seller or number"):
        keys.press("Escape")
        assert shown.focus() == focus
    assert view.file == "a/wrong.xml"


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


@pytest.mark.parametrize("dark", [False, True])
def test_text_contrast(browser, results, dark):
    view, shown = results.explore(), NotebookPage(browser, dark)
    shown.widget(view)
    shown.page.click("text=a/wrong.xml")
    shown.page.wait_for_selector("pre")
    worst, element = shown.contrasts()[0]
    assert worst >= 1, element
    shown.write(view._repr_mimebundle_()[0]["text/html"])
    worst, element = shown.contrasts()[0]
    assert worst >= 1, element
    shown.page.close()
