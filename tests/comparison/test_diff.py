"""`einvoice.diff`: terms of two invoices, in any syntax."""

import json
from decimal import Decimal

import pytest
from hypothesis import given

import einvoice
from einvoice.cli import main
from einvoice.model.iteration import filled
from einvoice.model.lines import LineDocument
from einvoice.model.money import LogisticsTax
from einvoice.model.values import Identifier, normalize_space
from einvoice.syntax.writer import write
from tests.helpers.converted import read_again
from tests.helpers.hybrids import hybrid
from tests.helpers.languages import REJECTED
from tests.helpers.properties import examples
from tests.helpers.strategies import invoices, plausible_invoices


@pytest.fixture
def edited(sample):
    """Return a sample with texts replaced, each of which occurs in it."""

    def edit(name, *pairs):
        text = sample(name).read_text("utf-8")
        for old, new in pairs:
            assert old in text, old
            text = text.replace(old, new, 1)
        return text.encode()

    return edit


def statuses(found):
    return [(it.status, it.term) for it in found.differences]


@pytest.mark.parametrize("name", ["ubl-invoice.xml", "ubl-credit-note.xml", "cii-invoice.xml"])
def test_an_invoice_has_no_difference_from_itself(sample, name):
    found = einvoice.diff(sample(name), einvoice.read(sample(name)))
    assert not found
    assert len(found.equal) == len(found.terms) > 30


@pytest.mark.parametrize("name", ["ubl-invoice.xml", "ubl-credit-note.xml", "cii-invoice.xml"])
def test_the_syntax_makes_no_difference(sample, name):
    other = "CII" if name.startswith("ubl") else "UBL"
    assert not einvoice.diff(sample(name), einvoice.read(sample(name)).write(syntax=other))


def test_a_changed_value_has_both_values_and_places(sample, edited):
    data = edited("ubl-invoice.xml", ("LG-2026-0417", "LG-2026-0418"))
    (it,) = einvoice.diff(sample("ubl-invoice.xml"), data).changed
    assert (it.term, it.a, it.b, it.group) == ("BT-1", "LG-2026-0417", "LG-2026-0418", "BG-0")
    assert it.entry_a.xpath == it.entry_b.xpath == "/ubl:Invoice/cbc:ID"
    assert it.entry_b.line == 1 + data[: data.index(b"LG-2026-0418")].count(b"\n")


def test_zeros_and_white_space_make_no_difference(sample, edited):
    data = edited(
        "ubl-invoice.xml",
        (">12</cbc:InvoicedQuantity>", ">12.00</cbc:InvoicedQuantity>"),
        ("<cbc:Name>Lavendel", "<cbc:Name> Lavendel"),
    )
    assert not einvoice.diff(sample("ubl-invoice.xml"), data)


@pytest.mark.parametrize("blanks", ["\n", "\n\n  ", " \n"])
def test_line_breaks_are_told_from_other_changes(sample, edited, blanks):
    old = "Zahlbar innerhalb von 14 Tagen."
    data = edited("cii-invoice.xml", (old, old.replace(" von ", f"{blanks}von ")))
    compared = einvoice.diff(sample("cii-invoice.xml"), data, lang="en")
    (found,) = compared.differences
    assert (found.status, found.term, found.only_white_space) == ("changed", "BT-20", True)
    assert "BT-20 Payment terms: only line breaks differ: " in compared.to_text()
    assert [it["only_white_space"] for it in compared.to_dict()["differences"]] == [True]


def test_a_changed_word_is_no_white_space(sample, edited):
    data = edited("cii-invoice.xml", ("Zahlbar innerhalb", "Zahl bar innerhalb"))
    (found,) = einvoice.diff(sample("cii-invoice.xml"), data).differences
    assert not found.only_white_space


def test_a_number_is_a_decimal_and_a_unit_is_a_term_of_its_own(sample, edited):
    data = edited("ubl-invoice.xml", ('unitCode="C62">12<', 'unitCode="H87">13<'))
    found = einvoice.diff(sample("ubl-invoice.xml"), data)
    assert [(it.term, it.a, it.b, it.invoice_line) for it in found.changed] == [
        ("BT-129", Decimal(12), Decimal(13), "1"),
        ("BT-130", "C62", "H87", "1"),
    ]


def test_the_scheme_belongs_to_an_identifier(sample, edited):
    data = edited("ubl-invoice.xml", ('schemeID="EM">rechnung@l', 'schemeID="0204">rechnung@l'))
    (it,) = einvoice.diff(sample("ubl-invoice.xml"), data).changed
    assert (it.term, it.a == it.b, it.entry_a.scheme, it.entry_b.scheme) == ("BT-34", True, "EM", "0204")


def test_lines_are_found_again_by_number_and_renumbered_ones_by_content(sample):
    a, b = einvoice.read(sample("ubl-invoice.xml")), einvoice.read(sample("ubl-invoice.xml"))
    b.lines = [b.lines[2], b.lines[0], b.lines[1]]
    assert not einvoice.diff(a, b)
    b.lines[0].identifier = "30"
    assert statuses(einvoice.diff(a, b)) == [("changed", "BT-126")]
    b.lines = b.lines[1:]
    found = einvoice.diff(a, b)
    assert {it.status for it in found.differences} == {"only_in_a"}
    assert {it.invoice_line for it in found.differences} == {"3"}


def test_lines_after_an_inserted_one_only_have_another_number(sample):
    a, b, other = (einvoice.read(sample("ubl-invoice.xml")) for _ in range(3))
    b.lines = [other.lines[2], *b.lines]
    b.lines[0].item.name = "Inserted"
    for number, line in enumerate(b.lines, 1):
        line.identifier = str(number)
    found = einvoice.diff(a, b)
    assert {it.term for it in found.changed} == {"BT-126"}
    assert {it.invoice_line for it in found.only_in_b} == {"1"}


def test_repeated_groups_are_compared_with_the_most_similar_one(sample):
    a, b = einvoice.read(sample("ubl-invoice.xml")), einvoice.read(sample("ubl-invoice.xml"))
    b.vat_breakdown = list(reversed(b.vat_breakdown))
    b.vat_breakdown[0].tax_amount = Decimal("6.94")
    assert [(it.term, it.a, it.b) for it in einvoice.diff(a, b).differences] == [
        ("BT-117", Decimal("6.93"), Decimal("6.94"))
    ]


def test_content_without_a_term_is_compared_by_its_element(sample, edited):
    plain = sample("ubl-invoice.xml")
    data = edited("ubl-invoice.xml", ("<cbc:ID>", "<cbc:UBLVersionID>2.1</cbc:UBLVersionID><cbc:ID>"))
    (it,) = einvoice.diff(plain, data).only_in_b
    assert (it.term, it.b, it.entry_b.xpath) == ("", "2.1", "/ubl:Invoice/cbc:UBLVersionID")
    assert not einvoice.diff(data, data)


def test_project_name_and_card_network_are_content_without_a_term(edited):
    project = (
        "<ram:SpecifiedProcuringProject><ram:ID>P1</ram:ID><ram:Name>{}</ram:Name></ram:SpecifiedProcuringProject>"
    )
    end = "</ram:ApplicableHeaderTradeAgreement>"
    usual, own = (edited("cii-invoice.xml", (end, project.format(it) + end)) for it in ("Project reference", "Schule"))
    assert statuses(einvoice.diff(usual, own)) == [("only_in_b", "")]


def test_a_hybrid_pdf_is_compared_by_its_invoice(sample):
    data = sample("cii-invoice.xml").read_bytes()
    assert not einvoice.diff(hybrid(xml=data), data)


def test_sub_lines_are_the_same_nested_and_with_a_parent_line():
    from einvoice.model.invoice import Invoice
    from einvoice.model.lines import Line

    def line(number, **content):
        return Line(identifier=number, net_amount=Decimal(1), **content)

    nested = Invoice(lines=[line("1", lines=[line("1.1")])])
    flat = Invoice(lines=[line("1"), line("1.1", parent_line="1")])
    assert not einvoice.diff(nested, flat)
    assert statuses(einvoice.diff(flat, Invoice(lines=[line("1"), line("1.1")]))) == [("only_in_a", "")]


@examples(60)
@given(invoices())
def test_every_term_of_an_invoice_is_compared(invoice):
    """Compared with an empty invoice, each term that the model finds in the document is only in the document."""
    document = read_again(write(invoice, "CrossIndustryInvoice"))
    assert not einvoice.diff(document, document)
    found = einvoice.diff(document, einvoice.Invoice())
    assert {it.status for it in found.terms} <= {"only_in_a"}
    values = [
        it for it in filled(document) if it.value.filled and not isinstance(it.group, LogisticsTax | LineDocument)
    ]
    compared = {it.term for it in found.only_in_a}
    assert {it.number for it in values if it.number} - {"BT-18-1", "BT-22"} <= compared
    texts = {str(it.a) for it in found.only_in_a}
    assert {normalize_space(it.value.raw) for it in values if type(it.value) is Identifier} <= texts


@pytest.mark.slow
@examples(40)
@given(plausible_invoices())
def test_one_changed_value_is_one_difference(invoice):
    before = read_again(write(invoice, "Invoice"))
    after = read_again(write(invoice, "Invoice"))
    after.lines[0].net_amount = before.lines[0].net_amount.number + 1
    assert statuses(einvoice.diff(before, after)) == [("changed", "BT-131")]


def test_many_repeated_groups_and_values_are_compared_in_bounded_time(sample):
    notes = "".join(f"<cbc:Note>{number}</cbc:Note>" for number in range(20_000))
    identifiers = "".join(
        f"<cac:PartyIdentification><cbc:ID>{number}</cbc:ID></cac:PartyIdentification>" for number in range(20_000)
    )
    text = sample("ubl-invoice.xml").read_text("utf-8")
    text = text.replace("<cbc:Note>", f"{notes}<cbc:Note>", 1).replace(
        "<cac:PartyName>", f"{identifiers}<cac:PartyName>", 1
    )
    found = einvoice.diff(text.encode(), sample("ubl-invoice.xml"))
    assert len(found.only_in_a) >= 20_000


def test_text_is_in_the_language(sample, edited):
    data = edited("ubl-invoice.xml", ("369.00</cbc:LineExtensionAmount>", "1370.00</cbc:LineExtensionAmount>"))
    found = einvoice.diff(sample("ubl-invoice.xml"), data, lang="de")
    assert str(found).splitlines() == [
        f"1 geändert, 0 nur in A, 0 nur in B, {len(found.equal)} gleich.",
        f"BT-106 Summe der Nettobeträge aller Positionen: 369,00 [Zeile {found.changed[0].entry_a.line}] → "
        f"1.370,00 [Zeile {found.changed[0].entry_b.line}]",
    ]
    assert "1,370.00" in found.to_text("en")
    with pytest.raises(ValueError, match=REJECTED):
        einvoice.diff(data, data, lang="xx")


def test_frame_has_a_row_for_each_difference(sample, edited):
    data = edited("ubl-invoice.xml", ('unitCode="C62">12<', 'unitCode="H87">13<'))
    found = einvoice.diff(sample("ubl-invoice.xml"), data, lang="en")
    frame = found.to_frame()
    assert list(frame["term"]) == ["BT-129", "BT-130"]
    assert (frame["a"][0], frame["b"][0], frame["invoice_line"][0]) == (Decimal(12), Decimal(13), "1")
    assert frame["name"][0] == "Invoiced quantity (invoice line 1)"
    assert len(found.to_frame(equal=True)) == len(found.terms)
    assert list(einvoice.diff(data, data).to_frame().columns) == list(frame.columns)


def test_html_escapes_the_invoice(edited, sample):
    data = edited("ubl-invoice.xml", ("Lavendel im Topf", "&lt;script>"))
    page = einvoice.diff(sample("ubl-invoice.xml"), data)._repr_html_()
    assert "&lt;script&gt;" in page
    assert "<script" not in page


def test_command_prints_text_or_json_and_has_an_exit_status(sample, edited, tmp_path, capsys):
    same, other = str(sample("ubl-invoice.xml")), tmp_path / "other.xml"
    other.write_bytes(edited("ubl-invoice.xml", ("LG-2026-0417", "LG-2026-0418")))
    assert main(["diff", same, same, "--lang", "en"]) == 0
    assert capsys.readouterr().out.startswith("Same content: ")
    assert main(["diff", same, str(other), "--format", "json", "--lang", "en"]) == 1
    (found,) = json.loads(capsys.readouterr().out)["differences"]
    assert (found["term"], found["name"], found["b"]["value"]) == ("BT-1", "Invoice number", "LG-2026-0418")
    assert main(["diff", same, str(tmp_path / "nothing.xml")]) == 2
