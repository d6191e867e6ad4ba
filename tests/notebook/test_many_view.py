"""Widget of a result set: heat map, charts, file list and file details."""

import re
import sys

import pytest

import einvoice
from einvoice.notebook.labels import LABELS
from einvoice.reference import ReferenceFinding, ReferenceResult, ReferenceRun

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
    groups = [name for name, *_ in view._heatmap["groups"]]
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


def names(view):
    return [file.file for file in view.files]


def test_selected_cell_filters_the_file_list(view):
    assert repr(view) == "<ManyView: 5 of 5 files>"
    view.filters = {"code": "BR-S-08", "folder": "b"}
    assert names(view) == ["b/1.xml"]
    assert view._files["status"] == "1 of 5 files"
    view.filters = {"code": "BR-S-08"}
    assert [row[0] for row in view._files["rows"]] == ["a/2.xml", "b/1.xml"]
    view.filters = {"month": "2026-04"}
    assert names(view) == ["b/1.xml"]
    assert isinstance(view.files, einvoice.ResultSet)


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"verdict": "invalid"}, ["a/2.xml", "b/1.xml"]),
        ({"verdict": ["valid", "unreadable"]}, ["a/1.xml", "b/2.xml", "b/3.xml"]),
        ({"verdict": "invalid", "folder": "b"}, ["b/1.xml"]),
        ({"severity": "warning"}, []),
        ({"severity": "fatal", "seller": "Lindenhof Gartenbau GmbH"}, ["a/2.xml", "b/1.xml"]),
        ({"seller": "", "code": "FILE-XML-END"}, ["b/2.xml"]),
        ({"seller": "Lindenhof Gartenbau GmbH", "month": "2026-05", "text": "/2"}, ["a/2.xml"]),
        ({"code": "BR-02"}, []),
        ({"folder": "c"}, []),
    ],
)
def test_filters_apply_together(view, filters, expected):
    view.filters = filters
    assert names(view) == expected
    rows = view._files["rows"]
    assert [row[0] for row in rows] == expected


def test_map_and_charts_count_the_filtered_files(view):
    view.filters = {"seller": "Lindenhof Gartenbau GmbH", "verdict": "invalid"}
    assert file_counts(view) == {"BR-S-08": {"a": 1, "b": 1}}
    assert bars(view)["folder"] == {"a": "1 / 1", "b": "1 / 1"}
    assert bars(view)["seller"] == {"Lindenhof Gartenbau GmbH": "2 / 2"}
    view.filters = {"text": "wrong", "verdict": ["valid"]}
    assert (view._heatmap["rows"], names(view)) == ([], [])


def test_choices_count_files_that_match_the_other_filters(view):
    view.filters = {"folder": "b", "verdict": "unreadable"}
    counts = {key: {value: count for value, _, count in choices} for key, choices in view._choices.items()}
    assert counts == {
        "verdict": {"valid": 1, "invalid": 1, "unreadable": 1},
        "severity": {"fatal": 1, "warning": 0, "information": 0},
        "code": {"FILE-XML-END": 1},
        "folder": {"b": 1},
        "seller": {"": 1},
        "month": {"": 1},
    }


@pytest.mark.parametrize("filters", [{"rule": "BR-02"}, {"verdict": "wrong"}, {"severity": ["fatal", "red"]}])
def test_unknown_filters_are_rejected(view, filters):
    with pytest.raises(traitlets.TraitError, match="unknown"):
        view.filters = filters


def test_unreadable_files_are_apart_from_invalid_ones(view):
    assert [(row["code"], row["unreadable"]) for row in view._heatmap["rows"]] == [
        ("BR-S-08", False),
        ("FILE-XML-END", True),
    ]
    assert view._charts[0]["unit"] == "not valid / unreadable / all"
    lengths = [(bar["invalid"], bar["unreadable"], bar["valid"]) for bar in view._charts[0]["bars"]]
    assert lengths == [(33.3, 33.3, 33.3), (33.3, 0, 33.3)]


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        ("-file", ["b/3.xml", "b/2.xml", "b/1.xml", "a/2.xml", "a/1.xml"]),
        ("verdict", ["a/1.xml", "b/3.xml", "a/2.xml", "b/1.xml", "b/2.xml"]),
        ("-errors", ["a/2.xml", "b/1.xml", "b/2.xml", "a/1.xml", "b/3.xml"]),
        ("seller", ["b/2.xml", "b/3.xml", "a/1.xml", "a/2.xml", "b/1.xml"]),
        ("date", ["b/2.xml", "b/1.xml", "a/1.xml", "a/2.xml", "b/3.xml"]),
    ],
)
def test_sort(view, sort, expected):
    view.sort = sort
    assert names(view) == expected
    with pytest.raises(traitlets.TraitError):
        view.sort = "hash"


@pytest.fixture(scope="module")
def with_schema_error(request):
    """A file without a number: the schema requires it, and so does BR-02."""
    data = request.getfixturevalue("sample")("ubl-invoice.xml").read_bytes()
    broken = re.sub(rb" *<cbc:ID>LG-2026-0417</cbc:ID>\n", b"", data)
    assert broken != data
    files = {"broken.xml": broken, "good.xml": data}
    return einvoice.validate_many(files, workers=0, progress=False, lang="en")


def test_consequences_of_schema_errors_are_shown_on_request(with_schema_error):
    view = with_schema_error.explore()
    assert [row["code"] for row in view._heatmap["rows"]] == ["SCHEMA-MISSING-ELEMENT"]
    assert (view._files["rows"][0][0], view._files["rows"][0][-2]) == ("broken.xml", 1)
    view.file = "broken.xml"
    assert view.finding.code == "SCHEMA-MISSING-ELEMENT"
    assert view._file_details["more"] == "Possible consequences of the schema errors, not shown: 1."
    view.filters = {"code": "BR-02"}
    assert names(view) == []
    view.consequences = True
    assert names(view) == ["broken.xml"]
    assert view._files["rows"][0][-2] == 2
    groups = {group["title"]: [row[2] for row in group["rows"]] for group in view._file_details["groups"]}
    assert groups == {"": ["SCHEMA-MISSING-ELEMENT"], "Possible consequences of the schema errors": ["BR-02"]}


def test_code_to_open_the_selected_file(view, monkeypatch):
    view.file = "a/2.xml"
    assert view._file_details["open"] == "results.result('a/2.xml').explore()"
    monkeypatch.setattr(sys.modules["__main__"], "export", view.results, raising=False)
    view.file = "a/1.xml"
    assert view._file_details["open"] == "export.result('a/1.xml').explore()"
    assert eval(view._file_details["open"], {"export": view.results}).result.is_valid


def test_selected_file_shows_its_findings(view):
    view.file = "a/2.xml"
    assert [row[2] for group in view._file_details["groups"] for row in group["rows"]] == ["BR-S-08"]
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
    assert (view.selected, view._file_details["groups"], view._finding_details) == (-1, [], {})
    with pytest.raises(traitlets.TraitError):
        view.selected = 0


def test_unavailable_file_has_no_excerpt(results, tmp_path):
    results.save(tmp_path / "saved.jsonl")
    view = einvoice.ResultSet.load(tmp_path / "saved.jsonl", lang="en").explore()
    view.file = "a/2.xml"
    assert view._finding_details["excerpt"] == {"missing": LABELS["en"]["file_unavailable"]}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("HAFEN", ["b/3.xml"]),
        ("b/", ["b/1.xml", "b/2.xml", "b/3.xml"]),
        ("2026-0417", ["a/1.xml", "a/2.xml", "b/1.xml", "b/3.xml"]),
        ("br-s-08", ["a/2.xml", "b/1.xml"]),
        ("bt-116", ["a/2.xml", "b/1.xml"]),
        ("ends too early", ["b/2.xml"]),
    ],
)
def test_text_filter_searches_file_seller_number_and_rules(view, text, expected):
    view.filters = {"text": text}
    assert names(view) == expected


def test_interaction_reads_no_file_again(view, monkeypatch):
    """Large result sets are indexed once, not on every interaction."""
    for method in ("__iter__", "records"):
        monkeypatch.setattr(einvoice.ResultSet, method, lambda self: pytest.fail("all files were read again"))
    view.filters, view.sort, view.by = {"code": "BR-S-08", "text": "1"}, "-seller", "month"
    view.consequences, view.lang = True, "de"
    view.file = "a/2.xml"
    assert view._files["rows"]


def bars(view):
    return {chart["kind"]: {bar["name"]: bar["count"] for bar in chart["bars"]} for chart in view._charts}


def test_charts_count_invalid_files(view):
    assert bars(view) == {
        "folder": {"a": "1 / 0 / 2", "b": "1 / 1 / 3"},
        "seller": {"": "0 / 1 / 1", "Hafenkran AG": "0 / 0 / 1", "Lindenhof Gartenbau GmbH": "2 / 0 / 3"},
        "month": {"": "0 / 1 / 1", "2026-04": "1 / 0 / 1", "2026-05": "1 / 0 / 3"},
    }


def test_default_grouping_has_more_than_one_group(sample):
    data = sample("ubl-invoice.xml").read_bytes()
    other = data.replace(b">Lindenhof Gartenbau GmbH<", b">Hafenkran AG<")
    view = einvoice.validate_many({"1.xml": data, "2.xml": other}, workers=0, progress=False).explore()
    assert view.by == "seller"
    assert set(bars(view)) == {"seller"}


@pytest.fixture(scope="module")
def in_many_folders(request):
    wrong = request.getfixturevalue("sample")("ubl-invoice.xml").read_bytes().replace(b'EUR">260.00', b'EUR">261.00')
    files = {f"{number % 30:02}/{number}.xml": wrong for number in range(210)}
    return einvoice.validate_many(files, workers=0, progress=False, lang="en")


def test_omitted_groups_are_counted(in_many_folders):
    view = in_many_folders.explore()
    assert len(view._heatmap["groups"]) == 24
    assert view._heatmap["rows"][0]["files"] == 210
    assert view._heatmap["more"] == "More groups: 6."
    assert view._charts[0]["more"] == "More groups: 22."
    view.filters = {"folder": "29"}
    assert "29" in [name for name, *_ in view._heatmap["groups"]]
    assert len(view.files) == 7


def test_pages(in_many_folders):
    view = in_many_folders.explore()
    listed = []
    for page, text in enumerate(("1–100 of 210", "101–200 of 210", "201–210 of 210"), 1):
        view.page = page
        assert view._files["range"] == text
        listed += [row[0] for row in view._files["rows"]]
    assert listed == [file.file for file in in_many_folders]
    for wrong in (0, 4):
        with pytest.raises(traitlets.TraitError):
            view.page = wrong
    view.sort = "file"
    assert (view.page, view._files["pages"]) == (1, 3)
    view.page, view.filters = 3, {"folder": "29"}
    assert (view.page, view._files["pages"]) == (1, 1)


def test_names_are_shown_whole(sample):
    name = "folder/" + "long-" * 40 + "\u202e.xml"
    view = einvoice.validate_many({name: sample("ubl-invoice.xml").read_bytes()}, workers=0, progress=False).explore()
    assert view._files["rows"][0][:2] == [name, "folder/" + "long-" * 40 + "[U+202E].xml"]


def test_language_changes_the_texts(view):
    view.lang = "de"
    assert view._files["status"] == "5 von 5 Dateien"
    assert view._header["summary"] == ["2 nicht gültig", "1 nicht lesbar", "2 gültig"]
    assert view._charts[0]["title"] == "Nach Ordner"


def test_static_html_shows_overview_and_charts(view):
    data, _ = view._repr_mimebundle_()
    assert data["text/html"].startswith(view.results._repr_html_())
    for text in (
        "Hafenkran AG",
        "1 of 3 not valid, 1 unreadable",
        "Unreadable files",
        "Files by rule and group",
        "b (3)",
        "2026-04",
    ):
        assert text in data["text/html"]
    assert data["text/plain"] == "<ManyView: 5 of 5 files>"


def test_rules_outside_of_the_catalog_are_shown(monkeypatch, sample):
    run = ReferenceRun("en16931", reports=(ReferenceFinding("H-1", "fatal", "fatal", "/*", "House rule."),))
    monkeypatch.setattr(
        "einvoice.reference.validate", lambda data, identity: ReferenceResult("house", "", (run, ReferenceRun("cius")))
    )
    files = {"a/1.xml": sample("ubl-invoice.xml").read_bytes(), "b/1.xml": sample("ubl-invoice.xml").read_bytes()}
    view = einvoice.validate_many(files, workers=0, progress=False, lang="en", engine="reference").explore()
    assert file_counts(view) == {"H-1": {"a": 1, "b": 1}}
    view.filters = {"code": "H-1", "text": "H-1"}
    assert names(view) == ["a/1.xml", "b/1.xml"]


def test_causes_are_searched_when_they_are_shown(view):
    assert (view.causes, view._causes["rows"], view._causes["hidden"]) == (None, [], False)
    view.with_causes = True
    assert [(it["name"], it["cells"]) for it in view._causes["rows"]] == [("set BT-116", ["2", "2", "2"])]
    assert view._causes["rows"][0]["text"] == "Change VAT category taxable amount (BT-116) from “261.00” to “260.00”"
    view.filters = {"cause": "set BT-116"}
    assert names(view) == ["a/2.xml", "b/1.xml"]
    view.filters = {"cause": "set BT-116", "folder": "a"}
    assert names(view) == ["a/2.xml"]
    assert view._causes["rows"][0]["cells"] == ["1", "2", "2"]  # files that match the other filters
    view.lang = "de"
    assert view._causes["columns"][-1] == "Änderung"
    assert "Change" not in view._repr_mimebundle_()[0]["text/html"]
    assert "(BT-116) von „261,00“ in „260,00“ ändern" in view._repr_mimebundle_()[0]["text/html"]
    view.with_causes = False
    assert view.filters == {"folder": "a"}


def test_unknown_cause_selects_no_file(view):
    view.filters = {"cause": "set BT-1"}
    assert names(view) == []


def test_progress_and_missing_files(results, tmp_path, view):
    texts = []
    view.observe(lambda change: texts.append(change["new"]), "_causes_progress")
    view.with_causes = True
    assert texts[-2:] == ["2 of 2 files examined …", ""]  # before, "1 of 2 …", unless that took a moment only
    results.save(tmp_path / "results.jsonl")
    loaded = einvoice.ResultSet.load(tmp_path / "results.jsonl", lang="en").explore()
    loaded.with_causes = True
    assert loaded.causes is None
    assert "no longer available" in loaded._causes_progress
    assert not loaded._causes["searched"]


def test_valid_files_have_no_causes(sample):
    good = {"a.xml": sample("ubl-invoice.xml").read_bytes()}
    assert einvoice.validate_many(good, workers=0, progress=False).explore()._causes["hidden"]
