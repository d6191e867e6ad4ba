"""Files that release 0.2.0 wrote: results and baselines are read and compared, house rules say what to change.

The folder `saved_by_0_2_0` has invoices, what that release made of them (commit d62aae6c), and a rule set in its form.
"""

import re
import shutil
from pathlib import Path

import pytest

import einvoice
from einvoice.bulk import baseline
from einvoice.cli import main
from tests.helpers.served import UBL

SAVED = Path(__file__).parent / "saved_by_0_2_0"
INVOICES = SAVED / "invoices.zip"
VERDICTS = {"valid": 4, "invalid": 2, "unreadable": 2}


def validated(**options):
    return einvoice.validate_many(INVOICES, workers=0, progress=False, lang="en", **options)


@pytest.mark.parametrize(("name", "mode"), [("results", "current"), ("compatibility", "compatibility")])
def test_results_are_read_and_compared(name, mode):
    saved, now = einvoice.ResultSet.load(SAVED / f"{name}.jsonl"), validated(mode=mode)
    assert (saved.settings["einvoice"], saved.settings["mode"], saved.complete) == ("0.2.0", mode, True)
    assert saved.verdicts == now.verdicts == VERDICTS
    assert [it.file for it in saved] == [it.file for it in now]
    assert [it.sha256 for it in saved] == [it.sha256 for it in now]
    compared = now.compare(saved)
    assert [(it.file, it.finding.code) for it in compared.new] == [("older.xml", "DECL-NO-SCENARIO")]
    assert list(compared.fixed) == []
    text = str(compared)
    assert "DECL-NO-SCENARIO" in text
    assert "plausibility – → True" in text, "a setting that release did not have"


def test_saved_results_have_texts_and_tables():
    saved = einvoice.ResultSet.load(SAVED / "results.jsonl", lang="en")
    assert "The line net amounts do not add up" in str(saved.summary())
    assert {"BR-CO-10", "BR-CO-13"} == {it.code for it in saved["2026/sum.xml"].findings}
    assert len(saved.to_csv(which="files").splitlines()) == 9
    assert [(it.name, it.files) for it in saved.summary(by="software")] == [("", 8)]


def test_files_of_saved_results_are_found_again():
    saved = einvoice.ResultSet.load(SAVED / "results.jsonl", files=INVOICES)
    causes = saved.causes(workers=0, progress=False)
    assert ["BT-106"] in [list(it.terms) for it in causes]


def test_saved_results_are_a_baseline():
    with pytest.raises(AssertionError, match="DECL-NO-SCENARIO"):
        validated().assert_matches(SAVED / "results.jsonl")
    validated().select_findings(ignore=["DECL-NO-SCENARIO"]).assert_matches(SAVED / "results.jsonl")


def test_accepted_findings_are_read():
    accepted = baseline.read(SAVED / "baseline.toml")
    remaining = validated().without(accepted)
    assert {it.code for file in remaining for it in file.findings} == {"DECL-NO-SCENARIO"}


def test_saved_results_are_not_resumed(tmp_path):
    """The rules are others: no file may keep its result."""
    path = shutil.copy(SAVED / "results.jsonl", tmp_path)
    with pytest.raises(ValueError, match=r"contains results with other rules or options: einvoice|use another file"):
        validated(resume=path)
    assert Path(path).read_bytes() == (SAVED / "results.jsonl").read_bytes()


def test_house_rules_say_once_what_to_change(capsys):
    assert main(["rules", "check", str(SAVED / "rules")]) == 1
    captured = capsys.readouterr()
    (message,) = [line for line in (captured.out + captured.err).splitlines() if "ACME" in line]
    assert message.startswith(
        "acme/ACME-01.toml, line 18, valid: has examples in the form of einvoice 0.2.0, as 1 more"
    )
    with pytest.raises(einvoice.RuleError, match="form of einvoice 0") as refused:
        einvoice.validate(UBL, rules=SAVED / "rules")
    assert str(refused.value) == message


def test_house_rules_work_after_the_change(tmp_path, capsys):
    """The change that the message asks for."""
    folder = Path(shutil.copytree(SAVED / "rules", tmp_path / "rules"))
    for path in (folder / "acme").glob("ACME-*.toml"):
        text = path.read_text()
        for kind in ("valid", "invalid"):
            text = text.replace(f"[[{kind}]]", f"[{kind}]", 1).replace(f"[[{kind}]]\n", "")
        text = re.sub(r'^name = (".*")\nset  = (\{.*\})$', r"\1 = \2", text, flags=re.MULTILINE)
        path.write_text(re.sub(r'^name = (".*")$', r"\1 = {}", text, flags=re.MULTILINE))
    assert main(["rules", "check", str(folder)]) == 0, capsys.readouterr()
    codes = [it.code for it in einvoice.validate(UBL, rules=folder).errors]
    assert codes == ["ACME-01", "ACME-02"], "as release 0.2.0 found them"
