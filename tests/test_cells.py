"""What a notebook shows of a thing alone in a cell: in the language that was asked for, with all that was judged."""

import copy
import html
import pickle
from dataclasses import replace

import pytest

import einvoice
from einvoice.result import Layer

NAMES = {"de": "Rechnungsnummer", "en": "Invoice number"}


@pytest.mark.parametrize(("lang", "name"), NAMES.items())
def test_an_invoice_is_shown_in_the_language_that_was_asked_for(sample, lang, name):
    path = sample("ubl-invoice.xml")
    result = einvoice.validate(path, lang=lang)
    again = [pickle.loads(pickle.dumps(result)), copy.deepcopy(result)]
    made = einvoice.generate(sample("draft.json"), lang=lang).invoice
    for invoice in (einvoice.read(path, lang=lang), result.invoice, made, *(it.invoice for it in again)):
        shown = invoice._repr_html_()
        assert f'lang="{lang}"' in shown
        assert name in shown


def test_the_language_of_an_invoice_is_no_part_of_it(sample):
    path = sample("ubl-invoice.xml")
    assert einvoice.read(path) == einvoice.read(path, lang="en")
    assert NAMES["de"] in einvoice.read(path)._repr_html_()


@pytest.mark.parametrize(("lang", "word"), {"de": "Ebene", "en": "Layer"}.items())
def test_the_catalog_speaks_the_language_that_was_asked_for(lang, word):
    catalog = einvoice.catalog(lang=lang)
    assert word in catalog._repr_html_()
    assert catalog.to_dict() == catalog.to_dict(lang)
    assert catalog.to_dict()["language"] == lang
    assert catalog.version == einvoice.catalog().version


@pytest.mark.parametrize(("lang", "said"), {"de": "→ BT-106 auf", "en": "→ Set BT-106 to"}.items())
def test_an_entry_of_the_catalog_says_what_it_means(lang, said):
    entry = einvoice.catalog(lang=lang)["BR-CO-10"]
    assert repr(entry) == "<CatalogEntry BR-CO-10: fatal, en16931>"
    assert str(entry).startswith(f"BR-CO-10: {entry.title(lang)}\n")
    assert said in str(entry)
    hostile = entry._replace(texts={lang: dict.fromkeys(entry.texts[lang], "<script>")})
    shown = hostile._repr_html_()
    assert f'lang="{lang}"' in shown
    assert shown.count("&lt;script&gt;") == 3
    assert "<script" not in shown
    assert html.escape(entry.fix(lang)) in entry._repr_html_()


def test_another_language_is_refused(sample):
    with pytest.raises(ValueError, match="must be 'de' or 'en', not 'fr'"):
        einvoice.read(sample("ubl-invoice.xml"), lang="fr")
    with pytest.raises(ValueError, match="must be 'de' or 'en', not 'fr'"):
        einvoice.catalog(lang="fr")


@pytest.mark.parametrize("lang", NAMES)
def test_a_result_tells_the_layers_that_judged(sample, lang):
    result = einvoice.validate(sample("ubl-invoice.xml"), lang=lang)
    shown = result._repr_html_()
    for layer in result.stack.layers:
        assert html.escape(layer.description(lang)) in shown
    stopped = replace(result.stack, layers=(*result.stack.layers, Layer("extension", {}, executed=False)))
    not_run = {"de": "extension: nicht ausgeführt", "en": "extension: not run"}[lang]
    assert not_run in replace(result, stack=stopped)._repr_html_()


@pytest.mark.parametrize(("lang", "verdict"), {"de": "PDF: nicht gültig", "en": "PDF: not valid"}.items())
def test_a_pdf_stands_apart_with_its_verdict(lang, verdict):
    hybrids = pytest.importorskip("pdf.hybrids", reason="pikepdf is not installed")

    def change(pdf, spec):
        hybrids.attach(pdf, "xrechnung.xml", hybrids.XML)
        del spec["/AFRelationship"]

    container = einvoice.validate(hybrids.hybrid(change), lang=lang).container
    shown = container._repr_html_()
    assert f"{verdict} · {container.name}" in shown
    assert set(container.candidates) == {"factur-x.xml", "xrechnung.xml"}
    for told in (*container.candidates, *(finding.code for finding in container.findings), container.title[lang]):
        assert html.escape(told) in shown
