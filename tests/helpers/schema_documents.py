"""Small schema-valid documents that contain elements without a business term."""

from lxml import etree

from einvoice.model.location import NAMESPACES
from einvoice.syntax import xml

DECLARED = " ".join(f'xmlns:{prefix}="{uri}"' for prefix, uri in NAMESPACES.items() if prefix not in ("ubl", "cn"))
PARTY = "<cac:{0}><cac:Party><cac:PartyName><cbc:Name>Muster</cbc:Name></cac:PartyName></cac:Party></cac:{0}>"
PARTIES = PARTY.format("AccountingSupplierParty") + PARTY.format("AccountingCustomerParty")
TOTALS = '<cac:LegalMonetaryTotal><cbc:PayableAmount currencyID="EUR">1.00</cbc:PayableAmount></cac:LegalMonetaryTotal>'
LINE = """<cac:{0}Line>
    <cbc:ID>1</cbc:ID>
    <cbc:LineExtensionAmount currencyID="EUR">1.00</cbc:LineExtensionAmount>
    <cac:Item><cbc:Name>Ware</cbc:Name></cac:Item>
</cac:{0}Line>"""
UBL = f"""<{{0}} xmlns="{NAMESPACES["ubl"].removesuffix("Invoice-2")}{{0}}-2" {DECLARED}>
<ext:UBLExtensions><ext:UBLExtension>
    <ext:ExtensionContent><own xmlns="urn:x"/></ext:ExtensionContent>
</ext:UBLExtension></ext:UBLExtensions>
<cbc:ID>R-1</cbc:ID>
<cbc:IssueDate>2026-03-31</cbc:IssueDate>
<cbc:Note>Danke</cbc:Note>
{PARTIES}
<cac:AllowanceCharge>
    <cbc:ChargeIndicator>true</cbc:ChargeIndicator><cbc:Amount currencyID="EUR">0</cbc:Amount>
</cac:AllowanceCharge>
{TOTALS}
{LINE}
</{{0}}>"""
CII = f"""<rsm:CrossIndustryInvoice {DECLARED}>
<rsm:ExchangedDocumentContext/>
<rsm:ExchangedDocument>
    <ram:ID>R-1</ram:ID>
    <ram:TypeCode>380</ram:TypeCode>
    <ram:IssueDateTime><udt:DateTimeString format="102">20260331</udt:DateTimeString></ram:IssueDateTime>
    <ram:IncludedNote><ram:Content>Danke</ram:Content><ram:SubjectCode>REG</ram:SubjectCode></ram:IncludedNote>
</rsm:ExchangedDocument>
<rsm:SupplyChainTradeTransaction>
    <ram:ApplicableHeaderTradeAgreement/>
    <ram:ApplicableHeaderTradeDelivery><ram:RelatedSupplyChainConsignment>
        <ram:GrossWeightMeasure unitCode="KGM">1.5</ram:GrossWeightMeasure>
    </ram:RelatedSupplyChainConsignment></ram:ApplicableHeaderTradeDelivery>
    <ram:ApplicableHeaderTradeSettlement>
        <ram:InvoiceReferencedDocument><ram:IssuerAssignedID>R-0</ram:IssuerAssignedID></ram:InvoiceReferencedDocument>
    </ram:ApplicableHeaderTradeSettlement>
</rsm:SupplyChainTradeTransaction>
</rsm:CrossIndustryInvoice>"""
VALID = {"Invoice": UBL.format("Invoice"), "CreditNote": UBL.format("CreditNote"), "CrossIndustryInvoice": CII}


def parsed(text: str) -> etree._ElementTree:
    return xml.parse(text.encode())
