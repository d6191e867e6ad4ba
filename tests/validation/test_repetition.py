"""Content that occurs more often than the standard or the official Schematron expects."""

from __future__ import annotations

import json

import pytest
from lxml import etree

import einvoice
from einvoice.syntax import xml
from einvoice.syntax.text_nodes import text_nodes
from tests.helpers.paths import ROOT, SAMPLES

CII = (SAMPLES / "cii-invoice.xml").read_text("utf-8")
UBL = (SAMPLES / "ubl-invoice.xml").read_text("utf-8")
NET_AMOUNT = "<ram:LineTotalAmount>250.00</ram:LineTotalAmount>"
STOPPED_CASES = ROOT.parent / "shared" / "cases-stopped"


def second(document: str, element: str, other: str) -> bytes:
    """Return a document with a second element after the first one."""
    assert element in document
    return document.replace(element, f"{element}\n{other}", 1).encode()


def executed(result: einvoice.ValidationResult) -> dict[str, bool]:
    return {layer.name: layer.executed for layer in result.stack.layers}


def test_a_second_net_amount_stops_the_layers_that_read_one() -> None:
    result = einvoice.validate(second(CII, NET_AMOUNT, NET_AMOUNT.replace("250", "9999")))
    (error,) = result.errors
    assert (error.code, error.layer, error.terms) == ("LAYER-STOPPED", "en16931", ("BT-131",))
    assert error.xpath.endswith("ram:LineTotalAmount[2]")
    assert error.values["first_line"] == error.line - 1
    assert error.title("en") == "Invoice line net amount (BT-131): given more than once, “250.00” and “9999.00”"
    assert error.title("de") == "Nettobetrag der Position (BT-131): mehrfach angegeben, „250.00“ und „9999.00“"
    assert error.fix("en") == "Keep only the correct one, or one of equal ones."
    assert executed(result) == {"schema": True, "en16931": False, "xrechnung": False, "plausibility": True}
    assert not result.is_valid
    (cause,) = result.causes()
    assert cause.findings == (error,)
    assert not cause.changes


def test_payment_terms_are_quoted_without_the_due_date() -> None:
    def terms(text: str, day: str) -> str:
        date = f'<udt:DateTimeString format="102">{day}</udt:DateTimeString>'
        due = f"<ram:DueDateDateTime>{date}</ram:DueDateDateTime>"
        description = f"<ram:Description>{text}</ram:Description>"
        return f"<ram:SpecifiedTradePaymentTerms>{description}{due}</ram:SpecifiedTradePaymentTerms>"

    start, end = "<ram:SpecifiedTradePaymentTerms>", "</ram:SpecifiedTradePaymentTerms>"
    before, after = CII.partition(start)[0], CII.partition(end)[2]
    both = terms("#SKONTO#TAGE=14#PROZENT=2.00#\n", "20261202") + terms("Sofort", "20261203")
    result = einvoice.validate((before + both + after).encode())
    (stopped,) = (it for it in result.findings if it.code == "LAYER-STOPPED")
    assert stopped.values["first"] == "#SKONTO#TAGE=14#PROZENT=2.00#"
    assert stopped.values["second"] == "Sofort"
    assert stopped.fix("en").endswith("If they are texts that all apply, combine them into one.")


def test_only_the_layer_that_stops_has_no_result() -> None:
    price = "<ram:ChargeAmount>62.50</ram:ChargeAmount>"
    result = einvoice.validate(second(CII, price, price))
    assert [it.layer for it in result.errors if it.code == "LAYER-STOPPED"] == ["xrechnung"]
    assert executed(result) == {"schema": True, "en16931": True, "xrechnung": False, "plausibility": True}


def test_releases_differ() -> None:
    address = CII[CII.index("<ram:URIUniversalCommunication>") :].partition("</ram:URIUniversalCommunication>")
    document = second(CII, "".join(address[:2]), "".join(address[:2]))
    stopped = {
        release: any(it.code == "LAYER-STOPPED" for it in einvoice.validate(document, ruleset=release).findings)
        for release in ("xrechnung-2.2.0", "xrechnung-2.3.1", "xrechnung-3.0.2")
    }
    assert stopped == {"xrechnung-2.2.0": False, "xrechnung-2.3.1": True, "xrechnung-3.0.2": False}


def test_a_second_group_with_a_term_that_is_read_once_stops_a_layer() -> None:
    skonto = "Zahlbar sofort.\n#SKONTO#TAGE=7#PROZENT=2.00#\n"
    terms = f"<cac:PaymentTerms><cbc:Note>{skonto}</cbc:Note></cac:PaymentTerms>"
    document = UBL.replace("<cac:TaxTotal>", f"{terms}{terms}<cac:TaxTotal>", 1).encode()
    (error,) = [it for it in einvoice.validate(document, lang="en").findings if it.code == "LAYER-STOPPED"]
    assert (error.layer, error.values["rule"]) == ("xrechnung", "BR-DE-18")
    assert error.title().startswith("Payment terms (BT-20): given more than once, “Zahlbar ohne Abzug")


def test_several_values_that_the_standard_allows_are_told_apart() -> None:
    code = '<ram:ClassCode listID="IB">9780330258647</ram:ClassCode>'
    group = f"<ram:DesignatedProductClassification>{code}</ram:DesignatedProductClassification>"
    document = CII.replace("</ram:SpecifiedTradeProduct>", f"{group}{group}</ram:SpecifiedTradeProduct>", 1).encode()
    found = einvoice.validate(document, ruleset="xrechnung-2.3.1", lang="en").errors
    (error,) = [it for it in found if it.code == "LAYER-STOPPED"]
    assert error.title() == "The official Schematron stops at the second ram:ClassCode"


_CLAIM = "<cac:PaymentMeans><cbc:PaymentMeansCode>9</cbc:PaymentMeansCode>{}</cac:PaymentMeans>".format(
    "<cac:PayeeFinancialAccount><cbc:ID>012326004711</cbc:ID></cac:PayeeFinancialAccount>"
)
_GIRO = """<cac:PaymentMeans><cbc:PaymentMeansCode>50</cbc:PaymentMeansCode><cbc:PaymentID>01#</cbc:PaymentID>
<cbc:PaymentID>04#1234567890123456</cbc:PaymentID></cac:PaymentMeans>"""
_SKONTO = "<cac:PaymentTerms><cbc:Note>#SKONTO#TAGE=7#PROZENT=2.00#\n</cbc:Note></cac:PaymentTerms>"
_BRANCH = """<cac:FinancialInstitutionBranch><cbc:ID>12<!-- -->34</cbc:ID></cac:FinancialInstitutionBranch>"""
_TRANSFER = f"""<cac:PaymentMeans><cbc:PaymentMeansCode>42</cbc:PaymentMeansCode><cac:PayeeFinancialAccount>
<cbc:ID>1234567</cbc:ID>{_BRANCH}</cac:PayeeFinancialAccount></cac:PaymentMeans>"""


@pytest.mark.parametrize(
    ("country", "group", "written", "rule"),
    [
        ("IS", "PaymentMeans", _CLAIM * 2, "IS-R-006"),
        ("IS", "PaymentMeans", _CLAIM.replace(">9<", ">42<") * 2, "IS-R-007"),
        ("IS", "PaymentMeans", _CLAIM.replace(">9<", ">30<") * 2, None),
        ("NO", "PaymentMeans", _CLAIM * 2, None),
        ("DK", "PaymentMeans", _GIRO, "DK-R-008"),
        ("DK", "PaymentMeans", _GIRO.replace(">50<", ">30<"), None),
        ("SE", "PaymentMeans", _GIRO, None),
        ("DK", "PaymentMeans", _TRANSFER, "DK-R-006"),
        ("DK", "PaymentMeans", _TRANSFER.replace("<cbc:ID>1234567</cbc:ID>", ""), None),
        ("DE", "PaymentTerms", _SKONTO * 2, "DE-R-018"),
        ("NL", "PaymentTerms", _SKONTO * 2, None),
    ],
)
def test_national_rules_of_peppol_stop_only_for_their_country(
    country: str, group: str, written: str, rule: str | None
) -> None:
    """The outcomes are those of OpenPeppol's stylesheet of 2026.5, run by Saxon."""
    before, start, rest = UBL.partition(f"<cac:{group}>")
    after = rest.partition(f"</cac:{group}>")[2]
    assert start
    assert after
    document = (before + written + after).replace(">DE<", f">{country}<").encode()
    result = einvoice.validate(document, ruleset="peppol-2026.5")
    assert not any(it.layer == "schema" for it in result.findings)
    assert {it.values["rule"] for it in result.errors if it.code == "LAYER-STOPPED"} == ({rule} if rule else set())
    assert executed(result)["peppol"] is (rule is None)


@pytest.mark.parametrize("markup", ["<!-- Euro -->", "<?currency euro?>", "<![CDATA[U]]><!-- --><![CDATA[]]>"])
def test_a_comment_in_a_text_stops_a_rule_about_text_nodes(markup: str) -> None:
    other = "<cbc:TaxCurrencyCode>USD</cbc:TaxCurrencyCode>"
    currencies = f"<cbc:DocumentCurrencyCode>E{markup}UR</cbc:DocumentCurrencyCode>{other}"
    document = UBL.replace("<cbc:DocumentCurrencyCode>EUR</cbc:DocumentCurrencyCode>", currencies).encode()
    (error,) = [it for it in einvoice.validate(document).errors if it.code == "LAYER-STOPPED"]
    assert error.title("en") == "A comment or processing instruction divides the text of cbc:DocumentCurrencyCode"
    assert error.values["rule"] == "PEPPOL-EN16931-R005"


def test_a_text_that_a_rule_compares_with_a_number_stops_it() -> None:
    document = CII.replace("<ram:TypeCode>380<", "<ram:TypeCode>A<", 1).encode()
    for release, is_stopped in (("xrechnung-2.2.0", True), ("xrechnung-3.0.2", False)):
        found = [it for it in einvoice.validate(document, ruleset=release).errors if it.code == "LAYER-STOPPED"]
        assert [it.title("en") for it in found] == is_stopped * [
            "ram:TypeCode is not a number, and the official Schematron stops at it"
        ]


def test_a_comment_elsewhere_divides_nothing() -> None:
    document = UBL.replace("<cbc:ID>", "<!-- number --><cbc:ID>", 1).replace("KB-", "K<!-- -->B-", 1).encode()
    assert [it.code for it in einvoice.validate(document).findings] == []


def test_text_nodes_are_counted_as_xpath_selects_them() -> None:
    data = b"<a><b> <!-- 1 -->EUR<!-- 2 --><?x?> </b><c>EUR<!-- --></c><d>E<![CDATA[U]]>R</d><e><!-- -->E</e></a>"
    root = xml.parse(data).getroot()
    assert {it.tag: texts for it, texts in text_nodes(root, data, lambda: data).items()} == {"b": (" ", "EUR", " ")}


def test_a_processing_instruction_divides_a_document_without_xml_declaration() -> None:
    data = b"<a>E<?x?>R</a>"
    root = xml.parse(data).getroot()
    assert text_nodes(root, data, lambda: data) == {root: ("E", "R")}


@pytest.mark.parametrize(
    ("markup", "has_scenario"),
    [("{0[0]}<!-- -->{0[1]}", False), ("<!-- -->{0[0]}{0[1]}<!-- -->", True), ("\n<!-- -->{0[0]}{0[1]}<?x?>\n", True)],
)
def test_kosits_validator_compares_each_text_node_of_the_identifier(markup: str, has_scenario: bool) -> None:
    identifier = "urn:cen.eu:en16931:2017#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0"
    text = f">{markup.format((identifier[:30], identifier[30:]))}</cbc:CustomizationID>"
    document = UBL.replace(f">{identifier}</cbc:CustomizationID>", text)
    assert document != UBL
    root = etree.fromstring(document.encode()).find("{*}CustomizationID")
    assert bool(root.xpath("self::*[text() = $identifier]", identifier=identifier)) is has_scenario  # as KoSIT asks
    found = [it for it in einvoice.validate(document.encode(), lang="en").findings if it.code == "DECL-NO-SCENARIO"]
    expected = [] if has_scenario else ["a comment divides BT-24"]
    assert [it.title().rpartition(": ")[2] for it in found] == expected


def test_a_repeated_term_that_no_rule_objects_to_is_an_information() -> None:
    name = "<ram:CountrySubDivisionName>{}</ram:CountrySubDivisionName>"
    country = "<ram:CountryID>DE</ram:CountryID>"
    document = CII.replace(country, country + name.format("Hessen") + name.format("Bayern"), 1)
    result = einvoice.validate(document.encode(), lang="en")
    assert result.is_valid
    (finding,) = result.findings
    assert (finding.code, finding.severity, finding.terms) == ("TERM-REPEATED", "information", ("BT-39",))
    assert finding.title() == "Seller country subdivision (BT-39): given more than once"
    assert "“Hessen”" in finding.explanation()


_REGISTRATION = (
    '<ram:SpecifiedTaxRegistration><ram:ID schemeID="{}">DE999999999</ram:ID></ram:SpecifiedTaxRegistration>'
)
_PAYEE = "<ram:PayeeTradeParty><ram:ID>1</ram:ID>{}<ram:Name>Inkasso AG</ram:Name></ram:PayeeTradeParty>"


@pytest.mark.parametrize(
    ("before", "written", "term"),
    [
        ("</ram:SellerTradeParty>", _REGISTRATION.format("VA"), "BT-31"),
        ("</ram:SellerTradeParty>", _REGISTRATION.format("FC"), None),
        ("</ram:SellerTradeParty>", _REGISTRATION.format("FC") * 2, "BT-32"),
        ("<ram:Name>Hausverwaltung", "<ram:ID>1</ram:ID>", None),
        ("<ram:Name>Hausverwaltung", "<ram:ID>1</ram:ID><ram:ID>2</ram:ID>", "BT-46"),
        ("</ram:BuyerTradeParty>", _REGISTRATION.format("VA") * 2, "BT-48"),
        ("<ram:SpecifiedTradeSettlementPaymentMeans>", _PAYEE.format("<ram:ID>2</ram:ID>"), "BT-60"),
    ],
)
def test_a_second_number_of_a_party_is_an_information(before: str, written: str, term: str | None) -> None:
    assert before in CII
    result = einvoice.validate(CII.replace(before, written + before, 1).encode())
    assert result.is_valid
    found = [(it.code, it.severity, it.terms) for it in result.findings if it.code == "TERM-REPEATED"]
    assert found == ([("TERM-REPEATED", "information", (term,))] if term else [])


def test_the_creditor_identifier_of_a_payee_is_not_a_second_identifier() -> None:
    identifier = "<cac:PartyIdentification><cbc:ID{}>DE98ZZZ09999999999</cbc:ID></cac:PartyIdentification>"
    identifiers = identifier.format("") + identifier.format(' schemeID="SEPA"')
    payee = (
        f"<cac:PayeeParty>{identifiers}<cac:PartyName><cbc:Name>Inkasso AG</cbc:Name></cac:PartyName></cac:PayeeParty>"
    )
    document = UBL.replace("</cac:AccountingCustomerParty>", f"</cac:AccountingCustomerParty>{payee}", 1)
    result = einvoice.validate(document.encode())
    assert result.is_valid
    assert not result.findings


def test_a_repetition_that_a_rule_reports_is_not_reported_again() -> None:
    name = "<cac:PartyName><cbc:Name>Muster</cbc:Name></cac:PartyName>"
    document = UBL.replace("<cac:PostalAddress>", f"{name}{name}<cac:PostalAddress>", 1).encode()
    codes = {it.code for it in einvoice.validate(document).findings}
    assert codes == {"UBL-SR-10"}


@pytest.mark.cases
@pytest.mark.skipif(not STOPPED_CASES.exists(), reason="the comparison cases are not here")
def test_no_document_is_valid_at_which_the_official_schematron_stops() -> None:
    wrong = []
    for line in (STOPPED_CASES / "expected.jsonl").read_text("utf-8").splitlines():
        case = json.loads(line)
        release = case.get("ruleset", {}).get("xrechnung")
        options = {"ruleset": f"xrechnung-{release}"} if release else {"profile": "xrechnung"}
        result = einvoice.validate((STOPPED_CASES / case["case"]).read_bytes(), **options)
        layers = {name for name, fired in case["fired"].items() if isinstance(fired, dict)}
        if result.is_valid or layers != {name for name, ran in executed(result).items() if not ran}:
            wrong.append(case["case"])
    assert not wrong
