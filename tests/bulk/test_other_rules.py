"""Bulk validation with older releases and in compatibility mode."""

import datetime
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import pytest

import einvoice
from einvoice.bulk import ResultSet
from einvoice.bulk.execution import worker
from tests.helpers.corpora import CII, UBL, numbered, validate_serially, with_error

TODAY, OF_23 = b"urn:xeinkauf.de:kosit:xrechnung_3.0", b"urn:xoev-de:kosit:standard:xrechnung_2.3"
assert TODAY in UBL
assert TODAY in CII
#: BT-34 is mandatory since XRechnung 3.0; a published override made wrong units a warning in 2.3.
NO_BT_34 = UBL.replace(b'<cbc:EndpointID schemeID="EM">rechnung@lindenhof-gartenbau.example</cbc:EndpointID>', b"", 1)
assert NO_BT_34 != UBL
FILES = {
    "new.xml": UBL,
    "cii.xml": CII.replace(TODAY, OF_23),
    "old.xml": UBL.replace(TODAY, OF_23),
    "addressless.xml": NO_BT_34.replace(TODAY, OF_23),
    "unit.xml": UBL.replace(TODAY, OF_23).replace(b'unitCode="HUR"', b'unitCode="h"'),
    "sum.xml": with_error("BR-CO-10", UBL),
    "core.xml": UBL.replace(b"#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0", b""),
}
LAST_OF_23 = datetime.date(2024, 1, 31)
OPTIONS = [
    {"ruleset": "xrechnung-2.3.1"},
    {"ruleset": "en16931-1.3.12"},
    {"as_of": LAST_OF_23},
    {"mode": "compatibility"},
    {"mode": "compatibility", "profile": "xrechnung", "as_of": LAST_OF_23},
]
options = pytest.mark.parametrize("options", OPTIONS, ids=lambda it: "-".join(map(str, it.values())))


def rule_sets(results):
    return {file.file: file.ruleset for file in results}


@pytest.mark.slow
@options
def test_results_equal_those_of_single_validation(options):
    for file in validate_serially(FILES, **options):
        alone = einvoice.validate(FILES[file.file], **options)
        assert file.is_valid == alone.is_valid
        assert [it.to_dict() for it in file.findings] == [it.to_dict() for it in alone.findings]
        assert einvoice.validate(FILES[file.file], ruleset=file.ruleset).stack.national == alone.stack.national


def test_results_name_the_applied_rule_set():
    version_23, today, core = "xrechnung-2.3.1-1.8.2", "xrechnung-3.0.2-2.6.0", "en16931-1.3.16"
    assert set(rule_sets(validate_serially(FILES)).values()) == {today, core}
    assert set(rule_sets(validate_serially(FILES, ruleset="xrechnung-2.3.1")).values()) == {version_23}
    by_declaration = rule_sets(validate_serially(FILES, mode="compatibility"))
    assert by_declaration == {
        **dict.fromkeys(("new.xml", "sum.xml"), today),
        **dict.fromkeys(("cii.xml", "old.xml", "addressless.xml", "unit.xml"), version_23),
        "core.xml": core,
    }
    by_date = rule_sets(validate_serially(FILES, as_of=LAST_OF_23))
    assert (by_date.pop("core.xml"), set(by_date.values())) == ("en16931-1.3.11", {version_23})
    table = validate_serially(FILES, mode="compatibility").to_frame("files")
    assert dict(zip(table.file, table.ruleset, strict=True)) == by_declaration


def test_override_of_an_older_release_has_its_reason():
    (finding,) = (
        it for it in validate_serially(FILES, ruleset="xrechnung-2.3.1")["unit.xml"].findings if it.flag != it.severity
    )
    assert (finding.code, finding.flag, finding.severity) == ("BR-CL-23", "fatal", "warning")
    assert "only a warning" in finding.override_reason("en")
    assert [it.severity for it in validate_serially(FILES)["unit.xml"].findings if it.code == "BR-CL-23"] == ["fatal"]


@options
def test_threads_apply_the_options(options):
    expected = validate_serially(FILES, **options)
    with ThreadPoolExecutor(2) as threads:
        assert einvoice.validate_many(FILES, executor=threads, progress=False, **options) == expected


@pytest.mark.slow
def test_processes_and_dask_apply_the_options():
    distributed = pytest.importorskip("distributed")
    files = {f"{number}/{name}": data for number in range(20) for name, data in FILES.items()}
    for options in OPTIONS[2:4]:
        assert einvoice.validate_many(files, workers=2, progress=False, **options) == validate_serially(
            files, **options
        )
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster,
        distributed.Client(cluster) as client,
    ):
        for options in OPTIONS[:3]:
            results = einvoice.validate_many(files, client=client, progress=False, **options)
            assert results == validate_serially(files, **options)


@pytest.mark.slow
def test_workers_of_a_supplied_executor_use_the_environment_of_the_caller(monkeypatch):
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert pool.submit(worker.ping).result()  # the worker runs, without EINVOICE_RULESET
        monkeypatch.setenv("EINVOICE_RULESET", "xrechnung-2.3.1")
        pinned = einvoice.validate_many(FILES, executor=pool, progress=False)
        assert set(rule_sets(pinned).values()) == {"xrechnung-2.3.1-1.8.2", "en16931-1.3.9"}
        monkeypatch.delenv("EINVOICE_RULESET")
        assert einvoice.validate_many(FILES, executor=pool, progress=False) == validate_serially(FILES)


def test_date_before_the_first_release_is_rejected_at_once():
    with pytest.raises(ValueError, match="from 2020-07-01 on, not 2019-12-31"):
        validate_serially({"core.xml": FILES["core.xml"]}, as_of=datetime.date(2019, 12, 31))


@options
def test_saved_results_keep_the_options(options, tmp_path):
    results = validate_serially(FILES, **options)
    results.save(tmp_path / "a.jsonl")
    loaded = ResultSet.load(tmp_path / "a.jsonl")
    assert loaded == results
    assert loaded != validate_serially(FILES)
    for name, value in options.items():
        assert loaded.settings[name] == str(value)
    for name, data in FILES.items():
        result = loaded.result(name, data)
        assert result.findings == einvoice.validate(data, **options).findings
        assert result.differences == einvoice.validate(data, **options).differences


@options
def test_run_is_resumed_only_with_the_same_options(options, tmp_path):
    path = tmp_path / "journal.jsonl"
    results = validate_serially(FILES, resume=path, **options)
    before = path.read_bytes()
    assert validate_serially(FILES, resume=path, **options) == results
    assert path.read_bytes() == before
    for other_options in ({}, *(it for it in OPTIONS if it != options)):
        with pytest.raises(ValueError, match="results with other rules or options") as raised:
            validate_serially(FILES, resume=path, **other_options)
        for name in options.keys() ^ other_options.keys():
            assert f"{name} " in str(raised.value)
        assert path.read_bytes() == before


def test_comparison_of_two_rule_sets():
    before, after = validate_serially(FILES, ruleset="xrechnung-2.3.1", lang="en"), validate_serially(FILES, lang="en")
    comparison = after.compare(before)
    assert {("addressless.xml", "PEPPOL-EN16931-R020"), ("unit.xml", "BR-CL-23")} <= {
        (it.file, it.finding.code) for it in comparison.new
    }
    assert {(it.file, it.finding.code, it.finding.severity) for it in comparison.fixed} >= {
        ("unit.xml", "BR-CL-23", "warning"),
        ("core.xml", "BR-DE-21", "warning"),
    }
    assert ("sum.xml", "BR-CO-10") in {(it.file, it.finding.code) for it in comparison.unchanged}
    assert set(comparison.changed_verdicts) == {
        ("addressless.xml", "valid", "invalid"),
        ("unit.xml", "valid", "invalid"),
    }
    assert comparison.settings == (("ruleset", "xrechnung-2.3.1", None),)
    assert "different rule set: ruleset xrechnung-2.3.1 → –\n" in str(comparison)
    assert "ruleset xrechnung-2.3.1 → –" in comparison._repr_html_()
    assert "different rule set" not in str(after.compare(validate_serially(FILES)))


def test_results_match_despite_different_options():
    files = {f"{number}.xml": numbered(number) for number in range(3)}
    by_latest_date = validate_serially(files, as_of=datetime.date.max)
    by_latest_date.assert_matches(validate_serially(files))  # different options, equal findings


# ---------------------------------------------------------------- differences between releases


@pytest.fixture(scope="module")
def compared():
    return validate_serially(FILES | {"broken.xml": b"<a/>"}, mode="compatibility", lang="en")


def test_differences_equal_those_of_single_validation(compared):
    for name, data in FILES.items():
        alone = einvoice.validate(data, mode="compatibility", lang="en").differences
        stored = compared[name].differences
        assert [(it.finding.to_dict(), it.only_in) for it in stored] == [
            (it.finding.to_dict(), it.only_in) for it in alone
        ]
        for it, single in zip(stored, alone, strict=True):
            assert it.changed_in.startswith(f"{single.ruleset}-")
            assert it.changed_in.endswith(f"-{single.version}")


@pytest.mark.slow
def test_override_of_the_current_release_has_its_reason():
    start, end = UBL.index(b"<cac:InvoiceLine>"), UBL.index(b"</cac:InvoiceLine>")
    subline = UBL[start:end].replace(b"cac:InvoiceLine", b"cac:SubInvoiceLine") + b"</cac:SubInvoiceLine>"
    data = UBL[:end] + subline + UBL[end:]
    (file,) = validate_serially({"a.xml": data}, mode="compatibility", ruleset="xrechnung-3.0.2-2.3.0")
    (new,) = (it for it in file.differences if it.finding.code == "UBL-CR-646" and it.only_in == "current")
    assert (new.finding.flag, new.finding.severity, new.changed_in) == ("warning", "fatal", "xrechnung-3.0.2-2.4.0")
    assert "sub-lines" in new.finding.override_reason("en")


def test_differences_are_rows_and_columns(compared):
    rows = compared.to_frame("differences")
    missing = rows[(rows.file == "addressless.xml") & (rows.only_in == "current")]
    assert dict(zip(missing.code, missing.changed_in, strict=True))["PEPPOL-EN16931-R020"] == "xrechnung-3.0.0-2.0.0"
    unit = rows[(rows.file == "unit.xml") & (rows.code == "BR-CL-23")]
    assert dict(zip(unit.only_in, unit.severity, strict=True)) == {"declared": "warning", "current": "fatal"}
    assert "only a warning" in unit[unit.only_in == "declared"].override_reason.iloc[0]
    files = compared.to_frame("files").set_index("file")
    for side in ("declared", "current"):
        counted = rows[rows.only_in == side].groupby("file").code.nunique()
        assert files[f"codes_only_{side}"].dropna().to_dict() == {name: counted.get(name, 0) for name in FILES}
    assert files.loc["new.xml", "codes_only_current"] == 0
    assert files.loc["addressless.xml", "codes_only_current"] > 0


def test_current_mode_compares_no_releases():
    results = validate_serially(FILES)
    assert results.to_frame("files")[["codes_only_declared", "codes_only_current"]].isna().all(axis=None)
    assert len(results.to_frame("differences")) == 0
    assert results.summary().differences is None


def test_totals_count_the_differences(compared):
    rows = compared.to_frame("differences")
    codes = {side: rows[rows.only_in == side].code.nunique() for side in ("declared", "current")}
    assert compared.summary().differences == (rows.file.nunique(), codes["declared"], codes["current"])
    line = (
        f"Different under the current rule set: {rows.file.nunique()} files; codes only in the declared release: "
        f"{codes['declared']}, only in the current one: {codes['current']}"
    )
    assert line in str(compared).splitlines()
    assert line in compared._repr_html_()
    assert "Abweichungen nach dem aktuellen Regelwerk: 1 Datei; " in str(
        validate_serially({"a.xml": FILES["addressless.xml"]}, mode="compatibility", lang="de")
    )
    assert "Different under the current rule set: 0 files; " in str(
        validate_serially({"a.xml": UBL}, mode="compatibility", lang="en")
    )


def test_saved_runs_keep_the_differences(compared, tmp_path):
    compared.save(tmp_path / "a.jsonl")
    loaded = ResultSet.load(tmp_path / "a.jsonl", lang="en")
    for which in ("files", "differences"):
        assert loaded.to_csv(which=which) == compared.to_csv(which=which)
    assert loaded.summary() == compared.summary()
