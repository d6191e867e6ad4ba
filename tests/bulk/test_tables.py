"""Tables of result sets and of invoices: pandas, CSV, Parquet, Excel."""

import csv
import importlib.util
import io
import re
import sys
from decimal import Decimal

import pandas as pd
import pytest

import einvoice
from einvoice.render.text import NUMBERS
from tests.helpers.corpora import CII, UBL, make_corpus, validate_serially, with_error

AMOUNT = "decimal128(18, 4)[pyarrow]" if importlib.util.find_spec("pyarrow") else "object"
AMOUNTS = ("net", "vat", "gross", "signed_gross", "amount_due")
FILES, CODES = make_corpus(30)


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
    with pd.option_context("mode.string_storage", "python"):  # pandas itself has found pyarrow
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
        **dict.fromkeys(("verdict", "agreement", "seller_country", "buyer_country"), "category"),
        **dict.fromkeys(("net", "vat", "gross", "signed_gross", "amount_due"), AMOUNT),
        **dict.fromkeys(("errors", "warnings", "information", "codes_only_declared", "codes_only_current"), "Int64"),
        "line_count": "Int64",
    }
    valid = frame[frame.verdict == "valid"]
    assert set(valid.net) == {Decimal("359.00"), Decimal("250.00")}
    assert set(valid.net + valid.vat - valid.gross) == {Decimal(0)}
    assert pd.Timestamp("2026-05-04") in set(valid.date)
    assert frame[frame.file == next(n for n, c in CODES.items() if c == "SCHEMA-VALUE-DATE")].date.isna().all()
    with pytest.raises(ValueError, match="one of 'findings', 'files', 'lines', 'vat', 'differences'"):
        results.to_frame("taxes")


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


def test_invoice_lines_table():
    invoice = einvoice.read(UBL)
    frame = invoice.to_frame("lines")
    assert list(frame.line) == [line.identifier.text for line in invoice.lines]
    assert sum(frame.net) == invoice.totals.line_net.number
    assert list(frame.quantity) == [Decimal(12), Decimal("3.5"), Decimal(10)]
    assert list(frame.unit) == ["C62", "HUR", "C62"]
    assert str(frame.unit.dtype) == str(frame.vat_category.dtype) == "category"
    assert list(einvoice.Invoice().to_frame().columns) == list(frame.columns)
    with pytest.raises(ValueError, match="'lines' or 'vat'"):
        invoice.to_frame("taxes")


def test_sub_lines_follow_their_parent():
    lines = einvoice.read(UBL).lines
    lines[0].lines = [lines[1]]
    frame = einvoice.Invoice(lines=[lines[0], lines[2]]).to_frame()
    assert list(zip(frame.line, frame.above, strict=True)) == [("1", ""), ("2", "1"), ("3", "")]


def test_tables_have_the_wanted_columns_in_their_order(results):
    wanted = ["fix", "file", "code"]
    frame = results.to_frame(columns=wanted)
    assert list(frame.columns) == wanted
    pd.testing.assert_frame_equal(frame, results.to_frame()[wanted])
    assert results.to_csv(columns=wanted).splitlines()[0] == "fix,file,code"
    with pytest.raises(ValueError, match="unknown column 'cod'; similar are code"):
        results.to_frame(columns=["cod"])
    with pytest.raises(ValueError, match="unknown column 'fix'"):
        results.to_frame("files", columns=["fix"])


def test_tables_without_texts_are_the_others(results):
    texts = ["title", "explanation", "fix", "override_reason", "notes"]
    pd.testing.assert_frame_equal(results.to_frame(texts=False), results.to_frame().drop(columns=texts))
    assert list(results.to_frame("files", texts=False).columns) == list(results.to_frame("files").columns)


def test_tables_of_several_chunks_are_those_of_one(results, monkeypatch):
    whole = {which: results.to_frame(which) for which in ("findings", "files")}
    monkeypatch.setattr("einvoice.render.tables._CHUNK", 2)
    for which, frame in whole.items():
        pd.testing.assert_frame_equal(results.to_frame(which), frame)


def test_texts_of_findings_that_differ_in_values_only(monkeypatch):
    data = {f"{n}.xml": UBL.replace(b'"EUR">99.00', b'"EUR">98.%02d' % n) for n in range(3)}
    results = validate_serially(data, lang="en")
    monkeypatch.setattr("einvoice.bulk.stored_findings.FindingTexts._MOST", 1)
    shown = [(row.title, row.explanation, row.fix) for row in results.to_frame().itertuples()]
    assert shown == [(it.title(), it.explanation(), it.fix()) for file in results for it in file.findings]
    assert len(set(shown)) == len(shown) >= 3
