"""Down payments, retentions, discounts, cards and attachments on the invoice page."""

import pytest
from lxml import html as parser

import einvoice
from einvoice import visualization
from einvoice.model.values import Text
from einvoice.visualization.invoice.context import PageContext
from einvoice.visualization.invoice.page import invoice_html
from tests.helpers.business_drafts import DRAFTS, EXTENDED, HOURS, invoice, line
from tests.helpers.labelled import missing, missing_further, unlabelled


def made(content, lang="de"):
    return einvoice.read(einvoice.generate({**content, "format": "CII"}, lang=lang).data)


def page(read, lang="de"):
    return parser.document_fromstring(f"<body>{invoice_html(PageContext(read, lang))}</body>")


def cells(row):
    return [it.text_content().replace("\u00a0", " ") for it in row]


def rows(read, path, lang="de"):
    return [cells(row) for row in page(read, lang).xpath(path)]


def totals(read):
    return dict(rows(read, "//table[@class='totals']//tr"))


def vat_facts(read):
    return dict(rows(read, "//section[h2='Umsatzsteuer']//table[contains(@class, 'facts')]//tr"))


def text(read, lang="de"):
    return page(read, lang).text_content().replace("\u00a0", " ")


@pytest.mark.parametrize("lang", ["de", "en", "fr"])
def test_final_invoice_deducts_down_payments_with_their_vat(lang):
    """In German, whatever the language of the note."""
    final = made(DRAFTS["final invoice after down payments"], lang)
    assert rows(final, "//section[h2='Abzug der Anzahlungen']//tbody/tr") == [
        ["Rechnungsbetrag", "", "", "10.000,00", "1.900,00", "11.900,00"],
        ["Rechnung A-1 vom 20.08.2026", "01.09.2026", "19 %", "−3.000,00", "−570,00", "−3.570,00"],
        ["Rechnung A-2 vom 21.09.2026", "01.10.2026", "19 %", "−2.000,00", "−380,00", "−2.380,00"],
        ["Restbetrag", "", "", "5.000,00", "950,00", "5.950,00"],
    ]
    assert not page(final).xpath("//div[@class='notes']")
    assert unlabelled(final, "de") == []


@pytest.mark.parametrize("lang", ["de", "en"])
def test_invoice_that_deducts_down_payments_says_so(lang):
    final = made(DRAFTS["final invoice after down payments"])
    title = {"de": "Rechnung nach Abzug von Anzahlungen R-2026-0011", "en": "Invoice less down payments R-2026-0011"}[
        lang
    ]
    assert page(final, lang).xpath("string(//h1)") == title
    assert "Zu Rechnung" not in dict(rows(final, "//div[@class='data']//tr")), "the table names the invoice"
    final.preceding_invoices[0].number = "A-3"
    assert ["Zu Rechnung", "A-3 vom 20.08.2026"] in rows(final, "//div[@class='data']//tr")
    final.notes[0].text = Text(final.notes[0].text.raw.replace("570", "571"))
    assert page(final).xpath("string(//h1)") == "Rechnung R-2026-0011", "the note proves nothing"


ADVANCE = (
    "<ram:SpecifiedAdvancePayment><ram:PaidAmount>{0}</ram:PaidAmount><ram:FormattedReceivedDateTime>"
    '<qdt:DateTimeString xmlns:qdt="urn:un:unece:uncefact:data:standard:QualifiedDataType:100" format="102">20261001'
    "</qdt:DateTimeString></ram:FormattedReceivedDateTime><ram:IncludedTradeTax><ram:CalculatedAmount>{1}"
    "</ram:CalculatedAmount><ram:TypeCode>VAT</ram:TypeCode><ram:CategoryCode>S</ram:CategoryCode>"
    "<ram:RateApplicablePercent>19</ram:RateApplicablePercent></ram:IncludedTradeTax>"
    "<ram:InvoiceSpecifiedReferencedDocument><ram:IssuerAssignedID>A-{0}</ram:IssuerAssignedID>"
    "</ram:InvoiceSpecifiedReferencedDocument></ram:SpecifiedAdvancePayment>"
)


def with_advance_payments(*amounts, more=""):
    """Return an invoice of Factur-X EXTENDED over 11,900.00, of which 5,950.00 are paid, with advance payments."""
    data = einvoice.generate(invoice(1, line("Küche", "1", "10000"), totals={"paid_amount": "5950.00"}), "CII").data
    payments = "".join(ADVANCE.format(*it) for it in amounts).replace(
        "</ram:SpecifiedAdvancePayment>", more + "</ram:SpecifiedAdvancePayment>"
    )
    end = "</ram:ApplicableHeaderTradeSettlement>"
    return einvoice.read(data.decode().replace(end, payments + end).encode())


def test_advance_payments_of_extended_are_deducted_in_a_table():
    read = with_advance_payments(("3570.00", "570.00"), ("2380.00", "380.00"))
    assert page(read).xpath("string(//h1)") == "Rechnung nach Abzug von Anzahlungen R-2026-0001"
    assert rows(read, "//section[h2='Abzug der Anzahlungen']//tbody/tr") == [
        ["Rechnungsbetrag", "", "", "10.000,00", "1.900,00", "11.900,00"],
        ["Rechnung A-3570.00", "01.10.2026", "19 %", "−3.000,00", "−570,00", "−3.570,00"],
        ["Rechnung A-2380.00", "01.10.2026", "19 %", "−2.000,00", "−380,00", "−2.380,00"],
        ["Restbetrag", "", "", "5.000,00", "950,00", "5.950,00"],
    ]
    assert missing_further(read, "de") == []
    assert "Weitere Inhalte" not in text(read)


def test_advance_payments_that_contradict_the_invoice_stand_alone():
    """Neither a net amount nor a remainder is computed from VAT that does not fit, or beside another paid amount."""
    wrong_tax = with_advance_payments(("3570.00", "570.00"), ("2380.00", "1900.00"))
    other_sum = with_advance_payments(("3570.00", "570.00"))
    found = rows(wrong_tax, "//section[h2='Abzug der Anzahlungen']//tbody/tr")
    assert found[1] == ["Rechnung A-2380.00", "01.10.2026", "19 %", "−1.900,00", "−2.380,00"], (
        "no empty column of net amounts"
    )
    assert len(found) == 2
    assert len(rows(other_sum, "//section[h2='Abzug der Anzahlungen']//tbody/tr")) == 1
    assert page(other_sum).xpath("string(//h1)") == "Rechnung R-2026-0001"


@pytest.mark.parametrize("more", ["<ram:PaidAmount>1</ram:PaidAmount>", "<ram:Note>x</ram:Note>"])
def test_advance_payments_with_other_content_stay_further_content(more):
    read = with_advance_payments(("5950.00", "950.00"), more=more)
    assert not page(read).xpath("//section[h2='Abzug der Anzahlungen']")
    assert missing_further(read, "de") == []


def test_paid_amount_alone_makes_no_final_invoice():
    paid = made({**DRAFTS["standard"], "totals": {"paid_amount": "100.00"}})
    assert page(paid).xpath("string(//h1)") == "Rechnung R-2026-0001"


def test_other_notes_stay_notes():
    final = made({**DRAFTS["final invoice after down payments"], "notes": [{"text": "Danke."}]})
    assert "".join(page(final).xpath("//div[@class='notes']//text()")) == "Danke."
    changed = final.notes[1]
    changed.text = Text(changed.text.raw.replace("570", "571"))
    assert not page(final).xpath("//section[h2='Abzug der Anzahlungen']")
    assert missing(final, "de") == []


def test_retention_is_beside_the_amount_due():
    found = totals(made(DRAFTS["retention"]))
    assert list(found.items())[-3:] == [
        ("Zahlbetrag", "23.800,00 EUR"),
        ("Einbehalt bis 20.11.2031", "−1.190,00 EUR"),
        ("Jetzt zu zahlen", "22.610,00 EUR"),
    ]


@pytest.mark.parametrize("profile", ["XRECHNUNG", "EN16931"])
def test_discount_has_its_day_and_amounts(profile):
    shown = text(made({**DRAFTS["cash discount"], "profile": profile}))
    assert "innerhalb von 7 Tagen (errechnet: bis 27.11.2026, Abzug 18,56 EUR, zu zahlen 600,24 EUR)" in shown
    assert "2 % Skonto auf 400,00 EUR" in shown
    assert "innerhalb von 14 Tagen (errechnet: bis 04.12.2026, Abzug 8,00 EUR, zu zahlen 610,80 EUR)" in shown


@pytest.mark.parametrize("written", ["de", "en", "fr"])
def test_agreements_of_a_draft_are_in_the_language_of_the_page(written):
    read = made({**DRAFTS["retention"], "profile": "EN16931"}, written)
    german, english = text(read), text(read, "en")
    for shown in (german, english):
        assert "Zahlbar binnen 30 Tagen." in shown, "the words of the draft stay"
    assert "Einbehalt 1.190,00 EUR bis 20.11.2031 (Gewährleistung, § 17 VOB/B)" in german
    assert "2 % Skonto bei Zahlung innerhalb von 10 Tagen (errechnet: bis 30.11.2026" in german
    assert "Retention of 1,190.00 EUR until 20 Nov 2031 (Gewährleistung, § 17 VOB/B)" in english
    assert "2 % cash discount if paid within 10 days (computed: by 30 Nov 2026" in english
    assert missing(read, "en") == []


def test_discount_after_a_retention():
    assert "Abzug 476,00 EUR von 23.800,00 EUR, zu zahlen 22.134,00 EUR" in text(made(DRAFTS["retention"]))


def test_amount_to_be_paid_after_a_retention_stands_out():
    due = rows(made(DRAFTS["retention"]), "//table[@class='totals']//tr[@class='due']")
    assert due == [["Jetzt zu zahlen", "22.610,00 EUR"]]


def test_discount_without_an_issue_date_has_no_day():
    read = made(DRAFTS["cash discount"])
    del read.issue_date
    assert "3 % Skonto bei Zahlung innerhalb von 7 Tagen" in text(read)
    assert "Abzug 18,56" not in text(read)


def test_card_payment_names_the_last_digits():
    read = made(DRAFTS["card"])
    assert ["Karte, letzte Ziffern", "4242"] in rows(read, "//section[@class='payment']//tr")
    (words,) = page(read).xpath("//div[@class='meaning']/p")
    assert (
        words.text_content()
        .replace("\u00a0", " ")
        .startswith("Bereits gezahlt: 49,98 EUR. Angegebene Karte: Endziffern 4242")
    )
    read.payment_means[0].card.number = Text("4242424242420007")
    assert "Endziffern 0007." in text(read)
    assert ["Kartennummer", "4242424242420007"] in rows(read, "//section[@class='payment']//tr")


@pytest.mark.parametrize("syntax", ["UBL", "CII"])
def test_list_price_and_discount_name_the_quantity_they_are_for(syntax):
    shown = text(made({**DRAFTS["gross prices"], "format": syntax}))
    assert "Listenpreis (netto): 2,10 EUR / 100 l" in shown
    assert "Rabatt (netto): 0,15 EUR / 100 l" in shown


def test_attachment_is_named_once_with_kind_and_size():
    found = rows(made(DRAFTS["attachments"]), "//section[h2='Unterlagen']//tr")
    assert found == [
        ["Unterlage", "Aufmaß · aufmass.pdf, PDF-Dokument, 9 Byte"],
        ["Unterlage", "Fotos · https://handwerk.example/fotos/15"],
    ]


@pytest.mark.parametrize(
    ("reference", "label"),
    [("04011000-12345-34", "Leitweg-ID"), ("EK-4711", "Ihr Zeichen"), ("2026-11-20", "Ihr Zeichen")],
)
def test_only_a_leitweg_id_is_named_so(reference, label):
    assert [label, reference] in rows(made(invoice(1, HOURS, buyer_reference=reference)), "//div[@class='data']//tr")


def test_equal_totals_are_given_once():
    assert "Summe der Positionen" not in totals(made(DRAFTS["standard"]))
    with_discount = totals(made(DRAFTS["discounts on lines and invoice"]))
    assert with_discount["Summe der Positionen"] != with_discount["Gesamt netto"]


def test_vat_in_the_accounting_currency_names_it():
    read = made(DRAFTS["foreign currency"])
    assert totals(read)["Umsatzsteuer"] == "228,00 USD"
    assert vat_facts(read)["Umsatzsteuer in EUR"] == "209,52 EUR"


@pytest.mark.parametrize(
    ("own", "accounting", "rate"),
    [
        ("228.00", "209.52", "1 USD = 0,91895 EUR"),
        ("-228.00", "-209.52", "1 USD = 0,91895 EUR"),
        ("1900000.00", "1745998.10", "1 USD = 0,91894637 EUR"),
        ("22.80", "20.95", "1 USD = 0,919 EUR"),
        ("0.19", "0.17", None),  # between 0.85 and 0.95
        ("0.00", "0.00", None),
        ("228.00", "-209.52", None),
    ],
)
def test_exchange_rate_is_the_shortest_that_gives_the_amount(own, accounting, rate):
    read = made(DRAFTS["foreign currency"])
    for total in read.tax_totals:
        total.amount = own if total.amount.currency == "USD" else accounting
    assert vat_facts(read).get("Wechselkurs (errechnet)") == rate


def test_collected_amount_is_named_once():
    read = einvoice.read(einvoice.generate(EXTENDED["third-party payment"]).data)
    assert totals(read)["Fremdforderungen: Maut vom 18. November"] == "37,20 EUR"
    assert missing(read, "de") == []


@pytest.mark.parametrize("lang", ["de", "en", "fr"])
@pytest.mark.parametrize("name", ["correction", "retention", "delivery to another address, factoring"])
def test_no_text_is_outside_the_margins(name, lang):
    """No line is wider than the page between its margins (25 and 20 mm), and a preceding invoice takes one line."""
    pypdfium2 = pytest.importorskip("pypdfium2")
    made_pdf = pypdfium2.PdfDocument(visualization.invoice_pdf(made(DRAFTS[name]), lang))
    words = made_pdf[0].get_textpage()
    places = [words.get_rect(number) for number in range(words.count_rects())]
    assert min(it[0] for it in places) > 24.5 / 25.4 * 72
    assert max(it[2] for it in places) < 190.5 / 25.4 * 72
    if (name, lang) == ("correction", "de"):
        assert "R-2026-0001 vom 20.11.2026" in words.get_text_range().replace("\u00a0", " ")


def test_reason_of_the_category_is_given_once():
    shown = text(made(DRAFTS["reverse charge for construction, § 13b UStG"]))
    assert shown.count("Steuerschuldnerschaft des Leistungsempfängers") == 1
    assert "(Code VATEX-EU-AE)" in shown


def test_attachment_that_is_identified_by_its_name_is_named_once():
    files = [{"id": "plan.pdf", "content": "JVBERi0xLjQK", "mime_type": "application/pdf", "filename": "plan.pdf"}]
    found = rows(made(invoice(1, HOURS, attachments=files)), "//section[h2='Unterlagen']//tr")
    assert found == [["Unterlage", "plan.pdf, PDF-Dokument, 9 Byte"]]


def test_invoiced_object_is_no_attachment():
    read = made(DRAFTS["rent"])
    assert not page(read).xpath("//section[h2='Unterlagen']")
    assert ["Abgerechnetes Objekt", "ME-4711"] in rows(read, "//section[h2='Weitere Angaben']//tr")
