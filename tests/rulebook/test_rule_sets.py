"""Rule sets side by side: bases, shared releases, specifications of their own, and the pinned release."""

import re

import pytest

import einvoice
from einvoice.errors import RuleError
from einvoice.resources import RuleData, shipped
from einvoice.rulebook.files.versions import read_ruleset
from einvoice.rulebook.program.build import RuleSets
from einvoice.rulebook.releases import PINNED, releases
from einvoice.syntax.detect import identify
from einvoice.syntax.xml import parse
from einvoice.validation.selection import Options, select
from tests.helpers.paths import SAMPLES
from tests.helpers.rule_sets import IDENTIFIER, SPECIFICATIONS, shipped_rule_sets, write_rule_set

UBL = (SAMPLES / "ubl-invoice.xml").read_bytes()
XRECHNUNG = b"urn:cen.eu:en16931:2017#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0"
EN16931 = b"urn:cen.eu:en16931:2017"
#: Violates BR-DE-15 and the rule of each added rule set.
INVALID = re.sub(rb"<cbc:BuyerReference>[^<]*</cbc:BuyerReference>", b"", UBL)


@pytest.fixture(autouse=True)
def no_pinned_release(monkeypatch):
    monkeypatch.delenv(PINNED, raising=False)


def declaring(identifier):
    return INVALID.replace(XRECHNUNG, identifier)


def of(name):
    return IDENTIFIER.format(name).encode()


def added(folder, *names):
    return RuleData(shipped().root, {name: folder / name for name in names})


def stack(identifier, data, **options):
    """Return the rule sets, each with its release, that validate a document."""
    identity = identify(parse(declaring(identifier)), data)
    return dict(select(identity, Options(data=data, **options)).stack)


def validated(identifier, folder, **options):
    """Return the rule sets that validated a document, and the codes of its errors."""
    result = einvoice.validate(declaring(identifier), rules=folder, plausibility=False, **options)
    assert result.stack.complete
    return [layer.name for layer in result.stack.layers[1:]], {finding.code for finding in result.errors}


# ---------------------------------------------------------------- the shipped rule sets


def test_each_rule_set_follows_its_base():
    known = releases()
    assert [name for name, it in known.sets.items() if not it.base] == ["en16931"]
    assert (known.sets["xrechnung-extension"].kind, known.sets["xrechnung-extension"].base) == (
        "extension",
        "xrechnung",
    )
    names = list(known.sets)
    assert all(names.index(it.base) < names.index(name) for name, it in known.sets.items() if it.base)
    assert known.default == "xrechnung"
    assert known.chain("xrechnung-extension") == ("en16931", "xrechnung", "xrechnung-extension")


def test_an_adopted_rule_has_the_releases_and_differences_of_the_rule_set_that_adopts_it():
    rule_sets = shipped_rule_sets()
    stated, adopted = (
        next(it for it in rule_sets.definitions[name] if it.code == "PEPPOL-EN16931-R120")
        for name in ("peppol", "xrechnung")
    )
    assert stated.file == adopted.file == "peppol/PEPPOL-EN16931-R120.toml"
    assert (stated.bound("since"), adopted.bound("since")) == ("", "2.0.0")
    assert (stated.resolved("UBL", "2026.5").severity, adopted.resolved("UBL", "2.6.0").severity) == (
        "fatal",
        "warning",
    )
    assert stated.resolved("UBL", "2026.5").let["tolerance"] == "0.02"
    assert "HUF" in adopted.resolved("UBL", "2.6.0").let["tolerance"]
    assert adopted.resolved("UBL", "2.0.1").let["tolerance"] == "0.02"


def _in(ruleset, code):
    return next(it for it in shipped_rule_sets().definitions[ruleset] if it.code == code)


def test_a_rule_can_be_adopted_under_another_code():
    stated, adopted = _in("xrechnung", "BR-DE-18"), _in("peppol", "DE-R-018")
    assert adopted.file == stated.file == "xrechnung/BR-DE-18.toml"
    assert adopted.texts["en"] == stated.texts["en"] | {"title": f"Germany: t{stated.texts['en']['title'][1:]}"}
    assert adopted.data["source"] == "Peppol BIS Billing 3.0, DE-R-018"
    newest, older = adopted.resolved("UBL", "2026.5"), adopted.resolved("UBL", "2025.11")
    assert (newest.code, newest.context) == ("DE-R-018", "german_payment_terms")
    assert newest.assertion == stated.resolved("UBL", "2.6.0").assertion != older.assertion


def test_variants_can_be_adopted_under_other_codes():
    adopted = _in("peppol", "DE-R-009")
    resolved = adopted.resolved("UBL", "2026.5")
    assert (adopted.file, resolved.code) == ("xrechnung/BR-DE-3.toml", "DE-R-009")
    assert (resolved.context, resolved.terms) == ("german_buyer_address", ("BT-53",))
    assert "BR-DE-9" not in {it.code for it in shipped_rule_sets().definitions["peppol"]}


def test_own_texts_of_an_adopted_rule_replace_those_of_the_rule_file():
    stated, adopted = _in("xrechnung", "BR-DE-1"), _in("peppol", "DE-R-001")
    assert adopted.texts["de"]["title"] == f"Deutschland: {stated.texts['de']['title']}"
    assert "XRechnung" in stated.texts["en"]["explanation"]
    assert "XRechnung" not in adopted.texts["en"]["explanation"]


def test_adopted_rule_has_the_translations_of_the_code_that_it_is_stated_as():
    stated, adopted = einvoice.catalog()["BR-DE-14"], einvoice.catalog()["DE-R-014"]
    title = stated.title("fr")
    assert adopted.title("fr") == f"Allemagne : {title[0].lower()}{title[1:]}"
    assert title != stated.title("en")


def test_situations_of_a_rule_adopted_under_another_code_name_the_country():
    for code in ("DE-R-018", "DE-R-031"):
        entry = einvoice.catalog()[code]
        titles = {entry.title("de", situation=it["key"]) for it in entry.situations}
        assert titles
        assert all(title.startswith("Deutschland: ") for title in titles)


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("The seller", "X: the seller"),
        ("A VAT rate", "X: a VAT rate"),
        ("IBAN missing", "X: IBAN missing"),
        ("", "X: "),
    ],
)
def test_title_after_a_colon_begins_with_a_small_letter_unless_it_is_an_abbreviation(title, expected):
    ruleset = shipped_rule_sets().sets["peppol"]._replace(adopted_title={"en": "X: {lower_title}"})
    assert ruleset.title_of_adopted(title, "en") == expected
    assert ruleset.title_of_adopted(title, "de") == title


def test_title_of_adopted_rules_without_the_title_is_refused(tmp_path):
    content = 'kind = "cius"\nname = "Own"\ntitle = { en = "Own" }\nadopted_title = { en = "Own:" }\n'
    (tmp_path / "ruleset.toml").write_text(content, "utf-8")
    with pytest.raises(RuleError, match="adopted_title"):
        read_ruleset(tmp_path)


def test_own_text_of_an_adopted_rule_is_not_translated_by_that_of_the_rule_file():
    stated, adopted = einvoice.catalog()["BR-DE-1"], einvoice.catalog()["DE-R-001"]
    assert adopted.title("fr") == f"Allemagne : l{stated.title('fr')[1:]}"
    assert adopted.explanation("fr").startswith("Entre entreprises allemandes")
    assert adopted.explanation("fr") != stated.explanation("fr")


def test_translations_of_adopted_rules_do_not_speak_of_xrechnung():
    for definition in shipped_rule_sets().definitions["peppol"]:
        if definition.stated_as:
            assert "XRechnung" not in repr(einvoice.catalog()[definition.code].texts), definition.code


def test_rules_of_peppol_do_not_speak_of_xrechnung():
    for definition in shipped_rule_sets().definitions["peppol"]:
        situations = [it.texts for it in definition.situations_for("UBL", "2026.5")]
        assert "XRechnung" not in repr([definition.texts, situations]), definition.code


def test_an_adopted_code_must_exist(tmp_path):
    folder = tmp_path / "own"
    folder.mkdir()
    content = 'kind = "cius"\nbase = "en16931"\nname = "Own"\ntitle = { en = "Own" }\nadopted = { peppol = ["BR-1"] }\n'
    (folder / "ruleset.toml").write_text(content, "utf-8")
    data = RuleData(shipped().root, {"own": folder})
    with pytest.raises(RuleError, match=r"own/ruleset\.toml, adopted\.peppol: BR-1 is not a rule file of peppol"):
        RuleSets(data)


def test_self_billing_adopts_the_rules_of_peppol_with_its_own_identifiers():
    definitions = shipped_rule_sets().definitions
    stated, adopted = ({it.code: it for it in definitions[name]} for name in ("peppol", "peppol-selfbilling"))
    assert "PEPPOL-EN16931-P0112" in stated
    assert "PEPPOL-EN16931-P0112" not in adopted
    assert {f"PEPPOL-EN16931-P01{number:02}" for number in range(4, 12)} <= adopted.keys()  # a family, by its file
    process = "urn:fdc:peppol.eu:2017:poacc:{}:01:1.0"
    rules = stated["PEPPOL-EN16931-R007"], adopted["PEPPOL-EN16931-R007"]
    assert [it.resolved("UBL", "2026.5").let["ordinary"] for it in rules] == [
        repr(process.format(standard)) for standard in ("billing", "selfbilling")
    ]


def test_a_finding_of_self_billing_states_its_own_identifier():
    identifier = "urn:cen.eu:en16931:2017#compliant#urn:fdc:peppol.eu:2017:poacc:selfbilling:3.0"
    result = einvoice.validate(UBL.replace(XRECHNUNG, b"EN"), profile="peppol-selfbilling", lang="en")
    (finding,) = (it for it in result.findings if it.code == "PEPPOL-EN16931-R004")
    assert (finding.layer, finding.validation_layer) == ("peppol-selfbilling", "cius")
    assert identifier in finding.fix()
    assert "BIS Billing" not in finding.explanation()


def test_extension_has_the_releases_of_xrechnung():
    known = releases()
    assert (known.owner("xrechnung-extension"), known.owner("xrechnung")) == ("xrechnung", "xrechnung")
    for own, base in zip(known.of("xrechnung-extension"), known.of("xrechnung"), strict=True):
        assert own.versions == (*base.versions, ("xrechnung-extension", base.version))
        assert (own.valid_from, own.announced) == (base.valid_from, base.announced)
    assert not [name for name in known.names() if "extension" in name]  # selected by those of XRechnung


def test_rule_sets_have_the_releases_that_go_with_the_selected_one():
    known = releases()
    names = ("en16931", "xrechnung", "xrechnung-extension")
    assert known.stack(names, known.named("xrechnung-2.3.1")) == (
        ("en16931", "1.3.9"),
        ("xrechnung", "1.8.2"),
        ("xrechnung-extension", "1.8.2"),
    )
    assert known.stack(("en16931", "facturx"), known.named("en16931-1.3.12")) == (
        ("en16931", "1.3.12"),
        ("facturx", "1.09"),
    )


# ---------------------------------------------------------------- two CIUS


@pytest.mark.slow
def test_documents_are_validated_by_the_cius_that_they_declare(tmp_path):
    for name in ("one", "two"):
        write_rule_set(tmp_path, name, specifications=SPECIFICATIONS)
    assert validated(of("one"), tmp_path) == (["en16931", "one"], {"ONE-01"})
    assert validated(of("two"), tmp_path) == (["en16931", "two"], {"TWO-01"})
    assert validated(XRECHNUNG, tmp_path) == (["en16931", "xrechnung"], {"BR-DE-15"})
    assert validated(EN16931, tmp_path) == (["en16931"], set())
    assert einvoice.validate(declaring(of("one"))).identity.profile == "unknown"


def test_cius_can_be_requested_by_name(tmp_path):
    for name in ("one", "two"):
        write_rule_set(tmp_path, name, specifications=SPECIFICATIONS)
    assert validated(XRECHNUNG, tmp_path, profile="two") == (["en16931", "two"], {"TWO-01"})
    assert validated(of("one"), tmp_path, profile="xrechnung") == (["en16931", "xrechnung"], {"BR-DE-15"})


@pytest.mark.slow
def test_findings_state_rule_set_and_kind(tmp_path):
    write_rule_set(tmp_path, "one", specifications=SPECIFICATIONS)
    result = einvoice.validate(declaring(of("one")), rules=tmp_path)
    (finding,) = result.errors
    assert (finding.layer, finding.kind, finding.validation_layer) == ("one", "cius", "cius")
    answer = result.to_dict("en")
    assert [error["validation_layer"] for error in answer["errors"]] == ["cius"]
    layers = answer["validation_details"]["validation_stack"]["layers"]
    assert [(layer["name"], layer["kind"]) for layer in layers] == [
        ("schema", "schema"),
        ("en16931", "en16931"),
        ("one", "cius"),
        ("plausibility", "plausibility"),
    ]
    assert answer["xrechnung_version"] == "3.0.2"


@pytest.mark.slow
def test_rule_set_without_a_specification_applies_wherever_its_base_does(tmp_path):
    write_rule_set(tmp_path, "house")
    write_rule_set(tmp_path, "national", base="xrechnung")
    write_rule_set(tmp_path, "branch", base="house")
    names, errors = validated(EN16931, tmp_path)
    assert (names[0], set(names[1:]), errors) == ("en16931", {"house", "branch"}, {"HOUSE-01", "BRANCH-01"})
    assert names.index("house") < names.index("branch")
    names, errors = validated(XRECHNUNG, tmp_path)
    assert names[:2] == ["en16931", "xrechnung"]
    assert set(names[2:]) == {"house", "branch", "national"}
    assert errors == {"BR-DE-15", "HOUSE-01", "BRANCH-01", "NATIONAL-01"}


@pytest.mark.slow
def test_rule_set_for_one_syntax_does_not_apply_to_the_other(tmp_path):
    write_rule_set(tmp_path, "house", 'syntaxes = ["CII"]')
    assert validated(EN16931, tmp_path) == (["en16931"], set())


# ---------------------------------------------------------------- releases


@pytest.mark.slow
def test_rule_set_without_releases_has_those_of_its_base(tmp_path):
    write_rule_set(tmp_path, "house", rule='since = "1.3.13"')
    data = added(tmp_path, "house")
    known = releases(data)
    assert [it.version for it in known.of("house")] == [it.version for it in known.of("en16931")]
    assert known.owner("house") == "en16931"
    assert stack(EN16931, data, ruleset="en16931-1.3.12") == {"en16931": "1.3.12", "house": "1.3.12"}
    for release, errors in (("1.3.12", set()), ("1.3.13", {"HOUSE-01"})):
        assert validated(EN16931, tmp_path, ruleset=f"en16931-{release}")[1] == errors


def test_release_is_the_one_published_with_that_of_the_base(tmp_path):
    versions = '[[versions]]\nversion = "1"\nbase = "1.3.12"\n[[versions]]\nversion = "2"\nbase = "1.3.16"\n'
    home = write_rule_set(tmp_path, "house")
    with (home / "ruleset.toml").open("a", encoding="utf-8") as file:
        file.write(versions)
    data = added(tmp_path, "house")
    assert stack(EN16931, data) == {"en16931": "1.3.16", "house": "2"}
    assert stack(EN16931, data, ruleset="en16931-1.3.12") == {"en16931": "1.3.12", "house": "1"}
    assert stack(XRECHNUNG, data, ruleset="house-1") == {"en16931": "1.3.12", "house": "1"}
    assert releases(data).named("house-1").core == "1.3.12"


@pytest.mark.parametrize(
    ("pinned", "rulesets"),
    [
        ("en16931-1.3.12", {"en16931": "1.3.12", "xrechnung": "2.6.0", "facturx": "1.09"}),
        ("xrechnung-2.3.1", {"en16931": "1.3.9", "xrechnung": "1.8.2", "facturx": "1.09"}),
    ],
)
def test_pinned_release_applies_to_the_rule_sets_that_it_includes(monkeypatch, pinned, rulesets):
    monkeypatch.setenv(PINNED, pinned)
    known = releases()
    assert known.current() == known.named(pinned)
    for name, version in rulesets.items():
        current = known.current(name)
        assert (current.ruleset, current.version) == (name, version)
        assert current.core == rulesets["en16931"]
    assert stack(XRECHNUNG, None) == {name: rulesets[name] for name in ("en16931", "xrechnung")}
    assert stack(EN16931, None) == {"en16931": rulesets["en16931"]}


@pytest.mark.parametrize(("pinned", "core"), [("en16931-1.3.12", "1.3.12"), ("xrechnung-2.3.1", "1.3.9")])
def test_pinned_release_gives_another_cius_its_base(monkeypatch, tmp_path, pinned, core):
    monkeypatch.setenv(PINNED, pinned)
    home = write_rule_set(tmp_path, "one", specifications=SPECIFICATIONS)
    shared = RuleData(shipped().root, {"one": home})
    assert stack(of("one"), shared) == {"en16931": core, "one": core}
    with (home / "ruleset.toml").open("a", encoding="utf-8") as file:
        file.write('[[versions]]\nversion = "7"\n')
    assert stack(of("one"), added(tmp_path, "one")) == {"en16931": core, "one": "7"}


def test_pinned_release_of_another_cius_leaves_xrechnung_its_newest(monkeypatch, tmp_path):
    home = write_rule_set(tmp_path, "one", specifications=SPECIFICATIONS)
    with (home / "ruleset.toml").open("a", encoding="utf-8") as file:
        file.write('[[versions]]\nversion = "7"\nbase = "1.3.12"\n')
    data = added(tmp_path, "one")
    monkeypatch.setenv(PINNED, "one-7")
    assert stack(of("one"), data) == {"en16931": "1.3.12", "one": "7"}
    assert stack(XRECHNUNG, data) == {"en16931": "1.3.12", "xrechnung": "2.6.0"}
