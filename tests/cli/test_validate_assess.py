"""`einvoice validate --assess`."""

import json

import pytest

from einvoice.cli import main
from tests.assessment.cases import INVALID, LARGE, VALID, Case
from tests.helpers.paths import ROOT

GAPS = next(it for it in VALID if it.name == "several gaps")


@pytest.fixture
def file(tmp_path):
    """Return a function that writes the document of a case."""

    def write(case):
        path = tmp_path / "invoice.xml"
        path.write_bytes(case.xml())
        return str(path)

    return write


def test_the_output_without_it_is_the_same(file, capsys):
    """The added lines come after the output, and JSON has one more key."""
    path = file(INVALID[0])
    for option in ([], ["--format", "json"]):
        assert main(["validate", path, "--lang", "en", *option]) == 1
        plain = capsys.readouterr().out
        assert main(["validate", path, "--lang", "en", "--assess", *option]) == 1
        added = capsys.readouterr().out
        if not option:
            assert added.startswith(plain.rstrip("\n"))
            assert "under German VAT law" in added
            assert "German VAT law" not in plain
            continue
        (data,), (before,) = json.loads(added), json.loads(plain)
        assert data["validation_details"].pop("assessment")["kind"] == "e_invoice"
        for it in (data, before):
            del it["processing_time_ms"]
        assert data == before


def test_the_exit_status_is_that_of_the_verdict(file, capsys):
    assert main(["validate", file(GAPS), "--assess", "--lang", "de"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "Der Zeitpunkt der Leistung fehlt" in text
    assert "keine Steuerberatung" in text


def test_items_are_off_by_an_option(file, capsys):
    main(["validate", file(GAPS), "--assess", "--no-items", "--lang", "de"])
    assert "Der Zeitpunkt der Leistung fehlt" not in " ".join(capsys.readouterr().out.split())


def test_an_option_sets_the_law(file, capsys):
    path = file(Case("a buyer in Austria", {**LARGE, "buyer.country_code": "AT"}))
    main(["validate", path, "--assess", "--lang", "en"])
    assert "No assessment" in capsys.readouterr().out
    main(["validate", path, "--assess", "--law", "de", "--lang", "en"])
    assert "is an e-invoice" in capsys.readouterr().out
    main(["validate", path, "--assess", "--format", "json"])
    assert json.loads(capsys.readouterr().out)[0]["validation_details"]["assessment"] is None


@pytest.mark.parametrize(
    "options",
    [
        ["--assess", "--format", "csv"],
        ["--assess", "--format", "jsonl"],
        ["--assess", "--law", "xx"],
        ["--assess", "--summary"],
        ["--law", "de"],
        ["--no-items"],
    ],
)
def test_rejected(file, options, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["validate", file(VALID[0]), *options])
    assert ended.value.code == 2
    assert ("'law' must be 'de', not 'xx'" if "xx" in options else options[0]) in capsys.readouterr().err


def test_several_files_get_a_report_each(file, capsys):
    path = file(VALID[0])
    main(["validate", path, path, "--assess", "--lang", "en"])
    assert capsys.readouterr().out.count("not tax advice") == 2


def test_a_folder_is_rejected(capsys):
    with pytest.raises(SystemExit):
        main(["validate", str(ROOT / "tests" / "samples"), "--assess"])
    assert "--assess" in capsys.readouterr().err
