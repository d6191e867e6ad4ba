"""Many files by other rules than today's: each as by itself, remembered, resumed by the same rules only, compared."""

import datetime
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context

import pytest
from corpora import CII, UBL, numbered, with_fault

import einvoice
from einvoice.bulk import ResultSet
from einvoice.bulk.execution import worker

TODAY, OF_23 = b"urn:xeinkauf.de:kosit:xrechnung_3.0", b"urn:xoev-de:kosit:standard:xrechnung_2.3"
assert TODAY in UBL
assert TODAY in CII
#: KoSIT's rules want BT-34 since XRechnung 3.0; in 2.3 a wrong unit was a warning, by a published override.
NO_BT_34 = UBL.replace(b'<cbc:EndpointID schemeID="EM">rechnung@lindenhof-gartenbau.example</cbc:EndpointID>', b"", 1)
assert NO_BT_34 != UBL
FILES = {
    "new.xml": UBL,
    "cii.xml": CII.replace(TODAY, OF_23),
    "old.xml": UBL.replace(TODAY, OF_23),
    "addressless.xml": NO_BT_34.replace(TODAY, OF_23),
    "unit.xml": UBL.replace(TODAY, OF_23).replace(b'unitCode="HUR"', b'unitCode="h"'),
    "sum.xml": with_fault("BR-CO-10", UBL),
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


def here(source, **options):
    return einvoice.validate_many(source, workers=0, progress=False, **options)


def judged_by(results):
    return {file.file: file.ruleset for file in results}


@options
def test_every_file_is_judged_as_by_itself(options):
    for file in here(FILES, **options):
        alone = einvoice.validate(FILES[file.file], **options)
        assert file.is_valid == alone.is_valid
        assert [it.to_dict() for it in file.findings] == [it.to_dict() for it in alone.findings]
        assert einvoice.validate(FILES[file.file], ruleset=file.ruleset).stack.national == alone.stack.national


def test_the_release_that_judged_a_file_is_told():
    of_23, today, core = "xrechnung-2.3.1-1.8.2", "xrechnung-3.0.2-2.6.0", "en16931-1.3.16"
    assert set(judged_by(here(FILES)).values()) == {today, core}
    assert set(judged_by(here(FILES, ruleset="xrechnung-2.3.1")).values()) == {of_23}
    by_declaration = judged_by(here(FILES, mode="compatibility"))
    assert by_declaration == {
        **dict.fromkeys(("new.xml", "sum.xml"), today),
        **dict.fromkeys(("cii.xml", "old.xml", "addressless.xml", "unit.xml"), of_23),
        "core.xml": core,
    }
    day = judged_by(here(FILES, as_of=LAST_OF_23))
    assert (day.pop("core.xml"), set(day.values())) == ("en16931-1.3.11", {of_23})
    table = here(FILES, mode="compatibility").to_frame("files")
    assert dict(zip(table.file, table.ruleset, strict=True)) == by_declaration


def test_an_override_of_an_older_release_is_told_with_its_reason():
    (finding,) = (it for it in here(FILES, ruleset="xrechnung-2.3.1")["unit.xml"].findings if it.flag != it.severity)
    assert (finding.code, finding.flag, finding.severity) == ("BR-CL-23", "fatal", "warning")
    assert "only a warning" in finding.override_reason("en")
    assert [it.severity for it in here(FILES)["unit.xml"].findings if it.code == "BR-CL-23"] == ["fatal"]


@options
def test_threads_judge_by_them(options):
    expected = here(FILES, **options)
    with ThreadPoolExecutor(2) as threads:
        assert einvoice.validate_many(FILES, executor=threads, progress=False, **options) == expected


@pytest.mark.slow
def test_processes_and_dask_judge_by_them():
    distributed = pytest.importorskip("distributed")
    files = {f"{number}/{name}": data for number in range(20) for name, data in FILES.items()}
    for options in OPTIONS[2:4]:
        assert einvoice.validate_many(files, workers=2, progress=False, **options) == here(files, **options)
    with (
        distributed.LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address="127.0.0.1:0") as cluster,
        distributed.Client(cluster) as client,
    ):
        for options in OPTIONS[:3]:
            given = einvoice.validate_many(files, client=client, progress=False, **options)
            assert given == here(files, **options)


@pytest.mark.slow
def test_workers_of_somebody_else_judge_by_what_the_callers_environment_asks_for(monkeypatch):
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        assert pool.submit(worker.ping).result()  # it is there, and its environment asks for nothing
        monkeypatch.setenv("EINVOICE_RULESET", "xrechnung-2.3.1")
        pinned = einvoice.validate_many(FILES, executor=pool, progress=False)
        assert set(judged_by(pinned).values()) == {"xrechnung-2.3.1-1.8.2", "en16931-1.3.9"}
        monkeypatch.delenv("EINVOICE_RULESET")
        assert einvoice.validate_many(FILES, executor=pool, progress=False) == here(FILES)


def test_a_day_without_rules_is_refused_before_anything_begins():
    with pytest.raises(ValueError, match="from 2020-07-01 on, not 2019-12-31"):
        here({"core.xml": FILES["core.xml"]}, as_of=datetime.date(2019, 12, 31))


@options
def test_results_remember_what_judged(options, tmp_path):
    results = here(FILES, **options)
    results.save(tmp_path / "a.jsonl")
    kept = ResultSet.load(tmp_path / "a.jsonl")
    assert kept == results
    assert kept != here(FILES)
    for name, asked in options.items():
        assert kept.settings[name] == str(asked)
    for name, data in FILES.items():
        full = kept.result(name, data)
        assert full.findings == einvoice.validate(data, **options).findings
        assert full.differences == einvoice.validate(data, **options).differences


@options
def test_a_run_is_resumed_by_the_same_rules_only(options, tmp_path):
    notes = tmp_path / "notes.jsonl"
    results = here(FILES, resume=notes, **options)
    before = notes.read_bytes()
    assert here(FILES, resume=notes, **options) == results
    assert notes.read_bytes() == before
    for others in ({}, *(it for it in OPTIONS if it != options)):
        with pytest.raises(ValueError, match="results with other rules or options") as refused:
            here(FILES, resume=notes, **others)
        for name in options.keys() ^ others.keys():
            assert f"{name} " in str(refused.value)
        assert notes.read_bytes() == before


def test_what_a_change_of_the_rules_means_is_told():
    before, after = here(FILES, ruleset="xrechnung-2.3.1", lang="en"), here(FILES, lang="en")
    told = after.compare(before)
    assert {("addressless.xml", "PEPPOL-EN16931-R020"), ("unit.xml", "BR-CL-23")} <= {
        (it.file, it.finding.code) for it in told.new
    }
    assert {(it.file, it.finding.code, it.finding.severity) for it in told.fixed} >= {
        ("unit.xml", "BR-CL-23", "warning"),
        ("core.xml", "BR-DE-21", "warning"),
    }
    assert ("sum.xml", "BR-CO-10") in {(it.file, it.finding.code) for it in told.same}
    assert set(told.turned) == {
        ("addressless.xml", "valid", "invalid"),
        ("unit.xml", "valid", "invalid"),
    }
    assert told.settings == (("ruleset", "xrechnung-2.3.1", None),)
    assert "different rule set: ruleset xrechnung-2.3.1 → –\n" in str(told)
    assert "ruleset xrechnung-2.3.1 → –" in told._repr_html_()
    assert "different rule set" not in str(after.compare(here(FILES)))


def test_the_same_files_by_the_same_day_are_the_same():
    files = {f"{number}.xml": numbered(number) for number in range(3)}
    today = here(files, as_of=datetime.date.max)
    today.assert_matches(here(files))  # other options, and nothing found otherwise
