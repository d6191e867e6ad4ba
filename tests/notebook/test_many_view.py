"""Many results as a widget: the map, the files of a field, the single file."""

import pytest

import einvoice

pytest.importorskip("anywidget", reason="the extra notebook is not installed")
traitlets = pytest.importorskip("traitlets")


@pytest.fixture(scope="module")
def results(request):
    sample = request.getfixturevalue("sample")
    good = sample("ubl-invoice.xml").read_bytes()
    wrong = good.replace(b'EUR">260.00', b'EUR">261.00')
    april = wrong.replace(b"<cbc:IssueDate>2026-05-04", b"<cbc:IssueDate>2026-04-04")
    other = good.replace(b">Lindenhof Gartenbau GmbH<", b">Hafenkran AG<")
    files = {"a/1.xml": good, "a/2.xml": wrong, "b/1.xml": april, "b/2.xml": good[:500], "b/3.xml": other}
    return einvoice.validate_many(files, workers=0, progress=False, lang="en")


@pytest.fixture
def view(results):
    return results.explore()


def counted(view):
    groups = [name for name, _ in view._map["groups"]]
    return {row["code"]: dict(zip(groups, row["cells"], strict=True)) for row in view._map["rows"]}


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ("folder", {"BR-S-08": {"a": 1, "b": 1}, "FILE-XML-END": {"a": 0, "b": 1}}),
        (
            "seller",
            {
                "BR-S-08": {"": 0, "Hafenkran AG": 0, "Lindenhof Gartenbau GmbH": 2},
                "FILE-XML-END": {"": 1, "Hafenkran AG": 0, "Lindenhof Gartenbau GmbH": 0},
            },
        ),
        (
            "month",
            {"BR-S-08": {"": 0, "2026-04": 1, "2026-05": 1}, "FILE-XML-END": {"": 1, "2026-04": 0, "2026-05": 0}},
        ),
    ],
)
def test_the_map_counts_files(view, by, expected):
    view.by = by
    assert counted(view) == expected


def test_a_field_lists_its_files(view):
    assert repr(view) == "<ManyView: 5 of 5 files>"
    view.code, view.group = "BR-S-08", "b"
    assert [file.file for file in view.files] == ["b/1.xml"]
    assert view._files["status"] == "1 of 5 files"
    view.group = None
    assert [row[0] for row in view._files["rows"]] == ["a/2.xml", "b/1.xml"]
    view.by = "month"
    view.code, view.group = None, "2026-04"
    assert [file.file for file in view.files] == ["b/1.xml"]


def test_a_file_opens(view):
    view.file = "a/2.xml"
    assert [finding[1] for finding in view._detail["findings"]] == ["BR-S-08"]
    assert view.open_file().finding.code == "BR-S-08"
    with pytest.raises(traitlets.TraitError):
        view.file = "c/1.xml"


def test_the_language_changes_the_texts(view):
    view.lang = "de"
    assert view._files["status"] == "5 von 5 Dateien"
    assert view._head["about"] == ["2 gültig", "2 nicht gültig", "1 nicht lesbar"]


def test_a_page_without_widgets_shows_the_overview(view):
    data, _ = view._repr_mimebundle_()
    assert data["text/html"] == view.results._repr_html_()
    assert data["text/plain"] == "<ManyView: 5 of 5 files>"
