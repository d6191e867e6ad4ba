"""XPaths of business terms, derived from the binding tables and checked with documents."""

import pytest

import einvoice
from einvoice.model.group import Group
from einvoice.model.terms import terms
from einvoice.model.values import Value
from einvoice.syntax.paths import path_of

LINE = "/*/*[self::cac:InvoiceLine or self::cac:CreditNoteLine]"
# Terms without an element of their own or of their group.
NOWHERE = {"UBL": {"BG-2"}, "CII": {"BG-2", "BG-DEX-09", "BT-DEX-001", "BT-DEX-002", "BT-DEX-003"}}


@pytest.mark.parametrize("syntax", ["UBL", "CII"])
def test_every_term_has_a_path(syntax):
    assert {number for number in terms() if not path_of(number, syntax)} == NOWHERE[syntax]


@pytest.mark.parametrize(
    ("number", "ubl", "cii"),
    [
        ("BT-1", "cbc:ID", "rsm:ExchangedDocument/ram:ID"),
        ("BT-17", "cac:OriginatorDocumentReference/cbc:ID", "ram:AdditionalReferencedDocument[ram:TypeCode='50']/"),
        ("BT-29-1", "cac:PartyIdentification/cbc:ID/@schemeID", "ram:SellerTradeParty/ram:GlobalID/@schemeID"),
        ("BT-31", "cac:PartyTaxScheme[cac:TaxScheme/cbc:ID='VAT']/cbc:CompanyID", "[ram:ID/@schemeID='VA']/ram:ID"),
        ("BT-89", "cac:PaymentMandate/cbc:ID", "ram:SpecifiedTradePaymentTerms/ram:DirectDebitMandateID"),
        ("BG-20", "cac:AllowanceCharge[cbc:ChargeIndicator='false']", "[ram:ChargeIndicator/udt:Indicator='false']"),
        ("BT-96", "[cbc:ChargeIndicator='false']/cac:TaxCategory/cbc:Percent", "ApplicableHeaderTradeSettlement/"),
        ("BT-125-2", "cbc:EmbeddedDocumentBinaryObject/@filename", "ram:AttachmentBinaryObject/@filename"),
        ("BT-134", LINE + "/cac:InvoicePeriod/cbc:StartDate", "ram:SpecifiedLineTradeSettlement/"),
        ("BT-143", "cac:AllowanceCharge[cbc:ChargeIndicator='true']/cbc:MultiplierFactorNumeric", "LineItem/"),
        ("BT-148", "cac:Price/cac:AllowanceCharge/cbc:BaseAmount", "ram:GrossPriceProductTradePrice/ram:ChargeAmount"),
        ("BT-149", "cac:Price/cbc:BaseQuantity", "ram:NetPriceProductTradePrice/ram:BasisQuantity"),
        ("BT-21", "/*/cbc:Note", "ram:IncludedNote/ram:SubjectCode"),
        ("BT-DEX-002", "cac:PrepaidPayment/cbc:PaidAmount", ""),
        (
            "BG-DEX-06",
            "[self::cac:SubInvoiceLine or self::cac:SubCreditNoteLine]/cac:Item/cac:ClassifiedTaxCategory",
            "",
        ),
        ("BT-0", "", ""),
    ],
)
def test_path(number, ubl, cii):
    assert ubl in path_of(number, "UBL")
    assert cii in path_of(number, "CII")


def first(content):
    return (content[0] if content else None) if isinstance(content, list | tuple) else content


@pytest.mark.parametrize(
    ("name", "syntax"), [("ubl-invoice.xml", "UBL"), ("ubl-credit-note.xml", "UBL"), ("cii-invoice.xml", "CII")]
)
def test_paths_select_the_values_that_the_reader_finds(sample, name, syntax):
    """The XPath selects the value at the fields in ``terms.csv``."""
    invoice = einvoice.read(sample(name))
    document = invoice.node.getroottree()
    checked = 0
    for number, term in terms().items():
        found = invoice
        for step in term.path.split("."):
            found = first(getattr(first(found), step, None))
        if isinstance(found, Group | Value) and found.node is not None:
            selected = document.xpath(path_of(number, syntax), namespaces=einvoice.NAMESPACES)
            elements = [it if found.xpath.rpartition("/@")[1] == "" else it.getparent() for it in selected]
            assert found.node in elements, number
            checked += 1
    assert checked > 50
