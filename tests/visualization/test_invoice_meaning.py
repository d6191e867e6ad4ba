"""What the invoice page says to its reader: currency, payment, kinds of documents and lines, further content."""

import io
import re
from decimal import Decimal
from pathlib import Path

import pikepdf
import pypdf
import pytest
from lxml import etree
from lxml import html as parser

import einvoice
from einvoice.localization import Messages
from einvoice.model.iteration import filled
from einvoice.model.values import Amount, Code, Date, Identifier, Quantity, Text
from einvoice.resources import rules_folder
from einvoice.visualization import invoice_pdf
from einvoice.visualization.invoice.context import PageContext
from einvoice.visualization.invoice.further_content import known_name
from einvoice.visualization.invoice.page import invoice_html
from einvoice.visualization.labels import label
from einvoice.visualization.markup import solid
from tests.helpers.full import full_invoice
from tests.helpers.labelled import condensed, forms, missing, missing_further, unlabelled
from tests.helpers.paths import SAMPLES

CII = (SAMPLES / "cii-invoice.xml").read_bytes()
RAM = "urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100"
CASES = Path(__file__).parents[3] / "shared"


def page(invoice, lang="de"):
    return parser.document_fromstring(f"<body>{invoice_html(PageContext(invoice, lang))}</body>")


def texts(invoice, path, lang="de"):
    return [it.text_content().replace("\u00a0", " ") for it in page(invoice, lang).xpath(path)]


def cii(*changes):
    """Return the CII sample with replacements, each of which must apply."""
    data = CII.decode()
    for old, new in changes:
        assert old in data
        data = data.replace(old, new, 1)
    return einvoice.read(data.encode())


def with_type(code, **totals):
    invoice = full_invoice()
    invoice.type_code = Code(code)
    for name, amount in totals.items():
        setattr(invoice.totals, name, Amount(amount))
    return invoice


# ---------------------------------------------------------------- amounts and codes


def test_every_total_has_the_currency_of_the_invoice():
    invoice = einvoice.read(CII)
    assert "currencyID" not in str(invoice.totals.due.attributes)  # CII states it once, in BT-5
    totals = texts(invoice, "//table[@class='totals']//td")
    assert len(totals) >= 4
    assert all(it.endswith(" EUR") for it in totals)


def test_syntax_codes_are_not_displayed():
    text = " ".join(texts(einvoice.read(CII), "//body"))
    assert not re.search(r"\((VA|FC)\)|19 % S", text)
    assert re.search(r"USt-IdNr\.\s*DE\d+", text)


def test_zero_has_no_sign_and_a_reason_is_given_once():
    invoice = full_invoice()
    invoice.totals.paid = Amount("0.00")
    invoice.totals.allowances = Amount("0.00")
    text = " ".join(texts(invoice, "//body"))
    assert "−0,00" not in text
    reason = "Steuerfrei nach § 4 Nr. 8 UStG"
    for tax in invoice.vat_breakdown:
        if tax.category.text == "E":
            tax.exemption_reason, tax.exemption_reason_code = Text(reason), Code("VATEX-EU-132")
    for line in invoice.lines:
        line.taxes[0].exemption_reason = Text(reason)
    (cell,) = texts(invoice, "//p[contains(., 'VATEX')]")
    assert cell == f"Befreiungsgrund: {reason} (Code VATEX-EU-132)"
    assert " ".join(texts(invoice, "//body")).count(reason) == 1


@pytest.mark.parametrize(
    ("code", "name"),
    [("381", "Kaufmännische Gutschrift"), ("384", "Rechnungskorrektur"),
     ("389", "Gutschrift durch den Leistungsempfänger"), ("326", "Abschlagsrechnung (Teilrechnung)"),
     ("875", "Abschlagsrechnung (Bauleistung)")],
)  # fmt: skip
def test_title_is_the_name_of_the_type(code, name):
    assert texts(with_type(code), "//h1") == [f"{name} R-2026-0815"]


def test_rules_and_pages_use_the_same_names_of_types():
    """A text that names a type after its code uses the name of the pages."""
    names = Messages("einvoice.model", "invoice_types")
    pattern = re.compile(r"\b(326|381|384|386|389|875|876|877) \(?(?=[A-ZÄÖÜ][a-zäöü])")
    found = 0
    for path in sorted(rules_folder().rglob("*.toml")):
        if "translations" in path.parts:
            continue
        text = re.sub(r"\\\s*", "", path.read_text("utf-8"))
        for match in pattern.finditer(text):
            name = names["de"][match[1]].partition(" (")[0]
            rest = text[match.end() : match.end() + len(name)]
            if not rest.startswith(("CreditNote", "Invoice")):
                found += 1
                assert rest == name, f"{path.name}: {match[1]} {rest}"
    assert found > 5


# ---------------------------------------------------------------- what it means


@pytest.mark.parametrize(
    ("invoice", "key"),
    [
        (with_type("381", due="10.00"), "credit_note"),
        (with_type("384", due="-10.00"), "negative_due"),
        (with_type("380", due="0.00", paid="10.00"), "paid"),
        (with_type("380", due="0.00", paid="0.00"), "nothing_due"),
    ],
)
def test_page_says_who_pays(invoice, key):
    text, *others = texts(invoice, "//section[@class='payment']/div[@class='meaning']/p")
    assert text == label(key, "de").format(amount="10,00 EUR")
    assert others == ([label("issuer_account", "de")] if key in ("credit_note", "negative_due") else [])


def test_ordinary_invoice_says_nothing_special():
    assert texts(with_type("380", due="10.00"), "//div[@class='meaning']") == []


def test_credit_note_asks_for_no_payment():
    invoice = with_type("381", due="10.00")
    invoice.due_date = Date("2026-04-30")
    text = " ".join(texts(invoice, "//body"))
    assert label("BT-115", "de") not in text
    assert label("BT-9", "de") not in text
    assert "Gutschriftsbetrag10,00 EUR" in text
    assert missing(invoice, "de") == unlabelled(invoice, "de") == []


def test_negative_amount_due_asks_for_no_payment():
    invoice = with_type("384", due="-10.00")
    invoice.due_date = Date("2026-04-30")
    text = " ".join(texts(invoice, "//body"))
    assert label("BT-115", "de") not in text
    assert label("BT-9", "de") not in text
    assert "Endbetrag−10,00 EUR" in text
    assert texts(invoice, "//div[@class='data']//th")[0] == "Rechnungsnummer"
    assert missing(invoice, "de") == unlabelled(invoice, "de") == []


def test_credit_note_is_not_called_an_invoice():
    shown = texts(with_type("381"), "//div[@class='data']//th")
    assert shown[:2] == ["Gutschriftsnummer", "Gutschriftsdatum"]


def test_references_of_a_self_billed_invoice_are_named_by_the_buyer():
    invoice = with_type("389")
    invoice.buyer_reference = Text("EK-4711")
    assert texts(invoice, "//tr[td='EK-4711']/th") == ["Unser Zeichen"]
    assert unlabelled(invoice, "de") == []


def test_self_billed_invoice_says_who_sells_and_who_is_paid():
    invoice = with_type("389")
    del invoice.payment_means[0].credit_transfer.name
    del invoice.payee
    seller, buyer = (texts(invoice, f"//div[h3='{party}']/p") for party in ("Verkäufer", "Käufer"))
    assert (seller, buyer) == ([invoice.seller.name.text], [invoice.buyer.name.text])
    assert texts(invoice, "//tr[th='Zahlungsempfänger']/td") == [invoice.seller.name.text]


@pytest.mark.parametrize(
    ("category", "reason", "shown"),
    [
        ("K", "§ 4 Nr. 1b UStG", "Innergemeinschaftliche Lieferung, steuerfreiBefreiungsgrund: § 4 Nr. 1b UStG"),
        ("G", "§ 6 UStG", "Ausfuhr, steuerfreiBefreiungsgrund: § 6 UStG"),
        ("S", "Maßnahme 7", "SteuerpflichtigHinweis: Maßnahme 7"),
        ("K", "Innergemeinschaftliche Lieferung", "Innergemeinschaftliche Lieferung, steuerfrei"),
    ],
)
def test_exemption_reason_stands_below_its_category(category, reason, shown):
    invoice = cii()
    subtotal = invoice.vat_breakdown[0]
    subtotal.category, subtotal.exemption_reason = Code(category), Text(reason)
    assert texts(invoice, "//section[h2='Umsatzsteuer']//td")[0] == shown


def test_french_page_has_a_no_break_space_before_a_colon():
    invoice = full_invoice()
    found = parser.tostring(page(invoice, "fr"), encoding="unicode", method="text")
    assert "Remise\u00a0: " in found
    assert "Remise: " not in found


@pytest.mark.parametrize(("code", "shown"), [("B1", "Facture de biens (B1)"), ("X9", "X9")])
def test_business_process_is_named(code, shown):
    invoice = cii()
    invoice.business_process = Text(code)
    assert texts(invoice, "//tr[th='Processus métier']/td", "fr") == [shown]


def test_direct_debit_asks_for_no_transfer():
    invoice = with_type("380", due="10.00")
    invoice.payment_means[0].code = Code("59")
    (text,) = texts(invoice, "//div[@class='meaning']/p")
    assert (
        text
        == "Der Betrag von 10,00 EUR, fällig am 30.04.2026, wird per Lastschrift eingezogen. Bitte nicht überweisen."
    )
    del invoice.due_date
    assert texts(invoice, "//div[@class='meaning']/p") == [label("direct_debit", "de")]


def test_buyer_sends_a_self_billed_invoice():
    ordinary, self_billed = with_type("380", due="1.00"), with_type("389", due="1.00")
    sender, recipient = "//div[@class='from']/p[@class='name']", "//div[@class='to']/p/strong"
    assert texts(self_billed, sender) == texts(ordinary, recipient)
    assert texts(self_billed, recipient) == texts(ordinary, sender)


def test_correction_and_self_billing_are_explained():
    assert texts(with_type("384", due="1.00"), "//div[@class='meaning']/p") == ["Korrigiert die Rechnung R-2026-0700."]
    assert texts(with_type("389", due="1.00"), "//div[@class='meaning']/p") == [label("self_billed", "de")]


def test_test_document_is_marked():
    mark = "<ram:TestIndicator><udt:Indicator>true</udt:Indicator></ram:TestIndicator>"
    invoice = cii(("<rsm:ExchangedDocumentContext>", f"<rsm:ExchangedDocumentContext>{mark}"))
    assert texts(invoice, "//h1")[0].endswith("(Test)")
    assert texts(invoice, "//p[@class='mark']") == [label("test_document", "de")]
    other = cii(("<rsm:ExchangedDocumentContext>", f"<rsm:ExchangedDocumentContext>{mark.replace('true', 'false')}"))
    assert texts(other, "//p[@class='mark']") == []


# ---------------------------------------------------------------- lines, terms, and what EN 16931 does not know


def test_groups_and_information_lines_are_not_items():
    invoice = full_invoice(3)
    group, information, item = invoice.lines
    group.status_reason, information.status_reason, item.status_reason = (
        Code("GROUP"),
        Code("INFORMATION"),
        Code("DETAIL"),
    )
    information.parent_line = item.parent_line = group.identifier
    rows = page(invoice).xpath("//table[@class='lines']/tbody/tr")
    assert [row.get("class") for row in rows] == ["uncounted", "below below1 uncounted", "below below1"]
    remarks = [[it.text_content() for it in row.xpath(".//p[@class='status']")] for row in rows]
    assert remarks == [
        ["Gruppe, zählt nicht zur Summe"],
        ["Nur zur Information, zählt nicht zur Summe", "Unterposition von 1"],
        ["Unterposition von 1"],
    ]


@pytest.mark.parametrize(("amount", "remark"), [("100.00", "Im Betrag der Position 1 enthalten"),
                                                ("90.00", "Unterposition von 1")])  # fmt: skip
def test_sub_lines_are_contained_only_if_the_amounts_prove_it(amount, remark):
    invoice = full_invoice(2)
    line, below = invoice.lines
    line.net_amount, below.net_amount = Amount("100.00"), Amount(amount)
    line.lines, invoice.lines = [below], [line]
    assert texts(invoice, "//p[@class='status']") == [remark]


def test_freight_is_a_charge():
    charge = """<ram:SpecifiedLogisticsServiceCharge><ram:Description>Fracht nach Köln</ram:Description>
      <ram:AppliedAmount>12.50</ram:AppliedAmount><ram:AppliedTradeTax><ram:TypeCode>VAT</ram:TypeCode>
      <ram:CategoryCode>S</ram:CategoryCode><ram:RateApplicablePercent>19</ram:RateApplicablePercent>
      </ram:AppliedTradeTax></ram:SpecifiedLogisticsServiceCharge><ram:SpecifiedTradePaymentTerms>"""
    invoice = cii(("<ram:SpecifiedTradePaymentTerms>", charge))
    (row,) = page(invoice).xpath("//section[h2='Nachlässe und Zuschläge']//tbody/tr")
    assert [it.text_content() for it in row] == ["Zuschlag: Fracht nach Köln", "19\u00a0%", "12,50"]


def test_discount_terms_are_put_into_words():
    discount = """<ram:SpecifiedTradePaymentTerms><ram:ApplicableTradePaymentDiscountTerms>
      <ram:BasisPeriodMeasure unitCode="DAY">10</ram:BasisPeriodMeasure><ram:BasisAmount>200.00</ram:BasisAmount>
      <ram:CalculationPercent>2.00</ram:CalculationPercent></ram:ApplicableTradePaymentDiscountTerms>"""
    invoice = cii(("<ram:SpecifiedTradePaymentTerms>", discount))
    (text,) = texts(invoice, "//section[@class='payment']/p[contains(., 'Skonto')]")
    assert "2 % Skonto auf 200,00 EUR bei Zahlung innerhalb von 10 Tagen" in text
    assert not texts(invoice, "//section[@class='more']")
    assert missing_further(invoice, "de") == []


def test_payment_terms_are_beside_their_dates():
    terms = """<ram:SpecifiedTradePaymentTerms><ram:Description>Erste Rate</ram:Description><ram:DueDateDateTime>
      <udt:DateTimeString format="102">20270115</udt:DateTimeString></ram:DueDateDateTime>
      </ram:SpecifiedTradePaymentTerms><ram:SpecifiedTradePaymentTerms>"""
    shown = texts(cii(("<ram:SpecifiedTradePaymentTerms>", terms)), "//section[@class='payment']/p")
    assert "Erste Rate (fällig am 15.01.2027)" in shown


def test_last_day_of_a_discount_is_not_the_due_date():
    terms = """<ram:SpecifiedTradePaymentTerms><ram:Description>Skonto</ram:Description><ram:DueDateDateTime>
      <udt:DateTimeString format="102">20270106</udt:DateTimeString></ram:DueDateDateTime>
      <ram:ApplicableTradePaymentDiscountTerms><ram:CalculationPercent>2</ram:CalculationPercent>
      </ram:ApplicableTradePaymentDiscountTerms></ram:SpecifiedTradePaymentTerms><ram:SpecifiedTradePaymentTerms>"""
    invoice = cii(("<ram:SpecifiedTradePaymentTerms>", terms))
    invoice.payment_terms[1].due_date = Date("2027-01-13")
    assert texts(invoice, "//div[@class='data']//tr[th='Fällig am']/td") == ["13.01.2027"]
    shown = texts(invoice, "//section[@class='payment']/p")
    assert any(it.endswith("2 % Skonto (bis 06.01.2027)") for it in shown)


def test_further_content_is_displayed_with_labels():
    party = """<ram:ShipFromTradeParty><ram:Name>Lager Nord</ram:Name><ram:PostalTradeAddress>
      <ram:PostcodeCode>20095</ram:PostcodeCode><ram:CountryID>IT</ram:CountryID></ram:PostalTradeAddress>
      </ram:ShipFromTradeParty></ram:ApplicableHeaderTradeDelivery>"""
    invoice = cii(("</ram:ApplicableHeaderTradeDelivery>", party))
    assert further(invoice) == [("Lieferung: Versender", "Name: Lager Nord · PLZ: 20095 · Land: Italien")]


def further(invoice, lang="de"):
    """Return the rows of the content that EN 16931 does not define."""
    rows = page(invoice, lang).xpath("//section[contains(@class, 'more')][last()]//tr")
    return [tuple(cell.text_content().replace("\u00a0", " ") for cell in row) for row in rows]


REFERENCES = """<ram:SpecifiedLineTradeAgreement><ram:BuyerOrderReferencedDocument>
  <ram:IssuerAssignedID>B-7</ram:IssuerAssignedID><ram:LineID>3</ram:LineID></ram:BuyerOrderReferencedDocument>
  <ram:AdditionalReferencedDocument><ram:IssuerAssignedID>LV-1</ram:IssuerAssignedID><ram:LineID>1.4</ram:LineID>
  <ram:TypeCode>{}</ram:TypeCode><ram:ReferenceTypeCode>{}</ram:ReferenceTypeCode>
  </ram:AdditionalReferencedDocument>"""


def test_codes_of_further_content_are_in_words():
    """A code without a name is shown with the name of its list: UNTDID 1001 and 1153."""
    ((_, known),) = further(cii(("<ram:SpecifiedLineTradeAgreement>", REFERENCES.format("270", "ABZ"))), "en")
    assert "Document type: Delivery note (270) · Reference type: Vehicle licence number (ABZ)" in known
    ((_, others),) = further(cii(("<ram:SpecifiedLineTradeAgreement>", REFERENCES.format("999", "AQA"))), "de")
    assert "Code 999 nach UNTDID 1001 · Art der Referenz: Code AQA nach UNTDID 1153" in others


def test_further_content_says_what_a_number_is_of():
    invoice = cii(("<ram:SpecifiedLineTradeAgreement>", REFERENCES.format("270", "ABZ")))
    assert "Bestellung: B-7 · Bestellposition: 3" in texts(invoice, "//table[@class='lines']/tbody/tr[1]/td[2]")[0]
    rows = further(invoice)
    assert dict(rows)["Pos. 1: Weitere Unterlage"].startswith("Nummer: LV-1 · Positionsnummer: 1.4 · ")
    assert str(rows).count("1.4") == 1


def test_seller_of_a_line_stands_at_the_line():
    seller = """<ram:ItemSellerTradeParty><ram:Name>Zweite GmbH</ram:Name><ram:SpecifiedTaxRegistration>
      <ram:ID schemeID="VA">DE987654321</ram:ID></ram:SpecifiedTaxRegistration></ram:ItemSellerTradeParty>"""
    invoice = cii(("</ram:SpecifiedLineTradeAgreement>", f"{seller}</ram:SpecifiedLineTradeAgreement>"))
    item = texts(invoice, "//table[@class='lines']/tbody/tr[1]/td[2]")[0]
    assert "Zweite GmbH · DE987654321 (USt-IdNr.)" in item
    assert "Zweite" not in str(further(invoice))


def test_kind_of_an_object_is_in_words():
    """Its scheme in UBL (BT-18-1, BT-128-1) is a code of UNTDID 1153."""
    invoice = full_invoice()
    (found,) = (it for it in invoice.documents if it.identifier_term == "BT-18")
    found.identifier = Identifier("M-7", {"schemeID": "AVE"})
    found.reference_type = Code("")
    assert texts(invoice, "//tr[th='Abgerechnetes Objekt']/td") == ["M-7 · Messstelle (AVE)"]
    found.identifier = Identifier("M-7", {"schemeID": "XX"})
    assert texts(invoice, "//tr[th='Abgerechnetes Objekt']/td") == ["M-7 · XX"], "it is in no list"


def test_notes_keep_amounts_together():
    invoice = full_invoice()
    invoice.notes[0].text = "Mahngebühr: 40 €, ab 1.000 EUR 9 % Zins, 30 Tage"
    (notes,) = page(invoice).xpath("//div[@class='notes']")
    assert "40\u00a0€, ab 1.000\u00a0EUR 9\u00a0% Zins, 30 Tage" in notes.text_content()


def test_each_way_to_pay_is_a_table():
    invoice = full_invoice()
    invoice.payment_means = [invoice.payment_means[0]] * 2
    tables = page(invoice).xpath("//section[@class='payment']/table")
    assert [table.xpath("count(.//th[.='Zahlungsart'])") for table in tables] == [1, 1]


def test_base_quantity_of_one_is_not_repeated():
    """Neither where both quantities have no unit."""
    invoice = full_invoice()
    line = invoice.lines[0]
    line.quantity, line.price.base_quantity = Quantity("5"), Quantity("1")
    shown = texts(invoice, "//table[@class='lines']//tr[td][1]/td")[3]
    assert "/" not in shown
    line.price.base_quantity = Quantity("2")
    assert texts(invoice, "//table[@class='lines']//tr[td][1]/td")[3].endswith("/ 2")


@pytest.mark.parametrize(
    ("identifier", "name"),
    [
        ("urn:cen.eu:en16931:2017#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0", "XRechnung 3.0"),
        ("urn:cen.eu:en16931:2017#conformant#urn:factur-x.eu:1p0:extended", "Factur-X EXTENDED 1.0"),
        ("urn:example:nobody", None),
    ],
)
def test_specification_is_named(identifier, name):
    (shown,) = texts(cii((cii().specification.text, identifier)), "//tr[th='Spezifikation']/td")
    assert shown.split("\n") == [it for it in (name, identifier) if it]


@pytest.mark.parametrize("lang", ["de", "en", "fr"])
def test_elements_of_extended_have_labels(lang):
    names = set()
    for path in (rules_folder() / "facturx").rglob("*.csv"):
        names |= set(re.findall(r"ram:(\w+)", path.read_text("utf-8")))
    assert len(names) > 100
    for name in sorted(names):
        element = etree.Element(f"{{{RAM}}}{name}")
        assert known_name(element, lang), name


# ---------------------------------------------------------------- completeness


def case_files(step):
    files = sorted(CASES.glob("cases*/**/*.xml"))
    return files[::step]


@pytest.mark.slow
@pytest.mark.skipif(not CASES.is_dir(), reason="the cases are not beside the project")
def test_every_value_of_the_cases_is_displayed_under_its_label():
    read = 0
    for path in case_files(97):
        try:
            invoice = einvoice.read(path.read_bytes())
        except einvoice.UnreadableDocument:
            continue
        read += 1
        assert missing(invoice, "de") == [], path.name
        assert unlabelled(invoice, "de") == [], path.name
        assert missing_further(invoice, "de") == [], path.name
    assert read > 20


@pytest.mark.parametrize("name", ["ubl-invoice.xml", "cii-invoice.xml", "ubl-credit-note.xml"])
def test_pdf_contains_every_value(name):
    invoice = einvoice.read((SAMPLES / name).read_bytes())
    reader = pypdf.PdfReader(io.BytesIO(invoice_pdf(invoice, "de")))
    text = condensed("".join(it.extract_text() for it in reader.pages))
    absent = [
        (it.number, it.value.raw)
        for it in filled(invoice)
        if it.number
        for wanted in forms(it, "de")
        if not any(condensed(form) in text for form in wanted)
    ]
    assert absent == []


# ---------------------------------------------------------------- layout


@pytest.mark.parametrize("name", ["ubl-invoice.xml", "cii-invoice.xml", "ubl-credit-note.xml"])
def test_short_invoice_has_one_page(name):
    invoice = einvoice.read((SAMPLES / name).read_bytes())
    with pikepdf.open(io.BytesIO(invoice_pdf(invoice, "de"))) as pdf:
        assert len(pdf.pages) == 1


def test_numbers_and_addresses_do_not_break():
    assert solid("a.b-c@example.de und mehr") == '<span class="solid">a.b-c@example.de</span> und mehr'
    assert solid("Nr. 04011000-12345-03") == 'Nr. <span class="solid">04011000-12345-03</span>'
    assert solid("x-" * 40 + "1") == "x-" * 40 + "1"  # longer than any column
    assert solid("ganz gewöhnlich <b>") == "ganz gewöhnlich &lt;b&gt;"


def test_large_amounts_fit_into_their_columns():
    invoice = full_invoice(2)
    invoice.lines[0].net_amount = Amount("123456789012.34")
    invoice.lines[0].price.net.raw = "987654321098.7654"
    reader = pypdf.PdfReader(io.BytesIO(invoice_pdf(invoice, "de")))
    assert "123.456.789.012,34" in "".join(it.extract_text() for it in reader.pages)
    widths = re.findall(r"width:([\d.]+)mm", invoice_html(PageContext(invoice, "de")))
    assert sum(map(Decimal, widths[:6])) <= Decimal("165.5")


def test_long_e_mail_address_takes_the_whole_width():
    invoice = full_invoice()
    invoice.seller.contact.email = Text("eine.sehr.lange.adresse@ein.sehr.langer.name.example")
    (block,) = page(invoice).xpath("//div[@class='pair wide']/div[@class='block'][contains(., 'eine.sehr.lange')]")
    assert block.xpath("./h3")[0].text_content() == "Verkäufer"


def test_page_is_well_formed_xml():
    """The page is XML, which the renderer reads faster than HTML."""
    invoice = full_invoice(text="<&> \u0085 \ufffe")
    invoice.number = Identifier('R"1&2')
    etree.fromstring(f"<body>{invoice_html(PageContext(invoice, 'de'))}</body>")
