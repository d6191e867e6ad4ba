"""Syntax rules: order of contexts, conditions, checks and code lists."""

import pytest

from einvoice.model.location import NAMESPACES
from tests.helpers.rule_sets import CODE_LISTS, NATIONAL
from tests.helpers.syntax_rules import cii_document, codes, transaction, ubl_document, violations

# ---------------------------------------------------------------- order of contexts, conditions


def test_an_element_belongs_to_the_first_matching_context():
    identifier = '<ram:ID schemeName="" schemeID=""/>'
    number = cii_document(f"<rsm:ExchangedDocument><ram:TypeCode/>{identifier}</rsm:ExchangedDocument>")
    assert codes(number) == {"CII-DT-001": 1, "CII-DT-005": 1}
    other = cii_document(f"<ram:Foo>{identifier}</ram:Foo>")
    assert codes(other) == {"CII-DT-101": 1}


def test_rules_of_a_shadowed_context_are_not_evaluated():
    type_code = '<ram:TypeCode listID="" listAgencyID="" listVersionID="" listURI=""/>'
    root = cii_document(f"<rsm:ExchangedDocument>{type_code}</rsm:ExchangedDocument>")
    assert codes(root) == {"CII-DT-009": 1}


def test_an_allowance_with_both_indicators_is_not_a_charge():
    reasons = "<cbc:AllowanceChargeReason/>" * 2
    indicators = "<cbc:ChargeIndicator>{}</cbc:ChargeIndicator>"
    for values, violated in (
        (["false"], {"UBL-SR-30": 1}),
        ([" 1 "], {"UBL-SR-31": 1}),
        (["true", "0"], {"UBL-SR-30": 1}),
        (["no"], {}),
        ([], {}),
    ):
        content = "".join(map(indicators.format, values)) + reasons
        assert codes(ubl_document(f"<cac:AllowanceCharge>{content}</cac:AllowanceCharge>")) == violated


def test_payment_due_date_is_allowed_in_credit_notes():
    means = "<cac:PaymentMeans><cbc:PaymentDueDate/></cac:PaymentMeans>"
    assert codes(ubl_document(means)) == {"UBL-CR-412": 1}
    assert codes(ubl_document(means, "CreditNote")) == {}


@pytest.mark.parametrize(
    ("content", "violated"),
    [
        ("<cbc:TaxAmount>1.234</cbc:TaxAmount>", True),
        ("<cbc:TaxAmount>1.23 </cbc:TaxAmount>", True),
        ("<cbc:TaxAmount>1.23</cbc:TaxAmount>", False),
        ("<cbc:TaxAmount>1</cbc:TaxAmount>", False),
        ("<cbc:TaxAmount>1.<cbc:X>234</cbc:X></cbc:TaxAmount>", True),
        ("<cac:Price><cbc:PriceAmount>1.234</cbc:PriceAmount></cac:Price>", False),
        ("<cac:Price><cac:AllowanceCharge><cbc:Amount>1.234</cbc:Amount></cac:AllowanceCharge></cac:Price>", False),
        ("<cac:Price><cbc:Amount>1.234</cbc:Amount></cac:Price>", True),
        ("<cac:AllowanceCharge><cbc:Amount>1.234</cbc:Amount></cac:AllowanceCharge>", True),
    ],
)
def test_decimals_of_amounts_are_counted_as_characters(content, violated):
    assert codes(ubl_document(f"<cac:X>{content}</cac:X>"))["UBL-DT-01"] == violated


@pytest.mark.parametrize(
    ("amount", "is_number"), [("-1.234", True), ("-85.19 EUR", False), ("1.23\u00a0", False), ("1.234,50", False)]
)
def test_surplus_decimals_are_told_from_other_text_after_the_point(amount, is_number):
    (found,) = violations(ubl_document(f"<cac:X><cbc:TaxAmount>{amount}</cbc:TaxAmount></cac:X>"))
    assert ("not_a_number" not in found.values) == is_number


@pytest.mark.parametrize(
    ("amount", "number"), [("\n200.00\n", "200.00"), ("-1.5\t ", "-1.5"), (" 1.234 ", None), ("1.23 EUR", None)]
)
def test_white_space_around_an_amount_is_told_from_surplus_decimals(amount, number):
    (found,) = violations(ubl_document(f"<cac:X><cbc:TaxAmount>{amount}</cbc:TaxAmount></cac:X>"))
    assert found.values.get("without_space") == number


@pytest.mark.parametrize(
    ("types", "scheme", "root", "violated"),
    [
        ([], False, "Invoice", False),
        ([], True, "Invoice", True),
        (["130"], True, "Invoice", False),
        (["916"], False, "Invoice", True),
        ([""], False, "Invoice", True),
        (["50"], False, "Invoice", True),
        (["50"], False, "CreditNote", False),
        (["916", "130"], False, "Invoice", False),
    ],
)
def test_document_type_codes(types, scheme, root, violated):
    content = "<cbc:ID schemeID='X'/>" if scheme else "<cbc:ID/>"
    content += "".join(f"<cbc:DocumentTypeCode>{code}</cbc:DocumentTypeCode>" for code in types)
    document = ubl_document(f"<cac:AdditionalDocumentReference>{content}</cac:AdditionalDocumentReference>", root)
    assert codes(document)["UBL-SR-43"] == violated


@pytest.mark.parametrize(
    ("payee", "seller", "violated"), [("A", "B", 0), ("A", "A", 3), ("", "B", 0), (None, "B", 3), ("A", None, 3)]
)
def test_the_payee_name_differs_from_the_seller_name(payee, seller, violated):
    name = "" if payee is None else f"<cac:PartyName><cbc:Name>{payee}</cbc:Name></cac:PartyName>"
    entity = "" if seller is None else f"<cbc:RegistrationName>{seller}</cbc:RegistrationName>"
    party = f"<cac:Party><cac:PartyLegalEntity>{entity}</cac:PartyLegalEntity></cac:Party>"
    root = ubl_document(
        f"<cac:AccountingSupplierParty>{party}</cac:AccountingSupplierParty><cac:PayeeParty>{name}</cac:PayeeParty>"
    )
    assert sum(codes(root).values()) == violated


@pytest.mark.parametrize(("names", "several"), [("A", None), ("AB", 2)])
def test_entries_of_a_payee_that_are_given_more_than_once_are_counted(names, several):
    payee = "".join(f"<cac:PartyName><cbc:Name>{name}</cbc:Name></cac:PartyName>" for name in names)
    root = ubl_document(f"<cac:PayeeParty>{payee}</cac:PayeeParty>")
    (violation,) = [found for found in violations(root) if found.code == "UBL-SR-19"]
    assert violation.values.get("several") == several


def test_schemes_are_compared_case_insensitively():
    registrations = "".join(
        f"<cac:PartyTaxScheme><cbc:CompanyID/><cac:TaxScheme>{scheme}</cac:TaxScheme></cac:PartyTaxScheme>"
        for scheme in ("<cbc:ID>vat</cbc:ID>", "<cbc:ID>VAT</cbc:ID>", "<cbc:ID> VAT</cbc:ID>", "<cbc:ID/>")
    )
    root = ubl_document(
        f"<cac:AccountingSupplierParty><cac:Party>{registrations}</cac:Party></cac:AccountingSupplierParty>"
    )
    assert codes(root) == {"UBL-SR-12": 1, "UBL-SR-13": 1, "UBL-SR-42": 1}


@pytest.mark.parametrize(
    ("content", "violated"),
    [
        ("<ram:TypeCode>VAT</ram:TypeCode>", False),
        ("<ram:TypeCode>VAT </ram:TypeCode>", True),
        ("<ram:TypeCode/>", True),
        ("<ram:TypeCode>GST</ram:TypeCode><ram:TypeCode>VAT</ram:TypeCode>", False),
        ("", False),
    ],
)
def test_tax_type_must_be_vat(content, violated):
    assert codes(cii_document(f"<ram:FooTradeTax>{content}</ram:FooTradeTax>"))["CII-DT-037"] == violated


@pytest.mark.parametrize(
    ("date", "violated"),
    [
        ("20260131", False),
        (" 20260131\n", False),
        ("20261301", True),
        ("20260132", True),
        ("2026013", True),
        ("", True),
        ("\u00a020260131", True),
        ("20260230", False),  # the official Schematron does not check calendar days
    ],
)
def test_dates_of_format_102(date, violated):
    element = f'<udt:DateTimeString format="{{}}">{date}</udt:DateTimeString>'
    assert codes(cii_document(element.format("102")))["CII-DT-097"] == violated
    assert codes(cii_document(element.format("610")))["CII-DT-097"] == 0


def test_units_are_allowed_if_an_invoiced_quantity_has_one():
    basis = '<ram:X><ram:BasisQuantity unitCode="C62"/></ram:X>'
    billed = '<ram:SpecifiedLineTradeDelivery><ram:BilledQuantity unitCode="C62"/></ram:SpecifiedLineTradeDelivery>'
    line = "<ram:IncludedSupplyChainTradeLineItem>{}</ram:IncludedSupplyChainTradeLineItem>"
    assert codes(transaction(basis + basis))["CII-DT-033"] == 2
    assert codes(transaction(basis + line.format(billed)))["CII-DT-033"] == 0
    assert codes(transaction(basis + billed))["CII-DT-033"] == 2


@pytest.mark.parametrize(
    ("content", "violated"),
    [
        ("", False),
        ("<ram:ChargeIndicator><udt:Indicator>false</udt:Indicator></ram:ChargeIndicator><ram:ActualAmount/>", False),
        ("<ram:ChargeIndicator><udt:Indicator>true</udt:Indicator></ram:ChargeIndicator><ram:ActualAmount/>", True),
        ("<ram:ChargeIndicator><udt:Indicator>0</udt:Indicator></ram:ChargeIndicator>", True),
        ("<ram:ActualAmount/>", True),
    ],
)
def test_a_price_discount_has_both_amount_and_indicator_or_neither(content, violated):
    allowance = f"<ram:AppliedTradeAllowanceCharge>{content}</ram:AppliedTradeAllowanceCharge>"
    price = f"<ram:GrossPriceProductTradePrice>{allowance}</ram:GrossPriceProductTradePrice>"
    agreement = f"<ram:SpecifiedLineTradeAgreement>{price}</ram:SpecifiedLineTradeAgreement>"
    line = f"<ram:IncludedSupplyChainTradeLineItem>{agreement}</ram:IncludedSupplyChainTradeLineItem>"
    assert codes(transaction(line))["CII-SR-119"] == violated


def test_values_of_the_whole_document_are_checked_in_each_context():
    tax = (
        "<ram:X><ram:ApplicableTradeTax><ram:DueDateTypeCode>{}</ram:DueDateTypeCode></ram:ApplicableTradeTax></ram:X>"
    )
    settlement = "<ram:ApplicableHeaderTradeSettlement/>"
    two = tax.format("5") + tax.format("29")
    assert codes(transaction(two))["CII-SR-462"] == 0
    assert codes(transaction(two + settlement * 2))["CII-SR-462"] == 2
    assert codes(transaction(tax.format("5") * 2 + settlement))["CII-SR-462"] == 0


# ---------------------------------------------------------------- code lists


def test_white_space_around_a_code_is_ignored():
    country = "<cac:Country><cbc:IdentificationCode>{}</cbc:IdentificationCode></cac:Country>"
    for text, violated in ((" DE\n", 0), ("de", 1), ("DE FR", 1), ("", 1), ("\u00a0DE", 1), ("SS", 0), ("AN", 1)):
        assert codes(ubl_document(country.format(text)), CODE_LISTS)["BR-CL-14"] == violated, text


def test_the_syntaxes_have_different_country_lists():
    country = "<ram:PostalTradeAddress><ram:CountryID>{}</ram:CountryID></ram:PostalTradeAddress>"
    assert not codes(transaction(country.format("AN")), CODE_LISTS)
    assert codes(transaction(country.format("SS")), CODE_LISTS) == {"BR-CL-14": 1}


def test_a_code_is_checked_at_any_depth():
    misplaced = "<cac:Delivery><cac:Unknown><cac:Country><cbc:IdentificationCode>XX</cbc:IdentificationCode>"
    root = ubl_document(f"{misplaced}</cac:Country></cac:Unknown></cac:Delivery>")
    (violation,) = violations(root, CODE_LISTS)
    assert (violation.code, violation.values["found"], violation.values["name"]) == (
        "BR-CL-14",
        "XX",
        "cbc:IdentificationCode",
    )


def test_an_amount_without_a_currency_is_a_violation():
    assert (
        codes(ubl_document("<cac:Price><cbc:PriceAmount>1</cbc:PriceAmount></cac:Price>"), CODE_LISTS)["BR-CL-03"] == 1
    )
    assert not codes(cii_document("<ram:TaxTotalAmount>1</ram:TaxTotalAmount>"), CODE_LISTS)


@pytest.mark.parametrize(
    ("party", "violated"), [("AccountingSupplierParty", 0), ("PayeeParty", 0), ("AccountingCustomerParty", 1)]
)
def test_only_seller_and_payee_have_a_creditor_identifier(party, violated):
    identifier = '<cac:PartyIdentification><cbc:ID schemeID=" SEPA ">DE1</cbc:ID></cac:PartyIdentification>'
    assert codes(ubl_document(f"<cac:{party}>{identifier}</cac:{party}>"), CODE_LISTS)["BR-CL-10"] == violated


def test_a_note_without_a_subject_is_ignored():
    for text, violated in (("#REG#x", 0), ("#XXX#", 1), ("no subject", 0), ("#ABCD#", 0), ("#AAA", 0), ("#A A#", 0)):
        assert codes(ubl_document(f"<cbc:Note>{text}</cbc:Note>"), CODE_LISTS)["BR-CL-08"] == violated, text


def test_white_space_around_a_file_type_is_not_ignored():
    file = '<cbc:EmbeddedDocumentBinaryObject mimeCode="{}">eA==</cbc:EmbeddedDocumentBinaryObject>'
    assert not codes(ubl_document(file.format("text/csv")), CODE_LISTS)
    assert codes(ubl_document(file.format("text/csv ")), CODE_LISTS) == {"BR-CL-24": 1}


def test_a_country_of_origin_with_a_scheme_is_not_checked():
    origin = "<ram:OriginTradeCountry><ram:ID{}>XX</ram:ID></ram:OriginTradeCountry>"
    assert codes(transaction(origin.format("")), CODE_LISTS) == {"BR-CL-15": 1}
    assert not codes(transaction(origin.format(' schemeID="0088"')), CODE_LISTS)


def test_empty_elements_are_reported_at_any_depth():
    root = ubl_document("<cbc:ID> \n</cbc:ID><cbc:Note>\u00a0</cbc:Note><cac:Party><cbc:Unknown/></cac:Party>")
    assert [violation.element.tag.partition("}")[2] for violation in violations(root, NATIONAL)] == ["ID", "Unknown"]


def test_an_empty_delivery_is_allowed_only_with_the_usual_prefix():
    assert not codes(transaction("<ram:ApplicableHeaderTradeDelivery/>"), NATIONAL)
    other = f'<r:ApplicableHeaderTradeDelivery xmlns:r="{NAMESPACES["ram"]}"/>'
    assert codes(transaction(other), NATIONAL) == {"PEPPOL-EN16931-R008": 1}
