"""`einvoice validate --causes`."""

import pytest

from einvoice.cli import main

ADDED = {
    "de": "Rechnungsbetrag mit Umsatzsteuer (BT-112) ist „41,33“, stimmig wäre „415,33“. (BR-CO-15, BR-CO-16)",
    "en": "Invoice total amount with VAT (BT-112) is “41.33”, where “415.33” would be consistent. (BR-CO-15, BR-CO-16)",
}
HEADING = {"de": "1 Ursache, 2 Befunde", "en": "1 cause, 2 findings"}


@pytest.fixture
def faulty(sample, tmp_path):
    """An invoice with a wrong total with VAT."""
    path = tmp_path / "invoice.xml"
    path.write_bytes(sample("ubl-invoice.xml").read_bytes().replace(b">415.33<", b">41.33<"))
    return path


@pytest.mark.parametrize("lang", ADDED)
def test_the_table_states_the_causes(faulty, lang, capsys):
    assert main(["validate", str(faulty), "--causes", "--lang", lang]) == 1
    causes = " ".join(capsys.readouterr().out.partition(HEADING[lang])[2].split())
    assert ADDED[lang] in causes
    assert "→" in causes


def test_the_only_cause_does_not_repeat_the_title_of_its_finding(sample, tmp_path, capsys):
    path = tmp_path / "invoice.xml"
    path.write_bytes(sample("ubl-invoice.xml").read_bytes().replace(b' unitCode="HUR"', b""))
    main(["validate", str(path), "--causes", "--lang", "en"])
    out = capsys.readouterr().out
    assert "1 cause, 1 finding" in out
    assert out.count("The unit of measure of a line is missing") == 1


def test_causes_do_not_repeat_the_titles_of_their_findings(sample, tmp_path, capsys):
    path = tmp_path / "invoice.xml"
    text = sample("ubl-invoice.xml").read_bytes().replace(b' unitCode="HUR"', b"").replace(b">415.33<", b">41.33<")
    path.write_bytes(text)
    main(["validate", str(path), "--causes", "--lang", "en"])
    out = " ".join(capsys.readouterr().out.split())
    assert out.count("The unit of measure of a line is missing") == 1
    assert "where “415.33” would be consistent" in out
    assert "One cause is already stated with its finding." in out


def test_causes_on_request_only(faulty, capsys):
    main(["validate", str(faulty), "--lang", "en"])
    assert "Causes" not in capsys.readouterr().out


@pytest.mark.parametrize("option", [["--format", "json"], ["--format", "csv"], ["--format", "sarif"]])
def test_other_reports_have_no_causes(faulty, option, capsys):
    with pytest.raises(SystemExit):
        main(["validate", str(faulty), "--causes", *option])
    assert "--causes" in capsys.readouterr().err


@pytest.mark.parametrize("lang", ["de", "en"])
def test_the_most_frequent_causes_of_a_folder(faulty, sample, lang, capsys):
    text = sample("ubl-invoice.xml").read_bytes()
    for number in range(2):
        wrong = text.replace(b">EUR</cbc:DocumentCurrencyCode>", b">eur</cbc:DocumentCurrencyCode>")
        (faulty.parent / f"{number}.xml").write_bytes(wrong)
    (faulty.parent / "valid.xml").write_bytes(text)
    assert main(["validate", str(faulty.parent), "--causes", "--summary", "--workers", "0", "--lang", lang]) == 1
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert {
        "de": "2 4 2 Code der Rechnungswährung (BT-5) von „eur“ in „EUR“ ändern",
        "en": "2 4 2 Change invoice currency code (BT-5) from “eur” to “EUR”",
    }[lang] in lines
    assert any(line.startswith("1 2 1 ") and "(BT-112)" in line for line in lines)


def test_causes_of_a_folder_on_request_only(faulty, capsys):
    main(["validate", str(faulty.parent), "--summary", "--lang", "en"])
    assert "BT-112" not in capsys.readouterr().out
