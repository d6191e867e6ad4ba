"""Widget of a result, controlled from Python."""

import html
import re
import subprocess
import sys

import pytest

import einvoice
from einvoice.reference import ReferenceFinding, ReferenceResult, ReferenceRun
from tests.assessment.cases import VALID
from tests.helpers.languages import REJECTED

pytest.importorskip("anywidget", reason="the extra notebook is not installed")
traitlets = pytest.importorskip("traitlets")


@pytest.fixture
def document(sample):
    """An invoice with a wrong taxable amount, an invalid VAT identifier, and a script in the seller's name."""
    data = sample("ubl-invoice.xml").read_bytes()
    data = data.replace(b'EUR">260.00', b'EUR">261.00').replace(b"DE123456789", b"123456789")
    return data.replace(b">Franziska Moser<", b">&lt;script&gt;alert(1)&lt;/script&gt;<")


@pytest.fixture
def view(document):
    return einvoice.validate(document, lang="en").explore()


def codes(view):
    return [finding.code for finding in view.findings]


def test_initial_state_selects_the_first_finding(view):
    assert codes(view) == [finding.code for finding in view.result.findings]
    assert view.finding is view.findings[0]
    assert view._finding_details["title"] == view.finding.title("en")


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"severity": "fatal"}, ["BR-CO-09", "BR-S-08"]),
        ({"severity": ["warning", "information"]}, []),
        ({"layer": "en16931"}, ["BR-CO-09", "BR-S-08"]),
        ({"layer": "xrechnung"}, []),
        ({"section": "vat"}, ["BR-S-08"]),
        ({"term": "BT-31"}, ["BR-CO-09"]),
        ({"text": "br-co"}, ["BR-CO-09"]),
        ({"text": "TAXABLE amount"}, ["BR-S-08"]),
        ({"section": "seller", "text": "taxable"}, []),
        ({"severity": [], "text": ""}, ["BR-CO-09", "BR-S-08"]),
    ],
)
def test_filters(view, filters, expected):
    view.filters = filters
    assert codes(view) == expected
    assert [row["code"] for group in view._table["groups"] for row in group["rows"]] == expected
    assert repr(view) == f"<ResultView: {len(expected)} of 2 findings>"


def test_unknown_severity_is_rejected(view):
    with pytest.raises(traitlets.TraitError, match="unknown severity 'error'; valid are fatal, warning, information"):
        view.filters = {"severity": "error"}
    assert len(view.findings) == 2


def test_text_filter_searches_the_displayed_language(view):
    view.filters = {"text": "Ländercode"}
    assert not codes(view)
    view.lang = "de"
    assert codes(view) == ["BR-CO-09"]
    assert view._table["status"] == "1 von 2 Befunden"


def test_language_changes_every_text(view):
    english = view._labels, view._header, view._choices, view._table, view._finding_details
    view.lang = "de"
    german = view._labels, view._header, view._choices, view._table, view._finding_details
    assert all(one != other for one, other in zip(english, german, strict=True))
    assert view._finding_details["fix"] == view.finding.fix("de")


MARKS = ["<cbc:CompanyID>123456789</cbc:CompanyID>", "<cac:TaxSubtotal>"]


@pytest.mark.parametrize(("number", "mark"), list(enumerate(MARKS)))
def test_selected_finding_shows_an_excerpt(view, document, number, mark):
    view.selected = number
    excerpt = view._finding_details["excerpt"]
    before, marked, after = excerpt["marked"]
    assert marked == mark
    shown = [*excerpt["above"], before + marked + after, *excerpt["below"]]
    start = excerpt["first"] - 1
    assert shown == document.decode().split("\n")[start : start + len(shown)]
    assert excerpt["first"] + len(excerpt["above"]) == view.finding.line


def test_no_selection_has_no_details(view):
    view.selected = -1
    assert view.finding is None
    assert view._finding_details == {}


@pytest.mark.parametrize("invalid", [{"selected": 2}, {"selected": -2}, {"filters": {"colour": "red"}}, {"lang": "xx"}])
def test_invalid_values_are_rejected(view, invalid):
    ((name, value),) = invalid.items()
    with pytest.raises(traitlets.TraitError):
        setattr(view, name, value)


def test_filter_choices_have_findings(view):
    for key, choices in view._choices.items():
        assert choices
        for value, label, count in choices:
            view.filters = {key: value}
            assert label
            assert len(view.findings) == count


def test_container_findings_are_grouped_separately():
    """Findings about the container come after those about the invoice, with a separate verdict."""
    hybrids = pytest.importorskip("tests.helpers.hybrids", reason="pikepdf is not installed")
    invalid_xml = hybrids.XML.replace(b">DE987654321<", b">987654321<")
    document = hybrids.hybrid(lambda pdf, spec: spec.__delitem__("/AFRelationship"), xml=invalid_xml)
    view = einvoice.validate(document, lang="en").explore()
    (invoice, container) = view._table["groups"]
    assert (invoice["title"], container["title"]) == ("", "PDF: not valid · factur-x.xml")
    container_codes = [finding.code for finding in view.result.container.findings]
    assert [row["code"] for row in container["rows"]] == container_codes
    assert not {row["code"] for row in invoice["rows"]} & set(container_codes)
    assert "PDF: not valid · factur-x.xml" in view._header["remarks"]
    view.filters = {"layer": "pdf"}
    assert codes(view) == container_codes


def test_compatibility_mode_lists_differences(sample):
    """Later releases require the seller's electronic address, which is missing."""
    older = re.sub(rb"<cbc:EndpointID.*?</cbc:EndpointID>", b"", sample("ubl-invoice.xml").read_bytes(), count=1)
    older = older.replace(b"urn:xeinkauf.de:kosit:xrechnung_3.0", b"urn:xoev-de:kosit:standard:xrechnung_2.3")
    result = einvoice.validate(older, mode="compatibility", lang="en")
    view = result.explore()
    assert result.differences
    (_, lines), (_, layers) = view._header["sections"]
    assert len(lines) == len(result.differences)
    assert all(one.finding.code in line for one, line in zip(result.differences, lines, strict=True))
    assert len(layers) == len(result.stack.layers)
    page = result._repr_html_()
    assert all(html.escape(line) in page for line in lines)
    assert html.escape(view._header["remarks"][-1]) in page


def test_reference_findings_with_unknown_codes_are_listed(sample, monkeypatch):
    reported = ReferenceFinding("THEIRS-1", "fatal", "fatal", "/*", "<b>Not so.</b>")
    runs = ReferenceRun("en16931", "EN 16931", "1.3.16"), ReferenceRun("cius", reports=(reported,))
    monkeypatch.setattr("einvoice.reference.validate", lambda data, identity: ReferenceResult("rules", "", runs))
    compared = einvoice.validate(sample("ubl-invoice.xml"), engine="both", lang="en")
    heading, lines = compared.explore()._header["sections"][0]
    assert heading in compared.explore()._header["remarks"]
    assert "THEIRS-1" in lines[0]
    assert "THEIRS-1" in compared._repr_html_()
    replaced = einvoice.validate(sample("ubl-invoice.xml"), engine="reference", lang="en").explore()
    assert codes(replaced) == ["THEIRS-1"]
    properties = [text for _, text in replaced._finding_details["properties"]]
    assert "<b>Not so.</b>" in properties
    assert not any("catalog" in text for text in properties)


def test_static_html_shows_the_result(view):
    data, _ = view._repr_mimebundle_()
    assert data["text/plain"] == repr(view)
    assert data["text/html"] == view.result._repr_html_()
    assert "application/vnd.jupyter.widget-view+json" in data


def test_valid_invoice_has_no_findings(sample):
    view = einvoice.explore(einvoice.validate(sample("ubl-invoice.xml")), lang="en")
    assert repr(view) == "<ResultView: 0 of 0 findings>"
    assert (view.selected, view._table["status"], view._header["valid"]) == (-1, "No findings.", True)


def test_excerpt_of_a_single_long_line_in_another_encoding(document):
    text = document.decode().replace("UTF-8", "ISO-8859-1")
    view = einvoice.validate("".join(line.strip() + " " for line in text.split("\n")).encode("latin-1")).explore()
    before, marked, after = view._finding_details["excerpt"]["marked"]
    assert marked == MARKS[0]
    assert max(len(before), len(after)) == 401


def test_explore_rejects_other_types():
    with pytest.raises(TypeError, match="must be a ValidationResult"):
        einvoice.explore("invoice.xml")


def test_missing_extra_is_reported(sample):
    code = (
        "import sys, einvoice; sys.modules['anywidget'] = None\n"
        f"try: einvoice.validate({str(sample('ubl-invoice.xml'))!r}).explore()\n"
        "except ImportError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "widgets need anywidget: pip install 'einvoice-toolkit[notebook]'\n"


def test_language_can_be_a_tag_with_an_available_parent(view):
    view.lang = "fr-BE"
    assert view.result.findings[view.selected].title("fr-BE") in str(view.get_state())
    assert ["fr", "Français"] in view.get_state()["_languages"]
    with pytest.raises(traitlets.TraitError, match=REJECTED):
        view.lang = "xx"
    assert view.lang == "fr-BE"


def test_causes_are_searched_when_they_are_shown(sample):
    text = sample("ubl-invoice.xml").read_bytes().replace(b">415.33<", b">41.33<")
    view = einvoice.validate(text, lang="en").explore()
    assert (view.with_causes, view.causes, view._causes["title"]) == (False, (), "2 findings")
    with pytest.raises(traitlets.TraitError, match="cause"):
        view.cause = 0
    view.with_causes = True
    assert view._causes["title"] == "1 cause, 2 findings"
    view.cause = 0
    details = view._cause_details
    assert [it["code"] for it in details["findings"]] == ["BR-CO-15", "BR-CO-16"]
    assert [view.result.findings[it["number"]].code for it in details["findings"]] == ["BR-CO-15", "BR-CO-16"]
    assert '-    <cbc:TaxInclusiveAmount currencyID="EUR">41.33<' in details["changes"][0]["diff"]
    view.lang = "de"
    assert view._causes["title"] == "1 Ursache, 2 Befunde"
    assert view._cause_details["changes"][0]["proof"] == "Mit dieser Änderung verschwinden beide Befunde."
    view.with_causes = False
    assert (view.cause, view._cause_details) == (-1, {})
    again = view.result.explore()
    assert again.with_causes  # the result knows them


def test_a_cause_may_have_no_change(sample):
    text = sample("ubl-invoice.xml").read_bytes().replace(b">58</cbc:PaymentMeansCode>", b">0</cbc:PaymentMeansCode>")
    view = einvoice.validate(text, lang="en").explore()
    view.with_causes, view.cause = True, 0
    assert view._cause_details["changes"] == []
    assert "No change was found" in view._cause_details["note"]


def test_export_shows_causes_that_are_known(sample):
    text = sample("ubl-invoice.xml").read_bytes().replace(b">415.33<", b">41.33<")
    view = einvoice.validate(text, lang="en").explore()
    assert "1 cause" not in view._repr_mimebundle_()[0]["text/html"]
    view.with_causes = True
    assert "1 cause, 2 findings" in view._repr_mimebundle_()[0]["text/html"]


def test_a_valid_invoice_has_no_causes_section(sample):
    assert einvoice.validate(sample("ubl-invoice.xml").read_bytes(), lang="en").explore()._causes["hidden"]


def test_the_letter_is_written_when_it_is_shown(sample):
    text = sample("ubl-invoice.xml").read_bytes().replace(b">415.33<", b">41.33<")
    view = einvoice.validate(text, lang="en").explore()
    assert view._letter == {"text": "", "hidden": False}
    view.with_letter = True
    assert view._letter["text"].startswith("Subject: invoice LG-2026-0417 of 2026-05-04 – request to correct it")
    view.lang = "de"
    assert view._letter["text"] == view.result.letter("de")


def test_a_valid_invoice_has_no_letter(sample):
    assert einvoice.validate(sample("ubl-invoice.xml").read_bytes(), lang="en").explore()._letter["hidden"]


def test_the_letter_of_a_valid_invoice_asks_for_what_the_law_requires():
    gaps = next(it for it in VALID if it.name == "no date of supply")
    view = einvoice.validate(gaps.xml(), lang="en").explore()
    assert not view._letter["hidden"]
    view.with_letter = True
    assert "The date of supply is missing" in view._letter["text"]


def test_the_assessment_is_that_of_the_result(sample):
    text = sample("ubl-invoice.xml").read_bytes().replace(b">415.33<", b">41.33<")
    result = einvoice.validate(text, lang="en")
    view, assessment = result.explore(), result.assessment()
    assert view._assessment["sentences"] == assessment.sentences("en")
    assert "BR-CO-15" in view._assessment["classes"][0]["codes"]
    assert "not tax advice" in view._assessment["about"]
    view.lang = "de"
    assert view._assessment["sentences"] == assessment.sentences("de")


def test_without_a_law_there_is_no_assessment(sample):
    abroad = sample("ubl-invoice.xml").read_bytes().replace(b">DE</cbc:Ident", b">AT</cbc:Ident", 1)
    assert einvoice.validate(abroad).explore()._assessment == {}
