"""`einvoice validate` for many files: sources, filters, exit status, formats."""

import csv
import datetime
import io
import json
import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from lxml import etree

import einvoice
from einvoice.bulk.baseline import read
from einvoice.cli import main
from einvoice.cli.batch.reports import REPORTS
from einvoice.reference import ReferenceResult, ReferenceRun
from tests.helpers.corpora import CII, UBL, numbered, with_error, write_files
from tests.helpers.extras import POSIX, requires
from tests.helpers.paths import SHARED

#: Schemas of the formats, which are not part of the project; tests that need them are skipped without them.
SCHEMAS = Path(os.environ.get("EINVOICE_TEST_SCHEMAS", SHARED / "schemas"))
FILES = {
    "a/1.xml": UBL,
    "a/2.xml": with_error("BR-CO-10", numbered(2)),
    "b/3.xml": with_error("BR-DE-15", numbered(3)),
    "b/4.xml": with_error("FILE-ROOT", UBL),
    "b/5.xml": CII,
}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EINVOICE_LANG", "en")
    return write_files(tmp_path / "in", FILES).relative_to(tmp_path)


def validate(capsys, *arguments):
    """Return exit status, standard output and standard error of `einvoice validate`."""
    try:
        status = main(["validate", "--lang", "en", *map(str, arguments)])
    except SystemExit as exited:
        status = exited.code
    return status, *capsys.readouterr()


def codes(capsys, *arguments):
    """Return exit status, and file and code of each finding."""
    status, printed, _ = validate(capsys, "--format", "csv", *arguments)
    rows = csv.DictReader(io.StringIO(printed, newline=""))
    return status, [(row["file"], row["code"]) for row in rows]


ALL = [("in/a/2.xml", "BR-CO-10"), ("in/b/3.xml", "BR-DE-15"), ("in/b/4.xml", "FILE-ROOT")]

# ---------------------------------------------------------------- sources


def test_folder_is_reported_with_totals(capsys):
    status, printed, errors = validate(capsys, "in")
    assert (status, errors) == (2, "")
    assert "in/a/2.xml\n  LG-2026-000002, XRechnung 3.0 (UBL): not valid, 1 error\n" in printed
    assert "FILE-ROOT" in printed
    assert "in/a/1.xml" not in printed
    assert "5 files: 2 valid, 2 not valid, 1 unreadable\n" in printed
    assert "\033" not in printed


@pytest.mark.parametrize(
    "arguments",
    [["in"], ["in/a", "in/b"], ["in/*/*.xml"], ["in/**/*.xml"], [f"in/{name}" for name in FILES], ["in", "in/a/2.xml"]],
)
def test_files_are_named_as_given_however_they_are_passed(capsys, arguments):
    assert codes(capsys, *arguments) == (2, ALL)


def test_current_folder_and_absolute_paths(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path / "in")
    assert codes(capsys, ".")[1][0] == ("a/2.xml", "BR-CO-10")
    assert codes(capsys, tmp_path / "in" / "a")[1] == [(f"{tmp_path.as_posix()}/in/a/2.xml", "BR-CO-10")]


def test_archives_are_read(capsys):
    with zipfile.ZipFile("a.zip", "w") as archive:
        archive.writestr("2.xml", FILES["a/2.xml"])
    with tarfile.open("b.bin", "w:gz") as archive:
        archive.add("in/b", "b")
    status, found = codes(capsys, "a.zip", "b.bin", "in/a/1.xml")
    assert status == 2
    assert sorted(found) == [("a.zip/2.xml", "BR-CO-10"), ("b.bin/b/3.xml", "BR-DE-15"), ("b.bin/b/4.xml", "FILE-ROOT")]


def test_standard_input_is_one_of_several_files(capsys, monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(FILES["a/2.xml"])))
    assert codes(capsys, "in/a/1.xml", "-") == (1, [("'-", "BR-CO-10")])  # no formula in a spreadsheet


def test_missing_file_is_unreadable(capsys):
    assert codes(capsys, "in/a", "nowhere.xml") == (2, [ALL[0], ("nowhere.xml", "FILE-OPEN")])


@pytest.mark.parametrize("name", ["nowhere/*.xml", "empty"])
def test_argument_without_files_is_an_error(capsys, name):
    Path("empty").mkdir()
    status, printed, errors = validate(capsys, "in/a", name)
    assert (status, printed) == (2, "")
    assert f"No file to validate: {name}." in errors


def test_empty_sources_are_accepted_on_request_only(capsys):
    Path("empty").mkdir()
    Path("readme.txt").write_text("x")
    with tarfile.open("other.tar", "w") as archive:
        archive.add("readme.txt")
    for source in ("empty", "*.xml", "other.tar"):
        assert validate(capsys, source)[0] == 2
        assert validate(capsys, source, "--allow-empty")[0] == 0


@pytest.mark.slow
def test_workers_and_progress(tmp_path):
    command = [sys.executable, "-m", "einvoice.cli", "validate", "in", "--lang", "en", "--workers", "1"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (2, "")
    assert "5 files: 2 valid" in done.stdout
    done = subprocess.run(
        [*command, "--progress"], cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False
    )
    assert "5/5" in done.stderr


# ---------------------------------------------------------------- one file


def test_one_file_does_not_import_bulk_validation(tmp_path):
    code = """import sys
from einvoice.cli import main
for layout in "table", "json", "csv", "github":
    for name in "a/1.xml", "a/2.xml", "b/4.xml":
        main(["validate", "--format", layout, f"in/{name}"])
        imported = {"einvoice.bulk", "pandas", "multiprocessing"} & set(sys.modules)
        assert not imported, (layout, name, imported)"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("BR-CO-10") >= 4


def test_output_of_one_file_is_the_same_in_a_file(capsys):
    for layout in ("table", "json", "csv", "github"):
        status, printed, _ = validate(capsys, "in/a/2.xml", "--format", layout)
        again, nothing, _ = validate(capsys, "in/a/2.xml", "--format", layout, "-o", "out")
        written = Path("out").read_bytes().decode()
        if layout == "json":
            printed, written = (json.loads(text)[0]["errors"] for text in (printed, written))
        assert (status, again, nothing) == (1, 1, "")
        assert written == printed
    assert validate(capsys, "in/a/2.xml", "--quiet") == (1, "", "")


def test_unwritable_output_is_reported(capsys):
    for source in ("in", "in/a/2.xml"):
        status, printed, errors = validate(capsys, source, "-o", "nowhere/out")
        assert (status, printed) == (2, "")
        assert f"{Path('nowhere/out')}: The file cannot be opened" in errors


# ---------------------------------------------------------------- findings and exit status


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], (2, ALL)),
        (["--select", "BR-DE-*"], (2, ALL[1:])),
        (["--select", "BR-DE-15,BR-CO-10", "--ignore", "FILE-*"], (1, ALL[:2])),
        (["--ignore", "FILE-*,BR-*"], (0, [])),
        (["--ignore", "fatal"], (0, [])),
        (["--select", "warning", "--ignore", "FILE-*"], (0, [])),
        (["--ignore", "FILE-*", "--fail-on", "never"], (0, ALL[:2])),
        (["--fail-on", "never"], (2, ALL)),
    ],
)
def test_findings_and_exit_status_follow_the_filters(capsys, arguments, expected):
    assert codes(capsys, "in", *arguments) == expected


@pytest.mark.parametrize(("severity", "status"), [("fatal", 0), ("warning", 1), ("information", 1)])
def test_least_severity_of_exit_status(capsys, severity, status):
    Path("warning.xml").write_bytes(UBL.replace(b"xrechnung_3.0", b"xrechnung_2.3"))
    warned = einvoice.validate("warning.xml")
    assert {it.severity for it in warned.findings} == {"warning"}
    assert validate(capsys, "warning.xml", "in/a/1.xml", "--fail-on", severity)[0] == status


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--select", "BR-CO-1O"], "unknown code 'BR-CO-1O'; similar are BR-CO-"),
        (["--ignore", "errors"], "unknown code 'errors'"),
        (["--fail-on", "error"], "invalid choice: 'error'"),
        (["--summary", "--format", "json"], "--summary: not allowed"),
        (["--separator", ";"], "--separator: needs --format csv"),
        (["--format", "csv", "--separator", "::"], "must be one character"),
        (["--format", "csv", "--encoding", "utf-9"], "unknown encoding"),
        (["--workers", "-1"], "--workers: must be"),
        (["--baseline", "nowhere.toml"], "nowhere.toml: The file cannot be opened"),
        (["--compare", "in/a/1.xml"], "1.xml does not contain results"),
        (["--baseline", "a", "--write-baseline", "b"], "not allowed with argument"),
        (["--differences"], "--differences: needs --format csv"),
        (["--format", "csv", "--files", "--differences"], "not allowed with argument"),
    ],
)
def test_invalid_option_is_rejected_before_validation(capsys, monkeypatch, arguments, message):
    monkeypatch.setattr("einvoice.cli.batch.command.validate_many", None)
    status, printed, errors = validate(capsys, "in", *arguments)
    assert (status, printed) == (2, "")
    assert message in errors


@POSIX
def test_written_baseline_accepts_the_findings_of_this_run_only(capsys):
    name = 'in/a/[1] "ü".xml'
    Path(name).write_bytes(FILES["a/2.xml"])
    status, printed, _ = validate(capsys, "in", "--write-baseline", "known.toml")
    assert status == 0
    assert "4 accepted findings\nAccepted, and written to known.toml.\n" in printed
    assert tomllib.loads(Path("known.toml").read_text("utf-8"))["accepted"][0]["code"] == "BR-CO-10"
    assert validate(capsys, "in", "--baseline", "known.toml")[0] == 0
    Path("in/a/1.xml").write_bytes(FILES["a/2.xml"])
    assert codes(capsys, "in", "--baseline", "known.toml") == (1, [("in/a/1.xml", "BR-CO-10")])


def test_baseline_keeps_what_it_was_given(tmp_path):
    results = einvoice.validate_many("in", workers=0, progress=False)
    baseline = results.to_baseline('Because\n"of" C:\\ \x7f 💶')
    baseline.write("known.toml")
    assert read("known.toml") == baseline
    assert not any(file.findings for file in results.without("known.toml"))


def test_expired_entries_are_named(capsys):
    day = datetime.date.today() - datetime.timedelta(1)
    Path("known.toml").write_text(f'[[accepted]]\ncode = "BR-CO-10"\nreason = "x"\nexpires = {day}\n')
    status, _, errors = validate(capsys, "in/a", "--baseline", "known.toml")
    assert (status, errors) == (1, f"No longer accepted is BR-CO-10 (until {day}).\n")


def test_only_new_findings_count_in_a_comparison(capsys):
    assert validate(capsys, "in", "--ignore", "FILE-*", "--format", "jsonl", "-o", "earlier.jsonl")[0] == 1
    arguments = ("in", "--ignore", "FILE-*", "--compare", "earlier.jsonl")
    status, printed, _ = validate(capsys, *arguments)
    assert (status, "No finding changed: 0 fixed, 0 new." in printed) == (0, True)
    Path("in/a/1.xml").write_bytes(FILES["b/3.xml"])
    Path("in/a/2.xml").write_bytes(UBL)
    status, printed, _ = validate(capsys, *arguments)
    assert (status, "Better and worse: 1 fixed, 1 new. Files: 1 better, 1 worse" in printed) == (1, True)


def test_file_without_a_complete_validation_fails(capsys, monkeypatch):
    """A layer that did not run makes a file invalid without a finding."""
    from einvoice.cli.batch import command

    results = einvoice.validate_many("in/a/1.xml", workers=0, progress=False)
    record = json.loads(results._lines[0]) | {"verdict": "invalid"}
    incomplete = einvoice.ResultSet([json.dumps(record).encode()], results.settings)
    monkeypatch.setattr(command, "validate_many", lambda *_, **__: incomplete)
    assert validate(capsys, "in", "--summary")[0] == 1


# ---------------------------------------------------------------- reports


@pytest.mark.parametrize("layout", REPORTS)
def test_quiet_and_output_file(capsys, layout):
    expected = validate(capsys, "in", "--format", layout)
    assert validate(capsys, "in", "--format", layout, "--quiet") == (2, "", "")
    status, printed, errors = validate(capsys, "in", "--format", layout, "-o", "out")
    totals = "5 files: 2 valid, 2 not valid, 1 unreadable\n"
    assert (status, printed.startswith(totals), errors) == (2, True, "")
    assert totals in (expected[1] if layout == "table" else expected[2])
    written = Path("out").read_bytes().decode()
    assert "BR-CO-10" in written
    assert written in expected[1]


def test_summary_has_totals_only(capsys):
    status, printed, _ = validate(capsys, "in", "--summary")
    assert (status, printed.splitlines()[0]) == (2, "5 files: 2 valid, 2 not valid, 1 unreadable")
    assert [line.split()[:3] for line in printed.splitlines()[2:]] == [
        [code, "1", "file"] for code in ("BR-CO-10", "BR-DE-15", "FILE-ROOT")
    ]


def test_json_has_the_keys_of_a_single_result(capsys):
    single = json.loads(validate(capsys, "in/a/2.xml", "--format", "json")[1])[0]
    items = {item["file"]: item for item in json.loads(validate(capsys, "in", "--format", "json")[1])}
    many = items["in/a/2.xml"]
    assert set(many) - set(single) == {"ruleset"}
    for name in set(many) & set(single) - {"validation_details"}:
        assert many[name] == single[name], name
    unreadable = json.loads(validate(capsys, "in/b/4.xml", "--format", "json")[1])[0]
    assert items["in/b/4.xml"] == unreadable


_REFERENCE = pytest.param(("--engine", "reference"), marks=requires("saxonche"))


@pytest.mark.parametrize("options", [(), ("--ruleset", "xrechnung-2.3.1"), _REFERENCE])
def test_json_states_the_releases_that_validated_each_file(capsys, overlooking, options):
    core_only = UBL.replace(b"#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0", b"")
    assert core_only != UBL
    write_files(Path("others"), {"1.xml": core_only, "2.xml": CII})
    items = json.loads(validate(capsys, "others", "--format", "json", *options)[1])
    assert [item["file"] for item in items] == ["others/1.xml", "others/2.xml"]
    for many in items:
        single = json.loads(validate(capsys, many["file"], "--format", "json", *options)[1])[0]
        stack, known = (it["validation_details"]["validation_stack"] for it in (many, single))
        assert len(stack["layers"]) >= 2
        for layer, expected in zip(stack["layers"], known["layers"], strict=True):
            assert set(layer) == {"name", "version", "executed"}
            assert layer.items() <= expected.items()
        assert {"mode": known["mode"], "engine": known["engine"], "layers": stack["layers"]} == stack


def test_json_lines_are_stored_results(capsys):
    validate(capsys, "in", "--format", "jsonl", "-o", "run.jsonl")
    loaded = einvoice.ResultSet.load("run.jsonl")
    assert loaded.complete
    assert not loaded.compare(einvoice.validate_many("in", workers=0, progress=False))


def test_csv_with_separator_encoding_and_file_table(capsys):
    validate(capsys, "in", "--format", "csv", "--separator", ";", "--encoding", "utf-8-sig", "-o", "a.csv")
    data = Path("a.csv").read_bytes()
    assert data.startswith(b"\xef\xbb\xbffile;number;")
    assert b";368,99;369,00;0,01;" in data
    assert data.decode("utf-8-sig") == einvoice.validate_many(
        {f"in/{name}": content for name, content in FILES.items()}, workers=0, progress=False, lang="en"
    ).to_csv(sep=";")
    validate(capsys, "in", "--format", "csv", "--files", "--separator", "tab", "-o", "files.csv")
    rows = list(csv.DictReader(io.StringIO(Path("files.csv").read_text("utf-8")), delimiter="\t"))
    assert [(row["file"], row["verdict"]) for row in rows][1:4] == [
        ("in/a/2.xml", "invalid"), ("in/b/3.xml", "invalid"), ("in/b/4.xml", "unreadable"),
    ]  # fmt: skip


def sarif(capsys):
    return json.loads(validate(capsys, "in", "--format", "sarif")[1])


def test_sarif_names_rule_place_and_text(capsys):
    log = sarif(capsys)
    assert log["version"] == "2.1.0"
    (run,) = log["runs"]
    assert run["invocations"] == [{"executionSuccessful": True}]
    rules = {rule["id"]: rule for rule in run["tool"]["driver"]["rules"]}
    assert set(rules) == {code for _, code in ALL}
    assert all({"shortDescription", "fullDescription", "help"} <= set(rule) for rule in rules.values())
    found = [(it["locations"][0]["physicalLocation"]["artifactLocation"]["uri"], it["ruleId"]) for it in run["results"]]
    assert found == ALL
    first = run["results"][0]
    assert first["level"] == "error"
    assert first["message"]["text"].startswith("The line net amounts do not add up\n")
    assert first["locations"][0]["physicalLocation"]["region"] == {"startLine": 113, "startColumn": 5}


def test_sarif_uris_are_escaped(capsys):
    Path("in/a/ä #1.xml").write_bytes(FILES["a/2.xml"])
    uris = [
        it["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for it in sarif(capsys)["runs"][0]["results"]
    ]
    assert "in/a/%C3%A4%20%231.xml" in uris


def schema(name):
    path = SCHEMAS / name
    if not path.exists():
        pytest.skip(f"{name} is not available")
    return path


def test_sarif_conforms_to_the_schema(capsys):
    import jsonschema_rs  # some systems lack it

    definition = json.loads(schema("sarif-schema-2.1.0.json").read_text("utf-8"))
    jsonschema_rs.validator_for(definition, validate_formats=True).validate(sarif(capsys))


def junit(capsys, *arguments):
    return etree.fromstring(validate(capsys, "in", "--format", "junit", *arguments)[1].encode())


def test_junit_has_a_test_case_per_file(capsys):
    report = junit(capsys)
    (suite,) = report
    for element in (report, suite):
        assert {name: element.get(name) for name in ("tests", "failures", "errors")} == {
            "tests": "5", "failures": "2", "errors": "1",
        }  # fmt: skip
    outcomes = {case.get("name"): [(it.tag, it.get("type")) for it in case] for case in suite}
    assert outcomes == {
        "in/a/1.xml": [],
        "in/a/2.xml": [("failure", "BR-CO-10")],
        "in/b/3.xml": [("failure", "BR-DE-15")],
        "in/b/4.xml": [("error", "FILE-ROOT")],
        "in/b/5.xml": [],
    }
    assert "line 113, BT-106" in suite[1][0].text


def test_junit_counts_accepted_findings_as_passed(capsys):
    assert junit(capsys, "--ignore", "fatal").get("failures") == "0"


@pytest.mark.parametrize("arguments", [[], ["--ignore", "fatal"]])
def test_junit_conforms_to_the_schema(capsys, arguments):
    etree.XMLSchema(file=schema("junit-10.xsd")).assertValid(junit(capsys, *arguments))


def test_github_annotations(capsys):
    lines = validate(capsys, "in", "--format", "github")[1].splitlines()
    assert lines[0].startswith("::error file=in/a/2.xml,line=113,col=5,title=BR-CO-10::The line net amounts")
    assert len(lines) == 3


def test_gitlab_issues_have_the_required_keys(capsys):
    Path("in/a/twice.xml").write_bytes(UBL.replace(b"2026-05-04", b"x").replace(b"2026-06-03", b"x"))
    issues = json.loads(validate(capsys, "in", "--format", "gitlab")[1])
    assert len(issues) >= 4
    for issue in issues:
        assert {"description", "check_name", "fingerprint", "severity"} < set(issue)
        assert issue["severity"] in ("info", "minor", "major", "critical", "blocker")
        assert issue["location"]["lines"]["begin"] >= 1
        assert not issue["location"]["path"].startswith("./")
    assert len({issue["fingerprint"] for issue in issues}) == len(issues)
    assert {issue["severity"] for issue in issues if issue["check_name"] == "FILE-ROOT"} == {"critical"}


# ---------------------------------------------------------------- engines and releases


@pytest.fixture
def overlooking(monkeypatch):
    """Official artefacts that have no findings."""
    runs = ReferenceRun("en16931"), ReferenceRun("cius")
    monkeypatch.setattr("einvoice.reference.validate", lambda data, identity: ReferenceResult("house", "", runs))


@requires("saxonche")
def test_folder_is_compared_with_the_official_artefacts(capsys, overlooking):
    status, printed, _ = validate(capsys, "in", "--engine", "both")
    assert status == 2
    assert "Official Schematron: 2 the same, 2 different, 0 not compared\n" in printed
    block = printed[printed.index("in/a/2.xml") : printed.index("in/b/3.xml")]
    assert "[only einvoice]" in " ".join(block.split())
    rows = csv.DictReader(io.StringIO(validate(capsys, "in", "--engine", "both", "--format", "csv", "--files")[1]))
    assert [(row["agreement"], row["only_native"]) for row in rows] == [
        ("same", ""), ("different", "BR-CO-10"), ("different", "BR-DE-15"), ("", ""), ("same", ""),
    ]  # fmt: skip
    items = json.loads(validate(capsys, "in", "--engine", "both", "--format", "json")[1])
    assert [item.get("agreement") for item in items] == ["same", "different", "different", None, "same"]
    assert [(it["only_in"], it["code"]) for it in items[1]["differences"]] == [("native", "BR-CO-10")]


@requires("saxonche")
def test_folder_is_validated_by_the_official_artefacts_alone(capsys, overlooking):
    status, found = codes(capsys, "in/a", "--engine", "reference")
    assert (status, found) == (0, [])


def test_missing_engine_is_reported(capsys, monkeypatch):
    monkeypatch.setattr("einvoice.reference.saxon_version", lambda: None)
    for engine in ("both", "reference"):
        status, printed, errors = validate(capsys, "in", "--engine", engine)
        assert (status, printed) == (2, "")
        assert errors == f"engine '{engine}' needs saxonche: pip install 'einvoice-toolkit[reference]'\n"


def test_folder_is_compared_with_the_current_release(capsys):
    older = UBL.replace(b"xeinkauf.de:kosit:xrechnung_3.0", b"xoev-de:kosit:standard:xrechnung_2.3")
    address = b'<cbc:EndpointID schemeID="EM">rechnung@lindenhof-gartenbau.example</cbc:EndpointID>'
    assert address in older
    write_files(Path("older"), {"1.xml": older.replace(address, b"", 1), "2.xml": UBL})
    status, printed, _ = validate(capsys, "older", "--mode", "compatibility")
    assert status == 0
    assert "[new in xrechnung-3.0.0-2.0.0]" in " ".join(printed.split())
    assert "Different under the current rule set: 1 file; codes only in the declared release: 0, " in printed
    _, printed, _ = validate(capsys, "older", "--mode", "compatibility", "--format", "csv", "--differences")
    rows = list(csv.DictReader(io.StringIO(printed, newline="")))
    assert {(row["file"], row["only_in"]) for row in rows} == {("older/1.xml", "current")}
    assert "PEPPOL-EN16931-R020" in [row["code"] for row in rows]
