"""Invoices with HTML in all texts: no page and no widget renders or executes it."""

import json

import pytest
from lxml import etree

import einvoice
from tests.helpers.widgets import NotebookPage, marks

pytestmark = marks

# Short enough not to be truncated in names.
IMAGE = "'\"></style><img src=x onerror=run=1>"
SCRIPT = "</td></style><script>run=1</script>"
INJECTED = "script, img, svg, iframe, object, embed, link, b, [onload], [onerror]"


def inject_everywhere(data, text):
    """Replace every text and attribute value of a document."""
    root = etree.fromstring(data)
    for element in root.iter(etree.Element):
        if not len(element):
            element.text = text
        for name in element.attrib:
            element.set(name, text)
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8")


def inject_into(data, tag, text):
    """Replace the text of all elements with one name, so that most rules still run."""
    root = etree.fromstring(data)
    for element in root.iter(tag):
        element.text = text
    return etree.tostring(root)


@pytest.fixture(scope="module")
def documents(sample):
    """Documents by filename: one with every text replaced, and one per element name."""
    documents = {}
    for name in ("ubl-invoice.xml", "cii-invoice.xml"):
        data = sample(name).read_bytes()
        leaves = dict.fromkeys(it.tag for it in etree.fromstring(data).iter(etree.Element) if not len(it))
        for text in (IMAGE, SCRIPT):
            documents[f"{text.replace('/', '')}/{name}"] = inject_everywhere(data, text)
        documents |= {f"{IMAGE}/{name}{number}": inject_into(data, tag, IMAGE) for number, tag in enumerate(leaves)}
    return documents


@pytest.fixture(scope="module")
def results(documents):
    results = einvoice.validate_many(documents, workers=0, progress=False, lang="en")
    assert results.verdicts["unreadable"] == 0
    return results


@pytest.fixture
def shown(browser):
    shown = NotebookPage(browser)
    yield shown
    assert shown.page.locator(INJECTED).count() == 0
    assert shown.page.evaluate("typeof run") == "undefined"
    assert shown.problems == []
    shown.page.close()


def test_html_escapes_invoice_text(shown, documents, results):
    hybrids = pytest.importorskip("tests.helpers.hybrids", reason="pikepdf is not installed")
    first = documents[next(iter(documents))]
    clean = einvoice.validate_many({"a": b"<x/>"}, workers=0, progress=False)
    hybrid = einvoice.validate(hybrids.hybrid(name=IMAGE.replace("/", ""), xml=inject_everywhere(hybrids.XML, SCRIPT)))
    displayed = [einvoice.read(first), einvoice.catalog(), results, results.summary(), results.compare(clean)]
    displayed += [hybrid, hybrid.container, hybrid.invoice]
    for data in documents.values():
        result = einvoice.validate(data, mode="compatibility")
        displayed += [result, *result.findings]
    pages = {each._repr_html_() for each in displayed}
    pages.add(results.explore()._repr_mimebundle_()[0]["text/html"])
    shown.write("".join(pages))
    text = shown.page.evaluate("document.body.textContent")
    assert text.count(IMAGE) > len(documents)
    assert text.count(SCRIPT) > 10
    assert len(pages) > len(documents)


def test_result_widget_escapes_invoice_text(shown, documents):
    result = einvoice.validate(documents[next(iter(documents))], lang="en")
    view = result.explore()
    page = shown.widget(view)
    for number, finding in list(enumerate(result.findings))[::8]:
        page.click(f"tr[data-key='{number}']")
        page.wait_for_selector(f".ev-rule >> text={finding.code}")
        assert page.locator(INJECTED).count() == 0
    assert IMAGE in page.inner_text(".ev-header")
    assert "onerror=run=1" in page.inner_text("pre")
    page.fill("input", "no such finding" + SCRIPT)
    page.wait_for_function("document.querySelector('.ev-status').innerText.startsWith('No finding')")


def test_many_widget_escapes_invoice_text(shown, results):
    view = results.explore()
    page = shown.widget(view)
    for kind in ("folder", "seller"):
        view.by = kind
        assert page.locator(INJECTED).count() == 0
        assert IMAGE in page.inner_text(".ev-heatmap")
    assert IMAGE in page.inner_text(".ev-charts")
    for file in list(results)[:12]:
        page.click(f"tr[data-key={json.dumps(file.file)}]")
        page.wait_for_selector(f"tr[data-key={json.dumps(file.file)}][aria-selected=true]")
        assert page.locator(INJECTED).count() == 0
    assert IMAGE in page.inner_text("section.ev-file .ev-title")
