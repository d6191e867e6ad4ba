"""The web app at `/`, in Chromium against a real server."""

import csv
import io
import re

import pytest

from tests.helpers.served import CII, UBL, VALIDATE, WRONG, declaring, http, serving
from tests.helpers.web_app import Page

pytestmark = pytest.mark.slow

HOSTILE = '<img src=x onerror="window.executed=1"><script>window.executed=1</script>'
ESCAPED = HOSTILE.replace("<", "&lt;").replace(">", "&gt;")


@pytest.fixture
def opened(browser, server):
    """Open the page; afterwards, require no external requests, console errors or policy violations."""
    pages = []

    def opened(**options):
        pages.append(Page(browser, server, **options))
        return pages[-1]

    yield opened
    for page in pages:
        violations = page.violations()
        page.close()
        assert violations == []
        assert page.console_errors == []
        assert page.external_requests(str(server.base)) == []


@pytest.fixture
def page(opened):
    return opened()


def assert_highlighted(page, *lines):
    """Assert that these lines, and no others in view, are highlighted: the list is drawn when it has been scrolled."""
    page.assert_becomes(lambda: highlighted_lines(page), list(lines))


def highlighted_lines(page):
    """Return the numbers of the highlighted lines in view."""
    return page.page.evaluate(
        """() => [...document.querySelectorAll('.row.highlighted')].filter((row) => {
            const [it, box] = [row, document.getElementById('xml')].map((element) => element.getBoundingClientRect());
            return it.top >= box.top && it.bottom <= box.bottom;
        }).map((row) => row.dataset.line)"""
    )


def line_of(document, piece):
    return str(document[: document.index(piece)].count(b"\n") + 1)


def test_findings_are_shown_beside_the_xml(page):
    page.choose(("rechnung.xml", WRONG))
    found = page.server.validate(WRONG, lang="de").json()
    assert page.text("#result-title") == "Nicht gültig"
    assert "2 Fehler" in page.text(".summary-text")
    assert [finding["code"] for finding in found["errors"]] == ["BR-CO-10", "BR-CO-13"]
    assert page.texts(".finding-header .code") == ["BR-CO-10", "BR-CO-13"]
    assert page.texts(".finding-header .title") == [finding["title"] for finding in found["errors"]]
    opened = page.text("#finding-0")
    for part in ("explanation", "fix", "xpath"):
        assert found["errors"][0][part] in opened
    assert found["errors"][0]["notes"][0]["text"] in opened
    assert page.texts("#finding-0 dd") == ["692,99", "693,00", "−0,01"]
    assert len(page.texts(".layers li")) == len(found["validation_details"]["validation_stack"]["layers"])
    assert "KB-2026-1108 vom 02.11.2026" in page.text(".key-facts")
    page.page.wait_for_selector(".row.highlighted")
    assert_highlighted(page, line_of(WRONG, b">692.99<"))


def test_selecting_a_finding_highlights_its_line(page):
    wrong = WRONG.replace(b">380<", b">999<")
    page.choose(("rechnung.xml", wrong))
    for code, piece in (("BR-CL-01", b">999<"), ("BR-CO-10", b">692.99<")):
        head = page.page.locator(".finding-header", has_text=code)
        if head.get_attribute("aria-expanded") == "true":
            head.click()
            assert_highlighted(page)
        head.click()
        assert_highlighted(page, line_of(wrong, piece))
        page.assert_becomes(lambda: page.text("#source-status"), f"Zeile {line_of(wrong, piece)} ist markiert.")


def test_keyboard_operation(page):
    page.choose(("rechnung.xml", WRONG))
    focused = "document.activeElement"
    assert page.page.evaluate(f"{focused}.id") == "result-title", "a screen reader goes on with the verdict"
    page.page.locator(".finding-header").first.focus()
    page.page.keyboard.press("ArrowDown")
    assert page.page.evaluate(f"{focused}.querySelector('.code').textContent") == "BR-CO-13"
    page.page.keyboard.press("Enter")
    assert page.page.evaluate(f"{focused}.getAttribute('aria-expanded')") == "true"
    page.page.keyboard.press("Tab")
    page.page.keyboard.press("Enter")
    assert page.page.evaluate(f"{focused}.id") == "xml"
    assert page.text("#status") == "Geprüft: nicht gültig."
    assert page.page.locator("#status").get_attribute("aria-live") == "polite"


TWO_CAUSES = WRONG.replace(b">380<", b">999<")
"""Has an unknown type of invoice beside BR-CO-10 and BR-CO-13, which have a common cause."""


@pytest.mark.parametrize(("locale", "heading"), [("de-DE", "2 Ursachen, 4 Befunde"), ("en-GB", "2 causes, 4 findings")])
def test_causes_expand_to_their_change_and_findings(opened, locale, heading):
    page = opened(locale=locale)
    page.choose(("rechnung.xml", TWO_CAUSES))
    assert page.text("#causes-title") == heading
    found = page.server.client.post(
        VALIDATE, params={"lang": locale[:2], "causes": "true"}, files={"file": ("a.xml", TWO_CAUSES)}
    ).json()
    causes = found["validation_details"]["causes"]
    assert page.texts(".cause-header .title") == [cause["text"] for cause in causes]
    (change,) = causes[0]["changes"]
    assert change["text"] in page.text("#cause-0")
    assert change["proof"] in page.text("#cause-0 .proof")
    assert page.texts("#cause-0 .code") == causes[0]["codes"] == ["BR-CO-10", "BR-CO-13"]
    assert not page.page.locator("#cause-1").is_visible()
    page.page.locator(".cause-header").nth(1).click()
    assert page.texts("#cause-1 .code") == causes[1]["codes"]
    assert "BR-CL-01" in causes[1]["codes"]


def test_cause_by_keyboard(page):
    page.choose(("rechnung.xml", TWO_CAUSES))
    focused = "document.activeElement"
    page.page.locator(".cause-header").first.focus()
    page.page.keyboard.press("ArrowDown")
    page.page.keyboard.press("Enter")
    assert page.page.evaluate(f"{focused}.getAttribute('aria-expanded')") == "true"
    page.page.locator("#cause-0 .link-button").nth(1).focus()
    page.page.keyboard.press("Enter")
    assert page.page.evaluate(f"{focused}.querySelector('.code').textContent") == "BR-CO-13"
    assert page.page.evaluate(f"{focused}.getAttribute('aria-expanded')") == "true"
    assert highlighted_lines(page) == [line_of(TWO_CAUSES, b">693.00</cbc:TaxExclusiveAmount>")]


@pytest.mark.parametrize("secure", [True, False])
def test_change_is_copied(opened, secure):
    """Over plain HTTP, browsers offer no clipboard to scripts."""
    page = opened(permissions=["clipboard-read", "clipboard-write"])
    page.choose(("rechnung.xml", WRONG))
    if not secure:
        page.page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error()) }")
    page.page.click("#cause-0 .copy")
    page.page.get_by_text("Kopiert", exact=True).first.wait_for()
    copied = page.page.evaluate("navigator.clipboard.readText()")
    assert copied.splitlines() == [
        "BT-106: 692.99 -> 693.00",
        "/ubl:Invoice/cac:LegalMonetaryTotal/cbc:LineExtensionAmount",
    ]
    assert page.text("#status") == "Kopiert"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_causes_fit_a_narrow_screen(opened, scheme):
    page = opened(viewport={"width": 320, "height": 700}, color_scheme=scheme)
    page.choose(("rechnung.xml", TWO_CAUSES))
    assert page.page.evaluate("document.documentElement.scrollWidth") <= 320
    assert page.page.locator("#cause-0 .copy").is_visible()


def test_controls_have_accessible_names(page):
    page.choose(("rechnung.xml", WRONG))
    for role in ("button", "textbox", "combobox", "region", "group", "navigation"):
        for element in page.page.get_by_role(role).all():
            assert re.search(rf'{role} "[^"]', element.aria_snapshot()), element.evaluate("it => it.outerHTML")


def test_valid_invoice(page):
    page.choose(("rechnung.xml", CII))
    assert page.text("#result-title") == "Gültig"
    assert "XRechnung 3.0.2, CII" in page.text(".summary-text")
    assert page.text(".empty")
    page.page.wait_for_selector(".row")
    assert page.texts(".row code")[0] == CII.decode().splitlines()[0]


def test_switching_the_language(page):
    page.choose(("rechnung.xml", WRONG))
    page.page.click("[data-lang=en]")
    page.page.get_by_role("heading", name="Not valid").wait_for()
    found = page.server.validate(WRONG, lang="en").json()
    assert page.texts(".finding-header .title") == [finding["title"] for finding in found["errors"]]
    assert page.texts("#finding-0 dd") == ["692.99", "693.00", "−0.01"]
    assert page.page.evaluate("[document.documentElement.lang, document.title]") == ["en", "Validate an e-invoice"]
    assert page.page.locator("[data-lang=en]").get_attribute("aria-pressed") == "true"
    assert "Schlüssel" not in page.text("body")


def test_used_labels_exist(page):
    german = page.page.evaluate("import('/page/js/labels.js').then(({LABELS}) => Object.keys(LABELS.de))")
    used = page.page.evaluate(
        "[...document.querySelectorAll('[data-i18n], [data-i18n-aria]')]"
        ".map((it) => it.dataset.i18n ?? it.dataset.i18nAria)"
    )
    assert set(used) <= set(german)


@pytest.mark.parametrize(("scheme", "choice", "dark"), [("dark", "light", False), ("light", "dark", True)])
def test_color_scheme_follows_the_system_until_selected(opened, scheme, choice, dark):
    page = opened(color_scheme=scheme, key=False)
    brightness = "parseInt(getComputedStyle(document.body).backgroundColor.match(/\\d+/)[0])"
    assert (page.page.evaluate(brightness) < 128) is not dark
    page.page.click(f"[data-theme-choice={choice}]")
    assert (page.page.evaluate(brightness) < 128) is dark
    page.page.click("[data-theme-choice=auto]")
    assert (page.page.evaluate(brightness) < 128) is not dark


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_contrast(opened, scheme):
    """WCAG 2.2, 1.4.3: a contrast ratio of at least 4.5:1, from computed styles."""
    page = opened(color_scheme=scheme)
    page.choose(("rechnung.xml", WRONG.replace(b">380<", b">999<")))
    page.page.wait_for_selector(".row.highlighted")
    pairs = page.page.evaluate(
        """() => [...document.querySelectorAll('body *')].filter((it) =>
            it.checkVisibility() && [...it.childNodes].some((node) => node.nodeType === 3 && node.data.trim())
        ).map((it) => {
            let ground = it;
            while (getComputedStyle(ground).backgroundColor === 'rgba(0, 0, 0, 0)') ground = ground.parentElement;
            return [it.className, getComputedStyle(it).color, getComputedStyle(ground).backgroundColor];
        })"""
    )
    assert len(pairs) > 100
    assert [pair for pair in pairs if contrast(*pair[1:]) < 4.5] == []


def contrast(*colours):
    def luminance(colour):
        parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted(map(luminance, colours))
    return (high + 0.05) / (low + 0.05)


# ---------------------------------------------------------------- validation modes and engines


def chosen(page, name, value):
    """Select mode or engine, and wait for the new result."""
    with page.page.expect_response(re.compile("/validate")):
        page.page.select_option(f"#{name}", value)
    page.page.wait_for_selector("body:not(.busy)")


def test_compatibility_mode(page):
    older = re.sub(rb"<cbc:EndpointID[^>]*>[^<]*</cbc:EndpointID>", b"", declaring("2.3"), count=1)
    page.choose(("rechnung.xml", older))
    assert page.text("#result-title") == "Nicht gültig"
    assert page.page.locator(".differences").count() == 0
    chosen(page, "mode", "compatibility")
    assert page.text("#result-title") == "Gültig"
    compatibility = page.server.validate(older, validation_mode="compatibility").json()["validation_details"][
        "compatibility"
    ]
    assert compatibility["message"] in page.text(".layers")
    assert page.texts(".differences .code") == [it["code"] for it in compatibility["differences"]]
    place = page.texts(".differences .code").index("PEPPOL-EN16931-R020")
    assert page.texts(".differences .origin")[place] == "neu mit XRechnung 3.0.0 (2.0.0)"
    page.choose(("a.xml", older), ("b.xml", CII))
    assert page.texts(".file-list button .muted") == ["Gültig", "Gültig"]
    assert not any("/batch" in url for url in page.requests), "a batch applies the current rule set"


def test_engines_are_hidden_without_official_rules(page):
    page.page.route(
        "**/capabilities*",
        lambda route: route.fulfill(
            json={
                **(capabilities := page.server.client.get("/api/external/capabilities").json()),
                "engines": {**capabilities["engines"], "reference": {"version": None, "configurations": []}},
            }
        ),
    )
    page.page.reload()
    assert page.page.locator("#engine").is_hidden()
    page.enter_key()
    assert page.page.locator("#engine").is_hidden()
    assert page.page.locator("#mode").is_visible()


def test_both_engines_agree(page):
    pytest.importorskip("saxonche")
    page.choose(("rechnung.xml", WRONG))
    assert page.page.locator("#reference-title").count() == 0
    chosen(page, "engine", "both")
    same = "Das offizielle Schematron kommt zum selben Ergebnis"
    assert page.text(".reference-result") == f"{same} (verglichen: EN 16931)."
    assert page.page.locator(".differences").count() == 0
    page.choose(("a.xml", WRONG), ("b.xml", CII))
    assert page.text(".reference-result").startswith("Das offizielle Schematron kommt zum selben")
    page.page.click("text=b.xml")
    assert page.text(".reference-result").startswith("Kein offizielles Schematron")
    page.page.click("[data-lang=en]")
    page.page.get_by_text("No official Schematron applies to this invoice").wait_for()


def test_engines_differ(browser, tmp_path):
    pytest.importorskip("saxonche")
    from einvoice.reference import add
    from tests.helpers.bundle_files import files, packed

    (tmp_path / "test.zip").write_bytes(packed(files()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EINVOICE_RULES_DIR", str(tmp_path / "rules"))
        add(tmp_path / "test.zip")
    with serving(tmp_path / "data", workers=1, rules_dir=tmp_path / "rules", engine="both") as server:
        page = Page(browser, server)
        assert page.page.input_value("#engine") == "both", "default from the settings"
        page.choose(("rechnung.xml", WRONG))
        reference = server.validate(WRONG).json()["validation_details"]["reference"]
        assert page.text(".reference-result").startswith("Das offizielle Schematron kommt zu einem anderen Ergebnis")
        reference_codes = [it["code"] for it in reference["only_reference"]]
        assert "BR-CL-23" in reference_codes
        assert page.texts(".differences .code") == [it["code"] for it in reference["only_native"]] + reference_codes
        assert set(page.texts(".differences .origin")) == {"nur einvoice", "nur Schematron"}
        page.page.locator(".differences li", has_text="BR-CO-10").get_by_role("button").click()
        assert_highlighted(page, line_of(WRONG, b">692.99<"))
        chosen(page, "engine", "reference")
        assert page.page.locator("#reference-title").count() == 0
        assert "nur mit dem offiziellen Schematron" in page.text(".layers")
        chosen(page, "engine", "native")
        assert "Geprüft wurde nur" not in page.text(".layers")
        assert (page.console_errors, page.violations()) == ([], [])
        page.close()


def table(content, separator):
    assert content.startswith(b"\xef\xbb\xbf"), "Excel takes it for UTF-8 by that mark only"
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""), delimiter=separator))


def test_findings_as_csv(page):
    page.choose(("rechnung.xml", WRONG))
    name, content = page.download("text=Befunde als CSV")
    assert name == "rechnung-befunde.csv"
    rows = table(content, ";")
    found = page.server.validate(WRONG, lang="de").json()["errors"]
    assert [(row["Code"], row["Titel"], row["Erklärung"], row["Zeile"]) for row in rows] == [
        (finding["code"], finding["title"], finding["explanation"], str(finding["line"])) for finding in found
    ]
    assert (rows[0]["Angegeben"], rows[0]["Erwartet"], rows[0]["Differenz"]) == ("692,99", "693,00", "-0,01")
    page.page.select_option(".toolbar select", ",")
    rows = table(page.download("text=Befunde als CSV")[1], ",")
    assert rows[0]["Differenz"] == "-0.01"


@pytest.mark.parametrize("begin", list("=+-@\t\r"))
def test_csv_contains_no_formulas(page, begin):
    page.choose((f"{begin}cmd.xml".replace("\t", "x").replace("\r", "x"), WRONG))
    made = page.page.evaluate(
        "(name) => import('/page/js/csv.js').then(({csv}) => csv([{name, problem: {title: 'x'}}], ';', 'de'))",
        f"{begin}cmd|' /C calc'!A0",
    )
    assert table(made.encode(), ";")[0]["Datei"].startswith("'")


def test_invoice_content_is_not_markup(page):
    wrong = UBL.replace(b">EUR</cbc:DocumentCurrencyCode>", f">{ESCAPED}</cbc:DocumentCurrencyCode>".encode())
    hostile = wrong.replace("Kranich Bürobedarf GmbH".encode(), ESCAPED.encode())
    page.choose((f"{HOSTILE}.xml".replace("/", ""), hostile))
    page.page.locator(".finding-header", has_text="BR-CL-04").click()
    page.page.locator(".row.highlighted", has_text=ESCAPED).wait_for()
    assert HOSTILE in page.text(".key-facts"), "as it stands there"
    assert "onerror" in page.text(".groups"), "the finding quotes it"
    page.page.wait_for_timeout(200)
    assert page.page.evaluate("window.executed") is None
    assert page.page.locator("main img, main script").count() == 0


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
    assert page.text(".filename") == "gezogen.xml"


def test_file_changed_after_selection(page, tmp_path):
    (tmp_path / "a.xml").write_bytes(CII)
    page.page.set_input_files("#files", tmp_path / "a.xml")
    page.page.get_by_role("heading", name="Gültig").wait_for()
    (tmp_path / "a.xml").unlink()
    page.page.click("[data-lang=en]")
    page.page.get_by_role("heading", name="The file can no longer be read").wait_for()


def test_files_wait_for_a_key(opened):
    page = opened(key=False)
    page.page.set_input_files("#files", [{"name": "a.xml", "mimeType": "text/xml", "buffer": CII}])
    page.page.locator("#status", has_text="Schlüssel").wait_for()
    page.assert_becomes(lambda: page.page.evaluate("document.activeElement.id"), "key")
    page.enter_key("ei_wrong")
    page.page.get_by_role("alert").get_by_role("heading", name="Ungültiger API-Schlüssel").wait_for()
    page.enter_key()
    page.page.wait_for_selector("#result-title")
    assert page.text("#result-title") == "Gültig"
    assert page.text("#error") == ""
    page.console_errors.clear()  # the browser logs the status 401


def test_key_is_checked_once(page):
    page.page.focus("#key")
    page.page.click("[data-lang=en]")
    page.assert_becomes(lambda: page.text("#key-hint"), "The key is valid (plan business).")
    page.choose(("rechnung.xml", CII))
    assert sum("/capabilities" in url for url in page.requests) == 1


def test_key_is_kept_in_memory_only(page):
    page.choose(("rechnung.xml", WRONG))
    key = page.server.client.headers["x-api-key"]
    assert page.page.evaluate("[localStorage.length, sessionStorage.length, document.cookie]") == [0, 0, ""]
    assert page.page.evaluate("indexedDB.databases()") == []
    assert [url for url in page.requests if key in url] == []
    assert key not in page.page.content()
    page.page.reload()
    assert page.page.input_value("#key") == ""


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


@pytest.mark.parametrize(
    ("kind", "label", "name"),
    [
        ("validation_report_pdf", "Prüfbericht (PDF)", "rechnung-report.pdf"),
        ("readable_invoice_pdf", "Lesbare Rechnung (PDF)", "rechnung-invoice.pdf"),
    ],
)
def test_pdfs_are_fetched_with_the_key(page, kind, label, name):
    page.choose(("rechnung.xml", WRONG))
    saved, content = page.download(f"text={label}")
    assert saved == name
    assert content.startswith(b"%PDF-")


def test_print_view(page):
    page.choose(("rechnung.xml", WRONG))
    page.page.emulate_media(media="print")
    assert page.page.locator(".explanation").evaluate_all("all => all.every((it) => it.checkVisibility())")
    assert not page.page.locator("#key, #xml, .button").evaluate_all("all => all.some((it) => it.checkVisibility())")


def test_unreachable_server(page):
    page.page.context.set_offline(True)
    page.page.set_input_files("#files", [{"name": "a.xml", "mimeType": "text/xml", "buffer": CII}])
    page.page.get_by_role("heading", name="Der Server antwortet nicht").wait_for()
    page.page.context.set_offline(False)
    page.page.get_by_role("button", name="Erneut versuchen").click()
    page.page.get_by_role("heading", name="Gültig").wait_for()
    page.console_errors.clear()  # the browser logs the failed request


def test_what_is_entered_before_the_labels_are_loaded(opened, server):
    page = opened(key=False)
    waiting = []
    page.page.route("**/languages.json", lambda route: waiting.append(route))
    page.page.reload(wait_until="commit")
    page.page.fill("#key", server.client.headers["x-api-key"])
    page.page.set_input_files("#files", [{"name": "a.xml", "mimeType": "text/xml", "buffer": CII}])
    page.assert_becomes(lambda: bool(waiting), True)
    assert page.page.locator("[data-lang]").count() == 0, "the labels are still loading"
    for route in waiting:
        route.continue_()
    page.page.wait_for_selector(".key-valid")
    page.page.wait_for_selector("#result-title")
    assert page.text("#result-title") == "Gültig"


def test_behind_a_proxy_with_a_path(browser, tmp_path):
    """Links in the response work although the public URL differs from the one in the browser."""
    with serving(tmp_path / "data", workers=1, public_url="https://rechnung.example/pruefung") as server:
        server.base = server.base.copy_with(path="/pruefung/")
        page = Page(browser, server)
        page.choose(("rechnung.xml", WRONG))
        assert page.download("text=Prüfbericht (PDF)")[1].startswith(b"%PDF-")
        assert page.console_errors == []
        page.close()


def test_content_security_policy(server):
    for path in ("/", "/page/js/app.js", "/page/style.css", "/page/icon.svg"):
        headers = http.get(server.base.join(path)).raise_for_status().headers
        policy = dict(part.strip().split(" ", 1) for part in headers["content-security-policy"].split(";"))
        assert policy.pop("default-src") == "'none'"
        assert policy.pop("frame-ancestors") == "'none'"
        assert policy.pop("img-src") == "'self' data:"
        assert {policy[name] for name in ("script-src", "style-src", "connect-src")} == {"'self'"}
        assert "unsafe" not in str(policy)
        assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "no-referrer")
    for path in ("/page/", "/page/README.md", "/page/..%2fkeys.py"):
        assert http.get(server.base.join(path)).status_code == 404


@pytest.mark.parametrize("path", ["/docs", "/catalog/BR-CO-10"])
def test_pages_fit_a_phone(browser, server, path):
    page = browser.new_page(viewport={"width": 360, "height": 740})
    page.goto(str(server.base.join(path)))
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.close()
