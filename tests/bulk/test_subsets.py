"""Subsets, groups, thresholds and duplicates of results."""

from decimal import Decimal

import pandas as pd
import pytest

import einvoice
from einvoice.bulk import ResultSet
from tests.helpers.corpora import CII, UBL, make_corpus, validate_serially, with_error, write_files
from tests.helpers.paths import SAMPLES

CREDIT_NOTE = (SAMPLES / "ubl-credit-note.xml").read_bytes()
WRONG = with_error("BR-CO-10", UBL)


def names(results):
    return [file.file for file in results]


def test_a_mask_selects_files(results):
    files = results.to_frame("files")
    large = files.gross > 400
    assert large.isna().any()  # unreadable files have no amount
    expected = [file.file for file in results if file.gross and file.gross > 400]
    assert expected
    assert names(results[large]) == expected
    assert names(results[files.sort_values("gross").gross > 400]) == expected  # in the order of the results
    assert names(results[large.fillna(False).to_numpy(dtype=bool)]) == expected
    assert names(results[[file.file in expected for file in results]]) == expected
    with pytest.raises(IndexError, match=f"1 values for {len(results)} files"):
        results[[True]]


def test_names_and_positions_select_files(results):
    order = [results[3].file, results[0].file]
    assert names(results[order]) == names(results[pd.Series(order)]) == names(results[[3, 0]]) == order
    assert names(results[[-1]]) == [results[-1].file]
    assert len(results[[]]) == len(results[[False] * len(results)]) == 0
    with pytest.raises(KeyError, match="missing"):
        results[["missing.xml"]]
    with pytest.raises(TypeError):
        results[1.5]


def test_filter_takes_facts_patterns_and_functions(results):
    assert names(results.filter(folder="1")) == [file.file for file in results if file.folder == "1"]
    assert names(results.filter(file="*/000?.xml", verdict="invalid")) == [
        file.file for file in results.select("invalid") if file.file[2:6] < "0010"
    ]
    assert names(results.filter(folder=["0", "2"])) == [file.file for file in results if file.folder in "02"]
    assert names(results.filter(gross=Decimal("415.33"))) == [
        it.file for it in results if it.gross == Decimal("415.33")
    ]
    assert names(results.filter(lambda it: it.errors, month="2026-05")) == [
        it.file for it in results if it.errors and it.date[:7] == "2026-05" and it.date != "2026-05-32"
    ]
    with pytest.raises(ValueError, match="unknown fact 'vendor'"):
        results.filter(vendor="x")


def test_select_takes_patterns_of_codes(results):
    assert names(results.select(code="SCHEMA-*")) == names(results.select(code="SCHEMA-VALUE-DATE"))
    assert len(results.select(code="BR-S-*")) == 0  # a pattern of known codes
    with pytest.raises(ValueError, match="unknown code 'BR-XX-\\*'"):
        results.select(code="BR-XX-*")


def test_results_can_be_added(tmp_path):
    one, other = validate_serially({"a.xml": UBL}), validate_serially({"b.xml": WRONG})
    both = one + other
    assert names(both) == ["a.xml", "b.xml"]
    assert both == validate_serially({"a.xml": UBL, "b.xml": WRONG})
    assert both.result("b.xml").errors
    assert len(both.to_frame("vat")) == 4
    interrupted = ResultSet(other._lines, other.settings, complete=False)
    assert not (one + interrupted).complete
    with pytest.raises(ValueError, match=r"both results have a file 'a\.xml'; .*validate_many"):
        one + one
    with pytest.raises(ValueError, match="other settings: ruleset"):
        one + validate_serially({"b.xml": UBL}, ruleset="xrechnung-2.3.1")
    with pytest.raises(TypeError):
        one + 1


FILES = {
    "x/1.xml": UBL,
    "x/2.xml": WRONG,
    "x/3.xml": WRONG.replace(b"Lindenhof Gartenbau GmbH", b"Holm KG").replace(b"2026-05-04", b"2026-06-04"),
    "y/4.xml": b"<x/>",
}


def test_results_by_fact():
    results = validate_serially(FILES, lang="en")
    by_folder = {it.name: it for it in results.summary("folder")}
    assert [it.name for it in results.summary("folder")] == ["x", "y"]
    assert (by_folder["x"].files, by_folder["x"].invalid, by_folder["x"].unreadable) == (3, 2, 0)
    assert by_folder["x"].invalid_share == Decimal("66.7")
    assert by_folder["x"].at_stake == {"EUR": 2 * results["x/2.xml"].gross}
    assert (by_folder["y"].invalid_share, by_folder["y"].at_stake) == (Decimal("100.0"), {})
    assert [it.name for it in results.summary("month")] == ["", "2026-05", "2026-06"]
    assert {it.name for it in results.summary("seller")} == {"", "Holm KG", "Lindenhof Gartenbau GmbH"}
    assert {it.name: it.files for it in results.summary(lambda file: file.verdict)} == {
        "valid": 1, "invalid": 2, "unreadable": 1,
    }  # fmt: skip
    frame = results.summary("folder").to_frame()
    assert list(frame.columns) == [
        "folder", "files", "invalid", "unreadable", "invalid_share", "currency", "amount_at_stake",
    ]  # fmt: skip
    assert frame.amount_at_stake[0] == 2 * results["x/2.xml"].gross
    assert frame.amount_at_stake.isna()[1]
    with pytest.raises(ValueError, match="unknown fact 'sellers'"):
        results.summary("sellers")


def written_by(software, content=UBL):
    return content.replace(b"<Invoice", f"<!-- generated by {software} --><Invoice".encode(), 1)


@pytest.mark.parametrize(("lang", "unknown"), [("en", "unknown"), ("de", "unbekannt"), ("fr", "inconnu")])
def test_results_by_software(lang, unknown):
    files = {
        "1.xml": written_by("Faktura 7"),
        "2.xml": written_by("Faktura 7", WRONG),
        "3.xml": WRONG,
        "4.xml": b"<x/>",
    }
    results = validate_serially(files, lang=lang)
    groups = results.summary(by="software")
    assert {it.name: (it.files, it.invalid, it.unreadable) for it in groups} == {"Faktura 7": (2, 1, 0), "": (2, 1, 1)}
    for text in (str(groups), groups._repr_html_()):
        assert unknown in text
    assert list(results.to_frame("files").software.dropna()) == ["Faktura 7"] * 2
    assert names(results.filter(software="Faktura*")) == ["1.xml", "2.xml"]
    read = einvoice.read_many(list(files.items()), workers=0, progress=False)
    assert list(read.to_frame("files").software.dropna()) == ["Faktura 7"] * 2


@pytest.mark.parametrize(
    ("lang", "words"),
    [
        ("en", ("Seller", "66.7 %", "830.66 EUR", "(not stated)")),
        ("de", ("Verkäufer", "66,7 %", "830,66 EUR", "(ohne Angabe)")),
    ],
)
def test_groups_are_shown_in_the_language(lang, words):
    results = validate_serially({**FILES, "x/3.xml": WRONG}, lang=lang)
    for text in (str(results.summary("seller")), results.summary("seller")._repr_html_()):
        for word in words:
            assert word in text


def test_credit_notes_reduce_the_amount_at_stake():
    wrong = CREDIT_NOTE.replace(b"<cbc:BuyerReference>", b"<!--").replace(b"</cbc:BuyerReference>", b"-->")
    (group,) = validate_serially({"a.xml": WRONG, "b.xml": wrong}).summary("folder")
    invoice, note = (einvoice.read(it).totals.gross.number for it in (WRONG, wrong))
    assert (group.invalid, group.at_stake) == (2, {"EUR": invoice - note})


def test_enough_files_must_be_valid():
    results = validate_serially({"a.xml": UBL, "b.xml": CII, "c.xml": WRONG}, lang="en")
    results.assert_valid(share=0.66)
    results.select("valid").assert_valid()
    with pytest.raises(AssertionError, match=r"2 of 3 files are valid \(66\.6 %\); required are 67 %") as raised:
        results.assert_valid(share=0.67)
    assert "BR-CO-10" in str(raised.value)
    with pytest.raises(AssertionError, match="required are 100 %"):
        results.assert_valid()
    with pytest.raises(AssertionError, match="0 Dateien"):
        validate_serially({}, allow_empty=True).assert_valid(share=0)
    with pytest.raises(AssertionError, match="interrupted"):
        ResultSet(results._lines, results.settings, complete=False, lang="en").assert_valid(share=0)
    with pytest.raises(ValueError, match="between 0 and 1"):
        results.assert_valid(share=95)


IBAN = b"DE02120300000000202051"
OTHER_IBAN = b"DE02500105170137075030"


def test_duplicates():
    data = UBL
    assert IBAN in data
    copy = data.replace(b"LG-2026-0417", b"LG-2026-0418")
    later = copy.replace(b"2026-05-04", b"2026-05-05").replace(IBAN, OTHER_IBAN).replace(b"0418", b"0419")
    stranger = data.replace(b"Lindenhof Gartenbau GmbH", b"Holm KG").replace(b"DE123456789", b"DE444555662")
    files = {"a.xml": data, "a-2.xml": data, "b.xml": copy, "c.xml": later, "d.xml": b"<x/>"}
    for invoices in (validate_serially(files), einvoice.read_many(files, workers=0, progress=False)):
        by_number = invoices.duplicates()
        assert list(zip(by_number.group, by_number.file, strict=True)) == [(1, "a.xml"), (1, "a-2.xml")]
        assert by_number.sha256.nunique() == 1
        assert list(invoices.duplicates("amount").file) == ["a.xml", "a-2.xml", "b.xml"]
        assert list(invoices.duplicates("iban").file) == ["a.xml", "c.xml"]
        assert list(invoices.duplicates("iban").iban) == [IBAN.decode(), OTHER_IBAN.decode()]
        with pytest.raises(ValueError, match="unknown value of 'by' 'date'"):
            invoices.duplicates("date")
    assert stranger != data
    assert len(validate_serially({"a.xml": data, "b.xml": stranger}).duplicates()) == 0


def test_an_invoice_and_its_credit_note_are_no_duplicates():
    note = UBL.replace(b"<cbc:InvoiceTypeCode>380<", b"<cbc:InvoiceTypeCode>381<").replace(b"LG-2026-0417", b"LG-1")
    assert len(validate_serially({"a.xml": UBL, "b.xml": note}).duplicates("amount")) == 0


def test_subsets_keep_their_files(tmp_path):
    folder = write_files(tmp_path / "in", make_corpus(8)[0])
    results = validate_serially(folder)
    subset = results[results.to_frame("files").verdict == "valid"]
    assert set(subset.to_frame("lines").file) == set(names(subset))
