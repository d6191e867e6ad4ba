"""Bulk validation with the official artefacts: instead of the rules of einvoice, or beside them."""

import json

import pytest

import einvoice
from einvoice.bulk import ResultSet
from einvoice.reference import ReferenceFinding, ReferenceResult, ReferenceRun
from tests.helpers.corpora import CII, UBL, numbered, with_error, write_files

FILES = {
    "same.xml": with_error("BR-CO-10", UBL),
    "native.xml": with_error("BR-DE-15", UBL),
    "reference.xml": UBL.replace(b"LG-2026-0417", b"HOUSE"),
    "none.xml": CII,
    "broken.xml": with_error("FILE-ROOT", UBL),
}


def reported(code, text="Reference text."):
    return ReferenceFinding(code, "fatal", "fatal", "/*", text)


@pytest.fixture
def artefacts(monkeypatch):
    """Artefacts that find BR-CO-10 and the house rules H-1 and H-2, overlook BR-DE-15, and do not know CII."""

    def validate(data, identity):
        if identity.syntax == "CII":
            return ReferenceResult("", "", (ReferenceRun("en16931", executed=False, reason="missing"),))
        core = [reported("BR-CO-10")] if b">98.99" in data else []
        house = [reported("H-1"), reported("H-2", "Second.")] if b"HOUSE" in data else []
        runs = ReferenceRun("en16931", reports=tuple(core)), ReferenceRun("cius", reports=tuple(house))
        return ReferenceResult("house", "", runs)

    monkeypatch.setattr("einvoice.reference.validate", validate)


def validate_serially(source, **options):
    return einvoice.validate_many(source, workers=0, progress=False, lang="en", **options)


def cells(frame, *columns):
    return [tuple(row) for row in frame[list(columns)].astype(object).fillna("").itertuples(index=False)]


def test_files_table_states_the_agreement(artefacts):
    files = validate_serially(FILES, engine="both").to_frame("files")
    assert cells(files, "file", "verdict", "agreement", "compared", "only_native", "only_reference") == [
        ("same.xml", "invalid", "same", "en16931 xrechnung", "", ""),
        ("native.xml", "invalid", "different", "en16931 xrechnung", "BR-DE-15", ""),
        ("reference.xml", "valid", "different", "en16931 xrechnung", "", "H-1 H-2"),
        ("none.xml", "valid", "", "", "", ""),
        ("broken.xml", "unreadable", "", "", "", ""),
    ]


def test_other_engines_compare_nothing(artefacts):
    for engine in ("native", "reference"):
        results = validate_serially(FILES, engine=engine)
        assert (
            results.to_frame("files")[["agreement", "compared", "only_native", "only_reference"]].isna().all(axis=None)
        )
        assert len(results.to_frame("differences")) == 0


def test_differences_table_has_a_row_per_finding_of_one_engine(artefacts):
    results = validate_serially(FILES, engine="both")
    frame = results.to_frame("differences")
    assert cells(frame, "file", "only_in", "code", "number") == [
        ("native.xml", "native", "BR-DE-15", "LG-2026-0417"),
        ("reference.xml", "reference", "H-1", "HOUSE"),
        ("reference.xml", "reference", "H-2", "HOUSE"),
    ]
    assert list(frame.columns.drop(["only_in", "changed_in"])) == list(results.to_frame().columns)
    assert str(frame.only_in.dtype) == "category"
    assert "Second." in frame.explanation.iloc[2]
    assert list(results.to_frame().code) == ["BR-CO-10", "BR-DE-15", "FILE-ROOT"]


@pytest.mark.parametrize("engine", ["both", "reference"])
def test_results_equal_those_of_single_validation(artefacts, engine):
    for file in validate_serially({name: data for name, data in FILES.items() if name != "broken.xml"}, engine=engine):
        alone = einvoice.validate(FILES[file.file], engine=engine, lang="en")
        assert file.is_valid == alone.is_valid
        assert [it.to_dict() for it in file.findings] == [it.to_dict() for it in alone.findings]
        if engine == "both":
            expected = (*alone.agreement.only_native, *alone.agreement.only_reference)
            assert [it.finding.to_dict() for it in file.differences] == [it.to_dict() for it in expected]


def test_totals_count_the_agreement(artefacts):
    results = validate_serially(FILES, engine="both")
    assert results.summary().agreement == {"same": 1, "different": 2, "not_compared": 1}
    line = "Official Schematron: 1 the same, 2 different, 1 not compared"
    assert line in str(results).splitlines()
    assert line in results._repr_html_()
    assert "Offizielles Schematron: 1 gleich, 2 abweichend, 1 nicht verglichen" in str(results.summary(lang="de"))
    assert "Schematron" not in str(validate_serially(FILES))


def test_totals_have_titles_of_rules_without_a_catalog_entry(artefacts):
    overview = validate_serially({"a.xml": FILES["reference.xml"]}, engine="reference").summary()
    assert {code.code: code.title("en") for code in overview.codes} == {
        finding.code: finding.title("en")
        for finding in einvoice.validate(FILES["reference.xml"], engine="reference").findings
    }


def test_saved_runs_keep_the_agreement(artefacts, tmp_path):
    results = validate_serially(FILES, engine="both")
    results.save(tmp_path / "a.jsonl")
    loaded = ResultSet.load(tmp_path / "a.jsonl", lang="en", files=write_files(tmp_path / "in", FILES))
    assert loaded == results
    assert loaded.settings["engine"] == "both"
    for which in ("files", "differences"):
        assert loaded.to_csv(which=which) == results.to_csv(which=which)
    assert loaded.summary().agreement == results.summary().agreement
    assert loaded.result("native.xml").agreement.agreed is False


def test_runs_saved_without_an_engine_are_native(tmp_path):
    results = validate_serially({"a.xml": UBL})
    results.save(tmp_path / "a.jsonl")
    header, *lines = (tmp_path / "a.jsonl").read_text("utf-8").splitlines(keepends=True)
    older = {name: value for name, value in json.loads(header).items() if name != "engine"}
    (tmp_path / "a.jsonl").write_text("".join((json.dumps(older) + "\n", *lines)), "utf-8", newline="\n")
    assert ResultSet.load(tmp_path / "a.jsonl", lang="en") == results
    resumed = validate_serially({"a.xml": UBL}, resume=tmp_path / "a.jsonl")
    assert not resumed.compare(results).settings


def test_run_with_other_artefacts_is_not_resumed(artefacts, monkeypatch, tmp_path):
    configuration = type("Configuration", (), {"name": "house", "sha256": "1"})
    validate_serially(FILES, engine="both", resume=tmp_path / "a.jsonl")
    monkeypatch.setattr("einvoice.reference.configurations", lambda: (configuration,))
    with pytest.raises(ValueError, match="artefacts"):
        validate_serially(FILES, engine="both", resume=tmp_path / "a.jsonl")


@pytest.mark.parametrize("engine", ["both", "reference"])
@pytest.mark.parametrize(("reason", "is_retried"), [("time", True), ("died", True), ("stopped", False)])
def test_files_whose_artefacts_timed_out_or_crashed_are_validated_again(
    monkeypatch, tmp_path, engine, reason, is_retried
):
    failing, asked = {b"LG-2026-0417"}, []

    def validate(data, identity):
        asked.append(data)
        if any(number in data for number in failing):
            run = ReferenceRun("en16931", executed=False, reason=reason)
        else:
            run = ReferenceRun("en16931")
        return ReferenceResult("", "", (run, ReferenceRun("cius")))

    monkeypatch.setattr("einvoice.reference.validate", validate)
    files = {"late.xml": UBL, "fine.xml": numbered(2)}
    log = tmp_path / "log.jsonl"
    assert validate_serially(files, engine=engine, resume=log).complete
    failing.clear()
    asked.clear()
    resumed = validate_serially(files, engine=engine, resume=log)
    assert asked == ([UBL] if is_retried else [])
    assert (resumed == validate_serially(files, engine=engine)) is is_retried
    asked.clear()
    assert validate_serially(files, engine=engine, resume=log) == resumed
    assert asked == []


def test_unknown_engine_is_rejected():
    with pytest.raises(ValueError, match="'native' or 'reference' or 'both', not 'java'"):
        validate_serially(FILES, engine="java")


@pytest.mark.parametrize("engine", ["both", "reference"])
def test_missing_saxon_is_reported_before_any_file_is_read(monkeypatch, engine):
    monkeypatch.setattr("einvoice.reference.saxon_version", lambda: None)

    def files():
        pytest.fail("a file was read")
        yield "a.xml", UBL

    with pytest.raises(ImportError, match=rf"'{engine}' needs saxonche: pip install 'einvoice-toolkit\[reference\]'"):
        validate_serially(files(), engine=engine)


@pytest.mark.slow
def test_processes_compare_with_the_bundled_artefacts(tmp_path, monkeypatch):
    pytest.importorskip("saxonche")
    monkeypatch.setenv("EINVOICE_RULES_DIR", str(tmp_path))
    files = {"a.xml": UBL, "b.xml": with_error("BR-CO-10", UBL), "c.xml": CII}
    results = einvoice.validate_many(files, workers=1, progress=False, engine="both")
    assert [(file.agreement, file.compared) for file in results] == [("same", "en16931")] * 2 + [("", "")]
    assert results == validate_serially(files, engine="both")
