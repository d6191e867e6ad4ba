"""The pages of a hybrid PDF against its XML: what contradicts, what is missing, what cannot be compared."""

import datetime
import io
import json
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree

import einvoice
from einvoice.pdf import limits, sandbox, worker
from einvoice.pdf.picture import page_text, values
from einvoice.pdf.picture.comparison import compare
from einvoice.pdf.picture.page_text import rows
from einvoice.pdf.writer.embed import embed
from einvoice.visualization import invoice_pdf
from tests.helpers.full import full_invoice
from tests.helpers.hybrids import XML, hybrid

pikepdf = pytest.importorskip("pikepdf")
pytest.importorskip("pypdfium2")

LANGUAGES = ("de", "en", "fr")
INVOICE = einvoice.read(XML)


def pages(*lines):
    """A page with these lines, whose words stand at every 40 points; a column begins at 300."""
    words = []
    for index, line in enumerate(("Firma Muster GmbH, Beispielstraße 12, 12345 Musterstadt", "Guten Tag", *lines)):
        for column, part in enumerate(line.split("|")):
            left = 50.0 + 250 * column
            for word in part.split():
                words.append((left, left + 4 * len(word), 800 - 20 * index, word))
                left += 4 * len(word) + 6
    return [rows(words)]


def differences(*lines, invoice=INVOICE):
    return [(it.number, it.shown) for it in compare(invoice, pages(*lines)).differences]


def codes(result):
    return [it.code for it in result.container.findings if it.code.startswith("PDF-PICTURE-")]


# What is claimed, and what is not


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (["Gesamtbetrag|529,88 EUR"], [("BT-112", "529,88"), ("BT-115", "529,88")]),
        (["Total including VAT|€529.88"], [("BT-112", "529.88")]),
        (["Total TTC|529,88 €"], [("BT-112", "529,88")]),
        (["NET À PAYER|1 529,88 €"], [("BT-115", "1 529,88")]),
        (["Brutto|Zahlbetrag", "100,01|529,88"], [("BT-115", "529,88")]),
        (["Rechnungsnummer: 4712"], [("BT-1", "4712")]),
        (["Facture N° F-2026-9"], [("BT-1", "F-2026-9")]),
        (["Rechnungsdatum: 02.03.2001"], [("BT-2", "02.03.2001")]),
        (["Invoice date: March 2, 2001"], [("BT-2", "March 2, 2001")]),
        (["IBAN DE75 5121 0800 1245 1261 99"], [("BT-84", "DE75 5121 0800 1245 1261 99")]),
        (["USt-IdNr. DE129273398"], [("BT-31", "DE129273398")]),
        (["N° de TVA DE129273398"], [("BT-31", "DE129273398")]),
        (["Gesamtbetrag|529,88 USD"], [("BT-5", "USD"), ("BT-112", "529,88"), ("BT-115", "529,88")]),
        (["Artikel|USD", "Werkstoff|USD", "Gesamtbetrag|297,50"], [("BT-5", "USD")]),
        (["Artikel|USD", "Werkstoff|GBP", "Gesamtbetrag|297,50"], []),  # two currencies
        (["Artikel|USD", "Gesamtbetrag|297,50"], []),  # may be that of something else
        (["Gesamtbetrag|529,88 EUR", "Gesamtbetrag|17,00 EUR"], []),  # the word has two meanings
        (["529,88 EUR"], []),  # no word says what it is
        (["Gesamtbetrag|529,8876"], []),  # no amount of money
        (["Gesamtbetrag in 2026"], []),
        (["Zuschlag 12,50 %", "Gesamtbetrag|12,50 %"], []),
        (["Bestellung 4712 vom 02.03.2001"], []),
        (["Preceding invoice A-1|A-1 of March 2, 2001"], []),
        (["Preceding invoice A-1 of March 2, 2001"], []),
        (["Invoice A-1 of March 2, 2001"], [("BT-1", "A-1"), ("BT-2", "March 2, 2001")]),
    ],
)
def test_only_proven_contradictions_are_claimed(lines, found):
    assert differences(*lines) == found


def test_amount_of_the_xml_anywhere_prevents_the_claim():
    gross = f"{INVOICE.totals.gross.number:.2f}".replace(".", ",")
    assert differences("Gesamtbetrag|529,88 EUR", f"Summe {gross}") == []


def test_value_of_another_term_prevents_the_claim():
    """The amount beside a general word may be another one of the invoice."""
    line = f"{INVOICE.lines[0].net_amount.number:.2f}"
    assert differences(f"Total|{line} EUR") == []


def test_pages_without_text_are_not_compared():
    assert not compare(INVOICE, [rows([(50, 60, 700, "7")])]).has_text
    assert not compare(INVOICE, pages("xxxx yyyy zzzz")).has_text  # letters without a meaning


# Generated PDFs: no claim on those that agree, every exchanged value found


@pytest.fixture(scope="module")
def generated():
    invoice = full_invoice(specification="urn:cen.eu:en16931:2017")
    return {lang: (invoice_pdf(invoice, lang), embed(invoice_pdf(invoice, lang), invoice)) for lang in LANGUAGES}


@pytest.mark.parametrize("lang", LANGUAGES)
def test_own_pictures_agree(generated, lang):
    result = einvoice.validate(generated[lang][1].pdf)
    assert codes(result) == []


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(
    ("field", "code"),
    [
        ("number", "PDF-PICTURE-NUMBER"),
        ("issue_date", "PDF-PICTURE-DATE"),
        ("due_date", "PDF-PICTURE-DATE"),
        ("totals.gross", "PDF-PICTURE-AMOUNT"),
        ("totals.net", "PDF-PICTURE-AMOUNT"),
        ("totals.due", "PDF-PICTURE-AMOUNT"),
        ("vat_total", "PDF-PICTURE-AMOUNT"),
    ],
)
def test_exchanged_value_is_found(generated, lang, field, code):
    page, made = generated[lang]
    invoice = einvoice.read(made.xml)
    value = invoice.payment_terms[0] if field == "due_date" else invoice
    for name in field.split("."):
        value = getattr(value, name)
    node = value.node[0] if len(value.node) else value.node
    changed = {"number": "ZZ-1", "issue_date": "20010101", "due_date": "20010101"}.get(field, "98765.43")
    node.text = changed
    meaning = {"98765.43": Decimal(changed) if "." in changed else changed, "20010101": datetime.date(2001, 1, 1)}.get(
        changed, changed
    )
    found = einvoice.validate(embed(page, io.BytesIO(_serialized(node))).pdf)
    (finding,) = (it for it in found.container.findings if it.code == code and it.values["expected"] == meaning)
    assert finding.severity == "warning"
    assert finding.values["actual"] not in ("", changed)
    assert finding.line
    in_texts = {"98765.43": ("98.765,43", "98,765.43"), "20010101": ("01.01.2001", "2001-01-01")}
    for text_lang, text in zip(("de", "en"), in_texts.get(changed, (changed, changed)), strict=True):
        assert text in finding.explanation(text_lang)
        assert finding.values["actual"] in finding.explanation(text_lang)


def _serialized(node):
    return etree.tostring(node.getroottree())


# What the comparison changes, and what it does not


def test_setting_switches_it_off(monkeypatch):
    assert codes(einvoice.validate(hybrid())) == ["PDF-PICTURE-NO-TEXT"]
    assert codes(einvoice.validate(hybrid(), picture=False)) == []
    monkeypatch.setenv("EINVOICE_PICTURE", "off")
    assert codes(einvoice.validate(hybrid())) == []
    assert codes(einvoice.validate(hybrid(), picture=True)) == ["PDF-PICTURE-NO-TEXT"]
    monkeypatch.setenv("EINVOICE_PICTURE", "no")
    with pytest.raises(ValueError, match="EINVOICE_PICTURE"):
        einvoice.validate(hybrid())


def test_verdict_stays_that_of_the_xml(generated):
    page, made = generated["de"]
    other = embed(page, made.xml.replace(b"2026-0815", b"2026-0816"))
    with_picture, without = einvoice.validate(other.pdf), einvoice.validate(other.pdf, picture=False)
    assert with_picture.is_valid == without.is_valid
    assert [it.code for it in with_picture.errors] == [it.code for it in without.errors]
    assert codes(with_picture) == ["PDF-PICTURE-NUMBER"]
    assert not with_picture.container.is_valid


@pytest.mark.parametrize(
    ("problem", "code"), [(ImportError, "PDF-PICTURE-NO-LIBRARY"), (page_text.TooLong, "PDF-PICTURE-NOT-COMPARED"),
                          (RuntimeError, "PDF-PICTURE-NOT-COMPARED")]
)  # fmt: skip
def test_missing_comparison_is_said(monkeypatch, problem, code):
    def fail(data):
        raise problem

    monkeypatch.setattr(page_text, "read_pages", fail)
    answer = worker._read_pages(hybrid())
    pending = sandbox.PendingText(_Answering(answer))
    text = pending.result()
    assert (text.pages, text.problem) == ((), answer["problem"])
    monkeypatch.setattr(sandbox.PendingText, "result", lambda self: (self.close(), text)[1])
    result = einvoice.validate(hybrid())
    assert codes(result) == [code]
    assert all(it.severity == "information" for it in result.container.findings if it.code == code)


class _Answering:
    """A connection with one answer."""

    def __init__(self, header):
        from einvoice.sandbox import protocol

        self._data = io.BytesIO(protocol.encode(header))

    def recv(self, size):
        return self._data.read(size)

    def settimeout(self, seconds):
        assert seconds <= limits.PAGES_SECONDS + 1

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


def test_worker_that_fails_on_the_pages_has_sent_the_invoice():
    read, pending = sandbox.read_hybrid_with_pages(hybrid())
    assert read.xml == XML
    pending.close()
    assert sandbox.PendingText(_Answering({})).result().problem == "failure"
    assert sandbox.PendingText(_Answering({"pages": [[["x"]]]})).result().problem == "failure"
    assert sandbox.PendingText(_Answering({"problem": "unheard of"})).result().problem == "failure"


def test_long_documents_are_not_compared():
    data = hybrid(lambda pdf, spec: [pdf.add_blank_page() for _ in range(page_text.MAX_PAGES)])
    assert codes(einvoice.validate(data)) == ["PDF-PICTURE-NOT-COMPARED"]


# Numbers and dates as people write them


def written(amount, thousands, decimal):
    whole, fraction = f"{amount:,.2f}".split(".")
    return whole.replace(",", thousands) + decimal + fraction


AMOUNTS = st.integers(0, 10**11).map(lambda cents: Decimal(cents) / 100)
NOTATIONS = st.sampled_from(
    [(".", ","), ("", ","), (",", "."), ("", "."), (" ", ","), ("\u202f", ","), ("'", "."), ("’", ".")]
)


@given(AMOUNTS, NOTATIONS)
def test_amounts_in_each_notation_are_read(amount, notation):
    (found,) = values.numbers(f"EUR {written(amount, *notation)}")
    assert amount in found.readings
    assert found.is_money


@given(AMOUNTS, NOTATIONS)
def test_amount_with_two_decimals_has_one_reading_unless_blanks_divide_it(amount, notation):
    (found,) = values.numbers(written(amount, *notation))
    divided = notation[0] in (" ", "\u202f")
    assert found.readings == {amount} or (divided and max(found.readings) == amount)


@given(st.text(alphabet="0123456789.,' \u202f-%€EUR", max_size=40))
def test_any_text_is_read_without_error(text):
    for it in values.numbers(text):
        assert text[it.start : it.end] == it.text
        assert all(reading >= 0 for reading in it.readings)


@given(st.dates(datetime.date(2000, 1, 1), datetime.date(2099, 12, 31)))
def test_dates_in_each_notation_are_read(day):
    months = ("Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November",
              "Dezember")  # fmt: skip
    for text in (
        f"{day:%d.%m.%Y}",
        f"{day:%d.%m.%y}",
        f"{day:%d/%m/%Y}",
        f"{day:%m/%d/%Y}",
        day.isoformat(),
        f"{day:%Y%m%d}",
        f"{day.day}. {months[day.month - 1]} {day.year}",
        f"{day:%B} {day.day}, {day.year}",
        f"{day.day} {day:%b} {day.year}",
    ):
        assert any(day in it.readings for it in values.dates(f"vom {text} an")), text


@pytest.mark.parametrize("text", ["31.02.2026", "2026-13-01", "00.00.0000", "1.2.3", "99/99/2026"])
def test_other_digits_are_no_dates(text):
    assert list(values.dates(text)) == []


@pytest.mark.parametrize(
    ("text", "is_money"),
    [("12,50", True), ("€12.50", True), ("12,50 %", False), ("12,5", False), ("1.234", False), ("A12,50", False),
     ("1.1.2026", False), ("12,50 EUR", True), ("-12,50", True), ("12,50kg", False)],
)  # fmt: skip
def test_money_is_told_from_other_numbers(text, is_money):
    assert any(it.is_money for it in values.numbers(text)) == is_money


def test_account_numbers_need_their_check_digits():
    assert list(values.ibans("Konto DE02 1203 0000 0000 2020 52")) == []
    assert list(values.ibans("IBAN DE02120300000000202051 BIC BYLADEM1001")) == ["DE02120300000000202051"]


# Values that stand on the pages, but as a part of another one, or for another term


@pytest.mark.parametrize(
    ("text", "identifier", "found"),
    [
        ("Rechnung WK-2026-0815 vom", "WK-2026-0815", True),
        ("Rechnung WK-2026-0815 vom", "WK-2026-081", False),
        ("Rechnung WK-2026-0815 vom", "2026-0815", False),
        ("Rechnung WK-2026-0815-2", "WK-2026-0815", False),
        ("Rechnung wk 2026 0815.", "WK-2026-0815", True),
        ("Rechnung:4711vom 1.1.2026", "4711", True),
        ("RE 4711 12 Positionen", "RE 4711", True),
        ("DE02 1203 0000 0000 2020 51", "DE02120300000000202051", True),
        ("DE02 1203 0000 0000 2020 51", "DE021203000000002020", False),
        ("DE02 1203 0000 0000 2020 51", "DE0212030000000020205", False),
        ("DE02120300000000202051", "DE021203000000002020", False),
        ("DE 123 456 789", "DE123456", False),
        ("USt-IdNr. DE123456789.", "DE12345678", False),
        ("x", "", False),
        ("x", "-", False),
    ],
)
def test_identifiers_are_found_as_a_whole(text, identifier, found):
    assert values.contains(text, identifier) is found


def with_texts(**texts):
    """The invoice with other amounts or dates."""
    root = etree.fromstring(XML)
    for name, text in texts.items():
        (element,) = root.iter(f"{{*}}{name}")
        (element[0] if len(element) else element).text = text
    return einvoice.read(etree.tostring(root))


NET, GROSS = (f"{it.number:.2f}" for it in (INVOICE.totals.net, INVOICE.totals.gross))


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        ([f"Gesamt netto|{NET}", f"Zahlbetrag|{GROSS}"], [("BT-115", GROSS)]),
        ([f"Gesamt netto|{NET}", f"Zahlbetrag|{GROSS}", f"Rechnungsbetrag|{NET}"], []),  # may be this one
        ([f"Gesamt netto|{NET}", f"Zahlbetrag|{GROSS}", "Zahlbetrag|1,00"], []),  # two meanings
        ([f"Gesamt netto|{NET}", f"Zahlbetrag|{NET}"], []),
        ([f"Gesamt netto|{NET}", "Zahlbetrag", NET], []),
        ([f"Gesamt netto|{NET}", f"Summe|{GROSS}"], []),  # no word that means this amount only
    ],
)
def test_amount_of_another_term_does_not_confirm(lines, found):
    assert differences(*lines, invoice=with_texts(DuePayableAmount=NET)) == found


def test_date_of_another_term_does_not_confirm():
    invoice = with_texts(IssueDateTime="20260430", OccurrenceDateTime="20260430")
    lines = ("Lieferdatum 30.04.2026", "Rechnungsdatum 01.03.2026")
    assert differences(*lines, invoice=invoice) == [("BT-2", "01.03.2026")]
    assert differences(*lines, "Rechnungsdatum 30.04.2026", invoice=invoice) == []


def test_shortened_identifiers_are_contradictions():
    account = INVOICE.payment_means[0].credit_transfer.identifier.text
    number, vat = INVOICE.number.text, INVOICE.seller.vat_identifier.text
    lines = (f"Rechnungsnummer {number}9", f"USt-IdNr. {vat}", f"IBAN {account}")
    assert ("BT-1", f"{number}9") in differences(*lines)
    shortened = XML.replace(account.encode(), account[:-2].encode()).replace(vat.encode(), vat[:-1].encode())
    found = differences(*lines, invoice=einvoice.read(shortened))
    assert {("BT-31", vat), ("BT-84", account)} <= set(found)


def test_values_are_written_in_the_language_of_the_text(generated):
    page, made = generated["de"]
    node = einvoice.read(made.xml).totals.gross.node
    root = node.getroottree().getroot()
    (due,) = root.iter("{*}DueDateDateTime")
    due[0].text, node.text = "20010131", "1999.99"
    found = einvoice.validate(embed(page, _serialized(node)).pdf).container.findings
    texts = {it.code: (it.explanation("de"), it.explanation("en")) for it in found}
    assert "1.999,99" in texts["PDF-PICTURE-AMOUNT"][0]
    assert "1,999.99" in texts["PDF-PICTURE-AMOUNT"][1]
    assert "31.01.2001" in texts["PDF-PICTURE-DATE"][0]


def test_values_that_are_not_found_are_named(generated, monkeypatch):
    made = generated["de"][1]
    text = page_text.PageText(pages("Rechnung", "USt-IdNr. " + einvoice.read(made.xml).seller.vat_identifier.text))
    monkeypatch.setattr(sandbox.PendingText, "result", lambda self: (self.close(), text)[1])
    (finding,) = [it for it in einvoice.validate(made.pdf).container.findings if it.code == "PDF-PICTURE-NOT-FOUND"]
    gross = einvoice.read(made.xml).totals.gross.number
    assert f"BT-112 {gross:,.2f}" in finding.fix("en")
    assert "BT-112 " + f"{gross:,.2f}".translate(str.maketrans(",.", ".,")) in finding.fix("de")
    assert einvoice.read(made.xml).number.text in finding.fix("de")
    assert f"BT-112 {gross}" in json.dumps(einvoice.validate(made.pdf).to_dict("en"))
