"""Bulk validation: verdicts, options and unreadable files."""

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

import einvoice
from einvoice.bulk.record import MAX_FINDINGS, VERDICTS
from tests.helpers.corpora import CII, REPLACEMENTS, UBL, make_corpus, validate_serially, write_files
from tests.helpers.extras import POSIX

FILES, CODES = make_corpus(150)


@pytest.fixture(scope="module")
def single():
    """Verdict of each file validated separately."""

    def verdict(data):
        try:
            return "valid" if einvoice.validate(data).is_valid else "invalid"
        except einvoice.UnreadableDocument:
            return "unreadable"

    return {name: verdict(data) for name, data in FILES.items()}


@pytest.fixture(scope="module")
def results():
    return einvoice.validate_many(FILES, workers=2, progress=False)


def test_findings_are_exactly_the_planted_errors(results):
    assert set(CODES.values()) == set(REPLACEMENTS)
    found = {file.file: {finding.code for finding in file.findings} for file in results if file.errors}
    assert found == {name: {code} for name, code in CODES.items()}


def test_verdicts_equal_single_validation_in_order(results, single):
    assert [(file.file, file.verdict) for file in results] == list(single.items())
    assert {verdict: list(single.values()).count(verdict) for verdict in VERDICTS} == results.verdicts


def test_serial_threads_and_processes_give_equal_results(results):
    assert validate_serially(FILES) == results
    with ThreadPoolExecutor(3) as threads:
        assert einvoice.validate_many(FILES, executor=threads, progress=False) == results
        assert threads.submit(int).result() == 0  # the executor is not shut down


def test_findings_equal_single_validation(results):
    for name in CODES:
        if results[name].verdict == "invalid":
            separate_result = einvoice.validate(FILES[name])
            assert results[name].findings == separate_result.findings
            for stored, separate in zip(results[name].findings, separate_result.findings, strict=True):
                assert stored.to_dict("en") == separate.to_dict("en")


@pytest.mark.parametrize("data", [UBL, CII])
def test_invoice_fields_equal_those_of_the_invoice(data):
    (file,) = validate_serially([("a.xml", data)])
    invoice = einvoice.read(data)
    assert (file.seller, file.seller_vat) == (invoice.seller.name.text, invoice.seller.vat_identifier.text)
    assert (file.buyer, file.number, file.currency) == (invoice.buyer.name.text, invoice.number.text, "EUR")
    assert file.date == invoice.issue_date.date.isoformat()
    assert (file.net, file.vat, file.gross) == (
        invoice.totals.net.number,
        invoice.vat_total.number,
        invoice.totals.gross.number,
    )
    assert (file.profile, file.version) == ("XRechnung", "3.0")


@pytest.mark.parametrize("options", [{"lang": "xx"}, {"mode": "x"}, {"profile": "x"}, {"ruleset": "x"}])
def test_invalid_options_are_rejected_at_once(options):
    with pytest.raises(ValueError, match=r"must be|unknown rule set 'x'"):
        validate_serially(FILES, **options)
    with pytest.raises(ValueError, match="'workers' must be 0"):
        einvoice.validate_many(FILES, workers=-1)
    with pytest.raises(ValueError, match="mutually exclusive"):
        einvoice.validate_many(FILES, workers=1, client=object())
    with pytest.raises(FileNotFoundError):
        validate_serially("no/such/folder")


@POSIX
def test_unreadable_files_are_reported_per_file(tmp_path):
    write_files(
        tmp_path, {"empty.xml": b"", "text.xml": b"hello", "cut.xml": UBL[:2000], "large.xml": b" " * 10_485_761}
    )
    (tmp_path / "folder.xml").mkdir()
    (tmp_path / "gone.xml").symlink_to("nowhere")
    os.mkfifo(tmp_path / "pipe.xml")
    paths = [tmp_path / name for name in ("folder.xml", "gone.xml", "pipe.xml", "a\0b.xml", "x" * 300)]
    found = {file.file: file.findings[0].code for file in validate_serially([*paths, *tmp_path.glob("[ectl]*.xml")])}
    assert found == {
        "folder.xml": "FILE-OPEN",
        "gone.xml": "FILE-OPEN",
        "pipe.xml": "FILE-OPEN",
        "a\0b.xml": "FILE-OPEN",
        "x" * 300: "FILE-OPEN",
        "empty.xml": "FILE-EMPTY",
        "text.xml": "FILE-FORMAT",
        "cut.xml": "FILE-XML-END",
        "large.xml": "FILE-SIZE",
    }


@POSIX
def test_non_utf8_names_are_escaped(tmp_path):
    path = os.fsencode(tmp_path) + b"/\xff.xml"
    with open(path, "wb") as file:  # noqa: PTH123 (a name as bytes)
        file.write(UBL)
    results = validate_serially(tmp_path)
    assert [file.file for file in results] == ["\\xff.xml"]
    assert results.is_valid
    assert results.result("\\xff.xml").is_valid


def test_internal_error_affects_one_file_only(monkeypatch):
    def raise_for_cii(data, **options):
        if data == CII:
            raise RecursionError
        return einvoice.validate(data, **options)

    monkeypatch.setattr("einvoice.bulk.execution.worker.validate", raise_for_cii)
    results = validate_serially([("a", UBL), ("b", CII), ("c", UBL)])
    assert [file.verdict for file in results] == ["valid", "unreadable", "valid"]
    assert results["b"].findings[0].code == "FILE-WORKER"
    assert "RecursionError" in results["b"].findings[0].explanation("en")


def test_stored_findings_are_limited_and_all_are_counted():
    line = UBL[UBL.index(b"<cac:InvoiceLine>") : UBL.index(b"</cac:InvoiceLine>") + 18]
    unnamed = line.replace(b"<cbc:Name>", b"<!--").replace(b"</cbc:Name>", b"-->")
    (file,) = validate_serially([("a", UBL.replace(line, unnamed * (MAX_FINDINGS + 50), 1))])
    assert len(file.findings) < MAX_FINDINGS
    assert file.errors > MAX_FINDINGS + 49


@pytest.mark.slow
def test_workers_use_the_pinned_release(monkeypatch):
    monkeypatch.setenv("EINVOICE_RULESET", "xrechnung-2.0.1")
    pinned = einvoice.validate_many(FILES, workers=1, progress=False)
    assert pinned == validate_serially(FILES)
    monkeypatch.delenv("EINVOICE_RULESET")
    assert pinned != validate_serially(FILES)
    monkeypatch.setenv("EINVOICE_RULESET", "x")
    with pytest.raises(ValueError, match="EINVOICE_RULESET"):
        validate_serially(FILES)
