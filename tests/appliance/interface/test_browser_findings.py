"""Findings in the web app, in Chromium against a real server: causes, keyboard, tables, PDFs, print."""

import re

import pytest

import einvoice
from tests.helpers.served import CII, UBL, VALIDATE, WRONG
from tests.helpers.web_app import assert_highlighted, highlighted_lines, line_of, table

pytestmark = pytest.mark.slow

HOSTILE = '<img src=x onerror="window.executed=1"><script>window.executed=1</script>'
ESCAPED = HOSTILE.replace("<", "&lt;").replace(">", "&gt;")


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


def test_value_that_the_text_beside_it_quotes_is_not_repeated(page):
    page.choose(("rechnung.xml", WRONG.replace(b">24.90<", b">-24.90<").replace(b">380<", b">325<")))
    for code, quoted in (("BR-27", "−24,90"), ("BR-DE-17", "325")):
        finding = page.page.locator(".finding", has_text=code).first
        assert quoted in finding.text_content()
        assert finding.locator(".compared-values").count() == 0
    assert page.page.locator(".finding", has_text="BR-CO-10").first.locator(".compared-values").count() == 1


@pytest.mark.parametrize(
    ("actual", "explanation", "shown"),
    [
        ("1234.5", "Angegeben: 1.234,5.", []),
        ("1234.5", "Angegeben: 11.234,5.", ["1.234,5"]),
        ("2026-04-01", "Angegeben: 20260401.", []),
        ("2026-04-01", "Das Datum ist falsch.", ["01.04.2026"]),
        ("7", "Der Satz ist 7 %.", []),
        ("7", "Position 7 ist falsch.", ["7"]),
        ("a.b*(c", "Angegeben: „a.b*(c“.", []),
    ],
)
def test_values_are_shown_unless_quoted(page, actual, explanation, shown):
    script = """async ([values, explanation]) => {
        const { findingsList } = await import("/page/js/findings.js");
        const finding = { code: "X", severity: "fatal", title: "t", explanation, values };
        const list = findingsList({ errors: [finding], warnings: [] }, "de", { selected: 0, select() {}, show() {} });
        return [...list.querySelectorAll("dd")].map((it) => it.textContent);
    }"""
    assert page.page.evaluate(script, [{"actual": actual}, explanation]) == shown


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


def test_assessment_is_above_the_findings(page):
    page.choose(("rechnung.xml", WRONG))
    assert page.text("#assessment-title").startswith("Bedeutung für den Empfänger")
    assert "keine Steuerberatung" in page.text(".assessment")
    box, findings = (page.page.locator(it).bounding_box()["y"] for it in (".assessment", "#findings-title"))
    assert box < findings
    page.choose(("abroad.xml", WRONG.replace(b"<cbc:IdentificationCode>DE<", b"<cbc:IdentificationCode>AT<", 1)))
    assert page.page.locator(".assessment").count() == 0


def test_letter_is_copied(opened):
    page = opened(permissions=["clipboard-read", "clipboard-write"])
    page.choose(("rechnung.xml", WRONG))
    page.page.get_by_role("button", name="Nachricht an den Aussteller kopieren").click()
    page.page.get_by_text("Kopiert", exact=True).wait_for()
    assert page.page.evaluate("navigator.clipboard.readText()").startswith("Betreff: Rechnung ")
    page.choose(("gut.xml", UBL))
    assert page.page.get_by_role("button", name="Nachricht an den Aussteller kopieren").count() == 0


def test_corrected_xml_is_downloaded_with_what_was_changed(page):
    page.choose(("rechnung.xml", WRONG))
    assert page.download("text=Berichtigtes XML") == ("rechnung-berichtigt.xml", UBL)
    page.page.locator("#status", has_text="berichtigt ihr Aussteller").wait_for()
    (change,) = einvoice.validate(WRONG, lang="de").fixed().changes
    assert change.text("de") in page.text("#status")
    page.choose(("gut.xml", UBL))
    assert page.page.get_by_role("button", name="Berichtigtes XML").count() == 0


def test_converted_document_is_downloaded(page):
    page.choose(("rechnung.xml", UBL))
    name, content = page.download("text=Als CII speichern")
    assert (name, content) == ("rechnung-cii.xml", einvoice.convert(UBL).xml)
    page.page.get_by_text("Als CII gespeichert; alle Angaben sind enthalten.").wait_for()
    second = b"<cac:Delivery><cbc:ActualDeliveryDate>2026-10-29</cbc:ActualDeliveryDate></cac:Delivery>"
    page.choose(("zwei.xml", UBL.replace(b"</cac:Delivery>", b"</cac:Delivery>" + second, 1)))
    page.download("text=Als CII speichern")
    page.page.get_by_text("Nicht gleich geblieben: BT-72").wait_for()


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
