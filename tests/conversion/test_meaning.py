"""What a conversion joins, moves, omits and refuses: each kind in a document of its own."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

import einvoice
from einvoice.errors import ConversionRefused
from tests.helpers.hybrids import hybrid
from tests.helpers.properties import examples

EXTENDED = "urn:cen.eu:en16931:2017#conformant#urn:factur-x.eu:1p0:extended"
EXTENSION = (
    "urn:cen.eu:en16931:2017#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0"
    "#conformant#urn:xeinkauf.de:kosit:extension:xrechnung_3.0"
)


def told(converted):
    return [(it.kind, it.term, it.text, it.new_term or it.new_text) for it in converted.changes]


@pytest.fixture
def cii(sample):
    """Return the CII sample with XML inserted before a tag, or texts replaced."""
    return _editor(sample("cii-invoice.xml").read_text("utf-8"))


@pytest.fixture
def ubl(sample):
    return _editor(sample("ubl-invoice.xml").read_text("utf-8"))


def _editor(text):
    def edit(*pairs):
        edited = text
        for old, new in pairs:
            assert old in edited, old
            edited = edited.replace(old, new, 1)
        return edited.encode()

    return edit


def before(tag, xml):
    return tag, xml + tag


# ---------------------------------------------------------------- joined


def test_several_payment_terms_become_one_text(cii):
    terms = "<ram:SpecifiedTradePaymentTerms><ram:Description>{}</ram:Description></ram:SpecifiedTradePaymentTerms>"
    data = cii(before("<ram:SpecifiedTradePaymentTerms>", terms.format("#SKONTO#TAGE=7#PROZENT=2.00#\n")))
    converted = einvoice.convert(data)
    joined = "#SKONTO#TAGE=7#PROZENT=2.00#\nZahlbar innerhalb von 14 Tagen."
    assert told(converted) == [("joined", "BT-20", joined, joined)]
    assert converted.is_faithful
    assert einvoice.read(converted.xml)["BT-20"].raw == joined


def test_person_and_department_become_one_name(cii):
    data = cii(("</ram:PersonName>", "</ram:PersonName><ram:DepartmentName>Service</ram:DepartmentName>"))
    converted = einvoice.convert(data)
    assert told(converted) == [("joined", "BT-41", "Cem Aydin\nService", "Cem Aydin, Service")]
    assert converted.is_faithful


def test_several_notes_of_a_line_become_one(cii):
    notes = "".join(f"<ram:IncludedNote><ram:Content>{it}</ram:Content></ram:IncludedNote>" for it in ("eins", "zwei"))
    converted = einvoice.convert(cii(before("</ram:AssociatedDocumentLineDocument>", notes)))
    assert told(converted) == [("joined", "BT-127", "eins\nzwei", "eins\nzwei")]
    assert converted.changes[0].invoice_line == "1"


def gross_price(amount, *allowances):
    parts = "".join(
        f"<ram:AppliedTradeAllowanceCharge><ram:ChargeIndicator><udt:Indicator>{indicator}</udt:Indicator>"
        f"</ram:ChargeIndicator><ram:ActualAmount>{part}</ram:ActualAmount></ram:AppliedTradeAllowanceCharge>"
        for indicator, part in allowances
    )
    return (
        f"<ram:GrossPriceProductTradePrice><ram:ChargeAmount>{amount}</ram:ChargeAmount>{parts}"
        "</ram:GrossPriceProductTradePrice>"
    )


@examples(40)
@given(st.lists(st.decimals("0.0001", "20", places=4), min_size=2, max_size=4))
def test_several_discounts_on_a_price_become_their_sum(discounts):
    """UBL has one discount on a price (UBL-SR-37); gross price less discount is still the net price."""
    gross = Decimal("62.50") + sum(discounts)
    data = _cii_sample(gross_price(gross, *(("false", it) for it in discounts)))
    converted = einvoice.convert(data)
    (change,) = converted.changes
    assert (change.kind, change.term, Decimal(change.new_text)) == ("joined", "BT-147", sum(discounts))
    (line,) = einvoice.read(converted.xml).lines
    assert line.gross_unit_price.number - line.price_allowances[0].amount.number == line.price.net.number
    assert "UBL-SR-37" not in {it.code for it in converted.after.findings}


def _cii_sample(inserted):
    from tests.helpers.paths import ROOT

    text = (ROOT / "tests" / "samples" / "cii-invoice.xml").read_text("utf-8")
    return _editor(text)(before("<ram:NetPriceProductTradePrice>", inserted))


def test_a_surcharge_on_a_price_is_a_loss(cii):
    data = cii(before("<ram:NetPriceProductTradePrice>", gross_price("60.00", ("true", "2.50"))))
    converted = einvoice.convert(data)
    assert ("lost", "BT-148", "60.00", "") in told(converted)
    assert converted.after.is_valid
    assert not converted.is_faithful


def test_texts_of_several_payment_means_become_one(cii):
    means = (
        "<ram:SpecifiedTradeSettlementPaymentMeans><ram:TypeCode>58</ram:TypeCode><ram:Information>{}</ram:Information>"
        "<ram:PayeePartyCreditorFinancialAccount><ram:IBANID>DE02120300000000202051</ram:IBANID>"
        "</ram:PayeePartyCreditorFinancialAccount></ram:SpecifiedTradeSettlementPaymentMeans>"
    )
    data = cii(before("<ram:SpecifiedTradeSettlementPaymentMeans>", means.format("Bank A") + means.format("Bank B")))
    converted = einvoice.convert(data)
    assert ("joined", "BT-82", "Bank A\nBank B", "Bank A, Bank B") in told(converted)
    assert "UBL-SR-46" not in {it.code for it in converted.after.findings}


# ---------------------------------------------------------------- moved


def test_further_invoiced_objects_become_supporting_documents(cii):
    document = (
        "<ram:AdditionalReferencedDocument><ram:IssuerAssignedID>{}</ram:IssuerAssignedID>"
        "<ram:TypeCode>130</ram:TypeCode></ram:AdditionalReferencedDocument>"
    )
    data = cii(before("</ram:ApplicableHeaderTradeAgreement>", document.format("O-1") + document.format("O-2")))
    converted = einvoice.convert(data)
    assert told(converted) == [("moved", "BT-18", "O-2", "BT-122")]
    assert converted.after.is_valid
    assert converted.is_faithful


def test_further_preceding_invoices_become_supporting_documents(ubl):
    reference = "<cac:InvoiceDocumentReference><cbc:ID>{}</cbc:ID></cac:InvoiceDocumentReference>"
    references = "".join(
        f"<cac:BillingReference>{reference.format(it)}</cac:BillingReference>" for it in ("V-1", "V-2")
    )
    converted = einvoice.convert(ubl(before("<cac:AccountingSupplierParty>", references)))
    assert told(converted) == [("moved", "BT-25", "V-2", "BT-122")]
    assert not converted.is_faithful


def logistics_charge(amount, text="Fracht"):
    return (
        f"<ram:SpecifiedLogisticsServiceCharge><ram:Description>{text}</ram:Description>"
        f"<ram:AppliedAmount>{amount}</ram:AppliedAmount><ram:AppliedTradeTax><ram:TypeCode>VAT</ram:TypeCode>"
        "<ram:CategoryCode>S</ram:CategoryCode><ram:RateApplicablePercent>19</ram:RateApplicablePercent>"
        "</ram:AppliedTradeTax></ram:SpecifiedLogisticsServiceCharge>"
    )


def test_a_logistics_charge_becomes_a_charge_of_en16931(cii, sample):
    specification = str(einvoice.read(sample("cii-invoice.xml")).specification)
    data = cii(
        (specification, EXTENDED),
        before("<ram:SpecifiedTradePaymentTerms>", logistics_charge("10.00")),
        ("<ram:TaxBasisTotalAmount>250.00", "<ram:ChargeTotalAmount>10.00</ram:ChargeTotalAmount>"
         "<ram:TaxBasisTotalAmount>260.00"),
        ("<ram:BasisAmount>250.00", "<ram:BasisAmount>260.00"),
        ("<ram:CalculatedAmount>47.50", "<ram:CalculatedAmount>49.40"),
        (">47.50</ram:TaxTotalAmount>", ">49.40</ram:TaxTotalAmount>"),
        ("<ram:GrandTotalAmount>297.50", "<ram:GrandTotalAmount>309.40"),
        ("<ram:DuePayableAmount>297.50", "<ram:DuePayableAmount>309.40"),
    )  # fmt: skip
    converted = einvoice.convert(data)
    assert converted.before.is_valid
    assert converted.after.is_valid
    assert told(converted) == [
        ("changed", "BT-24", EXTENDED, "urn:cen.eu:en16931:2017"),
        ("moved", "BG-X-42", "10.00", "BG-21"),
    ]
    (charge,) = einvoice.read(converted.xml).charges
    assert (charge.reason.text, charge.amount.number, charge.vat.rate.number) == ("Fracht", 10, 19)
    assert "BG-21" in converted.to_text("de")


# ---------------------------------------------------------------- one of several, or none


def test_of_two_buyer_identifiers_the_one_with_a_scheme_stays(cii):
    both = '<ram:ID>K-1</ram:ID><ram:GlobalID schemeID="0088">4000001000005</ram:GlobalID>'
    converted = einvoice.convert(cii(("<ram:BuyerTradeParty>", f"<ram:BuyerTradeParty>{both}")))
    assert told(converted) == [("lost", "BT-46", "K-1", "")]
    assert converted.after.is_valid
    assert not converted.is_faithful


def test_of_several_tax_registrations_of_a_kind_the_first_stays(cii):
    number = '<ram:SpecifiedTaxRegistration><ram:ID schemeID="FC">{}</ram:ID></ram:SpecifiedTaxRegistration>'
    data = cii(before("</ram:SellerTradeParty>", number.format("N-1") + number.format("N-2")))
    converted = einvoice.convert(data)
    assert told(converted) == [("lost", "BT-32", "N-2", "")]
    assert converted.after.is_valid


def test_white_space_and_the_sign_of_a_zero_do_not_make_the_target_invalid(ubl):
    data = ubl(
        ('"EUR">369.00</cbc:LineExt', '"EUR"> 369.00 </cbc:LineExt'),
        before("<cbc:PayableAmount", '<cbc:PayableRoundingAmount currencyID="EUR">-0.00</cbc:PayableRoundingAmount>'),
    )
    converted = einvoice.convert(data)
    assert converted.changes == ()
    totals = einvoice.read(converted.xml).totals
    assert (totals.line_net.raw, totals.rounding.raw) == ("369.00", "0.00")


def test_what_is_wrong_with_a_pdf_says_nothing_about_its_invoice(sample):
    data = sample("cii-invoice.xml").read_bytes()
    converted = einvoice.convert(hybrid(xml=data, name="other.xml"))
    assert converted.before.is_valid
    assert converted.xml == einvoice.convert(data).xml


def test_an_accounting_currency_equal_to_that_of_the_invoice_is_omitted(ubl):
    data = ubl(
        ("</cbc:DocumentCurrencyCode>", "</cbc:DocumentCurrencyCode><cbc:TaxCurrencyCode>EUR</cbc:TaxCurrencyCode>")
    )
    converted = einvoice.convert(data)
    assert told(converted) == [("omitted", "BT-6", "EUR", "")]
    assert converted.after.is_valid
    assert converted.is_faithful


def test_a_project_name_is_told(cii):
    project = (
        "<ram:SpecifiedProcuringProject><ram:ID>P-1</ram:ID><ram:Name>Schule</ram:Name></ram:SpecifiedProcuringProject>"
    )
    converted = einvoice.convert(cii(before("</ram:ApplicableHeaderTradeAgreement>", project)))
    assert told(converted) == [("lost", "", "Schule", "")]
    assert einvoice.read(converted.xml).project.text == "P-1"


# ---------------------------------------------------------------- lines and sub-lines


def sub_line(number, net, *, price=True):
    price = f'<cac:Price><cbc:PriceAmount currencyID="EUR">{net}</cbc:PriceAmount></cac:Price>' if price else ""
    return (
        f'<cac:SubInvoiceLine><cbc:ID>{number}</cbc:ID><cbc:InvoicedQuantity unitCode="C62">1</cbc:InvoicedQuantity>'
        f'<cbc:LineExtensionAmount currencyID="EUR">{net}</cbc:LineExtensionAmount><cac:Item><cbc:Name>Teil</cbc:Name>'
        "<cac:ClassifiedTaxCategory><cbc:ID>S</cbc:ID><cbc:Percent>19</cbc:Percent><cac:TaxScheme><cbc:ID>VAT</cbc:ID>"
        f"</cac:TaxScheme></cac:ClassifiedTaxCategory></cac:Item>{price}</cac:SubInvoiceLine>"
    )


def with_sub_lines(ubl, sample, *lines, **kept):
    specification = str(einvoice.read(sample("ubl-invoice.xml")).specification)
    price = '<cbc:PriceAmount currencyID="EUR">8.50</cbc:PriceAmount>'
    removed = [] if kept.get("full", True) else [(f"<cac:Price>{price}</cac:Price>", "")]
    text = ubl((specification, EXTENSION)).decode()
    text = " ".join(text.split()).replace("> <", "><")
    return _editor(text)(before("</cac:InvoiceLine>", "".join(lines)), *removed)


def test_sub_lines_are_not_counted_beside_their_line(ubl, sample):
    data = with_sub_lines(ubl, sample, sub_line("1.1", "100.00"), sub_line("1.2", "2.00"))
    converted = einvoice.convert(data)
    assert converted.before.is_valid
    assert converted.after.is_valid
    assert [str(line.identifier) for line in einvoice.read(converted.xml).lines] == ["1", "2", "3"]
    assert {(it.term, it.text) for it in converted.losses} >= {("BT-131", "100.00"), ("BT-131", "2.00")}
    assert not converted.is_faithful


def test_sub_lines_replace_a_line_that_lacks_terms_of_en16931(ubl, sample):
    data = with_sub_lines(ubl, sample, sub_line("1.1", "100.00"), sub_line("1.2", "2.00"), full=False)
    lines = einvoice.read(einvoice.convert(data).xml).lines
    assert [str(line.identifier) for line in lines] == ["1.1", "1.2", "2", "3"]
    assert sum(line.net_amount.number for line in lines) == Decimal("369.00")


def test_a_line_whose_sub_lines_do_not_add_up_stays(ubl, sample):
    data = with_sub_lines(ubl, sample, sub_line("1.1", "100.00"), full=False)
    assert [str(it.identifier) for it in einvoice.read(einvoice.convert(data).xml).lines] == ["1", "2", "3"]


def test_lines_that_the_totals_of_extended_do_not_count_are_told_as_lost(cii, sample):
    specification = str(einvoice.read(sample("cii-invoice.xml")).specification)
    text = cii((specification, EXTENDED)).decode()
    start, end = (text.index(f"<{it}ram:IncludedSupplyChainTradeLineItem>") for it in ("", "/"))
    line = text[start : end + len("</ram:IncludedSupplyChainTradeLineItem>")]
    reason = "<ram:LineStatusReasonCode>{}</ram:LineStatusReasonCode>"
    number, parent = "<ram:LineID>1</ram:LineID>", "<ram:ParentLineID>0</ram:ParentLineID>"
    group = line.replace(number, "<ram:LineID>0</ram:LineID>" + reason.format("GROUP"))
    detail = line.replace(number, number + parent + reason.format("DETAIL"))
    converted = einvoice.convert(text.replace(line, group + detail).encode())
    assert [str(it.identifier) for it in einvoice.read(converted.xml).lines] == ["1"]
    assert ("lost", "BT-126", "0", "") in told(converted)
    assert converted.after.is_valid


# ---------------------------------------------------------------- BT-24


@pytest.mark.parametrize(
    ("declared", "expected"),
    [
        ("urn:cen.eu:en16931:2017", "urn:cen.eu:en16931:2017"),
        ("urn:cen.eu:en16931:2017#compliant#urn:factur-x.eu:1p0:basic", "urn:cen.eu:en16931:2017"),
        ("urn:cen.eu:en16931:2017#compliant#urn:zugferd.de:2p0:basic", "urn:cen.eu:en16931:2017"),
        (EXTENDED, "urn:cen.eu:en16931:2017"),
        (EXTENSION, EXTENSION),
        ("urn:example:own", "urn:example:own"),
    ],
)
def test_a_profile_of_factur_x_becomes_en16931_in_ubl(cii, sample, declared, expected):
    specification = str(einvoice.read(sample("cii-invoice.xml")).specification)
    converted = einvoice.convert(cii((specification, declared)))
    assert str(einvoice.read(converted.xml).specification) == expected
    assert [it.term for it in converted.changes] == ([] if declared == expected else ["BT-24"])


def test_the_specification_is_a_choice(cii, ubl):
    named = einvoice.convert(ubl(), specification="en16931")
    assert named.after.invoice.specification.text == "urn:cen.eu:en16931:2017"
    assert einvoice.convert(cii(), specification="urn:a:b").after.invoice.specification.text == "urn:a:b"
    with pytest.raises(ValueError, match="must be an identifier or one of EN16931, "):
        einvoice.convert(cii(), specification="EXTENDED")


def test_extended_becomes_en16931_in_the_same_syntax(cii, sample):
    specification = str(einvoice.read(sample("cii-invoice.xml")).specification)
    terms = "<ram:SpecifiedTradePaymentTerms><ram:Description>bar</ram:Description></ram:SpecifiedTradePaymentTerms>"
    extras = logistics_charge("10.00") + terms
    data = cii((specification, EXTENDED), before("<ram:SpecifiedTradePaymentTerms>", extras))
    converted = einvoice.convert(data, "CII", specification="EN16931")
    assert [(it.kind, it.term) for it in converted.changes] == [
        ("changed", "BT-24"), ("joined", "BT-20"), ("moved", "BG-X-42"),
    ]  # fmt: skip


# ---------------------------------------------------------------- refused


@pytest.mark.parametrize("profile", ["minimum", "basicwl"])
def test_a_profile_that_is_no_invoice_is_refused(cii, sample, profile):
    specification = str(einvoice.read(sample("cii-invoice.xml")).specification)
    with pytest.raises(ConversionRefused, match="has no invoice lines") as refused:
        einvoice.convert(cii((specification, f"urn:factur-x.eu:1p0:{profile}")))
    assert (refused.value.reason, refused.value.term) == ("profile", "BT-24")
    assert refused.value.line
    assert "keine Positionen" in refused.value.text("de")


@pytest.mark.parametrize("day", ["22026-05-04", "2026-02-30", "05/04/2026"])
def test_a_date_that_the_target_cannot_hold_is_refused(ubl, day):
    with pytest.raises(ConversionRefused) as refused:
        einvoice.convert(ubl(("2026-05-04", day)))
    assert (refused.value.reason, refused.value.term) == ("date", "BT-2")
    assert day in refused.value.text("de")


def test_command_says_why_an_invoice_is_refused(ubl, tmp_path, capsys):
    from einvoice.cli import main

    source, out = tmp_path / "source.xml", tmp_path / "out.xml"
    source.write_bytes(ubl(("2026-05-04", "22026-05-04")))
    assert main(["convert", str(source), "-o", str(out), "--lang", "de"]) == 1
    assert "Das Datum 22026-05-04 (BT-2) ist kein Kalenderdatum" in capsys.readouterr().err
    assert not out.exists()


def row(category, rate, amount, reason="frei"):
    return (
        f'<cac:TaxSubtotal><cbc:TaxableAmount currencyID="EUR">{amount}</cbc:TaxableAmount><cbc:TaxAmount '
        f'currencyID="EUR">{amount}</cbc:TaxAmount><cac:TaxCategory><cbc:ID>{category}</cbc:ID><cbc:Percent>{rate}'
        f"</cbc:Percent>{reason and f'<cbc:TaxExemptionReason>{reason}</cbc:TaxExemptionReason>'}"
        "<cac:TaxScheme><cbc:ID>VAT</cbc:ID></cac:TaxScheme></cac:TaxCategory></cac:TaxSubtotal>"
    )


@pytest.mark.parametrize(("category", "reason"), [("E", "frei"), ("AE", "Reverse charge"), ("G", "Export"), ("Z", "")])
def test_a_breakdown_that_nothing_belongs_to_is_omitted_in_cii(ubl, category, reason):
    """UBL accepts a breakdown of 0 that nothing belongs to; rules of CII, such as BR-E-01, do not."""
    converted = einvoice.convert(ubl(before("</cac:TaxTotal>", row(category, "0", "0", reason))), lang="en")
    assert converted.before.is_valid
    assert converted.after.is_valid
    assert ("lost", "BT-118", category, "") in told(converted)
    assert [it.category.text for it in converted.after.invoice.vat_breakdown] == ["S", "S"]
    assert not converted.is_faithful


def test_a_breakdown_that_has_an_amount_stays(ubl):
    converted = einvoice.convert(ubl(before("</cac:TaxTotal>", row("E", "0", "5"))))
    assert [it.category.text for it in converted.after.invoice.vat_breakdown] == ["S", "S", "E"]


def test_a_negative_price_of_extended_becomes_a_negative_quantity(cii, sample):
    specification = str(einvoice.read(sample("cii-invoice.xml")).specification)
    text = cii((specification, EXTENDED)).decode()
    quantity = einvoice.read(text.encode()).lines[0].quantity.raw
    price = einvoice.read(text.encode()).lines[0].price.net.raw
    turned = text.replace(f">{quantity}</ram:BilledQuantity>", f">-{quantity}</ram:BilledQuantity>", 1)
    turned = turned.replace(f"<ram:ChargeAmount>{price}<", f"<ram:ChargeAmount>-{price}<", 1)
    converted = einvoice.convert(turned.encode())
    assert converted.before.is_valid
    assert converted.after.is_valid
    (line, *_) = converted.after.invoice.lines
    assert (line.quantity.raw, line.price.net.raw) == (quantity, price)
    assert {("changed", "BT-129"), ("changed", "BT-146")} <= {(it.kind, it.term) for it in converted.changes}


def test_reasons_of_extended_are_omitted_where_nothing_is_exempt(cii, sample):
    specification = str(einvoice.read(sample("cii-invoice.xml")).specification)
    reason = "<ram:ExemptionReason>Normalsatz</ram:ExemptionReason>"
    total = "<ram:BasisAmount>"
    converted = einvoice.convert(cii((specification, EXTENDED), before(total, reason)))
    assert ("lost", "BT-120", "Normalsatz", "") in told(converted)
    assert converted.after.is_valid


def test_an_item_number_has_no_scheme_in_cii(ubl):
    identification = '<cac:SellersItemIdentification><cbc:ID schemeID="0160">4012345000009</cbc:ID>'
    data = ubl(before("<cac:ClassifiedTaxCategory>", f"{identification}</cac:SellersItemIdentification>"))
    converted = einvoice.convert(data)
    assert converted.before.is_valid
    assert converted.after.is_valid
    assert [(it.kind, it.term) for it in converted.changes] == [("changed", "BT-155")]


def test_a_valid_invoice_that_becomes_invalid_is_not_faithful(ubl):
    """UBL tolerates a difference of one cent in a taxable amount; the rule of CII (BR-S-08) does not."""
    amount = '<cbc:TaxableAmount currencyID="EUR">{}</cbc:TaxableAmount>'
    converted = einvoice.convert(ubl((amount.format("260.00"), amount.format("260.01"))), lang="en")
    assert converted.before.is_valid
    assert not converted.after.is_valid
    assert converted.losses == ()
    assert not converted.is_faithful
    assert "BR-S-08" in str(converted)
