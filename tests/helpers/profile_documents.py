"""A generated document of each Factur-X profile; those of smaller profiles are subsets of the largest."""

from __future__ import annotations

from lxml import etree

from einvoice.model.location import NAMESPACES

PROFILES = {
    "minimum": "urn:factur-x.eu:1p0:minimum",
    "basicwl": "urn:factur-x.eu:1p0:basicwl",
    "basic": "urn:cen.eu:en16931:2017#compliant#urn:factur-x.eu:1p0:basic",
    "en16931": "urn:cen.eu:en16931:2017",
    "extended": "urn:cen.eu:en16931:2017#conformant#urn:factur-x.eu:1p0:extended",
}

#: ``since`` names the smallest profile that contains an element.
_FULL = """
<rsm:CrossIndustryInvoice xmlns:rsm="{rsm}" xmlns:ram="{ram}" xmlns:udt="{udt}" xmlns:qdt="{qdt}">
<rsm:ExchangedDocumentContext>
  <ram:BusinessProcessSpecifiedDocumentContextParameter><ram:ID>A1</ram:ID></ram:BusinessProcessSpecifiedDocumentContextParameter>
  <ram:GuidelineSpecifiedDocumentContextParameter><ram:ID>{identifier}</ram:ID></ram:GuidelineSpecifiedDocumentContextParameter>
</rsm:ExchangedDocumentContext>
<rsm:ExchangedDocument>
  <ram:ID>SW-77</ram:ID><ram:Name since="extended">Rechnung</ram:Name><ram:TypeCode>380</ram:TypeCode>
  <ram:IssueDateTime><udt:DateTimeString format="102">20260511</udt:DateTimeString></ram:IssueDateTime>
  <ram:LanguageID since="extended">ger</ram:LanguageID>
  <ram:IncludedNote since="basicwl"><ram:Content>Danke</ram:Content><ram:SubjectCode>AAI</ram:SubjectCode></ram:IncludedNote>
</rsm:ExchangedDocument>
<rsm:SupplyChainTradeTransaction>
  <ram:IncludedSupplyChainTradeLineItem since="basic">
    <ram:AssociatedDocumentLineDocument><ram:LineID>1</ram:LineID><ram:LineStatusCode since="extended">1</ram:LineStatusCode><ram:LineStatusReasonCode since="extended">DETAIL</ram:LineStatusReasonCode>
      <ram:IncludedNote><ram:Content>Vor Ort</ram:Content></ram:IncludedNote></ram:AssociatedDocumentLineDocument>
    <ram:SpecifiedTradeProduct><ram:GlobalID schemeID="0160">4012345678901</ram:GlobalID><ram:Name>Wartung</ram:Name>
      <ram:ApplicableProductCharacteristic since="en16931"><ram:Description>Dauer</ram:Description><ram:Value>4 h</ram:Value></ram:ApplicableProductCharacteristic>
      <ram:DesignatedProductClassification since="en16931"><ram:ClassCode listID="STI">81</ram:ClassCode></ram:DesignatedProductClassification>
      <ram:OriginTradeCountry since="en16931"><ram:ID>DE</ram:ID></ram:OriginTradeCountry></ram:SpecifiedTradeProduct>
    <ram:SpecifiedLineTradeAgreement>
      <ram:GrossPriceProductTradePrice><ram:ChargeAmount>70.00</ram:ChargeAmount><ram:BasisQuantity unitCode="HUR">1</ram:BasisQuantity>
        <ram:AppliedTradeAllowanceCharge><ram:ChargeIndicator><udt:Indicator>false</udt:Indicator></ram:ChargeIndicator><ram:ActualAmount>7.50</ram:ActualAmount></ram:AppliedTradeAllowanceCharge></ram:GrossPriceProductTradePrice>
      <ram:NetPriceProductTradePrice><ram:ChargeAmount>62.50</ram:ChargeAmount><ram:BasisQuantity unitCode="HUR">1</ram:BasisQuantity></ram:NetPriceProductTradePrice></ram:SpecifiedLineTradeAgreement>
    <ram:SpecifiedLineTradeDelivery><ram:BilledQuantity unitCode="HUR">4</ram:BilledQuantity></ram:SpecifiedLineTradeDelivery>
    <ram:SpecifiedLineTradeSettlement>
      <ram:ApplicableTradeTax><ram:TypeCode>VAT</ram:TypeCode><ram:CategoryCode>S</ram:CategoryCode><ram:RateApplicablePercent>19</ram:RateApplicablePercent></ram:ApplicableTradeTax>
      <ram:SpecifiedTradeAllowanceCharge><ram:ChargeIndicator><udt:Indicator>true</udt:Indicator></ram:ChargeIndicator><ram:ActualAmount>10.00</ram:ActualAmount><ram:Reason>Anfahrt</ram:Reason></ram:SpecifiedTradeAllowanceCharge>
      <ram:SpecifiedTradeSettlementLineMonetarySummation><ram:LineTotalAmount>260.00</ram:LineTotalAmount></ram:SpecifiedTradeSettlementLineMonetarySummation>
      <ram:AdditionalReferencedDocument since="en16931"><ram:IssuerAssignedID>O-1</ram:IssuerAssignedID><ram:TypeCode>130</ram:TypeCode></ram:AdditionalReferencedDocument>
    </ram:SpecifiedLineTradeSettlement>
  </ram:IncludedSupplyChainTradeLineItem>
  <ram:IncludedSupplyChainTradeLineItem since="extended">
    <ram:AssociatedDocumentLineDocument><ram:LineID>2</ram:LineID><ram:LineStatusCode>1</ram:LineStatusCode><ram:LineStatusReasonCode>GROUP</ram:LineStatusReasonCode></ram:AssociatedDocumentLineDocument>
    <ram:SpecifiedTradeProduct><ram:Name>Material</ram:Name></ram:SpecifiedTradeProduct>
    <ram:SpecifiedLineTradeAgreement><ram:NetPriceProductTradePrice><ram:ChargeAmount>40.00</ram:ChargeAmount></ram:NetPriceProductTradePrice></ram:SpecifiedLineTradeAgreement>
    <ram:SpecifiedLineTradeDelivery><ram:BilledQuantity unitCode="C62">1</ram:BilledQuantity></ram:SpecifiedLineTradeDelivery>
    <ram:SpecifiedLineTradeSettlement>
      <ram:ApplicableTradeTax><ram:TypeCode>VAT</ram:TypeCode><ram:CategoryCode>S</ram:CategoryCode><ram:RateApplicablePercent>19</ram:RateApplicablePercent></ram:ApplicableTradeTax>
      <ram:SpecifiedTradeSettlementLineMonetarySummation><ram:LineTotalAmount>40.00</ram:LineTotalAmount></ram:SpecifiedTradeSettlementLineMonetarySummation>
    </ram:SpecifiedLineTradeSettlement>
  </ram:IncludedSupplyChainTradeLineItem>
  <ram:IncludedSupplyChainTradeLineItem since="extended">
    <ram:AssociatedDocumentLineDocument><ram:LineID>2.1</ram:LineID><ram:ParentLineID>2</ram:ParentLineID><ram:LineStatusCode>1</ram:LineStatusCode><ram:LineStatusReasonCode>DETAIL</ram:LineStatusReasonCode></ram:AssociatedDocumentLineDocument>
    <ram:SpecifiedTradeProduct><ram:Name>Dichtung</ram:Name></ram:SpecifiedTradeProduct>
    <ram:SpecifiedLineTradeAgreement><ram:NetPriceProductTradePrice><ram:ChargeAmount>10.00</ram:ChargeAmount></ram:NetPriceProductTradePrice></ram:SpecifiedLineTradeAgreement>
    <ram:SpecifiedLineTradeDelivery><ram:BilledQuantity unitCode="C62">4</ram:BilledQuantity></ram:SpecifiedLineTradeDelivery>
    <ram:SpecifiedLineTradeSettlement>
      <ram:ApplicableTradeTax><ram:TypeCode>VAT</ram:TypeCode><ram:CategoryCode>S</ram:CategoryCode><ram:RateApplicablePercent>19</ram:RateApplicablePercent></ram:ApplicableTradeTax>
      <ram:SpecifiedTradeSettlementLineMonetarySummation><ram:LineTotalAmount>40.00</ram:LineTotalAmount></ram:SpecifiedTradeSettlementLineMonetarySummation>
    </ram:SpecifiedLineTradeSettlement>
  </ram:IncludedSupplyChainTradeLineItem>
  <ram:ApplicableHeaderTradeAgreement>
    <ram:BuyerReference>K-1</ram:BuyerReference>
    <ram:SellerTradeParty>
      <ram:GlobalID since="basicwl" schemeID="0088">4000001123452</ram:GlobalID>
      <ram:Name>Sonnwarm GmbH</ram:Name>
      <ram:SpecifiedLegalOrganization><ram:ID schemeID="0002">12345</ram:ID></ram:SpecifiedLegalOrganization>
      <ram:DefinedTradeContact since="en16931"><ram:PersonName>Cem Aydin</ram:PersonName><ram:TelephoneUniversalCommunication><ram:CompleteNumber>+49 711 1</ram:CompleteNumber></ram:TelephoneUniversalCommunication><ram:EmailURIUniversalCommunication><ram:URIID>a@sonnwarm.example</ram:URIID></ram:EmailURIUniversalCommunication></ram:DefinedTradeContact>
      <ram:PostalTradeAddress><ram:PostcodeCode since="basicwl">70173</ram:PostcodeCode><ram:LineOne since="basicwl">Weg 1</ram:LineOne><ram:CityName since="basicwl">Stuttgart</ram:CityName><ram:CountryID>DE</ram:CountryID></ram:PostalTradeAddress>
      <ram:URIUniversalCommunication since="basicwl"><ram:URIID schemeID="EM">r@sonnwarm.example</ram:URIID></ram:URIUniversalCommunication>
      <ram:SpecifiedTaxRegistration><ram:ID schemeID="VA">DE123456789</ram:ID></ram:SpecifiedTaxRegistration>
    </ram:SellerTradeParty>
    <ram:BuyerTradeParty>
      <ram:Name>Kunde AG</ram:Name>
      <ram:PostalTradeAddress since="basicwl"><ram:PostcodeCode>53111</ram:PostcodeCode><ram:CityName>Bonn</ram:CityName><ram:CountryID>DE</ram:CountryID></ram:PostalTradeAddress>
      <ram:URIUniversalCommunication since="basicwl"><ram:URIID schemeID="EM">k@kunde.example</ram:URIID></ram:URIUniversalCommunication>
    </ram:BuyerTradeParty>
    <ram:SalesAgentTradeParty since="extended"><ram:Name>Agentur</ram:Name><ram:PostalTradeAddress><ram:CountryID>DE</ram:CountryID></ram:PostalTradeAddress><ram:SpecifiedTaxRegistration><ram:ID schemeID="VA">DE987654321</ram:ID></ram:SpecifiedTaxRegistration></ram:SalesAgentTradeParty>
    <ram:BuyerOrderReferencedDocument><ram:IssuerAssignedID>B-9</ram:IssuerAssignedID></ram:BuyerOrderReferencedDocument>
    <ram:AdditionalReferencedDocument since="en16931"><ram:IssuerAssignedID>A-1</ram:IssuerAssignedID><ram:TypeCode>916</ram:TypeCode><ram:AttachmentBinaryObject mimeCode="text/csv" filename="a.csv">YQ==</ram:AttachmentBinaryObject></ram:AdditionalReferencedDocument>
  </ram:ApplicableHeaderTradeAgreement>
  <ram:ApplicableHeaderTradeDelivery>
    <ram:ShipToTradeParty since="basicwl"><ram:Name>Lager</ram:Name><ram:PostalTradeAddress><ram:CountryID>DE</ram:CountryID></ram:PostalTradeAddress></ram:ShipToTradeParty>
    <ram:ActualDeliverySupplyChainEvent since="basicwl"><ram:OccurrenceDateTime><udt:DateTimeString format="102">20260510</udt:DateTimeString></ram:OccurrenceDateTime></ram:ActualDeliverySupplyChainEvent>
  </ram:ApplicableHeaderTradeDelivery>
  <ram:ApplicableHeaderTradeSettlement>
    <ram:PaymentReference since="basicwl">SW-77</ram:PaymentReference>
    <ram:InvoiceCurrencyCode>EUR</ram:InvoiceCurrencyCode>
    <ram:InvoiceeTradeParty since="extended"><ram:Name>Zentrale</ram:Name><ram:PostalTradeAddress><ram:CountryID>DE</ram:CountryID></ram:PostalTradeAddress></ram:InvoiceeTradeParty>
    <ram:SpecifiedTradeSettlementPaymentMeans since="basicwl"><ram:TypeCode>58</ram:TypeCode><ram:PayeePartyCreditorFinancialAccount><ram:IBANID>DE02120300000000202051</ram:IBANID></ram:PayeePartyCreditorFinancialAccount></ram:SpecifiedTradeSettlementPaymentMeans>
    <ram:ApplicableTradeTax since="basicwl"><ram:CalculatedAmount>{tax}</ram:CalculatedAmount><ram:TypeCode>VAT</ram:TypeCode><ram:BasisAmount>{net}</ram:BasisAmount><ram:CategoryCode>S</ram:CategoryCode><ram:RateApplicablePercent>19</ram:RateApplicablePercent></ram:ApplicableTradeTax>
    <ram:BillingSpecifiedPeriod since="basicwl"><ram:StartDateTime><udt:DateTimeString format="102">20260501</udt:DateTimeString></ram:StartDateTime><ram:EndDateTime><udt:DateTimeString format="102">20260510</udt:DateTimeString></ram:EndDateTime></ram:BillingSpecifiedPeriod>
    <ram:SpecifiedTradeAllowanceCharge since="basicwl"><ram:ChargeIndicator><udt:Indicator>false</udt:Indicator></ram:ChargeIndicator><ram:ActualAmount>10.00</ram:ActualAmount><ram:ReasonCode>95</ram:ReasonCode><ram:Reason>Rabatt</ram:Reason><ram:CategoryTradeTax><ram:TypeCode>VAT</ram:TypeCode><ram:CategoryCode>S</ram:CategoryCode><ram:RateApplicablePercent>19</ram:RateApplicablePercent></ram:CategoryTradeTax></ram:SpecifiedTradeAllowanceCharge>
    <ram:SpecifiedLogisticsServiceCharge since="extended"><ram:Description>Versand</ram:Description><ram:AppliedAmount>5.00</ram:AppliedAmount><ram:AppliedTradeTax><ram:TypeCode>VAT</ram:TypeCode><ram:CategoryCode>S</ram:CategoryCode><ram:RateApplicablePercent>19</ram:RateApplicablePercent></ram:AppliedTradeTax></ram:SpecifiedLogisticsServiceCharge>
    <ram:SpecifiedTradePaymentTerms since="basicwl"><ram:DueDateDateTime><udt:DateTimeString format="102">20260610</udt:DateTimeString></ram:DueDateDateTime></ram:SpecifiedTradePaymentTerms>
    <ram:SpecifiedTradeSettlementHeaderMonetarySummation><ram:LineTotalAmount since="basicwl">{lines}</ram:LineTotalAmount><ram:ChargeTotalAmount since="extended">5.00</ram:ChargeTotalAmount><ram:AllowanceTotalAmount since="basicwl">10.00</ram:AllowanceTotalAmount><ram:TaxBasisTotalAmount>{net}</ram:TaxBasisTotalAmount><ram:TaxTotalAmount currencyID="EUR">{tax}</ram:TaxTotalAmount><ram:GrandTotalAmount>{gross}</ram:GrandTotalAmount><ram:DuePayableAmount>{gross}</ram:DuePayableAmount></ram:SpecifiedTradeSettlementHeaderMonetarySummation>
    <ram:InvoiceReferencedDocument since="basicwl"><ram:IssuerAssignedID>SW-70</ram:IssuerAssignedID><ram:FormattedIssueDateTime><qdt:DateTimeString format="102">20260401</qdt:DateTimeString></ram:FormattedIssueDateTime></ram:InvoiceReferencedDocument>
  </ram:ApplicableHeaderTradeSettlement>
</rsm:SupplyChainTradeTransaction>
</rsm:CrossIndustryInvoice>
"""  # noqa: E501
_SMALL = {"lines": "260.00", "net": "250.00", "tax": "47.50", "gross": "297.50"}
_LARGE = {"lines": "300.00", "net": "295.00", "tax": "56.05", "gross": "351.05"}


def profile_document(profile: str) -> bytes:
    """Return a valid document with most elements of the profile."""
    sums = _LARGE if profile == "extended" else _SMALL
    root = etree.fromstring(
        _FULL.format(
            identifier=PROFILES[profile], **sums, **{name: NAMESPACES[name] for name in ("rsm", "ram", "udt", "qdt")}
        ),
        etree.XMLParser(remove_blank_text=True),
    )
    names = list(PROFILES)
    for element in [*root.iter()]:
        since = element.attrib.pop("since", None)
        parent = element.getparent()
        if since and parent is not None and names.index(since) > names.index(profile):
            parent.remove(element)
    return etree.tostring(root, encoding="utf-8", xml_declaration=True)
