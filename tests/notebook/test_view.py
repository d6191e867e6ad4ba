"""A result as a widget: what is set from Python is what a click sets."""

import html
import re
import subprocess
import sys

import pytest

import einvoice
from einvoice.reference import ReferenceFinding, ReferenceResult, ReferenceRun

pytest.importorskip("anywidget", reason="the extra notebook is not installed")
traitlets = pytest.importorskip("traitlets")


@pytest.fixture
def document(sample):
    """An invoice with a wrong taxable amount, a VAT identifier without country, and a seller who writes scripts."""
    data = sample("ubl-invoice.xml").read_bytes()
    data = data.replace(b'EUR">260.00', b'EUR">261.00').replace(b"DE123456789", b"123456789")
    return data.replace(b">Franziska Moser<", b">&lt;script&gt;alert(1)&lt;/script&gt;<")


@pytest.fixture
def view(document):
    return einvoice.validate(document, lang="en").explore()


def codes(view):
    return [finding.code for finding in view.findings]


def test_it_begins_with_everything_and_the_first_finding(view):
    assert codes(view) == [finding.code for finding in view.result.findings]
    assert view.finding is view.findings[0]
    assert view._detail["title"] == view.finding.title("en")


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"severity": "fatal"}, ["BR-CO-09", "BR-S-08"]),
        ({"severity": ["warning", "information"]}, []),
        ({"layer": "en16931"}, ["BR-CO-09", "BR-S-08"]),
        ({"layer": "cius"}, []),
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


def test_text_is_looked_for_in_the_language_that_is_shown(view):
    view.filters = {"text": "Ländercode"}
    assert not codes(view)
    view.lang = "de"
    assert codes(view) == ["BR-CO-09"]
    assert view._table["status"] == "1 von 2 Befunden"


def test_the_language_changes_every_text(view):
    english = view._words, view._head, view._choices, view._table, view._detail
    view.lang = "de"
    german = view._words, view._head, view._choices, view._table, view._detail
    assert all(one != other for one, other in zip(english, german, strict=True))
    assert view._detail["fix"] == view.finding.fix("de")


MARKS = ["<cbc:CompanyID>123456789</cbc:CompanyID>", "<cac:TaxSubtotal>"]


@pytest.mark.parametrize(("number", "mark"), list(enumerate(MARKS)))
def test_a_selection_shows_the_place_in_the_document(view, document, number, mark):
    view.selected = number
    excerpt = view._detail["excerpt"]
    before, marked, after = excerpt["marked"]
    assert marked == mark
    shown = [*excerpt["above"], before + marked + after, *excerpt["below"]]
    start = excerpt["first"] - 1
    assert shown == document.decode().split("\n")[start : start + len(shown)]
    assert excerpt["first"] + len(excerpt["above"]) == view.finding.line


def test_nothing_selected_is_nothing_told(view):
    view.selected = -1
    assert view.finding is None
    assert view._detail == {}


@pytest.mark.parametrize("wrong", [{"selected": 2}, {"selected": -2}, {"filters": {"colour": "red"}}, {"lang": "fr"}])
def test_what_cannot_be_is_refused(view, wrong):
    ((name, value),) = wrong.items()
    with pytest.raises(traitlets.TraitError):
        setattr(view, name, value)


def test_choices_are_those_that_lead_to_findings(view):
    for key, choices in view._choices.items():
        assert choices
        for value, label, count in choices:
            view.filters = {key: value}
            assert label
            assert len(view.findings) == count


def test_what_is_said_of_a_pdf_stands_apart_from_the_invoice():
    """The PDF around an invoice has a verdict of its own, and what is wrong with it comes after the invoice."""
    hybrids = pytest.importorskip("pdf.hybrids", reason="pikepdf is not installed")
    wrong = hybrids.XML.replace(b">DE987654321<", b">987654321<")
    spoiled = hybrids.hybrid(lambda pdf, spec: spec.__delitem__("/AFRelationship"), xml=wrong)
    view = einvoice.validate(spoiled, lang="en").explore()
    (invoice, around) = view._table["groups"]
    assert (invoice["title"], around["title"]) == ("", "PDF: not valid · factur-x.xml")
    of_pdf = [finding.code for finding in view.result.container.findings]
    assert [row["code"] for row in around["rows"]] == of_pdf
    assert not {row["code"] for row in invoice["rows"]} & set(of_pdf)
    assert "PDF: not valid · factur-x.xml" in view._head["remarks"]
    view.filters = {"layer": "pdf"}
    assert codes(view) == of_pdf


def test_compatibility_tells_what_is_different_today(sample):
    """The sample has no electronic address of the seller, which later releases ask for."""
    older = re.sub(rb"<cbc:EndpointID.*?</cbc:EndpointID>", b"", sample("ubl-invoice.xml").read_bytes(), count=1)
    older = older.replace(b"urn:xeinkauf.de:kosit:xrechnung_3.0", b"urn:xoev-de:kosit:standard:xrechnung_2.3")
    result = einvoice.validate(older, mode="compatibility", lang="en")
    view = result.explore()
    assert result.differences
    (_, told), (_, layers) = view._head["folded"]
    assert len(told) == len(result.differences)
    assert all(one.finding.code in line for one, line in zip(result.differences, told, strict=True))
    assert len(layers) == len(result.stack.layers)
    shown = result._repr_html_()
    assert all(html.escape(line) in shown for line in told)
    assert html.escape(view._head["remarks"][-1]) in shown


def test_a_second_opinion_is_told_with_rules_that_nobody_here_knows(sample, monkeypatch):
    said = ReferenceFinding("THEIRS-1", "fatal", "fatal", "/*", "<b>Not so.</b>")
    runs = ReferenceRun("en16931", "EN 16931", "1.3.16"), ReferenceRun("cius", reports=(said,))
    monkeypatch.setattr("einvoice.reference.validate", lambda data, identity: ReferenceResult("theirs", "", runs))
    beside = einvoice.validate(sample("ubl-invoice.xml"), engine="both", lang="en")
    heading, told = beside.explore()._head["folded"][0]
    assert heading in beside.explore()._head["remarks"]
    assert "THEIRS-1" in told[0]
    assert "THEIRS-1" in beside._repr_html_()
    instead = einvoice.validate(sample("ubl-invoice.xml"), engine="reference", lang="en").explore()
    assert codes(instead) == ["THEIRS-1"]
    facts = [text for _, text in instead._detail["facts"]]
    assert "<b>Not so.</b>" in facts
    assert not any("catalog" in text for text in facts)


def test_a_page_without_widgets_shows_the_result(view):
    data, _ = view._repr_mimebundle_()
    assert data["text/plain"] == repr(view)
    assert data["text/html"] == view.result._repr_html_()
    assert "application/vnd.jupyter.widget-view+json" in data


def test_a_valid_invoice_has_nothing_to_choose(sample):
    view = einvoice.explore(einvoice.validate(sample("ubl-invoice.xml")), lang="en")
    assert repr(view) == "<ResultView: 0 of 0 findings>"
    assert (view.selected, view._table["status"], view._head["valid"]) == (-1, "No findings.", True)


def test_a_document_in_another_encoding_and_of_one_line(document):
    text = document.decode().replace("UTF-8", "ISO-8859-1")
    long = einvoice.validate("".join(line.strip() + " " for line in text.split("\n")).encode("latin-1")).explore()
    before, marked, after = long._detail["excerpt"]["marked"]
    assert marked == MARKS[0]
    assert max(len(before), len(after)) == 401


def test_only_results_can_be_explored():
    with pytest.raises(TypeError, match="must be a ValidationResult"):
        einvoice.explore("invoice.xml")


def test_without_the_extra_it_says_what_is_missing(sample):
    code = (
        "import sys, einvoice; sys.modules['anywidget'] = None\n"
        f"try: einvoice.validate({str(sample('ubl-invoice.xml'))!r}).explore()\n"
        "except ImportError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "widgets need anywidget: pip install 'einvoice-toolkit[notebook]'\n"
