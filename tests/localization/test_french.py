"""French texts of the rules that invoices violate most often."""

import pickle
import re
from collections import Counter

import pytest

import einvoice
from einvoice.cli import main
from einvoice.visualization import report_text
from tests.cases import corpus
from tests.helpers.paths import SAMPLES

TEXTS = ("title", "explanation", "fix")
PLACEHOLDER = re.compile(r"\{[^{}]*\}")


def most_frequent(number):
    """Return the codes that most documents violate according to the official Schematron."""
    documents = Counter()
    for case, _ in corpus.read("cases"):
        fired = case["fired"]
        reports = [fired.get(layer) for layer in ("en16931", "xrechnung")]
        documents.update({code for report in reports if isinstance(report, list) for code, *_ in report})
    return [code for code, _ in sorted(documents.items(), key=lambda it: (-it[1], it[0]))[:number]]


@pytest.mark.cases
@pytest.mark.skipif(not corpus.beside(), reason="needs the frequency of codes in real documents")
def test_the_100_most_frequent_codes_have_french_texts():
    catalog = einvoice.catalog()
    codes = most_frequent(100)
    assert len(codes) == 100
    for code in codes:
        assert all(catalog[code].texts["fr"].get(name, "").strip() for name in TEXTS), code


def with_english_values(texts):
    """Return French texts that quote the English description of a specification; it is a value of each language."""
    return {name: text.replace("{about_fr}", "{about_en}") for name, text in texts.items()}


def test_french_texts_quote_the_same_values():
    translated = [entry for entry in einvoice.catalog().values() if "fr" in entry.texts]
    assert len(translated) >= 100
    for entry in translated:
        for name, text in with_english_values(entry.texts["fr"]).items():
            assert set(PLACEHOLDER.findall(text)) == set(PLACEHOLDER.findall(entry.texts["en"][name])), entry.code


@pytest.mark.parametrize(
    ("code", "title"),
    [
        ("BR-CO-16", "Le net à payer ne correspond pas aux totaux"),
        ("UBL-CR-646", "EN 16931 ne prévoit pas de sous-ligne pour une ligne de facture"),
        ("UBL-CR-470", "EN 16931 ne prévoit pas d'acompte dans la facture"),
        ("UBL-SR-48", "Il faut exactement une catégorie de TVA pour l'article d'une ligne"),
    ],
)
def test_title(code, title):
    assert einvoice.catalog()[code].title("fr") == title


def test_reasons_of_severity_overrides_and_titles_of_rule_sets(sample):
    content = sample("ubl-invoice.xml").read_bytes().replace(b'unitCode="C62"', b'unitCode="none"')
    result = einvoice.validate(content)
    finding = next(it for it in result.findings if it.code == "BR-CL-23")
    assert finding.override_reason("fr").startswith("Pour XRechnung, une unité de mesure (BT-130, BT-150)")
    assert finding.override_reason("en").startswith("For XRechnung, a unit of measure")
    national = result.stack.layer("xrechnung")
    assert national.title_in("fr-BE") == "XRechnung, règles Schematron de la KoSIT"
    assert pickle.loads(pickle.dumps(national)).title_in("fr") == national.title_in("fr")


def test_result_sets_and_their_comparison_are_in_french():
    sample = (SAMPLES / "ubl-invoice.xml").read_bytes()
    wrong = sample.replace(b'"EUR">99.00', b'"EUR">98.99')
    assert wrong != sample
    before, after = (
        einvoice.validate_many({"a.xml": it, "b.xml": b"<"}, workers=0, progress=False, lang="fr")
        for it in (wrong, sample)
    )
    assert str(before).startswith("2 fichiers\u00a0: 1 non valide, 1 illisible\nContrôlé selon xrechnung-")
    comparison = after.compare(before)
    assert comparison.message().startswith("Amélioration, anomalies : 1 en moins, 0 en plus. Fichiers : 1 mieux, ")
    assert "a.xml\u00a0: non valide → valide" in comparison.to_text()


def test_all_situations_and_notes_are_in_french_and_quote_the_same_values():
    for code, entry in einvoice.catalog().items():
        for french, english in ((it["texts"].get("fr", {}), it["texts"]["en"]) for it in entry.situations):
            texts = with_english_values(french)
            assert {name: set(PLACEHOLDER.findall(text)) for name, text in texts.items()} == {
                name: set(PLACEHOLDER.findall(text)) for name, text in english.items()
            }, code
        for note in entry.notes:
            quoted = (set(PLACEHOLDER.findall(note["texts"][lang])) for lang in ("fr", "en"))
            assert next(quoted) == next(quoted), code


def test_a_colon_has_a_space_before_it(tmp_path, capsys):
    """Also behind labels of reports, whatever puts the colon there."""
    path = tmp_path / "facture.xml"
    path.write_bytes((SAMPLES / "ubl-invoice.xml").read_bytes().replace(b'"EUR">99.00', b'"EUR">98.99'))
    result = einvoice.validate(path, lang="fr")
    main(["validate", str(path), "--causes", "--lang", "fr"])
    texts = [str(result), result.causes().to_html(), result._repr_html_(), report_text(result), capsys.readouterr().out]
    texts.append(str(result.fixed()))
    for text in texts:
        words = re.sub(r"<style.*?</style>|<[^>]*>|facture[.]xml:", " ", text, flags=re.DOTALL)
        assert not re.findall(r"\S*[^\W\d_)]:(?=\s)", words)
