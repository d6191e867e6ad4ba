"""France CTC: selection by framework and countries, texts, invoices with groups, drafts, and the official results."""

from __future__ import annotations

import shutil

import pytest
from lxml import etree

import einvoice
from einvoice.authoring.check_documents import check_documents
from einvoice.resources import RuleData, rules_folder
from einvoice.rulebook.files.example import Example
from einvoice.rulebook.files.versions import read_rulesets
from einvoice.rulebook.rule import SYNTAXES
from tests.helpers.documents import document_of

RULES = "france-ctc/BR-FR-08.toml"  # the examples of its folder start from a French invoice
PEPPOL = "urn:cen.eu:en16931:2017#compliant#urn:peppol:france:billing:cius:1.0"
EXTENDED = "urn:cen.eu:en16931:2017#conformant#urn.cpro.gouv.fr:1p0:extended-ctc-fr"
LANGUAGES = ("de", "en", "fr")

both_syntaxes = pytest.mark.parametrize("syntax", SYNTAXES)


def document(syntax, changes=None, drop=()):
    """Return the bytes of the French invoice with changes at paths of the model."""
    return etree.tostring(document_of(Example("", changes or {}, drop), RULES, syntax))


def codes(result):
    return {finding.code for finding in result.findings}


def layers(result):
    return [layer.name for layer in result.stack.layers if layer.executed]


# ---------------------------------------------------------------- selection


@both_syntaxes
def test_french_invoice_is_valid(syntax):
    result = einvoice.validate(document(syntax))
    assert (result.is_valid, codes(result), result.identity.profile) == (True, set(), "France CTC")
    assert layers(result)[:3] == ["schema", "en16931", "france-ctc"]


@both_syntaxes
@pytest.mark.parametrize(
    "changes",
    [
        {"business_process": "urn:fdc:peppol.eu:2017:poacc:billing:01:1.0"},
        {"business_process": "XM1"},
        {"seller.address.country_code": "BE"},
        {"buyer.address.country_code": "DE"},
    ],
    ids=["another process", "part of a code", "a seller abroad", "a buyer abroad"],
)
def test_other_invoices_of_en16931_are_judged_without_the_french_rules(syntax, changes):
    result = einvoice.validate(document(syntax, changes))
    assert (result.identity.profile, "france-ctc" in layers(result)) == ("EN 16931", False)


@both_syntaxes
def test_blanks_around_a_country_make_no_difference(syntax):
    result = einvoice.validate(document(syntax, {"seller.address.country_code": " FR "}))
    assert result.identity.profile == "France CTC"


@both_syntaxes
def test_another_declared_specification_is_kept(syntax):
    declared = "urn:cen.eu:en16931:2017#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0"
    result = einvoice.validate(document(syntax, {"specification": declared}))
    assert (result.identity.profile, "france-ctc" in layers(result)) == ("XRechnung", False)


@both_syntaxes
@pytest.mark.parametrize(("declared", "remarks"), [(PEPPOL, set()), (EXTENDED, {"DECL-PART-ONLY"})])
def test_french_identifiers_declare_the_rules(syntax, declared, remarks):
    changes = {"specification": declared, "business_process": "urn:fdc:peppol.eu:2017:poacc:billing:01:1.0"}
    assert codes(einvoice.validate(document(syntax, changes))) == remarks | {"BR-FR-08_BT-23"}


@both_syntaxes
def test_profile_option_applies_the_rules_to_any_invoice(syntax):
    result = einvoice.validate(document(syntax, drop=("business_process",)), profile="france-ctc")
    assert codes(result) == {"BR-FR-08_BT-23"}


def test_xml_of_a_pdf_is_judged_by_the_rules_of_factur_x_too():
    from einvoice.syntax.detect import embedded, identify
    from einvoice.syntax.xml import parse
    from einvoice.validation.selection import select

    identity = identify(parse(document("CII")))
    assert embedded(identity).rulesets == ("en16931", "facturx", "france-ctc")
    names = [name for name, _ in select(identity, einvoice.result.Options(), hybrid=True).stack]
    assert names == ["en16931", "facturx", "france-ctc"]


# ---------------------------------------------------------------- findings


@pytest.mark.parametrize(
    ("syntax", "code"), [("UBL", "BR-FR-05_BT-22-1"), ("CII", "BR-FR-05_BT-22_PMT")], ids=["UBL", "CII"]
)
def test_missing_mandatory_note_is_explained_in_three_languages(syntax, code):
    result = einvoice.validate(document(syntax, drop=("notes[0]",)))
    (finding,) = result.findings
    assert (finding.code, finding.severity) == (code, "fatal")
    for lang, word in (("de", "Beitreibungskosten"), ("en", "recovery costs"), ("fr", "frais de recouvrement")):
        assert word in finding.title(lang)
        assert "PMT" in finding.explanation(lang)


@both_syntaxes
def test_element_rule_quotes_the_content_and_names_the_term(syntax):
    data = document(syntax, {"number": "2026 17"})
    findings = {it.code: it for it in einvoice.validate(data, lang="en").findings}
    assert set(findings) == {"BR-FR-02_BT-1", *(["BR-FR-01_BT-1-2"] if syntax == "UBL" else [])}
    finding = findings["BR-FR-02_BT-1"]
    assert "“2026 17”" in finding.explanation("en")
    assert finding.title("fr") == "Numéro de facture (BT-1) : forme non autorisée"


def test_catalog_has_all_texts_in_three_languages():
    entries = [entry for code, entry in einvoice.catalog().items() if code.startswith("BR-FR-")]
    assert len(entries) > 190
    for entry in entries:
        for lang in LANGUAGES:
            for text in (entry.title(lang), entry.explanation(lang), entry.fix(lang)):
                assert text, (entry.code, lang)
                assert not {"{term}", "{what}", "{found}"}.intersection(text.split()), (entry.code, text)
        assert len({entry.title(lang) for lang in LANGUAGES}) == len(LANGUAGES), entry.code


# ---------------------------------------------------------------- drafts


NOTES = [
    {"subject_code": "PMT", "text": "Indemnité forfaitaire pour frais de recouvrement : 40 €"},
    {"subject_code": "PMD", "text": "Pénalités de retard : trois fois le taux d'intérêt légal"},
    {"subject_code": "AAB", "text": "Pas d'escompte pour paiement anticipé"},
    {"subject_code": "BAR", "text": "B2B"},
]


def party(name, siren, city):
    number = {"id": siren, "scheme": "0002"}
    address = {"street": "1 rue de l'Exemple", "postal_code": "69002", "city": city, "country_code": "FR"}
    return {"name": name, **address, "legal_registration": number, "electronic_address": {**number, "scheme": "0225"}}


def draft(process, **changes):
    return {
        "profile": "FRANCE-CTC",
        "business_process": process,
        "invoice_number": "F2026-7",
        "issue_date": "2026-10-01",
        "due_date": "2026-10-31",
        "notes": NOTES,
        "seller": {**party("Menuiserie Exemple SARL", "732829320", "Lyon"), "tax_id": "FR44732829320"},
        "buyer": party("Librairie Modèle SAS", "404833048", "Nantes"),
        "service_date": "2026-09-30",
        "payment": {"iban": "FR7630006000011234567890189", "payment_means_code": "30"},
        "lines": [
            {"line_id": "1", "name": "Chaise", "quantity": "2", "unit_code": "C62", "unit_price": "50.00",
             "tax_category": "S", "tax_rate": "20.00"}
        ],
        **changes,
    }  # fmt: skip


@both_syntaxes
@pytest.mark.parametrize("process", ["B1", "S1", "M1"])
def test_draft_becomes_a_valid_invoice(syntax, process):
    generated = einvoice.generate(draft(process), syntax)
    assert generated.is_valid
    assert codes(generated.validation) == set()
    result = einvoice.validate(generated.xml.encode())
    assert (result.identity.profile, result.is_valid) == ("France CTC", True)


@both_syntaxes
def test_generated_invoice_is_judged_by_the_french_rules_whatever_its_content(syntax):
    generated = einvoice.generate(draft(None), syntax)
    assert codes(generated.validation) == {"BR-FR-08_BT-23"}


# ---------------------------------------------------------------- whole documents


def test_check_compares_whole_documents_with_the_stated_codes(tmp_path):
    folder = tmp_path / "france-ctc"
    shutil.copytree(rules_folder() / "france-ctc", folder)
    data = RuleData(rules_folder(), {"france-ctc": folder})
    ruleset = read_rulesets(data.sets)["france-ctc"]
    assert list(check_documents(data, ruleset)) == []
    expected = folder / "documents" / "expected.toml"
    first = '["x"]\nfiles = ["several-sellers-ubl.xml"]\nreplace = { ">S8<" = ">S1<" }\ncodes = ["BR-FR-08_BT-23"]\n'
    missing = '["y"]\nfiles = ["none.xml"]\n["z"]\nfile = "several-sellers-ubl.xml"\n'
    expected.write_text(first + missing, "utf-8")
    wrong, absent, unknown = map(str, check_documents(data, ruleset))
    assert "several-sellers-ubl.xml does not violate BR-FR-08_BT-23" in wrong
    assert "none.xml" in absent
    assert "'files'" in unknown


@pytest.mark.parametrize(
    ("file", "repeated"),
    [
        ("several-sellers-ubl.xml", "        <cbc:TaxExemptionReason>#F2026-0001#</cbc:TaxExemptionReason>\n"),
        ("several-sellers-cii.xml", "          <ram:ExemptionReason>#F2026-0001#</ram:ExemptionReason>\n"),
    ],
)
def test_only_for_a_detail_the_official_schematron_reads_the_reason_as_one_item(file, repeated):
    text = (rules_folder() / "france-ctc" / "documents" / file).read_text("utf-8")
    before, group, detail = text.rpartition(repeated)[0].rpartition(repeated), repeated, text.rpartition(repeated)[2]
    in_group = einvoice.validate((before[0] + group * 2 + before[2] + group + detail).encode())
    in_detail = einvoice.validate((before[0] + group + before[2] + group * 2 + detail).encode())
    assert "LAYER-STOPPED" not in codes(in_group)
    assert "LAYER-STOPPED" in codes(in_detail)
