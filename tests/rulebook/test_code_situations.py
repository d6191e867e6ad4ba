"""Situations of code lists: the texts name the code that was given, and the one that is probably meant."""

from __future__ import annotations

import re
import tomllib

import pytest

import einvoice
from einvoice.code_catalog import catalog
from einvoice.codelists import by_name, codes, meanings
from einvoice.facturx.rules import profile_rules
from einvoice.render.text import compared_text
from einvoice.resources import shipped
from einvoice.result import Finding, Language
from einvoice.rulebook.syntax_rules.checks import choice
from einvoice.rulebook.syntax_rules.table import rule_table
from tests.helpers.paths import SAMPLES
from tests.helpers.rule_sets import newest_stack

UBL = (SAMPLES / "ubl-invoice.xml").read_text("utf-8")
CII = (SAMPLES / "cii-invoice.xml").read_text("utf-8")
ADDRESS = '<cbc:EndpointID schemeID="'
ATTACHMENT = """<cac:AdditionalDocumentReference><cbc:ID>A</cbc:ID><cac:Attachment>
<cbc:EmbeddedDocumentBinaryObject mimeCode="{}" filename="a.jpg">AAAA</cbc:EmbeddedDocumentBinaryObject>
</cac:Attachment></cac:AdditionalDocumentReference>"""
ORIGIN = "<cac:OriginCountry><cbc:IdentificationCode>{}</cbc:IdentificationCode></cac:OriginCountry>"
GTIN = '<cac:StandardItemIdentification><cbc:ID schemeID="{}">4012345678901</cbc:ID></cac:StandardItemIdentification>'
PARTY = '<cac:PartyIdentification><cbc:ID schemeID="{}">4012345678901</cbc:ID></cac:PartyIdentification>'


def replaced(document: str, pattern: str, by: str) -> str:
    changed = re.sub(pattern, by, document, count=1)
    assert changed != document
    return changed


def before(document: str, element: str, added: str) -> str:
    return replaced(document, f"(?=<{element}[ >])", added)


MEANS = "<cac:PaymentMeans><cbc:PaymentMeansCode>10</cbc:PaymentMeansCode></cac:PaymentMeans>"
COMPANY = replaced(UBL, "<cbc:CompanyID>HRB", '<cbc:CompanyID schemeID="XX">HRB')
PEPPOL = replaced(UBL, r"#compliant#[^<]*", "#compliant#urn:fdc:peppol.eu:2017:poacc:billing:3.0")
#: Code, document, the code that it has, and the code of the list.
INTENDED = [
    ("BR-CL-01", replaced(UBL, "<cbc:InvoiceTypeCode>380", "<cbc:InvoiceTypeCode>+0384.0"), "+0384.0", "384"),
    ("BR-CL-03", replaced(UBL, r'(<cbc:PayableAmount currencyID=)"EUR"', r'\1"eur"'), "eur", "EUR"),
    ("BR-CL-03", replaced(UBL, r'(<cbc:PayableAmount currencyID=)"EUR"', r'\1"€"'), "€", "EUR"),
    ("BR-CL-04", replaced(UBL, "<cbc:DocumentCurrencyCode>EUR", "<cbc:DocumentCurrencyCode>E UR"), "E UR", "EUR"),
    ("BR-CL-04", replaced(CII, "<ram:InvoiceCurrencyCode>EUR", "<ram:InvoiceCurrencyCode>Euro"), "Euro", "EUR"),
    ("BR-CL-05", before(UBL, "cbc:BuyerReference", "<cbc:TaxCurrencyCode>chf</cbc:TaxCurrencyCode>"), "chf", "CHF"),
    ("BR-CL-10", before(UBL, "cac:PostalAddress", PARTY.format("GLN")), "GLN", "0088"),
    ("BR-CL-14", replaced(UBL, "<cbc:IdentificationCode>DE", "<cbc:IdentificationCode>Germany"), "Germany", "DE"),
    ("BR-CL-14", replaced(CII, "<ram:CountryID>DE", "<ram:CountryID>de"), "de", "DE"),
    ("BR-CL-15", before(UBL, "cac:ClassifiedTaxCategory", ORIGIN.format("Frankreich")), "Frankreich", "FR"),
    ("BR-CL-16", replaced(UBL, "(<cbc:PaymentMeansCode[^>]*>)[^<]*", r"\1SEPA-Überweisung"), "SEPA-Überweisung", "58"),
    ("BR-CL-17", replaced(UBL, r"(<cac:TaxCategory>\s*<cbc:ID>)S", r"\1s"), "s", "S"),
    ("BR-CL-18", replaced(UBL, r"(<cac:ClassifiedTaxCategory>\s*<cbc:ID>)S", r"\1s"), "s", "S"),
    ("BR-CL-21", before(UBL, "cac:ClassifiedTaxCategory", GTIN.format("GTIN")), "GTIN", "0160"),
    ("BR-CL-23", replaced(UBL, 'unitCode="[^"]*"', 'unitCode="Stk."'), "Stk.", "H87"),
    ("BR-CL-24", before(UBL, "cac:AccountingSupplierParty", ATTACHMENT.format("image/jpg")), "image/jpg", "image/jpeg"),
    ("BR-CL-25", replaced(UBL, f'{ADDRESS}[^"]*"', f'{ADDRESS}email"'), "email", "EM"),
    ("PEPPOL-EN16931-CL007", replaced(PEPPOL, '(<cbc:PriceAmount currencyID=)"EUR"', r'\1"Euro"'), "Euro", "EUR"),
]
#: Code, and a document in which no code can be recognised: the situation of its syntax applies.
UNKNOWN = [
    ("BR-CL-01", replaced(CII, "(<ram:TypeCode>)380", r"\g<1>000")),
    ("BR-CL-10", before(UBL, "cac:PostalAddress", PARTY.format("XX"))),
    ("BR-CL-18", replaced(UBL, r"(<cac:ClassifiedTaxCategory>\s*<cbc:ID>)S", r"\1XX")),
]


def profile(name: str) -> str:
    """Return the CII invoice, declaring a Factur-X profile."""
    kind = "conformant" if name == "extended" else "compliant"
    specification = f"urn:cen.eu:en16931:2017#{kind}#urn:factur-x.eu:1p0:{name}"
    return replaced(CII, r"urn:cen.eu:en16931:2017[^<]*", specification)


ALLOWANCE = """<ram:SpecifiedTradeAllowanceCharge><ram:ChargeIndicator><udt:Indicator>1</udt:Indicator>
</ram:ChargeIndicator><ram:ActualAmount>1.00</ram:ActualAmount></ram:SpecifiedTradeAllowanceCharge>"""
DOCUMENT = """<ram:AdditionalReferencedDocument><ram:IssuerAssignedID>A1</ram:IssuerAssignedID>
<ram:TypeCode>999</ram:TypeCode></ram:AdditionalReferencedDocument>"""
CHARGE = """<ram:SpecifiedTradeAllowanceCharge><ram:ChargeIndicator><udt:Indicator>true</udt:Indicator>
</ram:ChargeIndicator><ram:ActualAmount>1.00</ram:ActualAmount><ram:ReasonCode listID="7161">FC</ram:ReasonCode>
</ram:SpecifiedTradeAllowanceCharge>"""
ORDER_OF_LINE = """<ram:BuyerOrderReferencedDocument><ram:IssuerAssignedID>B-7</ram:IssuerAssignedID>
  </ram:BuyerOrderReferencedDocument>"""
EMPTY_ACCOUNT = "<cac:PayeeFinancialAccount><cbc:ID/></cac:PayeeFinancialAccount>"
INVOICEE = "<ram:InvoiceeTradeParty><ram:Name>Muster</ram:Name></ram:InvoiceeTradeParty>"
DISCOUNT = """<ram:ApplicableTradePaymentDiscountTerms><ram:CalculationPercent>2.00</ram:CalculationPercent>
</ram:ApplicableTradePaymentDiscountTerms>"""
BASIC = profile("basic")
#: As INTENDED: rules of a profile. All rules with a code list share their texts.
INTENDED_BY_PROFILE = [
    (
        "FX-SCH-A-000036",
        replaced(BASIC, r"(Rosenweg 12<[^>]*>\s*<[^>]*>Stuttgart<[^>]*>\s*<[^>]*>)DE", r"\1UK"),
        "UK",
        "GB",
    ),
    ("FX-SCH-A-000031", replaced(BASIC, 'schemeID="EM">rechnung@', 'schemeID="email">rechnung@'), "email", "EM"),
    ("FX-SCH-A-000040", replaced(BASIC, "<ram:InvoiceCurrencyCode>EUR", "<ram:InvoiceCurrencyCode>eur"), "eur", "EUR"),
]
#: Name of the value, code, document, and what title and fix quote.
OTHER = [
    ("code", "BR-CL-03", replaced(UBL, '(<cbc:PriceAmount currencyID=")EUR', r"\1QQQ"), "“QQQ”", "EUR"),
    (
        "required",
        "PEPPOL-EN16931-R051",
        replaced(PEPPOL, '(<cbc:PriceAmount currencyID=)"EUR"', r'\1"SEK"'),
        "The currency of an amount is “SEK”, that of the invoice “EUR”",
        "with “EUR” as currencyID",
    ),
    (
        "invoice_currency",
        "PEPPOL-EN16931-R051",
        replaced(PEPPOL, '(<cbc:PriceAmount) currencyID="EUR"', r"\1"),
        "The currency of an amount is missing; that of the invoice is “EUR”",
        "Enter “EUR” as currencyID",
    ),
    (
        "count",
        "FX-SCH-A-000030",
        replaced(profile("basic"), r"(<ram:BuyerTradeParty>\s*)(<ram:Name>[^<]*</ram:Name>)", r"\1\2\2"),
        "Given more than once: name of the buyer",
        "Keep only the valid entry",
    ),
    (
        "beside",
        "CII-SR-400",
        before(
            CII,
            "ram:SpecifiedTradeSettlementHeaderMonetarySummation",
            "<ram:SpecifiedTradePaymentTerms><ram:DueDateDateTime>"
            '<udt:DateTimeString format="102">20261231</udt:DateTimeString>'
            "<udt:DateTime>2026-01-15T10:00:00</udt:DateTime></ram:DueDateDateTime></ram:SpecifiedTradePaymentTerms>",
        ),
        "A second date in another notation",
        "If “20261231” is right, only remove udt:DateTime",
    ),
    (
        "same_type",
        "UBL-SR-53",
        replaced(
            UBL,
            r"(?s)(<cac:PartyTaxScheme>\s*)(<cbc:CompanyID>[^<]*</cbc:CompanyID>)(.*?</cac:PartyTaxScheme>)",
            r"\1\2\3\1\3",
        ),
        "another one of the same kind has DE",
        "Remove the registration without a number",
    ),
    (
        "no_other_number",
        "UBL-SR-53",
        replaced(
            UBL,
            r"(?s)(<cac:PartyTaxScheme>\s*)<cbc:CompanyID>[^<]*</cbc:CompanyID>(.*?</cac:PartyTaxScheme>)",
            r"\1\2\1\2",
        ),
        "None of the tax registrations has a number",
        "Add the number in the registration it belongs to",
    ),
    (
        "without_CompanyID",
        "UBL-SR-53",
        replaced(UBL, r"(<cac:PartyTaxScheme>\s*)<cbc:CompanyID>[^<]*</cbc:CompanyID>", r"\1"),
        "A tax registration has no number (Seller VAT identifier)",
        "in cbc:CompanyID. If there is no such number",
    ),
    (
        "without_ID",
        "UBL-SR-53",
        replaced(UBL, r"(<cac:TaxScheme>\s*)<cbc:ID>VAT</cbc:ID>", r"\1"),
        "A tax registration has no tax type",
        "Add the tax type: “VAT”",
    ),
    (
        "distinct",
        "UBL-SR-47",
        before(UBL, "cac:PaymentMeans", MEANS),
        "The payment means code is not the same throughout the invoice",
        "Enter the same content everywhere",
    ),
    ("term", "BR-CL-25", replaced(UBL, f'{ADDRESS}[^"]*"', f'{ADDRESS}XX"'), "Seller electronic address scheme", "EM"),
    ("term", "BR-CL-10", before(UBL, "cac:PostalAddress", PARTY.format("XX")), "Seller identifier scheme", "0088"),
    ("term", "BR-CL-11", COMPANY, "Seller legal registration identifier scheme", "0002"),
    (
        "several",
        "UBL-SR-20",
        before(
            UBL,
            "cac:PaymentMeans",
            "<cac:PayeeParty><cac:PartyIdentification><cbc:ID>1</cbc:ID></cac:PartyIdentification>"
            "<cac:PartyIdentification><cbc:ID>2</cbc:ID></cac:PartyIdentification>"
            "<cac:PartyName><cbc:Name>Factor</cbc:Name></cac:PartyName></cac:PayeeParty>",
        ),
        "Only one identifier",
        "Keep only the valid entry",
    ),
    (
        "allowed",
        "FX-SCH-A-000023",
        replaced(
            profile("basic"),
            r"(<ram:ApplicableTradeTax>\s*<ram:CalculatedAmount>[^<]*</ram:CalculatedAmount>\s*"
            r"<ram:TypeCode>)VAT",
            r"\1GST",
        ),
        "Not in the code list",
        "VAT",
    ),
    (
        "without_space",
        "UBL-DT-01",
        replaced(UBL, r"(<cbc:PayableAmount[^>]*>)([0-9.]+)", r"\1\n\2\n"),
        "a space or line break after the decimals",
        "only, without a space or line break",
    ),
    (
        "blank",
        "BR-CL-14",
        replaced(UBL, "(<cbc:IdentificationCode>)[A-Z]+", r"\1 "),
        "The country code is empty",
        "Enter the code of the country",
    ),
    (
        "group_may_go",
        "PEPPOL-EN16931-R008",
        before(UBL, "cac:PaymentTerms", MEANS.replace("</cac:PaymentMeans>", f"{EMPTY_ACCOUNT}</cac:PaymentMeans>")),
        "The invoice contains an empty element",
        "leave cac:PayeeFinancialAccount or the whole group around it out",
    ),
    (
        "without_zeros",
        "UBL-DT-01",
        replaced(UBL, r"(<cbc:PayableAmount[^>]*>)[0-9.]+", r"\g<1>10.500"),
        "more than two decimals",
        "Leave out the surplus zeros: 10.50.",
    ),
    (
        "not_a_number",
        "UBL-DT-01",
        replaced(UBL, r"(<cbc:PayableAmount[^>]*>[0-9.]+)", r"\1 EUR"),
        "not written as a number",
        "without currency",
    ),
    (
        "neither_indicated",
        "PROFILE-NOT-USED",
        before(profile("basic"), "ram:SpecifiedTradeSettlementHeaderMonetarySummation", ALLOWANCE),
        "allowance or a charge",
        "ram:ChargeIndicator",
    ),
    (
        "with_other_number",
        "PROFILE-NOT-USED",
        replaced(profile("extended"), r'<ram:ID schemeID="VA">(DE\d+)', r'<ram:ID schemeID="VAT">\n \1\n '),
        "The type of the number DE987654321 is unknown: “VAT”",
        "Set schemeID to VA if DE987654321 is the VAT identifier",
    ),
    (
        "of_other_type",
        "PROFILE-NOT-USED",
        replaced(profile("extended"), "(?=</ram:ApplicableHeaderTradeAgreement>)", DOCUMENT),
        "The type of an attached or referenced document is unknown",
        "Enter the type of the document (ram:TypeCode), usually 916.",
    ),
    (
        "of_other_list",
        "PROFILE-NOT-USED",
        before(profile("basic"), "ram:SpecifiedTradeSettlementHeaderMonetarySummation", CHARGE),
        "The code FC names an unknown code list",
        "Leave out the attribute listID",
    ),
    (
        "in_other_currency",
        "PROFILE-NOT-USED",
        replaced(profile("basic"), r'(<ram:TaxTotalAmount currencyID=)"EUR"', r'\1"SEK"'),
        "A tax amount is in a currency that the invoice does not use",
        "Make the currencies agree",
    ),
    (
        "equal",
        "PROFILE-REPEATED-ELEMENT",
        replaced(
            profile("basic"), r"(?s)<ram:SpecifiedTradePaymentTerms>.*?</ram:SpecifiedTradePaymentTerms>", r"\g<0>\g<0>"
        ),
        "appears more often than the profile BASIC allows",
        "Remove the surplus entry",
    ),
    (
        "profile",
        "CONTENT-UNCOVERED",
        before(profile("extended"), "ram:SpecifiedTradeSettlementPaymentMeans", INVOICEE),
        "(InvoiceeTradeParty in ApplicableHeaderTradeSettlement) belongs to the profile EXTENDED",
        "nothing needs to be changed",
    ),
    (
        "stated",
        "CONTENT-UNCOVERED",
        replaced(profile("extended"), "</ram:SpecifiedTradePaymentTerms>", f"{DISCOUNT}\\g<0>"),
        "(ApplicableTradePaymentDiscountTerms): EN 16931 has this payment term only as text",
        "BT-20 reads “Zahlbar innerhalb von 14 Tagen.”. If that includes the term, no action is needed",
    ),
    (
        "payment_terms",
        "CONTENT-UNCOVERED",
        replaced(
            profile("extended"),
            r"(?s)<ram:Description>[^<]*</ram:Description>\s*(</ram:SpecifiedTradePaymentTerms>)",
            f"{DISCOUNT}\\g<1>",
        ),
        "(ApplicableTradePaymentDiscountTerms): EN 16931 has this payment term only as text",
        "If BT-20 states it as text, no action is needed",
    ),
    (
        "derived",
        "CONTENT-UNCOVERED",
        replaced(
            profile("extended"), "</ram:BasisAmount>", "\\g<0><ram:LineTotalBasisAmount>1.00</ram:LineTotalBasisAmount>"
        ),
        "(LineTotalBasisAmount in ApplicableTradeTax)",
        "the recipient lacks nothing without it",
    ),
    (
        "profile_of_line",
        "CONTENT-UNCOVERED",
        before(profile("extended"), "ram:NetPriceProductTradePrice", ORDER_OF_LINE),
        "Line 1: Number (IssuerAssignedID in BuyerOrderReferencedDocument) belongs to the profile EXTENDED",
        "such as the line note (BT-127)",
    ),
    (
        "of_line",
        "CONTENT-UNCOVERED",
        replaced(CII, "</ram:LineID>", "\\g<0><ram:LineStatusCode>1</ram:LineStatusCode>"),
        "Line 1: Status (LineStatusCode in AssociatedDocumentLineDocument) is not part of EN 16931",
        "state it in a field of the standard, too, such as the line note (BT-127)",
    ),
    (
        "technical",
        "CONTENT-UNCOVERED",
        before(UBL, "cbc:CustomizationID", "<cbc:UBLVersionID>2.1</cbc:UBLVersionID>"),
        "UBL version (UBLVersionID in Invoice)",
        "No action is needed",
    ),
]
#: Code, code of a reason, whether it is given for a charge, and what title and fix quote.
OF_OTHER_LIST = [
    ("BR-CL-20", "102", "true", "a code for allowances: 102", "set ChargeIndicator to false"),
    ("BR-CL-19", "FC", "false", "a code for charges: FC", "set ChargeIndicator to true"),
]
REASON_UBL = """<cac:AllowanceCharge><cbc:ChargeIndicator>{}</cbc:ChargeIndicator>
<cbc:AllowanceChargeReasonCode>{}</cbc:AllowanceChargeReasonCode></cac:AllowanceCharge>"""
REASON_CII = """<ram:SpecifiedTradeAllowanceCharge><ram:ChargeIndicator><udt:Indicator>{}</udt:Indicator>
</ram:ChargeIndicator><ram:ReasonCode>{}</ram:ReasonCode></ram:SpecifiedTradeAllowanceCharge>"""


def finding_of(code: str, document: str) -> Finding:
    result = einvoice.validate(document.encode(), lang="en")
    return next(it for it in result.findings if it.code == code)


@pytest.mark.parametrize(("code", "document", "given", "intended"), INTENDED + INTENDED_BY_PROFILE)
def test_recognised_code_is_named_in_both_languages(code: str, document: str, given: str, intended: str) -> None:
    finding = finding_of(code, document)
    assert (finding.values["code"], finding.values["intended"]) == (given, intended)
    for lang in ("de", "en"):
        assert given in finding.title(lang)
        assert intended in finding.title(lang)
        assert intended in finding.fix(lang)


@pytest.mark.parametrize(("code", "document"), [it[:2] for it in INTENDED + INTENDED_BY_PROFILE])
def test_country_of_an_address_can_be_another_than_the_probable_one(code: str, document: str) -> None:
    """The address says which country it is in, not the code."""
    finding = finding_of(code, document)
    is_address = code in ("BR-CL-14", "FX-SCH-A-000036")
    for lang, words in (("de", "ander(es|en) Land"), ("en", "another country")):
        assert bool(re.search(words, finding.fix(lang))) is is_address
        assert "{" not in finding.fix(lang)


@pytest.mark.parametrize("document", [UBL, CII], ids=["UBL", "CII"])
@pytest.mark.parametrize(("code", "reason", "indicator", "title", "fix"), OF_OTHER_LIST)
def test_code_of_the_other_list_of_reasons(
    document: str, code: str, reason: str, indicator: str, title: str, fix: str
) -> None:
    added, element = (REASON_UBL, "cac:TaxTotal") if document is UBL else (REASON_CII, "ram:SpecifiedTradePaymentTerms")
    finding = finding_of(code, before(document, element, added.format(indicator, reason)))
    assert title in finding.title("en")
    assert fix in finding.fix("en")
    unknown = finding_of(code, before(document, element, added.format(indicator, "QQQ")))
    assert unknown.situation == ""


@pytest.mark.parametrize(
    ("code", "pattern"),
    [
        ("BR-CL-23", '(unitCode=")[^"]+'),
        ("BR-CL-17", "(<cac:TaxCategory>\\s*<cbc:ID>)[^<]+"),
        ("BR-CL-18", "(<cac:ClassifiedTaxCategory>\\s*<cbc:ID>)[^<]+"),
    ],
)
def test_exemption_code_belongs_in_the_vat_breakdown(code: str, pattern: str) -> None:
    finding = finding_of(code, replaced(UBL, pattern, r"\g<1>VATEX-EU-IC"))
    for lang in ("de", "en", "fr"):
        assert "VATEX-EU-IC" in finding.title(lang)
        assert "BT-121" in finding.fix(lang)
    unknown = finding_of(code, replaced(UBL, pattern, r"\g<1>VATEX-XX"))
    assert "BT-121" not in unknown.fix("en")


@pytest.mark.parametrize("lang", ["de", "en", "fr"])
@pytest.mark.parametrize("code", ["381", "999"])
def test_credit_note_code_is_not_offered_for_an_invoice(code: str, lang: Language) -> None:
    finding = finding_of("BR-CL-01", replaced(UBL, "(<cbc:InvoiceTypeCode>)380", rf"\g<1>{code}"))
    sentences = re.split(r"\. ", finding.fix(lang))
    (offered,) = (it for it in sentences if "380" in it)
    (credit_note,) = (it for it in sentences if "CreditNote" in it)
    assert "381" not in offered
    assert "381" in credit_note


@pytest.mark.parametrize(
    ("sample", "pattern", "by", "title"),
    [
        ("ubl-invoice", "(<cbc:InvoiceTypeCode>)380", "381", "381 is a credit note, but this document is an Invoice"),
        (
            "ubl-credit-note",
            "(<cbc:CreditNoteTypeCode>)381",
            "380",
            "380 is an invoice, but this document is a CreditNote",
        ),
    ],
)
def test_type_of_the_other_document(sample: str, pattern: str, by: str, title: str) -> None:
    document = (SAMPLES / f"{sample}.xml").read_text("utf-8")
    assert finding_of("BR-CL-01", replaced(document, pattern, rf"\g<1>{by}")).title("en") == title


def test_unknown_code_has_the_texts_of_the_rule() -> None:
    document = replaced(UBL, "<cbc:DocumentCurrencyCode>EUR", "<cbc:DocumentCurrencyCode>QQQ")
    finding = finding_of("BR-CL-04", document)
    assert finding.situation == ""
    assert "intended" not in finding.values
    assert finding.title() == "Unknown invoice currency"


def test_rule_of_a_profile_names_its_list_and_examples() -> None:
    finding = finding_of("FX-SCH-A-000023", replaced(BASIC, "(<ram:TypeCode>)380", r"\g<1>000"))
    assert finding.fix("en") == "Enter a code of the list UNTDID 1001, such as 380 (invoice) or 381 (credit note)."
    assert (
        finding.fix("de")
        == "Einen Code der Liste UNTDID 1001 angeben, etwa 380 (Rechnung) oder 381 (Kaufmännische Gutschrift)."
    )


def test_examples_are_codes_that_the_rules_of_the_profiles_allow() -> None:
    data = tomllib.loads((shipped().sets["facturx"] / "syntax" / "texts.toml").read_text("utf-8"))
    rules = [rule for name in profile_rules() for rule in rule_table("CII", newest_stack("facturx"), name).rules]
    choices = {rule.argument.replace("<", "").replace(">", ""): choice(rule) for rule in rules if "<" in rule.argument}
    for argument, allowed in choices.items():
        words = data["lists"].get(argument) or data["lists"][argument.split(" ")[0]]
        for lang in ("de", "en"):
            examples = re.split(", | oder | or ", words[lang]["examples"])
            assert {example.split(" (")[0] for example in examples} <= allowed, argument


@pytest.mark.parametrize(("code", "document"), UNKNOWN)
def test_texts_name_no_other_syntax(code: str, document: str) -> None:
    finding = finding_of(code, document)
    other = "CII" if "CrossIndustry" not in document else "UBL"
    assert finding.situation != ""
    texts = [text(lang) for lang in ("de", "en") for text in (finding.title, finding.explanation, finding.fix)]
    assert not [text for text in texts if other in text]


@pytest.mark.parametrize(("value", "code", "document", "title", "fix"), OTHER)
def test_situation_of_another_value(value: str, code: str, document: str, title: str, fix: str) -> None:
    finding = finding_of(code, document)
    assert finding.values[value]
    assert title in finding.title()
    assert fix in finding.fix()


def test_different_contents_are_listed() -> None:
    finding = finding_of("UBL-SR-47", before(UBL, "cac:PaymentMeans", MEANS))
    assert "with different content: 10, 58." in finding.explanation("en")


def test_missing_entry_is_not_called_repeated() -> None:
    document = replaced(profile("basic"), r"(<ram:BuyerTradeParty>\s*)<ram:Name>[^<]*</ram:Name>", r"\1")
    finding = finding_of("FX-SCH-A-000030", document)
    assert finding.title("en") == "Missing: name of the buyer"
    assert finding.title("de") == "Angabe fehlt: Name des Käufers"


def test_missing_currency_is_not_called_unknown() -> None:
    finding = finding_of("BR-CL-03", replaced(UBL, '(<cbc:PriceAmount) currencyID="EUR"', r"\1"))
    assert finding.title("en") == "The currency of an amount is missing"


@pytest.mark.parametrize(
    ("currency", "amount", "title"),
    [
        ("eur", 'currencyID="EUR"', "The currency of an amount is “EUR”, that of the invoice “eur”"),
        (" ", 'currencyID="EUR"', "The invoice does not state one currency; that of an amount is “EUR”"),
        (" ", "", "The currency of an amount is missing"),
    ],
)
def test_an_amount_in_another_currency_is_told_from_one_without(currency: str, amount: str, title: str) -> None:
    document = PEPPOL.replace("<cbc:DocumentCurrencyCode>EUR", f"<cbc:DocumentCurrencyCode>{currency}")
    document = document.replace('<cbc:PriceAmount currencyID="EUR"', f"<cbc:PriceAmount {amount}")
    found = einvoice.validate(document.encode(), lang="en").findings
    titles = [it.title() for it in found if it.code == "PEPPOL-EN16931-R051" and it.xpath.endswith("PriceAmount")]
    assert set(titles) == {title}


def test_entry_that_a_profile_does_not_use_is_quoted() -> None:
    period = "<ram:EffectiveSpecifiedPeriod><ram:Description>Juni</ram:Description></ram:EffectiveSpecifiedPeriod>"
    finding = finding_of("PROFILE-NOT-USED", replaced(profile("extended"), "(?=</rsm:ExchangedDocument>)", period))
    assert finding.situation == ""
    assert "Found: “Juni”." in finding.explanation("en")
    assert "Angegeben: „Juni“." in finding.explanation("de")


def test_every_value_situation_of_a_text_is_tested() -> None:
    """Those of an XML schema, such as `term`, are tested in test_schema_findings.py, some in test_syntax_findings.py.

    Those of the declared specification are tested in test_detect.py and test_remarks.py, those of repeated content in
    test_repetition.py.
    """
    elsewhere = ("SCHEMA-", "DECL-", "LAYER-", "TERM-")
    entries = {code: entry for code, entry in catalog().items() if not code.startswith(elsewhere)}
    used = {(it["value"], code) for code, entry in entries.items() for it in entry.situations if it["value"]}
    intended = {code for value, code in used if value == "intended"}
    assert {code for code in intended if not code.startswith("FX-")} == {code for code, *_ in INTENDED}
    assert {value for value, _ in used} == {
        "intended",
        "one_each",
        "mandatory",
        "required_in",
        "in_document",
        "is_document",
        "exemption",
        "vat_number",
        "without_indicator",
        "term",
        "contents",
        *(value for value, *_ in OTHER),
    }


def test_name_wins_over_another_spelling_of_a_code() -> None:
    assert "STK" in codes("units")
    assert by_name("units")["stk"] == "H87"
    assert meanings("units")["stk"] == ("H87", "C62")
    assert meanings("currencies")["€"] == ("EUR",)


@pytest.mark.parametrize("name", ["countries", "currencies", "eas", "icd", "mime_types", "payment_means", "units",
                                  "vat_categories"])  # fmt: skip
def test_names_are_those_of_codes_in_the_list(name: str) -> None:
    path = shipped().sets["en16931"] / "codelists" / "names" / f"{name}.csv"
    header, *rows = path.read_text("utf-8").splitlines()
    assert header == "code,name"
    assert {row.split(",", 1)[0] for row in rows} <= codes(name)
    assert len(rows) == len(set(rows))


def test_texts_mean_their_codes() -> None:
    countries = by_name("countries")
    assert countries["es"] == "ES"
    assert countries["e"] == "ES"
    assert countries["deutschland"] == "DE"
    assert by_name("payment_means")["58"] == "58"


@pytest.mark.parametrize("lang", ["de", "en", "fr"])
def test_texts_quote_the_beginning_of_a_long_value(lang: Language) -> None:
    value = "Alle Preise in Euro " * 15
    document = replaced(UBL, "(<cbc:DocumentCurrencyCode>)[^<]+", rf"\g<1>{value}")
    finding = finding_of("BR-CL-04", document)
    result = einvoice.validate(document.encode(), lang=lang)
    for text in (finding.explanation(lang), compared_text(finding, lang), *(it.text(lang) for it in result.causes())):
        assert value[:39] in text
        assert value[:80] not in text


@pytest.mark.parametrize(
    ("code", "pattern", "by", "title"),
    [
        ("BR-CL-14", "<cbc:IdentificationCode>DE", "<cbc:IdentificationCode>EUR", "“EUR” looks like a currency code"),
        ("BR-CL-04", "<cbc:DocumentCurrencyCode>EUR", "<cbc:DocumentCurrencyCode>DE", "“DE” looks like a country code"),
    ],
)
def test_code_of_another_field_looks_like_it(code: str, pattern: str, by: str, title: str) -> None:
    result = einvoice.validate(replaced(UBL, pattern, by).encode(), lang="en")
    assert [it.title().partition(": ")[2] for it in result.findings if it.code == code] == [title]


@pytest.mark.parametrize(("code", "is_replaced"), [("ITL", True), ("ABC", False)])
def test_currency_that_the_euro_replaced_is_called_so(code: str, is_replaced: bool) -> None:
    document = UBL.replace('currencyID="EUR"', f'currencyID="{code}"').replace(">EUR<", f">{code}<")
    found = [it for it in einvoice.validate(document.encode()).findings if it.code in ("BR-CL-03", "BR-CL-04")]
    assert {it.code for it in found} == {"BR-CL-03", "BR-CL-04"}
    assert {f"the euro has replaced “{code}”" in it.title("en") for it in found} == {is_replaced}


@pytest.mark.parametrize(
    ("element", "stated", "likeness"),
    [
        ("cbc:Percent", "DE123456789", "a VAT identifier"),
        ("cbc:PayableAmount", "2026-12-02", "a date"),
        ("cbc:PayableAmount", "DE02120300000000202051", "an IBAN"),
        ("cbc:IssueDate", "824.67", "an amount"),
    ],
)
def test_value_of_another_field_looks_like_it(element: str, stated: str, likeness: str) -> None:
    """The findings of the schema and of the rules say it, but not of a number that is only badly written."""
    for text, is_said in ((stated, True), ("12 . 5", False)):
        document = replaced(UBL, f"(<{element}[^>]*>)[^<]*", rf"\g<1>{text}")
        findings = einvoice.validate(document.encode(), lang="en").findings
        fixes = [it.fix() for it in findings if it.code.startswith("SCHEMA-VALUE-") or "malformed" in it.situation]
        assert fixes
        assert all((f"“{text}” looks like {likeness}." in fix) == is_said for fix in fixes)


def test_number_and_country_look_exchanged() -> None:
    rate = replaced(UBL, "(<cbc:Percent>)[^<]*", r"\g<1>DE")
    for document, is_said in ((replaced(rate, "(<cbc:IdentificationCode>)DE", r"\g<1>19"), True), (rate, False)):
        (fix,) = [it.fix("en") for it in einvoice.validate(document.encode()).findings if "VALUE-NUMBER" in it.code]
        assert ("the two look exchanged" in fix) == is_said
