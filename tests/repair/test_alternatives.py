"""Alternatives of a question: none that says the same as another one, and none that cannot be right."""

import re

import pytest

import einvoice
from einvoice.editing.edits import Remove, apply
from einvoice.model.money import AllowanceCharge, AllowanceTax
from tests.helpers.paths import SAMPLES

UBL, CII = ((SAMPLES / name).read_text("utf-8") for name in ("ubl-invoice.xml", "cii-invoice.xml"))
PAID = '<cbc:PrepaidAmount currencyID="EUR">15.33</cbc:PrepaidAmount>'


def cause_of(document):
    (cause,) = einvoice.validate(document.encode(), lang="en").causes()
    return cause


# ---------------------------------------------------------------- the same number


def test_price_with_a_decimal_comma_is_no_question():
    wrong = UBL.replace('<cbc:PriceAmount currencyID="EUR">8.50<', '<cbc:PriceAmount currencyID="EUR">8,50<')
    assert wrong != UBL
    cause = cause_of(wrong)
    (change,) = cause.changes
    assert change.safe
    assert einvoice.validate(wrong.encode()).fixed().xml == UBL.encode()


# ---------------------------------------------------------------- paid amounts


def test_paid_amount_is_not_negative():
    """The amount due can only be above the total if the invoice has a paid amount below zero."""
    without = UBL.replace(PAID, "").replace(">400.00<", ">415.33<")
    assert not einvoice.validate(without.encode()).findings
    (change,) = cause_of(without.replace('"EUR">415.33</cbc:Payable', '"EUR">420.00</cbc:Payable')).changes
    assert change.terms == ("BT-115",)
    lower = cause_of(without.replace('"EUR">415.33</cbc:Payable', '"EUR">410.00</cbc:Payable'))
    assert {"BT-113", "BT-115"} <= set(lower.terms)


def test_negative_paid_amount_is_corrected_to_a_negative_one():
    negative = UBL.replace(">15.33<", ">-15.33<").replace(">400.00<", ">430.66<")
    assert not einvoice.validate(negative.encode()).findings
    wrong = negative.replace(">430.66<", ">431.66<")
    cause = cause_of(wrong)
    assert {edit.text for change in cause.changes for edit in change.edits} == {"430.66", "-16.33"}
    assert any(apply(wrong.encode(), change.edits) == negative.encode() for change in cause.changes)


@pytest.mark.parametrize("paid", ["", "<ram:TotalPrepaidAmount>200.00</ram:TotalPrepaidAmount>"])
def test_paid_amount_is_never_the_only_proposal(paid):
    """Factur-X demands a due date for a positive amount due, so the other change, that of BT-115, adds a finding."""
    specification = "urn:cen.eu:en16931:2017#conformant#urn:factur-x.eu:1p0:extended"
    document = re.sub("urn:cen.eu:en16931:2017[^<]*", specification, CII, count=1)
    document = re.sub(r"\s*<ram:TotalPrepaidAmount>.*?</ram:TotalPrepaidAmount>", "", document)
    unpaid = re.sub("<ram:DuePayableAmount>[^<]*", f"{paid}<ram:DuePayableAmount>0.00", document)
    terms = r"\s*<ram:SpecifiedTradePaymentTerms>.*?</ram:SpecifiedTradePaymentTerms>"
    without_terms = re.sub(terms, "", unpaid, flags=re.DOTALL)
    assert without_terms != unpaid
    assert [change.terms for change in cause_of(unpaid).changes] == [("BT-115",), ("BT-113",)]
    assert cause_of(without_terms).changes == ()


def test_missing_total_follows_from_the_others_without_further_changes():
    """The total without VAT follows from that with VAT: it needs neither the sum nor the identifier of a line."""
    document = UBL.replace("<cbc:ID>2</cbc:ID>", "<cbc:ID></cbc:ID>")
    for name in ("LineExtensionAmount", "TaxExclusiveAmount"):
        document = re.sub(rf'<cbc:{name} currencyID="EUR">3[56]9.00</cbc:{name}>', "", document)
    causes = einvoice.validate(document.encode(), lang="en").causes()
    change = next(it for cause in causes for it in cause.changes if it.terms[:1] == ("BT-109",))
    assert change.prior == ()
    assert any("BT-126" in cause.terms for cause in causes)


# ---------------------------------------------------------------- one value that resolves everything


def repaired(document):
    cause = cause_of(document)
    (change,) = cause.changes
    assert not change.safe
    assert change.resolves == cause.findings
    return change, apply(document.encode(), change.edits).decode()


def not_subject_to_vat():
    """The CII sample as an invoice that is not subject to VAT, with category O."""
    own = "<ram:SellerTradeParty><ram:ID>4711</ram:ID>"
    document = CII.replace("<ram:SellerTradeParty>", own).replace(">47.50<", ">0.00<").replace(">297.50<", ">250.00<")
    registration = r'\s*<ram:SpecifiedTaxRegistration>\s*<ram:ID schemeID="VA">.*?</ram:SpecifiedTaxRegistration>'
    document = re.sub(registration, "", document, flags=re.DOTALL)
    line = r"S(</ram:CategoryCode>)\s*<ram:RateApplicablePercent>19</ram:RateApplicablePercent>"
    document = re.sub(line, r"O\1", document, count=1)
    reason = r"<ram:ExemptionReasonCode>VATEX-EU-O</ram:ExemptionReasonCode>"
    return re.sub(r"S(</ram:CategoryCode>\s*)(<ram:RateApplicablePercent>)19", rf"O\1{reason}\g<2>0", document, count=1)


@pytest.mark.parametrize("rate", ["", "<ram:RateApplicablePercent>0</ram:RateApplicablePercent>"])
def test_category_of_the_breakdown_is_preferred_to_another_breakdown(rate):
    document = not_subject_to_vat()
    assert not einvoice.validate(document.encode()).findings
    wrong = document.replace(">O</ram:CategoryCode>", f">Z</ram:CategoryCode>{rate}", 1)
    change, text = repaired(wrong)
    assert len(change.resolves) > 5
    assert text == document


def test_added_vat_breakdown_says_the_exemption_reason():
    document = not_subject_to_vat()
    head, _, tail = document.partition("<ram:ApplicableHeaderTradeSettlement>")
    tail = re.sub(r"<ram:ApplicableTradeTax>.*?</ram:ApplicableTradeTax>", "", tail, flags=re.DOTALL)
    cause = cause_of(f"{head}<ram:ApplicableHeaderTradeSettlement>{tail}")
    reason = "VAT exemption reason code VATEX-EU-O"
    content = f"category O, 0 %, taxable amount 250.00, VAT 0.00, {reason}"
    assert cause.changes[0].text() == f"Add VAT breakdown (BG-23): {content}."


def test_card_payment_with_an_account_only_is_a_credit_transfer():
    wrong = UBL.replace("<cbc:PaymentMeansCode>58<", "<cbc:PaymentMeansCode>48<")
    change, text = repaired(wrong)
    assert {finding.code for finding in change.resolves} == {"BR-DE-24-a", "BR-DE-24-b"}
    assert text == UBL


def test_tax_of_an_allowance_is_vat():
    head, found, tail = UBL.partition("<cac:AllowanceCharge>")
    wrong = head + found + tail.replace("<cbc:ID>VAT</cbc:ID>", "<cbc:ID>EUR</cbc:ID>", 1)
    change, text = repaired(wrong)
    assert text == UBL
    assert change.text() == "Change cac:TaxScheme/cbc:ID from “EUR” to “VAT”."


@pytest.mark.parametrize("wrong", ["DEM", "EUR", None])
def test_accounting_currency_follows_from_the_second_vat_total(wrong):
    stated = "<cbc:TaxCurrencyCode>SEK</cbc:TaxCurrencyCode>"
    second = '<cac:TaxTotal><cbc:TaxAmount currencyID="SEK">640.00</cbc:TaxAmount></cac:TaxTotal>'
    document = UBL.replace("</cac:TaxTotal>", f"</cac:TaxTotal>{second}", 1)
    document = document.replace("</cbc:DocumentCurrencyCode>", f"</cbc:DocumentCurrencyCode>{stated}")
    assert not einvoice.validate(document.encode()).findings
    changed = document.replace(stated, stated.replace("SEK", wrong) if wrong else "")
    causes = einvoice.validate(changed.encode(), lang="en").causes()
    changes = [change for cause in causes for change in cause.changes if change.terms == ("BT-6",)]
    assert not any(isinstance(edit, Remove) for cause in causes for it in cause.changes for edit in it.edits)
    assert any(not einvoice.validate(apply(changed.encode(), change.edits)).findings for change in changes)


@pytest.mark.parametrize("syntax", ["UBL", "CII"])
def test_accounting_currency_or_that_of_the_second_vat_total_is_wrong(syntax):
    if syntax == "UBL":
        second = '<cac:TaxTotal><cbc:TaxAmount currencyID="GBP">40.00</cbc:TaxAmount></cac:TaxTotal>'
        document = UBL.replace("</cac:TaxTotal>", f"</cac:TaxTotal>{second}", 1)
        stated = "<cbc:TaxCurrencyCode>GBP</cbc:TaxCurrencyCode>"
        document = document.replace("</cbc:DocumentCurrencyCode>", f"</cbc:DocumentCurrencyCode>{stated}")
    else:
        second = '<ram:TaxTotalAmount currencyID="GBP">40.00</ram:TaxTotalAmount>'
        document = CII.replace("</ram:TaxTotalAmount>", f"</ram:TaxTotalAmount>{second}", 1)
        stated = "<ram:TaxCurrencyCode>GBP</ram:TaxCurrencyCode>"
        document = document.replace("<ram:InvoiceCurrencyCode>", f"{stated}<ram:InvoiceCurrencyCode>")
    assert not einvoice.validate(document.encode()).findings
    wrong = document.replace('currencyID="GBP"', 'currencyID="USD"')
    cause = cause_of(wrong)
    assert cause.is_question
    assert [change.terms for change in cause.changes] == [("BT-6",), ("BT-111",)]
    assert apply(wrong.encode(), cause.changes[1].edits).decode() == document
    assert not einvoice.validate(apply(wrong.encode(), cause.changes[0].edits)).findings


# ---------------------------------------------------------------- units, and an amount of 0


def test_a_line_with_two_units_is_a_question_for_both():
    wrong = UBL.replace(
        "</cbc:PriceAmount>", '</cbc:PriceAmount><cbc:BaseQuantity unitCode="KGM">1</cbc:BaseQuantity>', 1
    )
    assert wrong != UBL
    result = einvoice.validate(wrong.encode(), profile="peppol", lang="en")
    cause = next(it for it in result.causes() if "PEPPOL-EN16931-R130" in {found.code for found in it.findings})
    assert {it.terms for it in cause.changes} == {("BT-130",), ("BT-150",)}
    assert cause.is_question
    assert b"KGM" in result.fixed(unsafe=True).xml


def test_an_unknown_unit_is_that_of_the_price():
    unit = re.search('<cbc:InvoicedQuantity unitCode="([A-Z0-9]+)">', UBL)[1]
    stated = f'</cbc:PriceAmount><cbc:BaseQuantity unitCode="{unit}">1</cbc:BaseQuantity>'
    wrong = UBL.replace("</cbc:PriceAmount>", stated, 1).replace(f'unitCode="{unit}">', 'unitCode="??">', 1)
    result = einvoice.validate(wrong.encode(), profile="peppol", lang="en")
    cause = next(it for it in result.causes() if "PEPPOL-EN16931-R130" in {found.code for found in it.findings})
    assert "BR-CL-23" in {it.code for it in cause.findings}
    (change,) = cause.changes
    assert change.edits[0].value == unit


def test_a_charge_of_0_is_wrong_and_not_a_missing_one():
    invoice = einvoice.read(UBL.encode())
    (tax,) = invoice.lines[0].taxes
    vat = AllowanceTax(category=tax.category.text, rate=tax.rate.number, scheme=tax.scheme.text)
    invoice.allowances_and_charges = [AllowanceCharge(indicator="true", amount="25.00", reason="Fracht", taxes=[vat])]
    invoice.recalculate()
    assert einvoice.validate(invoice).is_valid
    invoice.charges[0].amount = "0.00"
    cause, *_ = einvoice.validate(invoice, lang="en").causes()
    (change,) = cause.changes
    assert change.terms == ("BT-99",)
    assert "missing" not in cause.text()


# ---------------------------------------------------------------- several numbers are wrong together


def wrong_numbers(**numbers):
    """The causes of an invoice with other totals, by their leading term."""
    document = UBL
    for name, (before, after) in numbers.items():
        changed = document.replace(f'<cbc:{name} currencyID="EUR">{before}', f'<cbc:{name} currencyID="EUR">{after}')
        assert changed != document
        document = changed
    return {cause.terms[0]: cause for cause in einvoice.validate(document.encode(), lang="en").causes()}


def test_finding_of_two_wrong_numbers_belongs_to_one_of_them():
    """BT-109 is the sum of BT-106 and others: the amount due has no part in it, though all are corrected together."""
    causes = wrong_numbers(
        LineExtensionAmount=("369.00", "377.11"), TaxExclusiveAmount=("359.00", "383.77"), PayableAmount=("400", "409")
    )
    explained = {term: {finding.code for finding in cause.findings} for term, cause in causes.items()}
    assert explained["BT-115"] == {"BR-CO-16"}
    assert "BR-CO-13" in explained["BT-109"]
    (change,) = causes["BT-109"].changes
    assert [step.term for step in change.prior] == ["BT-106"]
    assert "(together with the change of BT-106)" in causes["BT-109"].text("en")


def test_change_beside_a_doubtful_one_is_doubtful():
    """BT-112 agrees with BT-109 and BT-110 only if BT-110 is changed, which only the issuer can confirm."""
    causes = wrong_numbers(TaxAmount=("56.33", "69.11"), TaxInclusiveAmount=("415.33", "425.77"))
    assert all(cause.is_question for cause in causes.values())
    assert {term for term, cause in causes.items() if any(it.prior for it in cause.changes)} == {"BT-112"}


# ---------------------------------------------------------------- a line that does not add up


def test_net_amount_that_leaves_out_an_allowance_says_nothing_about_the_price():
    allowance = """<cac:AllowanceCharge><cbc:ChargeIndicator>false</cbc:ChargeIndicator>
        <cbc:AllowanceChargeReason>Rabatt</cbc:AllowanceChargeReason>
        <cbc:Amount currencyID="EUR">10.00</cbc:Amount></cac:AllowanceCharge><cac:Item>"""
    cause = cause_of(UBL.replace("<cac:Item>", allowance, 1))
    assert [it.situation for it in cause.findings] == ["before_allowances_and_charges"]
    assert cause.changes == ()
