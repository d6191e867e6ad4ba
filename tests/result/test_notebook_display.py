"""HTML display of invoices, results, catalog and containers in notebooks."""

import copy
import html
import pickle
from dataclasses import replace

import pytest

import einvoice
from einvoice.result import Layer
from tests.helpers.languages import REJECTED

NAMES = {"de": "Rechnungsnummer", "en": "Invoice number"}


@pytest.mark.parametrize(("lang", "name"), NAMES.items())
def test_invoice_is_displayed_in_the_requested_language(sample, lang, name):
    path = sample("ubl-invoice.xml")
    result = einvoice.validate(path, lang=lang)
    copies = [pickle.loads(pickle.dumps(result)), copy.deepcopy(result)]
    generated = einvoice.generate(sample("draft.json"), lang=lang).invoice
    for invoice in (einvoice.read(path, lang=lang), result.invoice, generated, *(it.invoice for it in copies)):
        page = invoice._repr_html_()
        assert f'lang="{lang}"' in page
        assert name in page


def test_language_does_not_affect_invoice_equality(sample):
    path = sample("ubl-invoice.xml")
    assert einvoice.read(path) == einvoice.read(path, lang="en")
    assert NAMES["de"] in einvoice.read(path)._repr_html_()


@pytest.mark.parametrize(("lang", "word"), {"de": "Ebene", "en": "Layer"}.items())
def test_catalog_uses_the_requested_language(lang, word):
    catalog = einvoice.catalog(lang=lang)
    assert word in catalog._repr_html_()
    assert catalog.to_dict() == catalog.to_dict(lang)
    assert catalog.to_dict()["language"] == lang
    assert catalog.version == einvoice.catalog().version


@pytest.mark.parametrize(("lang", "fix"), {"de": "→ Stimmen alle", "en": "→ If all line"}.items())
def test_catalog_entry_display(lang, fix):
    entry = einvoice.catalog(lang=lang)["BR-CO-10"]
    assert repr(entry) == "<CatalogEntry BR-CO-10: fatal, en16931>"
    assert str(entry).startswith(f"BR-CO-10: {entry.title(lang)}\n")
    assert fix in str(entry)
    hostile = entry._replace(texts={lang: dict.fromkeys(entry.texts[lang], "<script>")})
    page = hostile._repr_html_()
    assert f'lang="{lang}"' in page
    assert page.count("&lt;script&gt;") == 3
    assert "<script" not in page
    assert html.escape(entry.fix(lang)) in entry._repr_html_()


def test_unsupported_language_is_rejected(sample):
    with pytest.raises(ValueError, match=REJECTED):
        einvoice.read(sample("ubl-invoice.xml"), lang="xx")
    with pytest.raises(ValueError, match=REJECTED):
        einvoice.catalog(lang="xx")


@pytest.mark.parametrize("lang", NAMES)
def test_result_lists_its_layers(sample, lang):
    result = einvoice.validate(sample("ubl-invoice.xml"), lang=lang)
    page = result._repr_html_()
    for layer in result.stack.layers:
        assert html.escape(layer.description(lang)) in page
    stack = replace(result.stack, layers=(*result.stack.layers, Layer("xrechnung-extension", {}, executed=False)))
    not_run = {"de": "extension: nicht ausgeführt", "en": "extension: not run"}[lang]
    assert not_run in replace(result, stack=stack)._repr_html_()


@pytest.mark.parametrize(("lang", "verdict"), {"de": "PDF: nicht gültig", "en": "PDF: not valid"}.items())
def test_container_is_displayed_with_its_own_verdict(lang, verdict):
    hybrids = pytest.importorskip("tests.helpers.hybrids", reason="pikepdf is not installed")

    def change(pdf, spec):
        hybrids.attach(pdf, "xrechnung.xml", hybrids.XML)
        del spec["/AFRelationship"]

    container = einvoice.validate(hybrids.hybrid(change), lang=lang).container
    page = container._repr_html_()
    assert f"{verdict} · {container.name}" in page
    assert set(container.candidates) == {"factur-x.xml", "xrechnung.xml"}
    for text in (*container.candidates, *(finding.code for finding in container.findings), container.title[lang]):
        assert html.escape(text) in page
