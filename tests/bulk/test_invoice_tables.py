"""Tables of the contents of invoices: lines, VAT, terms; with and without validation."""

import datetime
import io
import zipfile
from decimal import Decimal

import pandas as pd
import pytest

import einvoice
from einvoice.bulk import ResultSet
from tests.helpers.corpora import CII, UBL, make_corpus, numbered, validate_serially, write_files
from tests.helpers.paths import SAMPLES

CREDIT_NOTE = (SAMPLES / "ubl-credit-note.xml").read_bytes()

#: The first line of the sample with everything that the table of lines has.
COMPLETE = UBL.replace(
    b"""<cbc:LineExtensionAmount currencyID="EUR">102.00</cbc:LineExtensionAmount>
    <cac:Item>
      <cbc:Name>Lavendel im Topf</cbc:Name>""",
    b"""<cbc:LineExtensionAmount currencyID="EUR">102.00</cbc:LineExtensionAmount>
    <cbc:AccountingCost>4711</cbc:AccountingCost>
    <cac:InvoicePeriod><cbc:StartDate>2026-04-01</cbc:StartDate><cbc:EndDate>2026-04-30</cbc:EndDate></cac:InvoicePeriod>
    <cac:OrderLineReference><cbc:LineID>10</cbc:LineID></cac:OrderLineReference>
    <cac:AllowanceCharge><cbc:ChargeIndicator>false</cbc:ChargeIndicator>
      <cbc:Amount currencyID="EUR">1.00</cbc:Amount></cac:AllowanceCharge>
    <cac:AllowanceCharge><cbc:ChargeIndicator>false</cbc:ChargeIndicator>
      <cbc:Amount currencyID="EUR">0.50</cbc:Amount></cac:AllowanceCharge>
    <cac:AllowanceCharge><cbc:ChargeIndicator>true</cbc:ChargeIndicator>
      <cbc:Amount currencyID="EUR">1.50</cbc:Amount></cac:AllowanceCharge>
    <cac:Item>
      <cbc:Description>im 3-Liter-Topf</cbc:Description>
      <cbc:Name>Lavendel im Topf</cbc:Name>
      <cac:BuyersItemIdentification><cbc:ID>B-1</cbc:ID></cac:BuyersItemIdentification>
      <cac:SellersItemIdentification><cbc:ID>S-1</cbc:ID></cac:SellersItemIdentification>
      <cac:StandardItemIdentification><cbc:ID schemeID="0160">04012345678901</cbc:ID>
      </cac:StandardItemIdentification>""",
).replace(
    b'<cbc:PriceAmount currencyID="EUR">8.50</cbc:PriceAmount>',
    b'<cbc:PriceAmount currencyID="EUR">8.500001</cbc:PriceAmount>'
    b'<cbc:BaseQuantity unitCode="C62">1</cbc:BaseQuantity>',
)
assert b"04012345678901" in COMPLETE


def read_serially(source, **options):
    return einvoice.read_many(source, workers=0, progress=False, **options)


def test_lines_table_has_one_row_per_line():
    frame = validate_serially({"a.xml": COMPLETE, "b.xml": CII, "c.xml": b"<x/>"}).to_frame("lines")
    assert list(frame.file)[:3] == ["a.xml"] * 3
    assert set(frame.file) == {"a.xml", "b.xml"}
    first = frame.iloc[0]
    assert first[:7].to_list() == [
        "a.xml", "LG-2026-0417", pd.Timestamp("2026-05-04"), "380", "Lindenhof Gartenbau GmbH", first.buyer, "EUR",
    ]  # fmt: skip
    texts = ["line", "name", "description", "seller_item", "buyer_item", "standard_item"]
    assert list(first[texts]) == ["1", "Lavendel im Topf", "im 3-Liter-Topf", "S-1", "B-1", "04012345678901"]
    assert (first.quantity, first.unit, first.price, first.base_quantity) == (12, "C62", Decimal("8.500001"), 1)
    assert (first.allowances, first.charges, first.net) == (Decimal("1.50"), Decimal("1.50"), Decimal("102.00"))
    assert (first.vat_category, first.vat_rate, first.order_line, first.accounting_reference) == ("S", 19, "10", "4711")
    assert (first.period_start, first.period_end) == (pd.Timestamp("2026-04-01"), pd.Timestamp("2026-04-30"))
    second = frame.iloc[1]
    assert second[["above", "allowances", "period_start", "order_line", "base_quantity"]].isna().all()


def test_columns_of_lines_and_vat_have_the_dtypes_of_the_other_tables(tmp_path):
    results = validate_serially({"a.xml": COMPLETE})
    files = results.to_frame("files")
    for which in ("lines", "vat"):
        frame = results.to_frame(which)
        for name in ("file", "number", "date", "seller", "buyer"):
            assert frame[name].dtype == files[name].dtype, name
        amounts = [name for name in ("net", "signed_net", "taxable", "tax", "signed_tax") if name in frame]
        assert {str(frame[name].dtype) for name in amounts} == {str(files.net.dtype)}
        floats = results.to_frame(which, amounts="float")
        assert {str(floats[name].dtype) for name in amounts} == {"float64"}
        assert list(validate_serially([], allow_empty=True).to_frame(which).columns) == list(frame.columns)
    lines = results.to_frame("lines")
    assert list((lines.quantity * lines.price).astype(float).round(2)) == [102.0, 168.0, 99.0]


def test_vat_table_has_one_row_per_category_and_rate():
    frame = validate_serially({"a.xml": UBL}).to_frame("vat")
    assert list(zip(frame.vat_category, frame.vat_rate, frame.taxable, frame.tax, strict=True)) == [
        ("S", 19, Decimal("260.00"), Decimal("49.40")),
        ("S", 7, Decimal("99.00"), Decimal("6.93")),
    ]
    assert frame[["exemption", "exemption_code"]].isna().all(axis=None)


def test_amounts_of_credit_notes_have_the_opposite_sign():
    results = validate_serially({"a.xml": UBL, "b.xml": CREDIT_NOTE})
    lines, vat = results.to_frame("lines"), results.to_frame("vat")
    for file, sign in (("a.xml", 1), ("b.xml", -1)):
        of_file = lines[lines.file == file]
        assert (of_file.net > 0).all()
        assert list(of_file.signed_net) == [sign * net for net in of_file.net]
        of_file = vat[vat.file == file]
        assert list(of_file.signed_taxable) == [sign * it for it in of_file.taxable]
        assert list(of_file.signed_tax) == [sign * it for it in of_file.tax]


def test_lines_add_up_to_the_totals_of_the_files():
    results = validate_serially(make_corpus(12)[0])
    valid = set(results.select("valid").to_frame("files").file)
    lines = results.to_frame("lines")
    assert valid
    for name in valid:
        assert lines[lines.file == name].net.sum() == einvoice.read(make_corpus(12)[0][name]).totals.line_net.number


def test_files_table_has_any_term():
    results = validate_serially({"a.xml": UBL, "b.xml": CII, "c.xml": b"<x/>"})
    plain = results.to_frame("files")
    frame = results.to_frame("files", terms=["BT-10", "BT-84", "BT-9", "BT-113", "BT-131", "BT-130"])
    pd.testing.assert_frame_equal(frame[list(plain.columns)], plain)
    assert list(frame.columns)[-6:] == ["BT-10", "BT-84", "BT-9", "BT-113", "BT-131", "BT-130"]
    assert frame["BT-113"].dtype == frame.net.dtype
    assert frame["BT-113"][0] == Decimal("15.33")
    assert frame["BT-131"][0] == "102.00; 168.00; 99.00"
    assert frame["BT-130"][0] == "C62; HUR; C62"
    assert frame["BT-9"].dtype == frame.due_date.dtype
    assert list(frame["BT-10"].dropna()) == list(frame.buyer_reference.dropna())
    assert frame.iloc[2, -6:].isna().all()
    assert list(results.to_frame("files", terms=["BT-84"], columns=["file", "BT-84"]).columns) == ["file", "BT-84"]


@pytest.mark.parametrize(
    ("number", "message"),
    [
        ("BT-1313", "did you mean 'BT-13"),
        ("BG-4", "it is a group"),
        ("BT-125", "binary object"),
        ("?", "such as 'BT-13'"),
    ],
)
def test_terms_are_checked_before_files_are_read(number, message):
    with pytest.raises(ValueError, match=message):
        validate_serially({"a.xml": UBL}).to_frame("files", terms=[number])
    with pytest.raises(ValueError, match=message):
        read_serially({"a.xml": UBL}, terms=[number])


def test_files_table_has_what_accounts_payable_needs():
    (row,) = validate_serially({"a.xml": UBL}).to_frame("files").itertuples()
    invoice = einvoice.read(UBL)
    assert (row.seller_country, row.buyer_country) == ("DE", "DE")
    assert row.line_count == 3
    assert row.iban == "".join(invoice.payment_means[0].credit_transfer.identifier.text.split())
    assert row.payment_terms == invoice.payment_terms[0].note.text
    assert row.order == "B-7788"


def test_read_many_has_the_same_tables_without_validation(monkeypatch):
    files = {"a.xml": COMPLETE, "b.xml": CII, "x/c.xml": CREDIT_NOTE, "d.xml": b"<x/>"}
    results = validate_serially(files)
    monkeypatch.setattr("einvoice.bulk.execution.worker.validate", None)
    invoices = read_serially(files, lang="en")
    for which in ("lines", "vat"):
        pd.testing.assert_frame_equal(invoices.to_frame(which), results.to_frame(which))
    frame, known = invoices.to_frame("files", terms=["BT-84"]), results.to_frame("files", terms=["BT-84"])
    assert list(frame.problem.dropna()) == [it.title() for it in invoices.unreadable.values()]
    assert list(invoices.unreadable) == ["d.xml"]
    common = [name for name in frame.columns if name != "problem"]
    pd.testing.assert_frame_equal(frame[common], known[common])
    assert repr(invoices) == "<InvoiceSet: 4 files, 1 unreadable>"
    assert invoices.to_csv(which="lines", columns=["file", "line"]).splitlines()[1] == "a.xml,1"
    with pytest.raises(ValueError, match="'files', 'lines' or 'vat'"):
        invoices.to_frame("findings")
    with pytest.raises(ValueError, match="'law' needs validated invoices"):
        invoices.to_frame("files", law="de")
    with pytest.raises(FileNotFoundError, match="no files to validate"):
        read_serially({})


@pytest.mark.slow
def test_worker_processes_read_the_same(tmp_path):
    files, _ = make_corpus(20)
    folder = write_files(tmp_path / "in", files)
    for which in ("files", "lines", "vat"):
        pd.testing.assert_frame_equal(
            einvoice.read_many(folder, workers=2, progress=False).to_frame(which), read_serially(folder).to_frame(which)
        )


def test_tables_of_archives_and_subsets_are_in_the_order_of_the_results(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for name in ("b.xml", "a.xml", "c.xml"):
            archive.writestr(name, numbered(ord(name[0])))
    results = validate_serially(tmp_path / "a.zip")
    assert list(dict.fromkeys(results.to_frame("lines").file)) == ["b.xml", "a.xml", "c.xml"]
    assert list(dict.fromkeys(results.take([2, 0]).to_frame("lines").file)) == ["c.xml", "b.xml"]


def test_stored_results_need_their_files(tmp_path):
    folder = write_files(tmp_path / "in", {"a.xml": UBL, "b.xml": CII, "c.xml": b"<x/>"})
    results = validate_serially(folder)
    results.save(tmp_path / "a.jsonl")
    with pytest.raises(LookupError, match=r"2 files are no longer available, such as 'a.xml'; .*files="):
        ResultSet.load(tmp_path / "a.jsonl").to_frame("lines")
    loaded = ResultSet.load(tmp_path / "a.jsonl", files=folder)
    pd.testing.assert_frame_equal(loaded.to_frame("vat"), results.to_frame("vat"))
    (folder / "b.xml").write_bytes(CII + b"\n")
    with pytest.raises(ValueError, match=r"content of 'b\.xml' has changed"):
        ResultSet.load(tmp_path / "a.jsonl", files=folder).to_frame("lines")
    with pytest.raises(LookupError, match="as a list"):
        validate_serially(iter([("a.xml", UBL)])).to_frame("lines")


def test_files_are_read_once_for_several_tables(tmp_path):
    folder = write_files(tmp_path / "in", {"a.xml": UBL})
    results = validate_serially(folder)
    lines = results.to_frame("lines")
    (folder / "a.xml").unlink()
    pd.testing.assert_frame_equal(results.to_frame("lines"), lines)
    assert len(results.to_frame("vat")) == 2


def test_two_files_are_validated_and_read_without_worker_processes(monkeypatch):
    monkeypatch.setattr("einvoice.bulk.execution.executors.ProcessPool", None)
    assert einvoice.validate_many({"a.xml": UBL, "b.xml": CII}, progress=False).is_valid
    assert len(einvoice.read_many({"a.xml": UBL, "b.xml": CII}, progress=False)) == 2


LATE = UBL.replace(b"2026-05-04", b"2026-05-32")
NO_SELLER = UBL.replace(b'"EUR">99.00', b'"EUR">98.99')


def test_tables_have_the_classes_of_a_law():
    files = {"good.xml": UBL, "format.xml": LATE, "sums.xml": NO_SELLER, "unreadable.xml": b"<x/>"}
    results = validate_serially(files)
    frame = results.to_frame("files", law="de").set_index("file")
    single = {name: einvoice.validate(data).assessment("de") for name, data in files.items() if data != b"<x/>"}
    assert dict(frame.assessment.dropna()) == {name: it.kind for name, it in single.items()}
    assert dict(frame.assessment.dropna()) == {
        "good.xml": "e_invoice", "format.xml": "other_invoice", "sums.xml": "e_invoice",
    }  # fmt: skip
    findings = results.to_frame(law="DE")
    classes = set(zip(findings.file, findings.code, findings.error_class, strict=True))
    assert ("sums.xml", "BR-CO-10", "content") in classes or ("sums.xml", "BR-CO-10", "business_rule") in classes
    for name, assessment in single.items():
        of_file = findings[(findings.file == name) & (findings.severity == "fatal")]
        assert list(of_file.error_class.astype(object)) == [it.error_class for it in assessment.errors]
    assert list(results.to_frame(law="de", texts=False).columns)[-1] == "error_class"
    assert list(results.to_frame(law="de", columns=["error_class", "file"]).columns) == ["error_class", "file"]
    assert "error_class" not in results.to_frame()
    with pytest.raises(ValueError, match="argument 'law' must be 'de'"):
        results.to_frame(law="xx")


def test_other_invoices_without_stored_evidence_are_open():
    results = validate_serially({"a.xml": UBL})
    import json

    record = json.loads(results._lines[0])
    (without_layers,) = (
        ResultSet([json.dumps({**record, "layers": []}).encode()], results.settings)
        .to_frame("files", law="de")
        .assessment
    )
    assert without_layers == "open"


def test_tables_of_pdfs(tmp_path):
    generated = einvoice.generate(SAMPLES / "draft.json", "ZUGFERD")
    results = validate_serially({"a.pdf": generated.pdf}, picture=False)
    lines = results.to_frame("lines")
    assert list(lines.net) == [line.net_amount.number for line in einvoice.read(io.BytesIO(generated.pdf)).lines]
    assert lines.date[0].date() == datetime.date.fromisoformat(results[0].date)
