"""Widget of a result set: heat map, charts, file list and file details."""

import pytest

import einvoice
from einvoice.notebook.labels import LABELS

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


def file_counts(view):
    groups = [name for name, _ in view._heatmap["groups"]]
    return {row["code"]: dict(zip(groups, row["cells"], strict=True)) for row in view._heatmap["rows"]}


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
def test_heat_map_counts_files(view, by, expected):
    view.by = by
    assert file_counts(view) == expected


def test_selected_cell_filters_the_file_list(view):
    assert repr(view) == "<ManyView: 5 of 5 files>"
    view.code, view.group = "BR-S-08", "b"
    assert [file.file for file in view.files] == ["b/1.xml"]
    assert view._files["status"] == "1 of 5 files"
    view.group = None
    assert [row[0] for row in view._files["rows"]] == ["a/2.xml", "b/1.xml"]
    view.by = "month"
    view.code, view.group = None, "2026-04"
    assert [file.file for file in view.files] == ["b/1.xml"]


def test_selected_file_shows_its_findings(view):
    view.file = "a/2.xml"
    assert [row[2] for row in view._file_details["rows"]] == ["BR-S-08"]
    assert view.open_file().finding.code == "BR-S-08"
    with pytest.raises(traitlets.TraitError):
        view.file = "c/1.xml"


def test_selected_finding_shows_an_excerpt(view):
    view.file = "a/2.xml"
    assert view.finding == view.results["a/2.xml"].findings[0]
    excerpt = view._finding_details["excerpt"]
    assert excerpt["marked"][1] == "<cac:TaxSubtotal>"
    assert excerpt["first"] + len(excerpt["above"]) == view.finding.line
    assert view._finding_details["fix"] == view.finding.fix("en")
    view.file = "b/2.xml"
    assert view._finding_details["excerpt"] == {"missing": LABELS["en"]["file_unavailable"]}
    view.file = "a/1.xml"
    assert (view.selected, view._file_details["rows"], view._finding_details) == (-1, [], {})
    with pytest.raises(traitlets.TraitError):
        view.selected = 0


def test_unavailable_file_has_no_excerpt(results, tmp_path):
    results.save(tmp_path / "saved.jsonl")
    view = einvoice.ResultSet.load(tmp_path / "saved.jsonl", lang="en").explore()
    view.file = "a/2.xml"
    assert view._finding_details["excerpt"] == {"missing": LABELS["en"]["file_unavailable"]}


@pytest.mark.parametrize(
    ("text", "expected"), [("HAFEN", ["b/3.xml"]), ("b/", ["b/1.xml", "b/2.xml", "b/3.xml"]), ("2026-0417", 4)]
)
def test_text_filter_searches_name_seller_and_number(view, text, expected):
    view.text = text
    assert ([file.file for file in view.files] if isinstance(expected, list) else len(view.files)) == expected


def test_interaction_reads_no_file_again(view, monkeypatch):
    """Large result sets are indexed once, not on every interaction."""
    view.results["a/2.xml"]  # builds the index of names
    for method in ("__iter__", "records"):
        monkeypatch.setattr(einvoice.ResultSet, method, lambda self: pytest.fail("all files were read again"))
    view.code, view.group = "BR-S-08", "b"
    view.by, view.text, view.lang = "month", "1", "de"
    view.file = "a/2.xml"
    assert view._files["rows"]


def bars(view):
    return {chart["kind"]: {bar["name"]: bar["count"] for bar in chart["bars"]} for chart in view._charts}


def test_charts_count_invalid_files(view):
    assert bars(view) == {
        "folder": {"a": "1 / 2", "b": "2 / 3"},
        "seller": {"": "1 / 1", "Hafenkran AG": "0 / 1", "Lindenhof Gartenbau GmbH": "2 / 3"},
        "month": {"": "1 / 1", "2026-04": "1 / 1", "2026-05": "1 / 3"},
    }
    lengths = {bar["name"]: (bar["invalid"], bar["valid"]) for bar in view._charts[0]["bars"]}
    assert lengths == {"a": (33.3, 33.3), "b": (66.7, 33.3)}


def test_selected_bar_sets_group_and_grouping(view):
    view.code, view.group = "BR-S-08", "a"
    view.set_state({"by": "month", "code": None, "group": "2026-04"})
    assert [file.file for file in view.files] == ["b/1.xml"]
    view.by = "seller"
    assert view.group is None


def test_default_grouping_has_more_than_one_group(sample):
    data = sample("ubl-invoice.xml").read_bytes()
    other = data.replace(b">Lindenhof Gartenbau GmbH<", b">Hafenkran AG<")
    view = einvoice.validate_many({"1.xml": data, "2.xml": other}, workers=0, progress=False).explore()
    assert view.by == "seller"
    assert set(bars(view)) == {"seller"}


def test_omitted_groups_and_files_are_counted(sample):
    wrong = sample("ubl-invoice.xml").read_bytes().replace(b'EUR">260.00', b'EUR">261.00')
    files = {f"{number % 30:02}/{number}.xml": wrong for number in range(210)}
    view = einvoice.validate_many(files, workers=0, progress=False, lang="en").explore()
    assert len(view._heatmap["groups"]) == 24
    assert view._heatmap["rows"][0]["files"] == 210
    assert view._heatmap["more"] == "More groups: 6."
    assert view._charts[0]["more"] == "More groups: 22."
    assert len(view._files["rows"]) == 200
    assert view._files["more"].startswith("… and 10 more")
    assert len(view.files) == 210
    view.group = "29"
    assert view._files["more"] == ""


def test_language_changes_the_texts(view):
    view.lang = "de"
    assert view._files["status"] == "5 von 5 Dateien"
    assert view._header["summary"] == ["2 gültig", "2 nicht gültig", "1 nicht lesbar"]
    assert view._charts[0]["title"] == "Nach Ordner"


def test_static_html_shows_overview_and_charts(view):
    data, _ = view._repr_mimebundle_()
    assert data["text/html"].startswith(view.results._repr_html_())
    for text in ("Hafenkran AG", "2 of 3 not valid", "Files by rule and group", "b (3)", "2026-04"):
        assert text in data["text/html"]
    assert data["text/plain"] == "<ManyView: 5 of 5 files>"
