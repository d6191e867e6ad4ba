"""Causes of codes that their list lacks: names of codes, other spellings, and codes with one wrong character."""

import re

import pytest

import einvoice
from einvoice.editing.edits import apply
from tests.helpers.paths import SAMPLES

UBL, CII = ((SAMPLES / name).read_text("utf-8") for name in ("ubl-invoice.xml", "cii-invoice.xml"))
PAYMENT = r"(?<=<cbc:PaymentMeansCode>)58(?=</cbc:PaymentMeansCode>)"


def changed(document, pattern, text, count=1):
    found = re.sub(pattern, text, document, count=count)
    assert found != document
    return found


def cause_of(document, lang="en"):
    (cause,) = einvoice.validate(document.encode(), lang=lang).causes()
    return cause


def repaired(document, change):
    return apply(document.encode(), change.edits).decode()


@pytest.mark.parametrize("name", ["Germany", "Deutschland", "deu", "de"])
@pytest.mark.parametrize(
    ("document", "pattern"),
    [(UBL, "(?<=<cbc:IdentificationCode>)DE"), (CII, "(?<=<ram:CountryID>)DE")],
)
def test_country_by_name(document, pattern, name):
    wrong = changed(document, pattern, name)
    cause = cause_of(wrong)
    (change,) = cause.changes
    assert change.safe
    assert cause.terms == ("BT-40",)
    assert repaired(wrong, change) == document


COUNTRY = r"(?<=Code>|ryID>)DE"
ONE_TOWN = [UBL, CII.replace("70176", "70173")]
BRITISH = [re.sub(r">DE(?=\d{9}<)", ">GB", it) for it in (UBL, CII)]
OTHER_TOWNS = [BRITISH[0].replace("94545", "94032", 1), BRITISH[0].replace("Hohenau", "Perlesreut", 1), BRITISH[1]]


@pytest.mark.parametrize("document", ONE_TOWN)
def test_country_is_doubtful_if_another_address_in_the_town_has_another(document):
    wrong = changed(document, COUNTRY, "UK")
    cause = cause_of(wrong)
    assert [change.safe for change in cause.changes] == [False, False]
    assert [repaired(wrong, it) for it in cause.changes] == [wrong.replace(">UK<", f">{it}<") for it in ("GB", "DE")]


@pytest.mark.parametrize("document", OTHER_TOWNS)
def test_country_is_certain_if_no_other_address_in_the_town_has_another(document):
    wrong = changed(document, COUNTRY, "UK")
    (change,) = cause_of(wrong).changes
    assert change.safe
    assert repaired(wrong, change) == wrong.replace(">UK<", ">GB<")


@pytest.mark.parametrize("document", [UBL.replace("94545", "94032", 1), CII])
def test_country_is_doubtful_if_the_vat_identifier_has_another(document):
    wrong = changed(document, COUNTRY, "UK")
    cause = cause_of(wrong)
    assert [change.safe for change in cause.changes] == [False, False]
    assert [repaired(wrong, it) for it in cause.changes] == [wrong.replace(">UK<", f">{it}<") for it in ("GB", "DE")]


def test_country_of_another_town_remains_certain():
    london = """<cac:DeliveryLocation><cac:Address><cbc:CityName>London</cbc:CityName><cbc:PostalZone>N</cbc:PostalZone>
<cac:Country><cbc:IdentificationCode>UK</cbc:IdentificationCode></cac:Country></cac:Address></cac:DeliveryLocation>"""
    wrong = changed(changed(UBL, COUNTRY, "UK"), "(?<=</cbc:ActualDeliveryDate>)", london)
    causes = einvoice.validate(wrong.encode()).causes()
    assert {cause.terms: [it.safe for it in cause.changes] for cause in causes} == {
        ("BT-40",): [False, False],
        ("BT-80",): [True],
    }


def test_no_currency_everywhere_is_that_of_the_invoice():
    wrong = UBL.replace('currencyID="EUR"', 'currencyID="XXX"')
    cause = cause_of(wrong)
    (change,) = cause.changes
    assert cause.is_question
    assert repaired(wrong, change) == UBL


@pytest.mark.parametrize("currency", ["€", "EURO", "eur"])
def test_wrong_currency_everywhere_is_one_change(currency):
    wrong = UBL.replace('currencyID="EUR"', f'currencyID="{currency}"').replace(">EUR<", f">{currency}<")
    cause = cause_of(wrong)
    (change,) = cause.changes
    assert change.safe
    assert repaired(wrong, change) == UBL
    assert "BT-5" in cause.text()
    assert len(cause.text()) < 200


def test_currency_that_the_euro_replaced_is_one_question():
    wrong = UBL.replace('currencyID="EUR"', 'currencyID="DEM"').replace(">EUR<", ">DEM<")
    cause = cause_of(wrong)
    (change,) = cause.changes
    assert cause.is_question
    assert repaired(wrong, change) == UBL


PEPPOL = re.sub("#compliant#[^<]*", "#compliant#urn:fdc:peppol.eu:2017:poacc:billing:3.0", UBL, count=1)


@pytest.mark.parametrize("currency", ["eur", " EUR", "EUR ", "E UR"])
def test_currency_is_written_exactly_as_in_the_list(currency):
    wrong = changed(PEPPOL, '(<cbc:PayableAmount currencyID=)"EUR"', rf'\1"{currency}"')
    causes = einvoice.validate(wrong.encode()).causes()
    (change,) = next(it for it in causes if "PEPPOL-EN16931-CL007" in {f.code for f in it.findings}).changes
    assert change.safe
    assert repaired(wrong, change) == PEPPOL


@pytest.mark.parametrize(("code", "is_safe"), [("abz", True), ("AB Z", True), ("XYQ", None)])
def test_scheme_of_an_invoiced_object(code, is_safe):
    reference = (
        '<cac:AdditionalDocumentReference><cbc:ID schemeID="{}">1</cbc:ID><cbc:DocumentTypeCode>130'
        "</cbc:DocumentTypeCode></cac:AdditionalDocumentReference>"
    )
    wrong = changed(UBL, "(?=<cac:AccountingSupplierParty>)", reference.format(code))
    changes = cause_of(wrong).changes
    assert [change.safe for change in changes] == ([] if is_safe is None else [is_safe])
    assert all(repaired(wrong, change) == wrong.replace(f'"{code}"', '"ABZ"') for change in changes)


def test_subject_code_of_a_note():
    wrong = changed(UBL, "(?=<cbc:DocumentCurrencyCode>)", "<cbc:Note>#aai#text</cbc:Note>")
    (change,) = cause_of(wrong).changes
    assert change.safe
    assert repaired(wrong, change) == wrong.replace("#aai#", "#AAI#")


def test_unit_with_several_meanings_is_a_question():
    wrong = changed(UBL, 'unitCode="C62"', 'unitCode="Stück"', count=0)
    cause = cause_of(wrong)
    assert [edit.value for change in cause.changes for edit in change.edits[:1]] == ["H87", "C62"]
    assert cause.terms == ("BT-130",)
    assert cause.is_question
    assert not any(change.safe for change in cause.changes)


def test_unit_by_name_is_a_question_if_the_price_has_another():
    price = '<cbc:BaseQuantity unitCode="LTR">1</cbc:BaseQuantity>'
    wrong = changed(changed(UBL, 'unitCode="C62"', 'unitCode="kg"'), "(?<=</cbc:PriceAmount>)", price)
    changes = [change for cause in einvoice.validate(wrong.encode()).causes() for change in cause.changes]
    assert changes
    assert not any(change.safe for change in changes)


def test_payment_means_by_name():
    wrong = changed(UBL, PAYMENT, "SEPA credit transfer")
    (change,) = cause_of(wrong).changes
    assert repaired(wrong, change) == UBL
    cause = cause_of(changed(UBL, PAYMENT, "Überweisung"))
    assert [edit.text for change in cause.changes for edit in change.edits] == ["58", "30"]


def test_vat_category_by_name_everywhere():
    wrong = UBL.replace("<cbc:ID>S</cbc:ID>", "<cbc:ID>standard rate</cbc:ID>")
    (change,) = cause_of(wrong).changes
    assert repaired(wrong, change) == UBL


def test_only_similar_code_is_proposed_but_not_safe():
    wrong = changed(UBL, "(?<=<cbc:DocumentCurrencyCode>)EUR", "EUT")
    (change,) = cause_of(wrong).changes
    assert not change.safe
    assert repaired(wrong, change) == UBL


def test_several_similar_codes_are_a_question():
    cause = cause_of(changed(UBL, '(?<=unitCode=")C62', "HUX"))
    assert {edit.value for change in cause.changes for edit in change.edits} == {"HBX", "HUR", "LUX"}


@pytest.mark.parametrize("code", ["bitcoin", "158"])
def test_no_code_is_proposed_if_none_is_similar_but_by_chance(code):
    """Numbers of two digits are nearly all codes."""
    assert cause_of(changed(UBL, PAYMENT, code)).changes == ()


# ---------------------------------------------------------------- schemes, choices of codes, codes without a term

EXTENSION = "urn:cen.eu:en16931:2017#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0#conformant#urn:xeinkauf.de:kosit:\
extension:xrechnung_3.0"
EXTENDED = changed(
    CII, "urn:cen.eu:en16931:2017[^<]*", "urn:cen.eu:en16931:2017#conformant#urn:factur-x.eu:1p0:extended"
)


def test_no_number_of_a_scheme_is_proposed_because_it_is_similar():
    assert cause_of(changed(UBL, '(?<=EndpointID schemeID=")EM', "9907")).changes == ()


def test_wrong_schemes_at_two_places_are_two_causes():
    """The rule of the XRechnung extension and the code list reject the same identifiers."""
    document = changed(UBL, "(?<=<cbc:CustomizationID>)[^<]*", EXTENSION)
    identifier = '<cac:PartyIdentification><cbc:ID schemeID="9907">1</cbc:ID></cac:PartyIdentification>'
    document = changed(document, "(?=<cac:PostalAddress>)", identifier, count=2)
    causes = einvoice.validate(document.encode(), lang="en").causes()
    assert len(causes) == 2
    assert all("BR-DEX-04" in {finding.code for finding in cause.findings} for cause in causes)
    assert all(cause.changes == () for cause in causes)


def test_scheme_by_name():
    wrong = changed(UBL, '(?<=EndpointID schemeID=")EM', "E-Mail")
    (change,) = cause_of(wrong).changes
    assert change.safe
    assert repaired(wrong, change) == UBL


def test_country_of_a_profile_by_name():
    """In Factur-X, the list of countries is a choice of codes."""
    wrong = changed(EXTENDED, "(?<=<ram:CountryID>)DE", "Deutschland")
    cause = cause_of(wrong)
    (change,) = cause.changes
    assert {finding.code[:6] for finding in cause.findings} == {"FX-SCH"}
    assert change.safe
    assert repaired(wrong, change) == EXTENDED


def test_country_of_an_element_without_a_term_is_not_that_of_the_seller():
    party = "<cac:PayeeParty><cac:PostalAddress><cac:Country><cbc:IdentificationCode>DE</cbc:IdentificationCode>\
</cac:Country></cac:PostalAddress><cac:PartyName><cbc:Name>Moser KG</cbc:Name></cac:PartyName></cac:PayeeParty>"
    wrong = changed(UBL, "(?=<cac:Delivery>)", party).replace("Code>DE<", "Code>Germany<")
    changes = [it for cause in einvoice.validate(wrong.encode()).causes() for it in cause.changes]
    (change,) = (it for it in changes if "BT-40" in it.terms)
    places = {step.term: step.place("en") for step in change.steps}
    assert set(places) == {"BT-40", "BT-55", ""}
    assert places[""] == "cac:PayeeParty/…/cbc:IdentificationCode"


INVOICER = "<ram:InvoicerTradeParty><ram:Name>Moser KG</ram:Name><ram:PostalTradeAddress><ram:CountryID>Austria\
</ram:CountryID></ram:PostalTradeAddress></ram:InvoicerTradeParty>"
CUSTOMER = "<cac:BuyerCustomerParty><cac:Party><cac:PostalAddress><cac:Country><cbc:IdentificationCode>Austria\
</cbc:IdentificationCode></cac:Country></cac:PostalAddress></cac:Party></cac:BuyerCustomerParty>"


@pytest.mark.parametrize(
    ("document", "before", "party", "place"),
    [
        (CII, "<ram:SpecifiedTradeSettlementPaymentMeans>", INVOICER, "ram:InvoicerTradeParty/…/ram:CountryID"),
        (UBL, "<cac:Delivery>", CUSTOMER, "cac:BuyerCustomerParty/…/cbc:IdentificationCode"),
    ],
)
def test_country_without_a_term_is_named_by_its_party(document, before, party, place):
    """The finding has the terms of all countries that its rule checks; that of the seller is not meant."""
    wrong = changed(document, f"(?={before})", party)
    causes = einvoice.validate(wrong.encode(), lang="en").causes()
    cause = next(it for it in causes if "BR-CL-14" in {finding.code for finding in it.findings})
    (change,) = cause.changes
    assert cause.text() == f"{place} is “Austria” instead of “AT”."
    assert change.terms == ()
    assert change.safe


@pytest.mark.parametrize("code", ["AEX", "DEX", "SIU"])
def test_three_letters_are_not_similar_to_the_code_of_another_country(code):
    """They are an abbreviation or a code of another list; leaving out a letter would give another country."""
    wrong = changed(UBL, "(?<=<cbc:IdentificationCode>)DE", code)
    assert cause_of(wrong).changes == ()


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("XPP", ["EUR", "XPF"]),  # neither palladium nor platinum
        ("XAX", ["EUR", "XAF"]),  # neither gold nor silver
        ("QQQ", ["EUR"]),
        ("EUT", ["EUR"]),
    ],
)
def test_currency_of_the_invoice_comes_before_similar_codes(code, expected):
    wrong = changed(UBL, '(?<=<cbc:PrepaidAmount currencyID=")EUR', code)
    causes = einvoice.validate(wrong.encode()).causes()
    cause = next(it for it in causes if "BR-CL-03" in {finding.code for finding in it.findings})
    assert [edit.value for change in cause.changes for edit in change.edits][:2] == expected
    assert repaired(wrong, cause.changes[0]) == UBL


def test_unit_with_the_code_of_a_metal_is_proposed():
    """XPT is also a kind of package in the list of units."""
    wrong = changed(UBL, '(?<=unitCode=")C62', "XPTA")
    assert {edit.value for change in cause_of(wrong).changes for edit in change.edits} == {"XPA", "XPT"}


def test_currency_of_the_other_amounts_if_the_invoice_has_none():
    wrong = changed(UBL, "<cbc:DocumentCurrencyCode>EUR</cbc:DocumentCurrencyCode>", "")
    wrong = changed(wrong, '(?<=<cbc:PrepaidAmount currencyID=")EUR', "XPP")
    causes = einvoice.validate(wrong.encode()).causes()
    cause = next(it for it in causes if "BR-CL-03" in {finding.code for finding in it.findings})
    assert [edit.value for edit in cause.changes[0].edits if hasattr(edit, "value")] == ["EUR"]
