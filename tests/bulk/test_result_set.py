"""Result sets: access, tables, CSV, Parquet, text, HTML, comparison and storage."""

import csv
import datetime
import html.parser
import importlib.util
import io
import json
import pickle
import re
import sys
from decimal import Decimal

import pandas as pd
import pytest
from corpora import CII, UBL, make_corpus, numbered, with_error

import einvoice
from einvoice.bulk import ResultSet
from einvoice.bulk.baseline import read
from einvoice.bulk.record import encode, filename
from einvoice.render.text import NUMBERS

AMOUNT = "decimal128(18, 4)[pyarrow]" if importlib.util.find_spec("pyarrow") else "object"
AMOUNTS = ("net", "vat", "gross", "signed_gross", "amount_due")
HOSTILE = "<script>alert(1)</script>&quot;\"'"
FILES, CODES = make_corpus(30)


def validate_serially(source, **options):
    return einvoice.validate_many(source, workers=0, progress=False, **options)


@pytest.fixture(scope="module")
def results():
    return validate_serially(FILES, lang="en")


@pytest.fixture(scope="module")
def hostile():
    data = UBL
    for old in (
        b"Lindenhof Gartenbau GmbH",
        b"LG-2026-0417",
        b"Stadt Hohenau",
        b"DE123456789",
        b"2026-05-04",
        b"Lavendel",
    ):
        assert old in data
        data = data.replace(old, HOSTILE.replace("&", "&amp;").replace("<", "&lt;").encode())
    return data


# ---------------------------------------------------------------- access


def test_files_are_accessed_by_index_name_and_slice(results):
    name = next(iter(CODES))
    assert results[name].file == name
    assert name in results
    assert "no such file" not in results
    assert results[0].file == next(iter(FILES))
    assert results[-1] in results
    assert [file.file for file in results[3:6]] == list(FILES)[3:6]
    with pytest.raises(KeyError):
        results["no such file"]
    with pytest.raises(IndexError):
        results[30]


def test_files_are_selected_by_verdict_and_code(results):
    selected = results.select(code="BR-CO-10")
    assert [file.file for file in selected] == [name for name, code in CODES.items() if code == "BR-CO-10"]
    assert len(results.select("valid")) == 25
    assert len(results.select("valid", "BR-CO-10")) == 0
    not_valid = [file for file in results if file.verdict != "valid"]
    assert list(results.select(severity="fatal")) == not_valid
    assert len(results.select(severity="warning")) == 0
    assert len(results.select(code="BR-CO-15")) == 0  # a code that no file has


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"verdict": "ok"}, "unknown verdict 'ok'; valid are valid, invalid, unreadable"),
        ({"severity": "error"}, "unknown severity 'error'; valid are fatal, warning, information"),
        ({"code": "BR-CO-1O"}, "unknown code 'BR-CO-1O'; similar are BR-CO-"),
    ],
)
def test_unknown_words_and_codes_are_rejected(results, arguments, message):
    with pytest.raises(ValueError, match=message):
        results.select(**arguments)


def test_results_survive_pickling(results):
    restored = pickle.loads(pickle.dumps(results))
    assert restored == results
    assert restored.result(next(iter(CODES))).errors


def test_stored_records_are_small(results):
    assert sum(map(len, results._lines)) < 1000 * len(FILES)


# ---------------------------------------------------------------- tables


def test_findings_table_has_one_row_per_finding(results):
    frame = results.to_frame()
    assert list(zip(frame.file, frame.code, strict=True)) == list(CODES.items())
    assert (frame.severity >= "warning").all()
    assert {name: str(kind) for name, kind in frame.dtypes.items() if str(kind) != "string"} == {
        **dict.fromkeys(("type", "folder", "code", "severity", "layer", "section", "bt_field"), "category"),
        **dict.fromkeys(("title", "flag"), "category"),
        **dict.fromkeys(("line", "column"), "Int64"),
        **dict.fromkeys(NUMBERS, AMOUNT),
        "indicative": "bool",
    }
    sums = frame[frame.code == "BR-CO-10"].iloc[0]
    assert isinstance(sums.expected, Decimal)
    assert sums.difference == abs(sums.expected - sums.actual)


@pytest.mark.parametrize("data", [with_error("BR-CO-10", UBL), with_error("SCHEMA-VALUE-DATE", UBL), CII])
def test_findings_table_is_that_of_a_single_result(data, tmp_path):
    (tmp_path / "a.xml").write_bytes(data)
    alone = einvoice.validate(tmp_path / "a.xml", lang="en").to_frame()
    pd.testing.assert_frame_equal(validate_serially(tmp_path, lang="en").to_frame(), alone)


def test_findings_table_names_the_invoice(results):
    frame, files = results.to_frame(), results.to_frame("files").set_index("file")
    readable = frame[frame.code != "FILE-ROOT"]
    assert set(readable.type) == {"380"}
    assert set(readable.seller) == {"Lindenhof Gartenbau GmbH"}
    for row in readable.itertuples():
        assert row.number == files.number[row.file]
        assert row.folder == row.file[0]
    unreadable = frame[frame.code == "FILE-ROOT"]
    assert len(unreadable) == 1
    assert unreadable[["number", "seller", "type", "explanation", "notes"]].isna().all().to_list() == [
        True, True, True, False, True,
    ]  # fmt: skip


@pytest.mark.parametrize("bulk", [False, True])
def test_findings_can_be_filtered_by_severity(bulk):
    data = with_error("BR-CO-10", UBL)
    data = re.sub(b"<cbc:Telephone>[^<]*<", b"<cbc:Telephone>12<", data)  # BR-DE-27, a warning
    result = validate_serially([("a.xml", data)]) if bulk else einvoice.validate(data)
    frame = result.to_frame()
    assert "BR-CO-10" in set(frame[frame.severity >= "warning"].code)
    assert list(frame[frame.severity == "warning"].code) == ["BR-DE-27"]
    assert [it.code for it in einvoice.validate(data).warnings] == ["BR-DE-27"]


def test_amounts_can_be_analysed(results, tmp_path):
    files = results.to_frame("files")
    valid = files[files.verdict == "valid"]
    assert valid.net.sum() == sum(file.net for file in results.select("valid"))
    assert set(files.sort_values("gross").gross.tail(2).dropna()) <= set(valid.gross)
    assert set((valid.vat / valid.net).round(2).astype(float)) == {
        round(float(file.vat / file.net), 2) for file in results.select("valid")
    }
    floats = results.to_frame("files", amounts="float")
    assert {str(floats[name].dtype) for name in ("net", "vat", "gross", "signed_gross", "amount_due")} == {"float64"}
    assert floats.nlargest(1, "gross").gross.iloc[0] == float(valid.gross.max())
    assert floats.describe().loc["max", "gross"] == float(valid.gross.max())
    assert results.to_frame(amounts="float").nlargest(1, "difference").difference.iloc[0] == 0.01
    with pytest.raises(ValueError, match="'decimal' or 'float'"):
        results.to_frame(amounts="text")
    files.to_parquet(tmp_path / "a.parquet")
    assert pd.read_parquet(tmp_path / "a.parquet").net[1] == results[1].net


def test_tables_can_be_written_to_excel(results, tmp_path):
    pytest.importorskip("openpyxl")
    for which in ("findings", "differences", "files"):
        results.to_frame(which).to_excel(tmp_path / "a.xlsx", index=False)
        assert list(pd.read_excel(tmp_path / "a.xlsx").columns) == list(results.to_frame(which).columns)
    assert pd.read_excel(tmp_path / "a.xlsx").gross[1] == float(results[1].gross)


def test_tables_have_an_arrow_interface(results):
    arrow = pytest.importorskip("pyarrow")
    files = arrow.table(results.to_frame("files"))
    assert files.schema.field("gross").type == arrow.decimal128(18, 4)
    assert files["gross"][1].as_py() == results[1].gross
    polars = pytest.importorskip("polars")
    assert polars.DataFrame(results.to_frame("files"))["gross"][1] == results[1].gross


def test_amounts_without_pyarrow_are_decimal_objects(results, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    gross = results.to_frame("files").gross
    assert gross.dtype == "object"
    assert [None if number is pd.NA else number for number in gross] == [file.gross for file in results]


def test_amounts_beyond_the_digits_of_the_table_are_rounded_or_missing():
    gross = b'"EUR">415.33'
    assert gross in UBL
    amounts = {"a": b"1.00005", "b": b"9" * 14 + b".99994", "c": b"9" * 14 + b".99995", "d": b"1" * 15}
    results = validate_serially({name: UBL.replace(gross, b'"EUR">' + text, 1) for name, text in amounts.items()})
    assert [file.gross for file in results] == [Decimal(text.decode()) for text in amounts.values()]
    table = results.to_frame("files").gross
    assert table[:2].to_list() == [Decimal("1.0001"), Decimal("99999999999999.9999")]
    assert table[2:].isna().all()


def test_gross_of_credit_notes_is_negative():
    note = b"<cbc:InvoiceTypeCode>380<"
    assert note in UBL
    results = validate_serially({"a": UBL, "b": UBL.replace(note, note.replace(b"380", b" 381 ")), "c": b"<x/>"})
    assert results["b"].signed_gross == Decimal("-415.33")
    files = results.to_frame("files")
    assert files.type.to_list()[:2] == ["380", "381"]
    assert files.gross.to_list()[:2] == [Decimal("415.33")] * 2
    assert files.signed_gross.to_list()[:2] == [Decimal("415.33"), Decimal("-415.33")]
    assert files[["type", "gross", "signed_gross", "seller", "due_date", "amount_due"]].loc[2].isna().all()


TERMS = b"</ram:SpecifiedTradePaymentTerms>"
DUE_DATE = b'<ram:DueDateDateTime><udt:DateTimeString format="102">20260610</udt:DateTimeString></ram:DueDateDateTime>'


@pytest.mark.parametrize(
    ("data", "due"),
    [
        (re.sub(b"<cbc:DueDate>[^<]*<", b"<cbc:DueDate>2026-06-10<", UBL), "2026-06-10"),
        (CII.replace(TERMS, DUE_DATE + TERMS), "2026-06-10"),
    ],
)
def test_files_table_has_due_date_and_references(data, due):
    (row,) = validate_serially([("x/a.xml", data)]).to_frame("files").itertuples()
    invoice = einvoice.read(data)
    assert (row.amount_due, row.buyer_reference) == (invoice.totals.due.number, invoice.buyer_reference.text)
    assert row.due_date == pd.Timestamp(due)
    assert (row.folder, row.type) == ("x", invoice.type_code.text)


def test_files_table_has_one_row_per_file(results):
    frame = results.to_frame("files")
    assert list(frame.file) == list(FILES)
    assert dict(frame.verdict.value_counts()) == results.verdicts
    assert list(frame.columns)[:11] == [
        "file", "verdict", "number", "date", "type", "seller", "buyer", "net", "vat", "gross", "signed_gross",
    ]  # fmt: skip
    assert list(frame.columns)[11:14] == ["due_date", "amount_due", "buyer_reference"]
    assert list(frame.columns)[-1] == "sha256"
    assert {name: str(kind) for name, kind in frame.dtypes.items() if str(kind) != "string"} == {
        **dict.fromkeys(("date", "due_date"), "datetime64[s]"),
        **dict.fromkeys(("type", "folder", "currency", "syntax", "profile", "version", "ruleset"), "category"),
        **dict.fromkeys(("verdict", "agreement"), "category"),
        **dict.fromkeys(("net", "vat", "gross", "signed_gross", "amount_due"), AMOUNT),
        **dict.fromkeys(("errors", "warnings", "information", "codes_only_declared", "codes_only_current"), "Int64"),
    }
    valid = frame[frame.verdict == "valid"]
    assert set(valid.net) == {Decimal("359.00"), Decimal("250.00")}
    assert set(valid.net + valid.vat - valid.gross) == {Decimal(0)}
    assert pd.Timestamp("2026-05-04") in set(valid.date)
    assert frame[frame.file == next(n for n, c in CODES.items() if c == "SCHEMA-VALUE-DATE")].date.isna().all()
    with pytest.raises(ValueError, match="'findings', 'files' or 'differences'"):
        results.to_frame("lines")


def test_empty_tables_have_columns_and_types():
    empty = validate_serially([], allow_empty=True)
    full = validate_serially(FILES)
    for which in ("findings", "files", "differences"):
        assert len(empty.to_frame(which)) == 0
        assert list(empty.to_frame(which).columns) == list(full.to_frame(which).columns)
    assert repr(empty) == "<ResultSet: 0 files>"
    assert not empty.is_valid
    assert str(empty) == "0 Dateien"
    assert empty._repr_html_()


def german_excel(data):
    """Return the rows of a CSV as German Excel reads them: cells that look like numbers become numbers."""
    text = data.decode("utf-8") if data.startswith(b"\xef\xbb\xbf") else data.decode("cp1252")
    rows = list(csv.DictReader(io.StringIO(text.removeprefix("\ufeff"), newline=""), delimiter=";", strict=True))
    number = re.compile(r"-?\d+(,\d+)?")
    for row in rows:
        assert None not in row  # no extra cell from a separator inside a text
        for name, cell in row.items():
            assert not cell.startswith(("=", "+", "@"))
            row[name] = Decimal(cell.replace(",", ".")) if number.fullmatch(cell) else cell
    return rows


def test_csv_for_german_excel(tmp_path):
    awkward = 'Müller; "Söhne"\r\n=1+1 €'
    data = UBL.replace(b"Lindenhof Gartenbau GmbH", awkward.replace("\r", "&#13;").encode())
    results = validate_serially(FILES | {"Größe;2.xml": with_error("BR-CO-10", data)})
    results.to_csv(tmp_path / "files.csv", "files", sep=";", encoding="utf-8-sig")
    frame = results.to_frame("files")
    rows = german_excel((tmp_path / "files.csv").read_bytes())
    assert (rows[-1]["file"], rows[-1]["seller"]) == ("Größe;2.xml", results[-1].seller)
    assert awkward.split()[1] in results[-1].seller
    for name in ("file", "seller", "buyer", "number", "verdict"):
        assert [row[name] for row in rows] == list(frame[name].astype(object).fillna(""))
    for name in ("net", "vat", "gross", "errors"):
        assert [row[name] for row in rows] == [number if pd.notna(number) else "" for number in frame[name].to_list()]
        assert isinstance(rows[-1][name], Decimal)
    results.to_csv(tmp_path / "findings.csv", sep=";", encoding="utf-8-sig", lang="de")
    findings_rows = german_excel((tmp_path / "findings.csv").read_bytes())
    assert [row["code"] for row in findings_rows] == [*CODES.values(), "BR-CO-10"]
    assert [findings_rows[-1][name] for name in NUMBERS] == [Decimal("368.99"), Decimal("369.00"), Decimal("0.01")]
    assert [row["title"] for row in findings_rows] == list(results.to_frame(lang="de").title)


def test_csv_separator_and_encoding(results, tmp_path):
    assert results.to_csv(tmp_path / "b.csv", "files", sep="\t", encoding="cp1252") is None
    (first, *_) = csv.DictReader(io.StringIO((tmp_path / "b.csv").read_text("cp1252"), newline=""), delimiter="\t")
    assert first["gross"] == "415.33"


def test_csv_equals_the_table(results):
    for which in ("findings", "files"):
        rows = list(csv.DictReader(io.StringIO(results.to_csv(which=which), newline="")))
        frame = results.to_frame(which)
        assert list(rows[0]) == list(frame.columns)
        assert [row["file"] for row in rows] == list(frame.file)


def test_csv_cells_are_protected_from_formula_injection():
    results = validate_serially([("=cmd.xml", UBL.replace(b"LG-2026-0417", b"=1+1"))])
    (row,) = csv.DictReader(io.StringIO(results.to_csv(which="files"), newline=""))
    assert (row["file"], row["number"]) == ("'=cmd.xml", "'=1+1")


def test_parquet_needs_pyarrow(results, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(ImportError, match="pip install pyarrow"):
        results.to_parquet(tmp_path / "a.parquet")


def test_parquet_keeps_numbers_exact(results, tmp_path):
    pytest.importorskip("pyarrow")
    wide = UBL.replace(b'"EUR">415.33', b'"EUR">' + b"9" * 35 + b".25", 1)
    for number, result_set in enumerate(
        (results, validate_serially([("a.xml", wide)]), validate_serially([], allow_empty=True))
    ):
        result_set.to_parquet(tmp_path / f"{number}.parquet", "files")
        result_set.to_parquet(tmp_path / f"{number}f.parquet")
    files = pd.read_parquet(tmp_path / "0.parquet")
    assert set(files[files.verdict == "valid"].net) == {Decimal("359.00"), Decimal("250.00")}
    assert pd.read_parquet(tmp_path / "1.parquet").gross.isna().all()
    findings = pd.read_parquet(tmp_path / "0f.parquet")
    assert list(findings.code) == list(CODES.values())
    assert Decimal("368.99") in set(findings.expected)


def test_parquet_keeps_the_types(results, tmp_path):
    pytest.importorskip("pyarrow")
    differing_dtypes = {
        "files": dict.fromkeys(("date", "due_date"), "datetime64[ms]") | dict.fromkeys(AMOUNTS, "object"),
        "findings": dict.fromkeys(NUMBERS, "object"),
    }
    for which, differing in differing_dtypes.items():
        results.to_parquet(tmp_path / "a.parquet", which)
        frame, loaded = results.to_frame(which), pd.read_parquet(tmp_path / "a.parquet")
        pd.testing.assert_frame_equal(loaded.drop(columns=list(differing)), frame.drop(columns=list(differing)))
        assert {name: str(loaded[name].dtype) for name in differing} == differing
        typed = pd.read_parquet(tmp_path / "a.parquet", dtype_backend="pyarrow")
        for name in differing:
            assert typed[name].astype(str).to_list() == frame[name].astype(typed[name].dtype).astype(str).to_list()
    assert results.to_frame().column.isna().any()  # missing integers do not turn the column into floats


# ---------------------------------------------------------------- text and HTML


def test_summary_counts_files_and_codes(results):
    overview = results.summary()
    assert (overview.files, overview.findings) == (30, len(CODES))
    assert {it.code: it.files for it in overview.codes} == {
        code: list(CODES.values()).count(code) for code in CODES.values()
    }
    assert str(overview).startswith("30 files: 25 valid, 4 not valid, 1 unreadable\n")
    assert overview.to_frame().files.sum() == len(CODES)
    assert str(results) == str(overview) == repr(overview)
    assert repr(results) == "<ResultSet: 30 files: 25 valid, 4 invalid, 1 unreadable>"


class _Tags(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.text = [], [], ""

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.text += data


def parsed(page):
    tags = _Tags()
    tags.feed(page)
    return tags


def test_html_escapes_invoice_text(hostile):
    first = validate_serially([(HOSTILE, hostile), (f"{HOSTILE}2", b"<x/>")])
    pages = [
        first,
        first.summary(),
        validate_serially([("a", UBL)]).compare(first),
        first.compare(validate_serially([], allow_empty=True)),
        einvoice.read(hostile),
    ]
    pages += [einvoice.validate(hostile), *first[0].findings, *first[1].findings]
    for displayed in pages:
        page = parsed(displayed._repr_html_())
        assert not {"script", "img", "iframe", "object", "link", "a"} & set(page.tags)
        assert not [name for name, _ in page.attributes if name.startswith("on") or name in ("src", "href")]
        assert "alert(1)" not in "".join(value or "" for _, value in page.attributes)


def test_html_of_an_invoice_shows_its_values():
    page = parsed(einvoice.read(UBL)._repr_html_())
    for fact in ("LG-2026-0417", "Lindenhof Gartenbau GmbH", "DE123456789", "415.33", "Lavendel im Topf", "BT-112"):
        assert fact in page.text


def test_html_of_a_finding_is_expanded():
    (finding,) = einvoice.validate(with_error("BR-CO-10", UBL), lang="en").findings
    page = parsed(finding._repr_html_())
    assert ("open", None) in page.attributes
    assert finding.title() in page.text
    assert finding.fix() in page.text


def test_displayed_texts_are_reproducible(tmp_path):
    path = tmp_path / "a.xml"
    path.write_bytes(with_error("BR-CO-10", UBL))
    results = validate_serially([path])
    displayed_objects = [
        results,
        results[0],
        results.summary(),
        results.compare(validate_serially([], allow_empty=True)),
        results.compare(validate_serially([], allow_empty=True)).new[0],
    ]
    for displayed in displayed_objects:
        output = repr(displayed) + str(displayed) + getattr(displayed, "_repr_html_", str)()
        assert str(tmp_path) not in output
        assert "0x" not in output
        assert results[0].sha256 not in repr(displayed)


# ---------------------------------------------------------------- comparison


def test_comparison_of_equal_results_is_empty(results, tmp_path):
    results.save(tmp_path / "a.jsonl")
    assert ResultSet.load(tmp_path / "a.jsonl") == results
    comparison = validate_serially(FILES, lang="en").compare(tmp_path / "a.jsonl")
    assert not comparison
    assert len(comparison.unchanged) == len(CODES)
    results.assert_matches(tmp_path / "a.jsonl")


def test_comparison_lists_changes():
    wrong, late = with_error("BR-CO-10", UBL), with_error("SCHEMA-VALUE-DATE", UBL)
    before = validate_serially({"a": wrong, "b": UBL, "c": late, "gone": wrong}, lang="en")
    after = validate_serially({"a": UBL, "b": wrong, "c": late, "new": late}, lang="en")
    comparison = after.compare(before)
    assert [(it.file, it.finding.code) for it in comparison.fixed] == [("a", "BR-CO-10")]
    assert [(it.file, it.finding.code) for it in comparison.new] == [("b", "BR-CO-10"), ("new", "SCHEMA-VALUE-DATE")]
    assert [(it.file, it.finding.code) for it in comparison.unchanged] == [("c", "SCHEMA-VALUE-DATE")]
    assert comparison.changed_verdicts == (("a", "invalid", "valid"), ("b", "valid", "invalid"))
    assert (comparison.missing, comparison.added) == (("gone",), ("new",))
    frame = comparison.to_frame()
    assert list(frame.change) == ["fixed", "new", "new", "unchanged"]
    with pytest.raises(AssertionError) as raised:
        after.assert_matches(before)
    message = str(raised.value)
    for part in ("b: BR-CO-10 (line 113, BT-106)", "a: not valid → valid", "gone", "new files", "fixed findings: 1"):
        assert part in message


@pytest.fixture(scope="module")
def changed():
    wrong, late = with_error("BR-CO-10", UBL), with_error("SCHEMA-VALUE-DATE", UBL)
    before = {"better": wrong, "worse": UBL, "worse2": UBL, "both": wrong, "same": late}
    after = {"better": UBL, "worse": late, "worse2": late, "both": late, "same": late, "added": wrong}
    return validate_serially(after, lang="en").compare(validate_serially(before, lang="en"))


def test_comparison_says_what_is_better_and_worse(changed):
    assert (changed.better, changed.worse, changed.both) == (("better",), ("worse", "worse2"), ("both",))
    assert changed.message() == "Better and worse: 2 fixed, 4 new. Files: 1 better, 2 worse, 1 both."
    assert changed.message("de").startswith("Besser und schlechter: 2 behoben, 4 neu.")
    assert str(changed).startswith(changed.message())
    improved = validate_serially({"a": UBL}).compare(validate_serially({"a": with_error("BR-CO-10", UBL)}), lang="en")
    assert improved.message() == "Better: 1 fixed, 0 new. Files: 1 better, 0 worse, 0 both."
    unchanged = validate_serially({"a": UBL}).compare(validate_serially({"a": UBL}))
    assert unchanged.message("en").startswith("No finding changed: 0 fixed, 0 new.")


def test_new_findings_are_counted_by_rule_before_they_are_listed(changed):
    (late, wrong) = changed.by_rule("new")
    assert (late.code, late.findings, late.files) == ("SCHEMA-VALUE-DATE", 3, 3)
    assert (wrong.code, wrong.findings, wrong.files) == ("BR-CO-10", 1, 1)
    assert [it.code for it in changed.by_rule("fixed")] == ["BR-CO-10"]
    with pytest.raises(ValueError, match="'new', 'fixed' or 'unchanged'"):
        changed.by_rule("old")
    lines = str(changed).splitlines()
    section = lines[lines.index("✗ new findings: 4") + 1 :]
    assert section[0].split()[:4] == ["SCHEMA-VALUE-DATE", "3", "in", "3"]
    assert section[1].split()[:4] == ["BR-CO-10", "1", "in", "1"]
    assert section[2].startswith("  worse: SCHEMA-VALUE-DATE")
    assert "✓ fixed findings: 2" in lines


def test_html_of_a_comparison_marks_fixed_green_and_new_red(changed):
    page = changed._repr_html_()
    assert '<span class="fixed">✓ 2 fixed</span>' in page
    assert '<span class="new">✗ 4 new</span>' in page
    for name, (red, green) in {"fixed": (False, True), "new": (True, False)}.items():
        colour = re.search(rf"\.einvoice span\.{name}\{{[^}}]*background:#(..)(..)(..)", page).groups()
        r, g, _ = (int(part, 16) for part in colour)
        assert (r > 2 * g, g > 2 * r) == (red, green)
    assert page.index("3 in 3 files") < page.index(">worse<")  # findings and files of the rule, then the rows


def test_the_release_is_always_named(changed):
    release = validate_serially({"a": UBL})[0].ruleset
    assert release.startswith("xrechnung-")
    summary = validate_serially({"a": UBL}, lang="en").summary()
    for text in (str(changed), changed._repr_html_(), str(summary), summary._repr_html_()):
        assert f"Validated with {release}" in text
    before = validate_serially({"a": UBL}, ruleset="xrechnung-2.3.1")
    comparison = validate_serially({"a": UBL}).compare(before, lang="en")
    for text in (str(comparison), comparison._repr_html_()):
        assert f"Validated with {release}, before with {before[0].ruleset}" in text
    nothing = validate_serially({"a": b"<x/>"}, lang="en")
    assert "Validated with no rule set" in str(nothing.compare(nothing))
    assert "Geprüft mit" in nothing.compare(nothing).to_text("de")


def test_renamed_files_are_matched_by_invoice_number():
    before = validate_serially({f"2026-10/{n}.xml": numbered(n, with_error("BR-CO-10", UBL)) for n in range(3)})
    after = validate_serially({f"2026-11/{n}.xml": numbered(n, with_error("BR-CO-10", UBL)) for n in range(3)})
    assert len(after.compare(before).missing) == 3
    assert not after.compare(before, by="number")
    after.assert_matches(before, by="number")
    with pytest.raises(ValueError, match="'file' or 'number'"):
        after.compare(before, by="date")


def test_interrupted_results_do_not_match(results):
    interrupted = ResultSet(results._lines, results.settings, complete=False)
    with pytest.raises(AssertionError, match="unterbrochen"):
        interrupted.assert_matches(results)


def test_long_differences_are_truncated():
    before = validate_serially({f"{n}.xml": UBL for n in range(30)})
    with pytest.raises(AssertionError, match=r"… \+ 10") as raised:
        validate_serially({}, allow_empty=True).assert_matches(before)
    assert len(str(raised.value).splitlines()) < 30


# ---------------------------------------------------------------- accepted findings

ACCEPTED = """
[[accepted]]
code = "BR-CO-*"
files = "0/*"
reason = "Rounded by the old program."
expires = 2026-12-31
"""


def accepted(tmp_path, text=ACCEPTED):
    (tmp_path / "accepted.toml").write_text(text)
    return tmp_path / "accepted.toml"


def test_accepted_findings_are_excluded_until_they_expire(results, tmp_path):
    baseline = accepted(tmp_path)
    name = next(name for name, code in CODES.items() if code == "BR-CO-10" and name.startswith("0/"))
    last, day_after = datetime.date(2026, 12, 31), datetime.date(2027, 1, 1)
    remaining = results.without(baseline, on=last)
    assert name not in set(remaining.to_frame().file)
    assert remaining[name].errors == 0
    assert remaining[name].verdict == "invalid"
    assert {file.file for file in remaining if file.findings} == {
        n for n, c in CODES.items() if n[0] != "0" or c != "BR-CO-10"
    }
    assert results.without(baseline, on=day_after) == results
    assert len(read(baseline).expired(day_after)) == 1
    assert read(baseline).expired(last) == ()


def test_accepted_finding_counts_with_those_it_stands_for(results):
    name = next(name for name, code in CODES.items() if code == "BR-CO-10")
    record = next(record for record in results.records() if record["file"] == name)
    record["findings"][0]["more"] = 5
    suppressing = ResultSet([encode(record | {"errors": 6})], results.settings)
    assert suppressing.without(suppressing.to_baseline("known"))[name].errors == 0


@pytest.mark.parametrize(
    ("select", "ignore", "kept"),
    [
        (["BR-DE-*"], [], {"BR-DE-15", "FILE-ROOT"}),
        (["fatal"], ["BR-*"], {"SCHEMA-VALUE-DATE", "FILE-ROOT"}),
        ([], ["fatal"], set()),
    ],
)
def test_findings_are_selected_by_code_pattern_and_severity(results, select, ignore, kept):
    selected = results.select_findings(select, ignore=ignore)
    assert {finding.code for file in selected for finding in file.findings} == kept
    assert selected.verdicts == results.verdicts
    assert all(file.errors == len(file.findings) for file in selected)
    with pytest.raises(ValueError, match="unknown code 'BR-XX'"):
        results.select_findings(["BR-XX"])


def test_accepted_findings_are_ignored_in_comparisons(tmp_path):
    baseline = accepted(tmp_path, '[[accepted]]\ncode = "BR-CO-10"\nreason = "known"\n')
    before, after = (
        validate_serially({"a": with_error("BR-DE-15", UBL)}),
        validate_serially({"a": with_error("BR-CO-10", with_error("BR-DE-15", UBL))}),
    )
    with pytest.raises(AssertionError, match="BR-CO-10"):
        after.assert_matches(before)
    after.assert_matches(before, accepted=baseline)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x", "not valid TOML"),
        ("[accepted]", "every entry must begin"),
        ("[[allowed]]\ncode = 'BR-CO-10'", "every entry must begin"),
        ("[[accepted]]\ncode = 'BR-CO-10'", "entry 1: reason is missing"),
        ("[[accepted]]\nreason = 'x'", "entry 1: code is missing"),
        ("[[accepted]]\ncode = 'BR-NO-10'\nreason = 'x'", "unknown code 'BR-NO-10'"),
        ("[[accepted]]\ncode = 'BR-CO-10'\nreason = 'x'\nexpires = '2026'", "expires must be a date"),
        ("[[accepted]]\ncode = 'BR-CO-10'\nreason = 'x'\nexpires = 2026-01-01T00:00:00Z", "expires must be a date"),
        ("[[accepted]]\ncode = 'BR-CO-10'\nreason = 'x'\nfile = 'x'", "unknown key 'file'; valid keys are code, files"),
        ("[[accepted]]\ncode = 'BR-CO-10'\nreason = 'x'\nfiles = [1]", "files must be a pattern"),
    ],
)
def test_invalid_baseline_is_rejected_with_a_reason(tmp_path, text, message):
    with pytest.raises(ValueError, match=message):
        read(accepted(tmp_path, text))


# ---------------------------------------------------------------- storage


def test_storage_format_is_versioned_json_lines(results, tmp_path):
    results.save(tmp_path / "a.jsonl")
    first, *files, last = map(json.loads, (tmp_path / "a.jsonl").read_text("utf-8").splitlines())
    assert first["einvoice_results"] == 1
    assert [file["file"] for file in files] == list(FILES)
    assert last == {"end": 30}


def test_results_without_newer_fields_are_loaded(results, tmp_path):
    newer = ("type", "due_date", "buyer_reference", "amount_due")
    results.save(tmp_path / "a.jsonl")
    records = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text("utf-8").splitlines()]
    older = [{name: value for name, value in record.items() if name not in newer} for record in records]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(record) + "\n" for record in older), "utf-8")
    frame = ResultSet.load(tmp_path / "a.jsonl", lang="en").to_frame("files")
    assert frame[list(newer)].isna().all(axis=None)
    unchanged = [name for name in frame.columns if name not in newer]
    pd.testing.assert_frame_equal(frame[unchanged], results.to_frame("files")[unchanged])


def test_unknown_fields_are_ignored_on_load(results, tmp_path):
    results.save(tmp_path / "a.jsonl")
    text = (tmp_path / "a.jsonl").read_text("utf-8").replace('"verdict":', '"mood":"good","verdict":')
    (tmp_path / "a.jsonl").write_text(text, "utf-8")
    assert list(ResultSet.load(tmp_path / "a.jsonl", lang="en")) == list(results)


def test_invalid_records_are_rejected(tmp_path):
    (tmp_path / "a.jsonl").write_text('{"einvoice_results": 1}\n{"a": 1}\n')
    with pytest.raises(ValueError, match="not a record of a validated file"):
        ResultSet.load(tmp_path / "a.jsonl")[0]


# ---------------------------------------------------------------- invoice lines


def test_invoice_lines_table():
    invoice = einvoice.read(UBL)
    frame = invoice.to_frame("lines")
    assert list(frame.line) == [line.identifier.text for line in invoice.lines]
    assert sum(frame.net) == invoice.totals.line_net.number
    assert list(frame.quantity) == [Decimal(12), Decimal("3.5"), Decimal(10)]
    assert list(frame.unit) == ["C62", "HUR", "C62"]
    assert str(frame.unit.dtype) == str(frame.vat_category.dtype) == "category"
    assert list(einvoice.Invoice().to_frame().columns) == list(frame.columns)
    with pytest.raises(ValueError, match="'lines'"):
        invoice.to_frame("taxes")


def test_sub_lines_follow_their_parent():
    lines = einvoice.read(UBL).lines
    lines[0].lines = [lines[1]]
    frame = einvoice.Invoice(lines=[lines[0], lines[2]]).to_frame()
    assert list(zip(frame.line, frame.above, strict=True)) == [("1", ""), ("2", "1"), ("3", "")]


@pytest.mark.parametrize("line", [{"file": 'a "b"\n/ü.xml', "sha256": ""}, {"sha256": "", "file": 'a "b"\n/ü.xml'}])
def test_filename_of_a_record_does_not_depend_on_the_order_of_its_keys(line):
    for text in (json.dumps(line), json.dumps(line, ensure_ascii=False, separators=(",", ":"))):
        assert filename(text.encode()) == 'a "b"\n/ü.xml'


def test_take_keeps_the_given_order(results):
    names = [file.file for file in results]
    assert [file.file for file in results.take([2, 0])] == [names[2], names[0]]
