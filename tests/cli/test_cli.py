"""Command line interface `einvoice`: exit status, formats and commands."""

import csv
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from einvoice.cli import main
from einvoice.cli.formats import FORMATS
from einvoice.code_catalog import catalog
from einvoice.model.terms import name, terms
from tests.helpers.extras import POSIX


@pytest.fixture
def valid(sample):
    return str(sample("ubl-invoice.xml"))


@pytest.fixture
def invalid(sample, tmp_path):
    path = tmp_path / "invalid.xml"
    path.write_bytes(sample("ubl-invoice.xml").read_bytes().replace(b'"EUR">99.00', b'"EUR">98.99'))
    return str(path)


@pytest.fixture
def malformed(tmp_path):
    path = tmp_path / "malformed.xml"
    path.write_bytes(b"<Invoice>\n  <a></b></Invoice>")
    return str(path)


# ---------------------------------------------------------------- exit status


@pytest.mark.parametrize("lang", ["de", "en"])
@pytest.mark.parametrize(
    ("name", "message"),
    {
        "nothing.xml": {"de": "Datei oder Ordner nicht gefunden", "en": "No such file or folder"},
        ".": {"de": "Keine Datei zu prüfen", "en": "No file to validate"},
    }.items(),
)
def test_unreadable_path_message_is_localized(tmp_path, capsys, lang, name, message):
    assert main(["validate", str(tmp_path / name), "--lang", lang]) == 2
    assert message[lang] in capsys.readouterr().err


CONTROLS = "a\x1b[2J\n\x9b31m\u202eb.xml"
"""Name of a file that would clear a terminal, begin a line, and change colour and direction."""


@POSIX
@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("format", ["table", "csv", "github", "junit", "json"])
def test_control_characters_of_file_names_are_marked(invalid, tmp_path, capsys, format, many):
    folder = tmp_path / "in"
    folder.mkdir()
    path = Path(invalid).rename(folder / CONTROLS)
    assert main(["validate", "--format", format, "--lang", "en", str(folder if many else path)]) == 1
    out, err = capsys.readouterr()
    if format == "json":
        assert Path(json.loads(out)[0]["file"]).name == CONTROLS, "a program gets the name as it is"
    else:
        assert "a[U+001B][2J↵[U+009B]31m[U+202E]b.xml" in out
        assert not re.search("[\x1b\x9b\u202e]", out)
    assert not re.search("[\x1b\x9b\u202e]", err)


@pytest.mark.parametrize("command", ["validate", "convert", "fix", "extract", "generate", "embed -o out.pdf"])
def test_control_characters_of_an_argument_are_marked(tmp_path, monkeypatch, capsys, command):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EINVOICE_LANG", "en")
    assert main([*command.split(), CONTROLS, *([CONTROLS] if "embed" in command else [])]) == 2
    printed = "".join(capsys.readouterr())
    assert "a[U+001B][2J↵[U+009B]31m[U+202E]b.xml" in printed
    assert not re.search("[\x1b\x9b\u202e]", printed)


@pytest.mark.parametrize("command", ["convert", "generate"])
def test_unwritable_output_path_is_reported(sample, tmp_path, capsys, command):
    source = sample({"convert": "ubl-invoice.xml", "generate": "draft.json"}[command])
    target = str(tmp_path / "nowhere" / "out.xml")
    assert main([command, str(source), "-o", target]) == 2
    assert capsys.readouterr().err.startswith(f"{target}: Die Datei lässt sich nicht öffnen.")


def test_detected_file_type_is_named_in_the_message(tmp_path, capsys):
    path = tmp_path / "page.xml"
    path.write_bytes(b"<!doctype html><html></html>")
    assert main(["validate", str(path), "--lang", "en"]) == 2
    assert "Found: HTML. Submit" in capsys.readouterr().err


def test_exit_status(valid, invalid, malformed, tmp_path, capsys):
    for arguments, status in (
        ([valid], 0),
        ([invalid], 1),
        ([valid, invalid, valid], 1),
        ([malformed], 2),
        ([malformed, invalid], 2),
        ([invalid, str(tmp_path / "nothing.xml"), valid], 2),
        ([str(tmp_path)], 2),
    ):
        for format_name in FORMATS:
            assert main(["validate", "--format", format_name, *arguments]) == status, (arguments, format_name)
    capsys.readouterr()


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\x89PNG\r\n\x1a\n",
        b"%PDF-1.7",
        b"<Invoice><a>",
        b"<html></html>",
        b"<?xml version='1.0'?><!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>",
        b"<a>" * 100_000,
        b"<a>" + b" " * 11_000_000 + b"</a>",
    ],
    ids=["empty", "png", "pdf", "truncated", "html", "entities", "deep", "big"],
)
@pytest.mark.parametrize("lang", ["de", "en"])
def test_unreadable_documents_are_explained_on_stderr(tmp_path, capsys, content, lang):
    path = tmp_path / "input.xml"
    path.write_bytes(content)
    assert main(["validate", str(path), "--lang", lang]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(str(path))
    assert len(printed.err) > len(str(path)) + 60
    assert ("Datei" in printed.err or "XML" in printed.err) if lang == "de" else " the " in printed.err.lower()
    assert "Traceback" not in printed.err


def test_xml_syntax_error_has_line_and_column(malformed, capsys):
    main(["validate", malformed])
    assert f"{malformed}: Zeile 2, Spalte " in capsys.readouterr().err
    main(["validate", malformed, "--lang", "en"])
    assert f"{malformed}: line 2, column " in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["validate"], ["validate", "x", "--lang", "xx"], ["rules"], ["judge", "x"]])
def test_usage_error_exits_with_2(arguments, capsys):
    with pytest.raises(SystemExit) as exited:
        main(arguments)
    assert exited.value.code == 2
    assert "usage: einvoice" in capsys.readouterr().err


# ---------------------------------------------------------------- formats


def test_table_shows_code_location_title_values_and_fix(invalid, valid, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    main(["validate", valid])
    assert "gültig, keine Befunde" in capsys.readouterr().out
    main(["validate", invalid])
    printed = capsys.readouterr()
    assert printed.err == ""
    assert "\033" not in printed.out
    for part in (
        "nicht gültig, 1 Fehler",
        "BR-CO-10",
        "Zeile 113, BT-106",
        "Fehler: Die Summe der Positionsbeträge stimmt nicht",
        "erwartet 368,99, gefunden 369,00, Differenz 0,01",
        "→ Stimmen alle Positionsbeträge (BT-131), ist BT-106 368,99.",
    ):
        assert part in printed.out
    assert max(map(len, printed.out.splitlines()[1:])) <= 100


def test_table_in_english(invalid, capsys):
    main(["validate", invalid, "--lang", "en"])
    printed = capsys.readouterr().out
    assert "not valid, 1 error\n" in printed
    assert "line 113, BT-106" in printed
    assert "expected 368.99, found 369.00, difference 0.01" in printed


def test_table_has_a_minimum_width(invalid, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    main(["validate", invalid])
    rows = capsys.readouterr().out.splitlines()
    start = next(row.index("Fehler:") for row in rows if "Fehler:" in row)
    assert all(len(row) <= start + 30 for row in rows[3:])


def test_table_marks_indicative_findings(sample, tmp_path, capsys):
    path = tmp_path / "indicative.xml"
    content = sample("ubl-invoice.xml").read_bytes().replace(b'"EUR">99.00', b'"EUR">98.99')
    path.write_bytes(content.replace(b"2026-05-04", b"gestern"))
    main(["validate", str(path)])
    assert "Die Datei entspricht nicht dem XML-Schema" in capsys.readouterr().out


def test_json_is_a_list_of_results_with_filenames(valid, invalid, malformed, capsys):
    main(["validate", "--format", "json", "--lang", "en", valid, invalid, malformed])
    one, two, three = json.loads(capsys.readouterr().out)
    valid, invalid, malformed = (Path(it).as_posix() for it in (valid, invalid, malformed))
    assert (one["file"], one["status"], one["is_valid"], one["errors"]) == (valid, "done", True, [])
    assert (two["file"], two["is_valid"], two["errors"][0]["code"]) == (invalid, False, "BR-CO-10")
    assert two["errors"][0]["title"] == "The line net amounts do not add up"
    assert (three["file"], three["status"], three["is_valid"]) == (malformed, "unreadable", False)
    assert (three["problem"]["code"], three["problem"]["line"]) == ("FILE-XML-TAG", 2)


def test_csv_combines_all_files(valid, invalid, malformed, capsys):
    main(["validate", "--format", "csv", valid, invalid, malformed])
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out, newline="")))
    assert [(row["file"], row["code"], row["line"]) for row in rows] == [
        (Path(invalid).as_posix(), "BR-CO-10", "113"),
        (Path(malformed).as_posix(), "FILE-XML-TAG", "2"),
    ]
    assert rows[0]["difference"] == "0.01"


def test_github_annotations_have_file_and_line(invalid, malformed, capsys):
    main(["validate", "--format", "github", "--lang", "en", invalid, malformed])
    first, second = capsys.readouterr().out.splitlines()
    invalid, malformed = (Path(it).as_posix().replace(":", "%3A") for it in (invalid, malformed))
    assert first.startswith(
        f"::error file={invalid},line=113,col=5,title=BR-CO-10::The line net amounts do not add up%0A"
    )
    assert second.startswith(f"::error file={malformed},line=2,col=")
    assert ",title=FILE-XML-TAG::" in second


@POSIX
def test_github_annotation_properties_are_escaped(sample, tmp_path, capsys):
    path = tmp_path / "50%, a:b.xml"
    path.write_bytes(b"")
    main(["validate", "--format", "github", str(path)])
    assert "file=" + str(tmp_path) + "/50%25%2C a%3Ab.xml,title=FILE-EMPTY::" in capsys.readouterr().out


def test_profile_option_applies_xrechnung_rules(sample, tmp_path, capsys):
    data = sample("ubl-invoice.xml").read_bytes()
    start, end = data.index(b"  <cac:PaymentMeans>"), data.index(b"  <cac:PaymentTerms>")
    core = data[:start] + data[end:]
    core = core.replace(
        b"urn:cen.eu:en16931:2017#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0", b"urn:cen.eu:en16931:2017"
    )
    path = tmp_path / "core.xml"
    path.write_bytes(core)
    assert main(["validate", str(path)]) == 0
    assert main(["validate", str(path), "--profile", "xrechnung"]) == 1
    assert "BR-DE-1 " in capsys.readouterr().out


# ---------------------------------------------------------------- as a subprocess


def run_cli(*arguments, **options):
    command = [sys.executable, "-m", "einvoice.cli", *arguments]
    return subprocess.run(command, capture_output=True, timeout=60, check=False, **options)


@pytest.mark.slow
def test_no_files_are_accepted_on_request_only(capsys):
    with pytest.raises(SystemExit) as raised:
        main(["validate", "--format", "json"])
    assert raised.value.code == 2
    assert "no files to validate" in capsys.readouterr().err
    assert main(["validate", "--format", "json", "--allow-empty"]) == 0
    assert json.loads(capsys.readouterr().out) == []


def test_standard_input_is_validated(invalid):
    with Path(invalid).open("rb") as content:
        done = run_cli("validate", "-", "--format", "json", stdin=content)
    assert done.returncode == 1
    assert json.loads(done.stdout)[0]["errors"][0]["code"] == "BR-CO-10"


@pytest.mark.slow
def test_unencodable_characters_are_replaced(invalid):
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"}
    done = run_cli("validate", invalid, env=environment)
    assert done.returncode == 1
    assert b"nicht g?ltig" in done.stdout
    done = run_cli("validate", invalid, "--format", "json", env=environment)
    assert (
        json.loads(done.stdout.decode("utf-8"))[0]["errors"][0]["title"]
        == "Die Summe der Positionsbeträge stimmt nicht"
    )


@pytest.mark.slow
def test_closed_output_pipe_is_ignored(invalid, tmp_path):
    for number in range(300):
        (tmp_path / f"{number}.xml").hardlink_to(invalid)
    command = [sys.executable, "-m", "einvoice.cli", "validate", "--workers", "0", tmp_path]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        running.stdout.read(1)
        running.stdout.close()
        assert running.stderr.read() == b""


@pytest.mark.slow
@pytest.mark.parametrize(("wanted", "environment"), [(True, {}), (False, {"NO_COLOR": "1"}), (False, {"TERM": "dumb"})])
def test_color_depends_on_terminal_and_environment(invalid, wanted, environment):
    pty = pytest.importorskip("pty")
    command = [sys.executable, "-m", "einvoice.cli", "validate", invalid]
    inherited = {name: value for name, value in os.environ.items() if name != "NO_COLOR"} | {"TERM": "xterm"}
    controller, terminal = pty.openpty()
    with subprocess.Popen(command, stdout=terminal, env=inherited | environment) as running:
        os.close(terminal)
        printed = b""
        while chunk := _read(controller):
            printed += chunk
    os.close(controller)
    assert running.returncode == 1
    assert b"BR-CO-10" in printed
    assert (b"\033[" in printed) is wanted


def _read(descriptor):
    try:
        return os.read(descriptor, 4096)
    except OSError:  # raised on Linux once the other end of the terminal is closed
        return b""


# ---------------------------------------------------------------- other commands


@pytest.mark.parametrize(("lang", "word"), [("de", "Fehler"), ("en", "error")])
def test_explain_prints_the_catalog_entry(capsys, lang, word):
    assert main(["explain", "br-co-10", "--lang", lang]) == 0
    printed = capsys.readouterr().out
    entry = catalog()["BR-CO-10"]
    assert printed.startswith(f"BR-CO-10: {entry.title(lang)}\n{word}, EN 16931\n")
    assert "BT-106" in printed
    assert f" → {entry.fix(lang)}" in " ".join(printed.split())


@pytest.mark.slow
def test_explain_supports_every_code(capsys):
    assert len(catalog()) > 50
    for code in catalog():
        for lang in ("de", "en"):
            assert main(["explain", code, "--lang", lang]) == 0
    assert "{" not in capsys.readouterr().out


def test_explain_suggests_similar_codes(capsys):
    assert main(["explain", "BR-C0-10", "--lang", "en"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "Unknown code BR-C0-10" in printed.err
    assert "BR-CO-10" in printed.err


def test_explain_describes_a_business_term(capsys):
    assert main(["explain", "bt-138", "--lang", "en"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith(
        "BT-138: Invoice line allowance percentage\n  Prozentsatz des Nachlasses auf die Position\n"
    )
    assert "In BG-27 Invoice line allowances" in printed
    assert "invoice.lines.allowances.percentage" in printed
    assert "cac:AllowanceCharge[cbc:ChargeIndicator='false']/cbc:MultiplierFactorNumeric" in printed
    assert (
        "ram:SpecifiedTradeAllowanceCharge[ram:ChargeIndicator/udt:Indicator='false']/ram:CalculationPercent" in printed
    )
    assert f"  PEPPOL-EN16931-R040: {catalog()['PEPPOL-EN16931-R040'].title('en')}\n" in printed
    assert "BR-CO-10" not in printed


@pytest.mark.parametrize("lang", ["de", "en"])
def test_explain_describes_every_term(capsys, lang):
    for number in terms():
        assert main(["explain", number, "--lang", lang]) == 0
        printed = capsys.readouterr().out
        assert printed.startswith(f"{number}: {name(number, lang)}\n")
        assert f"invoice.{terms()[number].path}\n" in printed


def test_explain_says_that_a_syntax_has_no_element(capsys):
    assert main(["explain", "BT-DEX-001", "--lang", "en"]) == 0  # of the extension, which is for UBL only
    printed = capsys.readouterr().out
    assert re.search(r"UBL +/\*/cac:PrepaidPayment/cbc:ID\n", printed)
    assert re.search(r"CII +no element of its own\n", printed)


def test_explain_suggests_a_similar_term(capsys):
    assert main(["explain", "BT-1311", "--lang", "de"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "Unbekannter Geschäftsbegriff BT-1311" in printed.err
    assert "BT-131 Nettobetrag" in printed.err


def test_rules_check_without_problems_prints_nothing(capsys, monkeypatch):
    monkeypatch.setattr("einvoice.authoring.check.check_all", lambda **options: [])
    assert main(["rules", "check"]) == 0
    assert capsys.readouterr().out == ""


def test_rules_check_reports_file_and_key(tmp_path, capsys):
    rule_set = tmp_path / "own"
    rule_set.mkdir()
    keys = 'kind = "cius"\nbase = "en16931"\nname = "Own"\nversions = []\n'
    (rule_set / "ruleset.toml").write_text(f'{keys}[title]\nde = "x"\nen = "x"\n')
    assert main(["rules", "check", str(tmp_path)]) == 1
    assert "own/ruleset.toml, versions" in capsys.readouterr().out


def test_version(capsys):
    with pytest.raises(SystemExit) as exited:
        main(["--version"])
    assert exited.value.code == 0
    assert capsys.readouterr().out.startswith("einvoice ")


# ---------------------------------------------------------------- rules by release


OLDER = b"urn:cen.eu:en16931:2017#compliant#urn:xoev-de:kosit:standard:xrechnung_2.3"


def test_compatibility_mode_prints_differences_to_the_current_release(sample, tmp_path, capsys):
    content = sample("ubl-invoice.xml").read_bytes()
    older = tmp_path / "older.xml"
    older.write_bytes(
        re.sub(rb"<cbc:EndpointID[^>]*>[^<]*</cbc:EndpointID>", b"", content, count=1).replace(
            re.search(rb"CustomizationID>([^<]*)", content)[1], OLDER
        )
    )
    assert main(["validate", str(older), "--lang", "en"]) == 1
    capsys.readouterr()
    assert main(["validate", str(older), "--lang", "en", "--mode", "compatibility"]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    printed = printed[printed.index("Different under the current rule set:") :]
    assert "PEPPOL-EN16931-R020" in printed
    assert "[new in XRechnung 3.0.0 (2.0.0)]" in printed
    assert main(["validate", str(older), "--ruleset", "xrechnung-2.3.1"]) == 0
    assert main(["validate", str(older), "--as-of", "2023-12-31"]) == 0


def test_unknown_rule_set_error_lists_the_valid_names(valid, capsys):
    assert main(["validate", str(valid), "--ruleset", "xrechnung-9"]) == 2
    assert "xrechnung-2.0.1" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize(("lang", "word"), [("de", "Neu: "), ("en", "Added: ")])
def test_rules_diff_prints_changes(capsys, lang, word):
    assert main(["rules", "diff", "xrechnung", "2.3.1", "3.0.2", "--lang", lang]) == 0
    printed = capsys.readouterr().out
    added = printed[printed.index(word) : printed.index("\n\n", printed.index(word))]
    assert "PEPPOL-EN16931-R020" in added
    assert catalog()["PEPPOL-EN16931-R020"].title(lang) in added
    assert main(["rules", "diff", "en16931", "1.3.15", "1.3.16", "--lang", lang]) == 0
    printed = capsys.readouterr().out
    assert "CII-SR-467" in printed
    assert "BR-CL-25" in printed
    assert "BR-01" not in printed.split()


def test_rules_diff_with_unknown_release_lists_the_valid_ones(capsys):
    assert main(["rules", "diff", "xrechnung", "2.3.1", "9"]) == 2
    assert "xrechnung-3.0.2" in capsys.readouterr().err
