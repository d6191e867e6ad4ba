"""Rule sets that a user adds: used everywhere, and harmless if they are wrong."""

import hashlib
import os
import pickle
import re
import shlex
import shutil
import zipfile
from pathlib import Path

import pytest

import einvoice
from einvoice.authoring.added import MAX_FILES
from einvoice.cli import main
from einvoice.errors import RuleError
from einvoice.resources import rules_folder
from tests.helpers import house_rules
from tests.helpers.paths import ROOT

SAMPLE = ROOT / "einvoice" / "sample_invoices" / "xrechnung-ubl.xml"
UBL = SAMPLE.read_bytes()
CONDITIONAL = house_rules.ROWS.replace("cac:Party,", "cac:Party[big],")
CORE = UBL.replace(b"#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0", b"")


@pytest.fixture
def rules(tmp_path):
    """A folder with the rule set of a customer."""
    return house_rules.write(tmp_path / "rules")


def codes(result):
    return [finding.code for finding in result.findings]


# ---------------------------------------------------------------- use


@pytest.mark.slow
def test_added_rules_apply_beside_the_declared_ones(rules):
    result = einvoice.validate(UBL, rules=rules, lang="en")
    assert codes(result) == ["ACME-01", "ACME-02"]
    assert [(layer.name, layer.kind) for layer in result.stack.layers] == [
        ("schema", ""),
        ("en16931", "en16931"),
        ("xrechnung", "cius"),
        ("acme", "cius"),
        ("plausibility", "plausibility"),
    ]
    added = result.stack.layer("acme")
    assert (added.version, added.rules, len(added.sha256)) == ("2026-11", 2, 64)
    order, scheme = result.errors[0], result.warnings[0]
    assert (order.layer, order.validation_layer, order.bt_field) == ("acme", "cius", "BT-13")
    assert order.explanation() == "Found: B-26/0417."
    assert order.title("de") == "Die Bestellnummer hat nicht die Form 4500…"
    assert scheme.explanation("en") == "Found: EM."
    assert result.to_dict("en")["errors"][0]["validation_layer"] == "cius"
    assert einvoice.validate(UBL).is_valid


@pytest.mark.slow
@pytest.mark.parametrize(("least", "expected"), [("100", ["ACME-01", "ACME-02"]), ("100000", ["ACME-01"])])
def test_rule_set_has_conditions_of_its_own(rules, least, expected):
    conditions = f'[UBL]\namount = "/*/cac:LegalMonetaryTotal/cbc:PayableAmount"\nbig = "{{amount}} >= {least}"\n'
    house_rules.write(rules, **{"syntax/ubl.csv": CONDITIONAL, "syntax/conditions.toml": conditions})
    assert codes(einvoice.validate(UBL, rules=rules)) == expected


@pytest.mark.slow
@pytest.mark.parametrize("lang", ["en", "fr"])
def test_rule_set_in_one_language_shows_its_texts_in_every_language(rules, lang):
    house_rules.write(rules, **house_rules.in_one_language(lang))
    result = einvoice.validate(UBL, rules=rules, lang="de")
    order, scheme = result.errors[0], result.warnings[0]
    assert list(order.entry.texts) == [lang]
    for shown in ("de", "en", "fr", "fr-BE"):
        assert order.title(shown) == "The order number does not have the form 4500…"
        assert scheme.explanation(shown) == "Found: EM."
        assert result.stack.layer("acme").title_in(shown) == "ACME, house rules"
        assert result.to_dict(shown)["errors"][0]["fix"] == "Enter the order number (BT-13)."
    assert "The order number does not have" in str(result)


def test_rule_set_without_any_texts_is_an_error(rules):
    house_rules.write(rules, **{"ACME-01.toml": house_rules.in_one_language("xx")["ACME-01.toml"]})
    with pytest.raises(RuleError, match=r"acme/ACME-01\.toml.*xx"):
        einvoice.validate(UBL, rules=rules)


@pytest.mark.slow
def test_translation_of_an_added_rule_set_is_a_file(rules):
    french = '[ruleset]\ntitle = "ACME, règles internes"\n[ACME-01]\ntitle = "Numéro de commande non conforme"\n'
    house_rules.write(rules, **{"translations/fr.toml": french})
    result = einvoice.validate(UBL, rules=rules, lang="fr")
    assert result.errors[0].title() == "Numéro de commande non conforme"
    assert result.errors[0].explanation() == "Found: B-26/0417."
    assert result.stack.layer("acme").title_in("fr") == "ACME, règles internes"


def test_satisfied_added_rules_leave_an_invoice_valid(rules):
    data = UBL.replace(b"B-26/0417", b"4500123456").replace(b'schemeID="EM"', b'schemeID="0088"', 1)
    assert "ACME-01" not in codes(einvoice.validate(data, rules=rules))


def test_result_with_added_rules_is_pickled_with_its_texts(rules):
    result = pickle.loads(pickle.dumps(einvoice.validate(UBL, rules=rules, lang="en")))
    shutil.rmtree(rules)
    assert result.errors[0].title() == "The order number does not have the form 4500…"


@pytest.mark.slow
def test_rule_set_with_a_specification_applies_to_documents_that_declare_it(rules):
    house_rules.write(rules, **{"specifications.toml": house_rules.SPECIFICATION})
    declared = CORE.replace(b"urn:cen.eu:en16931:2017", house_rules.IDENTIFIER.encode())
    result = einvoice.validate(declared, rules=rules)
    assert (result.identity.profile, codes(result)) == ("ACME", ["ACME-01", "ACME-02"])
    assert codes(einvoice.validate(UBL, rules=rules)) == []
    assert "DECL-UNKNOWN" in codes(einvoice.validate(declared))
    forced = einvoice.validate(UBL, rules=rules, profile="acme")
    assert [layer.name for layer in forced.stack.layers] == ["schema", "en16931", "acme", "plausibility"]
    assert "ACME-01" in codes(forced)


def test_rule_set_can_bring_the_rules_of_a_specification_that_is_only_known_by_name(rules):
    identifier = "urn:cen.eu:en16931:2017#compliant#urn:efactura.mfinante.ro:CIUS-RO:1.0.1"
    specification = house_rules.SPECIFICATION.replace(house_rules.IDENTIFIER, identifier)
    house_rules.write(rules, **{"specifications.toml": specification})
    declared = CORE.replace(b"urn:cen.eu:en16931:2017", identifier.encode())
    assert codes(einvoice.validate(declared)) == ["DECL-CORE-ONLY"]
    result = einvoice.validate(declared, rules=rules)
    assert (result.identity.profile, codes(result)) == ("ACME", ["ACME-01", "ACME-02"])


@pytest.mark.slow
def test_rule_set_can_build_on_another_added_one(rules):
    other = house_rules.RULESET.replace('"en16931"', '"acme"').replace("ACME", "ACME Berlin")
    rule = house_rules.RULE.replace("ACME-01", "BER-01").replace("4500[0-9]{6}", "B-26/[0-9]+").replace("4711", "x")
    house_rules.write(
        rules, "acme-berlin", **{"ruleset.toml": other, "BER-01.toml": rule.replace("4500123456", "B-26/1")}
    )
    for name in ("ACME-01.toml", "syntax/ubl.csv", "texts/ACME-02.toml", "codelists/acme_schemes.csv"):
        (rules / "acme-berlin" / name).unlink()
    result = einvoice.validate(UBL, rules=rules)
    assert [layer.name for layer in result.stack.layers][-3:-1] == ["acme", "acme-berlin"]
    assert codes(result) == ["ACME-01", "ACME-02"]


@pytest.mark.slow
def test_changed_file_is_read_again(rules):
    assert "ACME-01" in codes(einvoice.validate(UBL, rules=rules))
    rule = house_rules.RULE.replace("4500[0-9]{6}", "B-26/[0-9]+").replace("4500123456", "B-26/1")
    house_rules.write(rules, **{"ACME-01.toml": rule})
    assert "ACME-01" not in codes(einvoice.validate(UBL, rules=rules))


def test_archive_is_read_like_a_folder(rules, tmp_path):
    archive = shutil.make_archive(str(tmp_path / "house"), "zip", rules)
    assert codes(einvoice.validate(UBL, rules=archive)) == ["ACME-01", "ACME-02"]


def test_archive_can_hold_the_rule_set_itself(rules, tmp_path):
    archive = shutil.make_archive(str(tmp_path / "acme"), "zip", rules / "acme")
    assert codes(einvoice.validate(UBL, rules=archive)) == ["ACME-01", "ACME-02"]


@pytest.mark.slow
def test_changed_archive_is_read_again_without_its_former_files(rules, tmp_path):
    archive = shutil.make_archive(str(tmp_path / "house"), "zip", rules)
    assert "ACME-01" in codes(einvoice.validate(UBL, rules=archive))
    (rules / "acme" / "ACME-01.toml").unlink()
    shutil.make_archive(str(tmp_path / "house"), "zip", rules)
    assert codes(einvoice.validate(UBL, rules=archive)) == ["ACME-02"]


def test_environment_names_the_default_rules(rules, monkeypatch):
    monkeypatch.setenv("EINVOICE_RULES_DIR", str(rules))
    assert "ACME-01" in codes(einvoice.validate(UBL))
    assert einvoice.catalog()["ACME-01"].title("en") == "The order number does not have the form 4500…"
    assert "acme-2026-11" in [release.name for release in einvoice.rule_sets()]


def test_environment_without_rule_sets_changes_nothing(tmp_path, monkeypatch):
    (tmp_path / "bundle").mkdir()
    monkeypatch.setenv("EINVOICE_RULES_DIR", str(tmp_path))
    assert einvoice.validate(UBL).is_valid


def test_bulk_validation_uses_added_rules(rules, tmp_path):
    file = tmp_path / "invoice.xml"
    file.write_bytes(UBL)
    results = einvoice.validate_many([file], rules=rules, workers=0, progress=False, lang="en")
    results.save(tmp_path / "results.jsonl")
    assert [it.code for it in results.select_findings(["ACME-01"])[0].findings] == ["ACME-01"]
    results.select_findings(["BR-*"]).select(code="ACME-01")  # known, although no finding has it
    results.to_baseline("known").write(tmp_path / "known.toml")
    assert results.without(tmp_path / "known.toml")[0].findings == ()
    assert results.settings["rules"] == einvoice.catalog(rules=rules).version != einvoice.catalog().version
    shutil.rmtree(rules)
    for found in (results, einvoice.ResultSet.load(tmp_path / "results.jsonl", lang="en")):
        (finding, *_) = [finding for result in found for finding in result.findings if finding.severity == "fatal"]
        assert (finding.code, finding.validation_layer) == ("ACME-01", "cius")
        assert finding.explanation() == "Found: B-26/0417."


def test_commands_use_added_rules(rules, capsys):
    assert main(["validate", "--rules", str(rules), "--lang", "en", str(SAMPLE)]) == 1
    printed = " ".join(capsys.readouterr().out.split())  # lines are wrapped
    assert "The order number does not have the form 4500…" in printed
    assert main(["explain", "--rules", str(rules), "--lang", "en", "ACME-02"]) == 0
    assert "ACME does not know this scheme" in capsys.readouterr().out
    assert main(["rules", "check", str(rules)]) == 0


@pytest.mark.slow
def test_tutorial_works_as_written(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "invoice.xml").write_bytes(UBL)
    page = (rules_folder() / "HOUSE-RULES.md").read_text("utf-8")
    statuses = []
    for kind, content in re.findall(r"^```(toml|sh)\n(.*?)^```", page, flags=re.M | re.S):  # in their order
        if kind == "sh":
            statuses += [main(shlex.split(command, comments=True)[1:]) for command in content.splitlines()]
        else:
            path, text = content.removeprefix("# ").split("\n", 1)
            Path(path).parent.mkdir(parents=True, exist_ok=True)
            Path(path).write_text(text, "utf-8")
    assert statuses == [0, 0, 0, 1]  # new, test, check, validate
    assert "ACME-01" in capsys.readouterr().out


# ---------------------------------------------------------------- newer releases


def newer_release(folder, *, sums=True):
    """Copy the rule set `xrechnung` with one more release, in which BR-DE-15 is only a warning."""
    target = folder / "xrechnung"
    shutil.copytree(rules_folder() / "xrechnung", target)
    release = '\n[[versions]]\nversion = "2.7.0"\ndate = "2027-01-31"\nspecification = "3.0.3"\nbase = "1.3.16"\n'
    with (target / "ruleset.toml").open("a", encoding="utf-8") as file:
        file.write(release)
    rule = (target / "BR-DE-15.toml").read_text("utf-8").replace('"fatal"', '"warning"')
    (target / "BR-DE-15.toml").write_text(rule, "utf-8")
    if sums:
        paths = sorted(path for path in target.rglob("*") if path.is_file())
        lines = [
            f"{hashlib.sha256(it.read_bytes()).hexdigest()}  {it.relative_to(target).as_posix()}\n" for it in paths
        ]
        (target / "SHA256SUMS").write_text("".join(lines), "utf-8")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("as_archive", [False, True])
def test_newer_release_of_a_shipped_rule_set_applies(tmp_path, as_archive):
    rules = newer_release(tmp_path / "rules", sums=not as_archive)
    if as_archive:
        rules = Path(shutil.make_archive(str(tmp_path / "xrechnung-2.7.0"), "zip", rules))
        digest = hashlib.sha256(rules.read_bytes()).hexdigest()
        rules.with_name(f"{rules.name}.sha256").write_text(f"{digest}  {rules.name}\n")
    result = einvoice.validate(UBL, rules=rules)
    layer = result.stack.layer("xrechnung")
    assert (layer.version, layer.specification) == ("2.7.0", "3.0.3")
    assert layer.sha256 != einvoice.validate(UBL).stack.layer("xrechnung").sha256
    assert "xrechnung-3.0.3" in [release.name for release in einvoice.rule_sets(rules)]
    older = einvoice.validate(UBL, rules=rules, ruleset="xrechnung-3.0.2")
    assert older.stack.layer("xrechnung").version == "2.6.0"


def test_newer_release_needs_the_sha256_of_its_files(tmp_path):
    with pytest.raises(RuleError, match="'xrechnung' is the name of a rule set of einvoice"):
        einvoice.validate(UBL, rules=newer_release(tmp_path, sums=False))


def test_changed_file_of_a_newer_release_is_rejected(tmp_path):
    rules = newer_release(tmp_path)
    (rules / "xrechnung" / "BR-DE-15.toml").write_text("", "utf-8")
    with pytest.raises(RuleError, match=r"^xrechnung/BR-DE-15\.toml: the SHA-256 differs"):
        einvoice.validate(UBL, rules=rules)


def test_newer_release_keeps_the_older_ones(tmp_path):
    rules = newer_release(tmp_path, sums=False)
    file = rules / "xrechnung" / "ruleset.toml"
    file.write_text(file.read_text("utf-8").replace('"1.3.0"\ndate', '"1.2.9"\ndate', 1), "utf-8")
    archive = Path(shutil.make_archive(str(tmp_path / "update"), "zip", rules, "xrechnung"))
    archive.with_name("update.zip.sha256").write_text(hashlib.sha256(archive.read_bytes()).hexdigest())
    with pytest.raises(RuleError, match="must keep the releases"):
        einvoice.validate(UBL, rules=archive)


@pytest.mark.slow
def test_copy_of_an_archive_is_read_without_its_sha256(tmp_path, monkeypatch):
    """As a service reads it: a newer release needs a SHA-256, which the folder that was unpacked does not have."""
    newer_release(tmp_path / "rules", sums=False)
    folder = tmp_path / "added"
    folder.mkdir()
    archive = Path(shutil.make_archive(str(folder / "xrechnung-2.7.0"), "zip", tmp_path / "rules"))
    archive.with_name(f"{archive.name}.sha256").write_text(hashlib.sha256(archive.read_bytes()).hexdigest())
    monkeypatch.setenv("EINVOICE_RULES_DIR", str(folder))
    einvoice.copy_rules(tmp_path / "copy")
    monkeypatch.setenv("EINVOICE_RULES_COPY", str(tmp_path / "copy"))
    archive.unlink()
    assert einvoice.validate(UBL).stack.layer("xrechnung").version == "2.7.0"


# ---------------------------------------------------------------- wrong rule sets


def broken(**changes):
    return lambda folder: house_rules.write(folder, **changes)


def link(folder):
    house_rules.write(folder)
    (folder / "acme" / "ACME-09.toml").symlink_to("/etc/passwd")


def linked_folder(folder):
    house_rules.write(folder)
    (folder / "acme" / "codes").symlink_to("/etc")


def linked_rule_set(folder):
    house_rules.write(folder.parent / "elsewhere")
    folder.mkdir()
    (folder / "acme").symlink_to(folder.parent / "elsewhere" / "acme")


def many_files(folder):
    house_rules.write(folder)
    for number in range(MAX_FILES):
        (folder / "acme" / f"note-{number}.md").touch()


def official_name(folder):
    house_rules.write(folder, "xrechnung")


def pipe(folder):
    house_rules.write(folder)
    os.mkfifo(folder / "acme" / "ACME-09.toml")


RULE, RULESET, SPECIFICATION = house_rules.RULE, house_rules.RULESET, house_rules.SPECIFICATION
WRONG = {
    "wrong key": (broken(**{"ACME-01.toml": RULE.replace("terms ", "term ")}), r"acme/ACME-01\.toml, line 3, term: "),
    "unknown field": (
        broken(**{"ACME-01.toml": RULE.replace("purchase_order,", "order,")}),
        r"acme/ACME-01\.toml, line 5, assert, column \d+: Invoice has no field 'order'",
    ),
    "missing texts": (broken(**{"ACME-01.toml": RULE.replace("fix ", "fixed ")}), r"acme/ACME-01\.toml, line \d+, "),
    "no TOML": (broken(**{"ACME-01.toml": "code = ACME"}), r"acme/ACME-01\.toml, line 1, column 8: "),
    "nested too deeply": (
        broken(**{"ACME-01.toml": "terms = " + "[" * 100_000}),
        r"acme/ACME-01\.toml, line \d+: .*(deep|nested)",
    ),
    "endless list": (
        broken(**{"ACME-01.toml": RULE.replace('["BT-13"]', "[" + '"BT-13", ' * 200_000 + "]")}),
        r"acme/ACME-01\.toml: is larger than 1 MiB",
    ),
    "long expression": (
        broken(**{"ACME-01.toml": RULE.replace('assert = "', 'assert = "' + "not " * 30_000)}),
        r"acme/ACME-01\.toml, line 5, assert: is longer than 4000 characters",
    ),
    "symbolic link": (link, r"acme/ACME-09\.toml: is not a regular file"),
    "linked folder": (linked_folder, r"acme/codes: is not a regular file"),
    "linked rule set": (linked_rule_set, r"acme: is a symbolic link"),
    "pipe": (pipe, r"acme/ACME-09\.toml: is not a regular file"),
    "large file": (
        broken(**{"codelists/large.csv": "x" * 10_000_000}),
        r"acme/codelists/large\.csv: is larger than 1 MiB",
    ),
    "many files": (many_files, r"acme: the rule set has more than 2000 files"),
    "code": (broken(**{"run.py": "import os"}), r"acme/run\.py: is no file of a rule set"),
    "official name": (official_name, r"xrechnung/ruleset\.toml: 'xrechnung' is the name of a rule set of einvoice"),
    "official code": (
        broken(**{"BR-01.toml": RULE.replace("ACME-01", "BR-01")}),
        r"acme/BR-01\.toml, line 1, code: the code 'BR-01' exists in einvoice",
    ),
    "official code list": (broken(**{"codelists/countries.csv": house_rules.LIST}), r"'countries' exists in einvoice"),
    "official specification": (
        broken(**{"specifications.toml": house_rules.SPECIFICATION.replace("acme-1.0", "xrechnung-3.0")}),
        r"acme/specifications\.toml, line 1, xrechnung-3\.0: ",
    ),
    "identifier of another": (
        broken(**{"specifications.toml": SPECIFICATION.replace(house_rules.IDENTIFIER, "urn:cen.eu:en16931:2017")}),
        r"acme/specifications\.toml, line \d, acme-1\.0\.identifiers: ",
    ),
    "unknown base": (
        broken(**{"ruleset.toml": RULESET.replace("en16931", "en1")}),
        r"acme/ruleset\.toml, .*unknown rule set 'en1'",
    ),
    "unknown check": (
        broken(**{"syntax/ubl.csv": house_rules.ROWS.replace("in_code_list,", "in_list,")}),
        r"acme/syntax/ubl\.csv, line 2, check: unknown check",
    ),
    "unknown list": (
        broken(**{"syntax/ubl.csv": house_rules.ROWS.replace("acme_schemes", "acme_codes")}),
        r"acme/syntax/ubl\.csv, line 2, argument: unknown code list",
    ),
    "short row": (
        broken(**{"syntax/ubl.csv": house_rules.ROWS.replace(",warning,,", "")}),
        r"acme/syntax/ubl\.csv, line 2: has 5 cells instead of 8",
    ),
    "unknown prefix": (
        broken(**{"syntax/ubl.csv": house_rules.ROWS.replace("//cac:", "//xyz:")}),
        r"acme/syntax/ubl\.csv, line 2, context: ",
    ),
    "unknown condition": (
        broken(**{"syntax/ubl.csv": house_rules.ROWS.replace("in_code_list,", "meets,")}),
        r"acme/syntax/ubl\.csv, line 2, argument: unknown condition 'acme_schemes'",
    ),
    "invalid condition": (
        broken(**{"syntax/ubl.csv": CONDITIONAL, "syntax/conditions.toml": '[UBL]\nbig = "("\n'}),
        r"acme/syntax/ubl\.csv, line 2, context: the condition big is invalid: ",
    ),
    "condition that refers to itself": (
        broken(**{"syntax/ubl.csv": CONDITIONAL, "syntax/conditions.toml": '[UBL]\nbig = "{big}"\n'}),
        r"acme/syntax/ubl\.csv, line 2, context: the condition big is invalid: ",
    ),
    "unknown condition of a stop": (
        broken(**{"stops/ubl.csv": "rule,context,path,since,until\nACME-01,/,cbc:ID[unknown],,\n"}),
        r"acme/stops/ubl\.csv, line 2, path: ",
    ),
    "row without texts": (
        broken(**{"texts/ACME-02.toml": house_rules.TEXT.replace("ACME-02", "ACME-03")}),
        r"ACME-02",
    ),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("name", WRONG)
def test_wrong_rule_set_is_rejected_with_file_and_line(name, tmp_path):
    prepare, message = WRONG[name]
    folder = tmp_path / "rules"
    prepare(folder)
    with pytest.raises(RuleError, match=message):
        einvoice.validate(UBL, rules=folder)
    assert main(["rules", "check", str(folder)]) != 0
    assert einvoice.validate(UBL).is_valid


def test_wrong_example_is_found_by_the_check(rules, capsys):
    house_rules.write(rules, **{"ACME-01.toml": RULE.replace('"4711"', '"4500999999"')})
    assert main(["rules", "check", str(rules)]) == 1
    output = capsys.readouterr().out
    place = 'acme/ACME-01.toml, line 21, invalid."another number"'
    assert f"{place}: ACME-01: 'another number' does not violate the rule" in output


def test_missing_and_empty_folders_are_named(tmp_path):
    with pytest.raises(FileNotFoundError, match="nowhere"):
        einvoice.validate(UBL, rules=tmp_path / "nowhere")
    with pytest.raises(RuleError, match="contains no rule set"):
        einvoice.validate(UBL, rules=tmp_path)


@pytest.mark.parametrize("member", ["../outside.toml", "/tmp/outside.toml", "C:outside.toml"])
def test_archive_cannot_write_outside_of_its_folder(tmp_path, member):
    path = tmp_path / "rules.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(member, "x")
    with pytest.raises(RuleError, match="outside of its folder"):
        einvoice.validate(UBL, rules=path)


def test_archive_that_inflates_is_rejected(tmp_path):
    path = tmp_path / "rules.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(20):
            archive.writestr(f"acme/{number}.md", b" " * 1_000_000)
    with pytest.raises(RuleError, match="larger than 8 MiB unpacked"):
        einvoice.validate(UBL, rules=path)
