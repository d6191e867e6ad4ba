"""Files in the web app, in Chromium against a real server: several, large, unreadable, encoded, in PDFs."""

import re

import pytest

from tests.helpers.served import CII, UBL, WRONG
from tests.helpers.web_app import assert_highlighted, line_of, table

pytestmark = pytest.mark.slow


def test_multiple_files(page):
    page.choose(("gut.xml", CII), ("kaputt.xml", b"<Invoice"), ("falsch.xml", WRONG))
    assert page.texts(".file-list .name") == ["gut.xml", "kaputt.xml", "falsch.xml"]
    assert page.texts(".file-list button .muted") == ["Gültig", "Nicht gültig", "Nicht gültig"]
    page.page.click("text=kaputt.xml")
    assert "gelesen" in page.text(".summary-text")
    page.page.click("text=falsch.xml")
    page.page.wait_for_selector(".row.highlighted")
    assert_highlighted(page, line_of(WRONG, b">692.99<"))
    rows = table(page.download("text=Befunde als CSV")[1], ";")
    assert [row["Datei"] for row in rows] == ["gut.xml", "kaputt.xml", "falsch.xml", "falsch.xml"]
    assert page.page.locator(".key-facts").count() == 0
    page.page.click("text=Einzeln prüfen")
    page.page.wait_for_selector(".key-facts")


def test_more_files_than_a_batch_allows(page):
    page.choose(*[(f"{number}.xml", UBL) for number in range(12)])
    assert page.texts(".file-list button .muted") == ["Gültig"] * 12
    assert sum("/batch" in url for url in page.requests) == 2


def test_files_rejected_before_upload(page):
    page.choose(("riesig.xml", b" " * (10 * 1024 * 1024 + 1)), ("leer.xml", b""), ("gut.xml", CII))
    assert page.texts(".file-list button .muted") == ["Nicht geprüft", "Nicht geprüft", "Gültig"]
    assert page.text("#result-title") == "Die Datei ist zu groß"
    page.page.click("text=leer.xml")
    assert page.text("#result-title") == "Die Datei ist leer"


def test_unreadable_file_is_explained(opened):
    page = opened()
    content = b"<Invoice>\n<a></b>\n</Invoice>"
    page.choose(("kaputt.xml", content))
    problem = page.server.validate(content, lang="de").json()
    assert page.text("#result-title") == problem["title"]
    assert problem["detail"] in page.text(".problem")
    page.page.wait_for_selector(".row.highlighted")
    assert_highlighted(page, str(problem["line"]))
    page.console_errors.clear()  # the browser logs the status 422


def test_drag_and_drop(page):
    page.page.evaluate(
        """(text) => {
            const dataTransfer = new DataTransfer();
            dataTransfer.items.add(new File([text], 'gezogen.xml'));
            document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
        }""",
        WRONG.decode(),
    )
    page.page.wait_for_selector("#result-title")
    assert page.text("#result .filename") == "gezogen.xml"


def test_file_changed_after_selection(page, tmp_path):
    (tmp_path / "a.xml").write_bytes(CII)
    page.page.set_input_files("#files", tmp_path / "a.xml")
    page.page.get_by_role("heading", name="Gültig").wait_for()
    (tmp_path / "a.xml").unlink()
    page.page.click("[data-lang=en]")
    page.page.get_by_role("heading", name="The file can no longer be read").wait_for()


def test_single_line_xml(page):
    """A long line is wrapped into rows; the row of the finding is highlighted."""
    wrong = re.sub(rb"\s*\n\s*", b" ", WRONG)
    page.choose(("zeile.xml", wrong))
    page.page.wait_for_selector(".row.highlighted")
    assert ">692.99<" in page.text(".row.highlighted")
    assert_highlighted(page, "1")
    shown = page.page.evaluate("import('/page/js/rows.js').then(({splitRows}) => splitRows('x'.repeat(1000), 10))")
    assert (shown["starts"], shown["ends"]) == ([0, 200, 400, 600, 800], [200, 400, 600, 800, 1000])


def test_rows_match_the_text(page):
    text = "eins\r\nzwei\n\n" + "<a>b</a>" * 100 + "\nEnde"
    rows = page.page.evaluate("(text) => import('/page/js/rows.js').then(({splitRows}) => splitRows(text, 1000))", text)
    pieces = [text[begin:end] for begin, end in zip(rows["starts"], rows["ends"], strict=True)]
    assert pieces[:3] == ["eins", "zwei", ""]
    assert "".join(pieces[3:-1]) == "<a>b</a>" * 100
    assert all(len(piece) <= 200 for piece in pieces)
    assert rows["lines"] == [1, 2, 3, *[4] * (len(pieces) - 4), 5]
    assert rows["complete"]


def test_largest_file_does_not_block_the_page(page):
    begin, line, end = WRONG.partition(b"  <cac:InvoiceLine>")
    filler = b"<!-- " + b"." * 70 + b" -->\n"
    page.choose(("gross.xml", begin + filler * (9_900_000 // len(filler)) + line + end))
    page.page.wait_for_selector(".row.highlighted")
    assert page.page.locator(".row").count() < 300
    page.page.evaluate(
        """() => {
            const box = document.getElementById('xml');
            box.scrollTop = box.scrollHeight / 2;
        }"""
    )
    page.page.wait_for_function("() => document.querySelector('.row').dataset.line > 50_000")


def test_xml_in_another_encoding(page):
    latin = UBL.decode().replace('encoding="UTF-8"', 'encoding="ISO-8859-1"').encode("latin-1")
    page.choose(("latin.xml", latin))
    page.page.wait_for_selector(".row")
    assert "Vielen Dank für Ihre Bestellung." in "".join(page.texts(".row code"))


def test_xml_is_extracted_from_a_pdf(page):
    pytest.importorskip("pikepdf")
    from tests.helpers.hybrids import XML, hybrid

    page.choose(("rechnung.pdf", hybrid(xml=XML.replace(b"<ram:TypeCode>380<", b"<ram:TypeCode>999<"))))
    page.page.wait_for_selector(".row.highlighted")
    assert page.text("#source-title") == "factur-x.xml aus dem PDF"
    assert ">999<" in page.text(".row.highlighted")


def test_failed_extraction_is_reported(page):
    source = "import('/page/js/source.js').then(({readSource}) => readSource(new File([bytes], 'a.pdf')))"
    pdf = b"%PDF-1.7\n1 0 obj\n<< /Type /EmbeddedFile /Filter /FlateDecode /Length 4 >>\nstream\nabcd\nendstream"
    assert page.page.evaluate(f"(text) => {{ const bytes = text; return {source} }}", pdf.decode()) == {
        "text": None,
        "inPdf": True,
    }


def test_unreachable_server(page):
    page.page.context.set_offline(True)
    page.page.set_input_files("#files", [{"name": "a.xml", "mimeType": "text/xml", "buffer": CII}])
    page.page.get_by_role("heading", name="Der Server antwortet nicht").wait_for()
    page.page.context.set_offline(False)
    page.page.get_by_role("button", name="Erneut versuchen").click()
    page.page.get_by_role("heading", name="Gültig").wait_for()
    page.console_errors.clear()  # the browser logs the failed request
