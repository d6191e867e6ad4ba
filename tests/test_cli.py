"""The command `einvoice`."""

import csv
import io
import json
import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from einvoice.cli import main
from einvoice.cli.formats import FORMATS
from einvoice.rulebook.catalog import catalog


@pytest.fixture
def good(sample):
    return str(sample("ubl-invoice.xml"))


@pytest.fixture
def bad(sample, tmp_path):
    path = tmp_path / "bad.xml"
    path.write_bytes(sample("ubl-invoice.xml").read_bytes().replace(b'"EUR">99.00', b'"EUR">98.99'))
    return str(path)


@pytest.fixture
def broken(tmp_path):
    path = tmp_path / "broken.xml"
    path.write_bytes(b"<Invoice>\n  <a></b></Invoice>")
    return str(path)


# ---------------------------------------------------------------- exit status


@pytest.mark.parametrize("lang", ["de", "en"])
@pytest.mark.parametrize(
    ("name", "said"),
    {
        "nothing.xml": {"de": "Datei oder Ordner nicht gefunden", "en": "No such file or folder"},
        ".": {"de": "Das ist ein Ordner, keine Datei.", "en": "This is a folder, not a file."},
    }.items(),
)
def test_why_a_file_cannot_be_opened_is_said_in_the_reader_s_language(tmp_path, capsys, lang, name, said):
    assert main(["validate", str(tmp_path / name), "--lang", lang]) == 2
    assert said[lang] in capsys.readouterr().err


@pytest.mark.parametrize("command", ["convert", "generate"])
def test_where_nothing_can_be_written_is_told(sample, tmp_path, capsys, command):
    source = sample({"convert": "ubl-invoice.xml", "generate": "draft.json"}[command])
    place = str(tmp_path / "nowhere" / "out.xml")
    assert main([command, str(source), "-o", place]) == 2
    assert capsys.readouterr().err.startswith(f"{place}: Die Datei lässt sich nicht öffnen.")


def test_what_a_file_is_ends_its_sentence(tmp_path, capsys):
    path = tmp_path / "page.xml"
    path.write_bytes(b"<!doctype html><html></html>")
    assert main(["validate", str(path), "--lang", "en"]) == 2
    assert "Found: HTML. Submit" in capsys.readouterr().err


def test_valid_is_0_findings_are_1_unreadable_is_2(good, bad, broken, tmp_path, capsys):
    for files, status in (
        ([good], 0),
        ([bad], 1),
        ([good, bad, good], 1),
        ([broken], 2),
        ([broken, bad], 2),
        ([bad, str(tmp_path / "nothing.xml"), good], 2),
        ([str(tmp_path)], 2),
    ):
        for name in FORMATS:
            assert main(["validate", "--format", name, *files]) == status, (files, name)
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
def test_what_cannot_be_read_is_explained_on_the_error_stream(tmp_path, capsys, content, lang):
    path = tmp_path / "input.xml"
    path.write_bytes(content)
    assert main(["validate", str(path), "--lang", lang]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(str(path))
    assert len(printed.err) > len(str(path)) + 60
    assert ("Datei" in printed.err or "XML" in printed.err) if lang == "de" else " the " in printed.err.lower()
    assert "Traceback" not in printed.err


def test_the_place_of_a_breach_of_xml_is_told(broken, capsys):
    main(["validate", broken])
    assert f"{broken}: Zeile 2, Spalte " in capsys.readouterr().err
    main(["validate", broken, "--lang", "en"])
    assert f"{broken}: line 2, column " in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["validate"], ["validate", "x", "--lang", "fr"], ["rules"], ["judge", "x"]])
def test_a_wrong_command_line_is_2(arguments, capsys):
    with pytest.raises(SystemExit) as left:
        main(arguments)
    assert left.value.code == 2
    assert "usage: einvoice" in capsys.readouterr().err


# ---------------------------------------------------------------- formats


def test_the_table_has_code_place_title_numbers_and_fix(bad, good, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "100")
    main(["validate", bad, good])
    printed = capsys.readouterr()
    assert printed.err == ""
    assert "\033" not in printed.out
    for part in (
        "nicht gültig, 1 Fehler",
        "BR-CO-10",
        "Zeile 113, BT-106",
        "Fehler: Die Summe der Positionsbeträge stimmt nicht",
        "erwartet 368,99, gefunden 369,00, Differenz 0,01",
        "→ BT-106 auf 368,99 setzen",
        "gültig, keine Befunde",
    ):
        assert part in printed.out
    assert max(map(len, printed.out.splitlines()[1:])) <= 100


def test_the_table_speaks_english(bad, capsys):
    main(["validate", bad, "--lang", "en"])
    out = capsys.readouterr().out
    assert "not valid, 1 error\n" in out
    assert "line 113, BT-106" in out
    assert "expected 368.99, found 369.00, difference 0.01" in out


def test_the_table_stays_readable_in_a_narrow_window(bad, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    main(["validate", bad])
    rows = capsys.readouterr().out.splitlines()
    start = next(row.index("Fehler:") for row in rows if "Fehler:" in row)
    assert all(len(row) <= start + 30 for row in rows[3:])


def test_the_table_says_that_findings_are_indicative(sample, tmp_path, capsys):
    path = tmp_path / "indicative.xml"
    wrong = sample("ubl-invoice.xml").read_bytes().replace(b'"EUR">99.00', b'"EUR">98.99')
    path.write_bytes(wrong.replace(b"2026-05-04", b"gestern"))
    main(["validate", str(path)])
    assert "Die Datei entspricht nicht dem XML-Schema" in capsys.readouterr().out


def test_json_is_a_list_of_answers_with_their_files(good, bad, broken, capsys):
    main(["validate", "--format", "json", "--lang", "en", good, bad, broken])
    one, two, three = json.loads(capsys.readouterr().out)
    assert (one["file"], one["status"], one["is_valid"], one["errors"]) == (good, "done", True, [])
    assert (two["file"], two["is_valid"], two["errors"][0]["code"]) == (bad, False, "BR-CO-10")
    assert two["errors"][0]["title"] == "The line net amounts do not add up"
    assert (three["file"], three["status"], three["is_valid"]) == (broken, "unreadable", False)
    assert (three["problem"]["code"], three["problem"]["line"]) == ("FILE-XML-TAG", 2)


def test_csv_is_one_table_of_all_files(good, bad, broken, capsys):
    main(["validate", "--format", "csv", good, bad, broken])
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out, newline="")))
    assert [(row["file"], row["code"], row["line"]) for row in rows] == [
        (bad, "BR-CO-10", "113"),
        (broken, "FILE-XML-TAG", "2"),
    ]
    assert rows[0]["difference"] == "0.01"


def test_github_shows_annotations_beside_the_lines(bad, broken, capsys):
    main(["validate", "--format", "github", "--lang", "en", bad, broken])
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith(f"::error file={bad},line=113,col=5,title=BR-CO-10::The line net amounts do not add up%0A")
    assert second.startswith(f"::error file={broken},line=2,col=")
    assert ",title=FILE-XML-TAG::" in second


def test_github_properties_are_escaped(sample, tmp_path, capsys):
    path = tmp_path / "50%, a:b.xml"
    path.write_bytes(b"")
    main(["validate", "--format", "github", str(path)])
    assert "file=" + str(tmp_path) + "/50%25%2C a%3Ab.xml,title=FILE-EMPTY::" in capsys.readouterr().out


def test_profile_judges_by_xrechnung(sample, tmp_path, capsys):
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


# ---------------------------------------------------------------- as a process


def process(*arguments, **how):
    command = [sys.executable, "-m", "einvoice.cli", *arguments]
    return subprocess.run(command, capture_output=True, timeout=60, check=False, **how)


@pytest.mark.slow
def test_the_standard_input_can_be_judged(bad):
    with Path(bad).open("rb") as content:
        done = process("validate", "-", "--format", "json", stdin=content)
    assert done.returncode == 1
    assert json.loads(done.stdout)[0]["errors"][0]["code"] == "BR-CO-10"


@pytest.mark.slow
def test_a_terminal_that_knows_no_umlauts_gets_something(bad):
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"}
    done = process("validate", bad, env=environment)
    assert done.returncode == 1
    assert b"nicht g?ltig" in done.stdout
    done = process("validate", bad, "--format", "json", env=environment)
    assert (
        json.loads(done.stdout.decode("utf-8"))[0]["errors"][0]["title"]
        == "Die Summe der Positionsbeträge stimmt nicht"
    )


@pytest.mark.slow
def test_a_reader_that_leaves_early_is_no_error_of_ours(bad):
    command = [sys.executable, "-m", "einvoice.cli", "validate", *[bad] * 300]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        running.stdout.read(1)
        running.stdout.close()
        assert running.stderr.read() == b""


@pytest.mark.slow
@pytest.mark.parametrize(("wanted", "environment"), [(True, {}), (False, {"NO_COLOR": "1"}), (False, {"TERM": "dumb"})])
def test_colour_is_for_terminals_that_want_it(bad, wanted, environment):
    command = [sys.executable, "-m", "einvoice.cli", "validate", bad]
    plain = {name: value for name, value in os.environ.items() if name != "NO_COLOR"} | {"TERM": "xterm"}
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, stdout=theirs, env=plain | environment) as running:
        os.close(theirs)
        printed = b""
        while chunk := _read(ours):
            printed += chunk
    os.close(ours)
    assert running.returncode == 1
    assert b"BR-CO-10" in printed
    assert (b"\033[" in printed) is wanted


def _read(descriptor):
    try:
        return os.read(descriptor, 4096)
    except OSError:  # what Linux says when the other end of a terminal is closed
        return b""


# ---------------------------------------------------------------- the other commands


@pytest.mark.parametrize(("lang", "word"), [("de", "Fehler"), ("en", "error")])
def test_explain_says_what_the_catalog_knows(capsys, lang, word):
    assert main(["explain", "br-co-10", "--lang", lang]) == 0
    out = capsys.readouterr().out
    entry = catalog()["BR-CO-10"]
    assert out.startswith(f"BR-CO-10: {entry.title(lang)}\n{word}, en16931\n")
    assert "BT-106" in out
    assert f" → {entry.fix(lang)}" in " ".join(out.split())


def test_every_code_can_be_explained(capsys):
    assert len(catalog()) > 50
    for code in catalog():
        for lang in ("de", "en"):
            assert main(["explain", code, "--lang", lang]) == 0
    assert "{" not in capsys.readouterr().out


def test_explain_names_what_was_perhaps_meant(capsys):
    assert main(["explain", "BR-C0-10", "--lang", "en"]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert "Unknown code BR-C0-10" in printed.err
    assert "BR-CO-10" in printed.err


def test_rules_check_passes_on_what_is_shipped(capsys, monkeypatch):
    monkeypatch.setattr("einvoice.rulebook.check.check_all", lambda folder: [])
    assert main(["rules", "check"]) == 0
    assert capsys.readouterr().out == ""


def test_rules_check_names_file_key_and_column(tmp_path, capsys):
    home = tmp_path / "own"
    home.mkdir()
    (home / "ruleset.toml").write_text('layer = "own"\nversions = []\n[title]\nde = "x"\nen = "x"\n')
    assert main(["rules", "check", "--folder", str(tmp_path)]) == 1
    assert "own/ruleset.toml, versions" in capsys.readouterr().out


def test_rules_new_begins_a_file_and_never_overwrites(tmp_path, capsys):
    home = tmp_path / "own"
    home.mkdir()
    (home / "ruleset.toml").write_text("")
    assert main(["rules", "new", "BR-99", "own", "--folder", str(tmp_path)]) == 0
    path = home / "BR-99.toml"
    assert capsys.readouterr().out == f"{path}\n"
    assert 'code     = "BR-99"' in path.read_text()
    path.write_text("mine")
    assert main(["rules", "new", "BR-99", "own", "--folder", str(tmp_path)]) == 2
    assert path.read_text() == "mine"
    assert main(["rules", "new", "BR-99", "other", "--folder", str(tmp_path)]) == 2
    assert "other" in capsys.readouterr().err


def test_version(capsys):
    with pytest.raises(SystemExit) as left:
        main(["--version"])
    assert left.value.code == 0
    assert capsys.readouterr().out.startswith("einvoice ")


# ---------------------------------------------------------------- rules by release


OLDER = b"urn:cen.eu:en16931:2017#compliant#urn:xoev-de:kosit:standard:xrechnung_2.3"


def test_compatibility_mode_tells_what_is_different_today(sample, tmp_path, capsys):
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
    told = " ".join(capsys.readouterr().out.split())
    told = told[told.index("Different under the current rule set:") :]
    assert "PEPPOL-EN16931-R020" in told
    assert "[new in XRechnung 3.0.0 (2.0.0)]" in told
    assert main(["validate", str(older), "--ruleset", "xrechnung-2.3.1"]) == 0
    assert main(["validate", str(older), "--as-of", "2023-12-31"]) == 0


def test_an_unknown_rule_set_is_answered_with_the_known_ones(good, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["validate", str(good), "--ruleset", "xrechnung-9"])
    assert ended.value.code == 2
    assert "xrechnung-2.0.1" in capsys.readouterr().err


@pytest.mark.parametrize(("lang", "word"), [("de", "Neu: "), ("en", "Added: ")])
def test_rules_diff_tells_what_changed(capsys, lang, word):
    assert main(["rules", "diff", "xrechnung", "2.3.1", "3.0.2", "--lang", lang]) == 0
    told = capsys.readouterr().out
    added = told[told.index(word) : told.index("\n\n", told.index(word))]
    assert "PEPPOL-EN16931-R020" in added
    assert catalog()["PEPPOL-EN16931-R020"].title(lang) in added
    assert main(["rules", "diff", "en16931", "1.3.15", "1.3.16", "--lang", lang]) == 0
    told = capsys.readouterr().out
    assert "CII-SR-467" in told
    assert "BR-CL-25" in told
    assert "BR-01" not in told.split()


def test_rules_diff_names_the_releases_there_are(capsys):
    assert main(["rules", "diff", "xrechnung", "2.3.1", "9"]) == 2
    assert "xrechnung-3.0.2" in capsys.readouterr().err
