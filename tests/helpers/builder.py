"""Minimal documents that violate a row of the syntax rules."""

from lxml import etree

from einvoice.model.location import NAMESPACES
from einvoice.rulebook.syntax_rules.rule import parse, step
from einvoice.syntax.mapping.binding import qualified

ROOTS = {"UBL": "ubl:Invoice", "CII": "rsm:CrossIndustryInvoice"}


def document(rule):
    """Return the root element of a document that violates ``rule``."""
    root = etree.Element(qualified(ROOTS[rule.syntax]), nsmap=NAMESPACES)
    context = grown(root, next(rule.contexts()).steps)
    BREAKING.get(rule.check, found)(rule, root, context)
    return root


def grown(below, steps):
    """Add the elements of ``steps``, which meet their conditions, and return the last one."""
    for names, condition in map(step, steps):
        below = etree.SubElement(below, _tag(names[0]))
        if "=" in condition:
            equal(*condition.split("="))(below)
        elif condition:
            CONDITIONS[condition](below)
    return below


def _tag(name):
    if not name.is_ending:
        return name.text
    return f"{{{name.namespace or NAMESPACES['cbc']}}}{name.text or 'ID'}"


def found(rule, root, context, texts=("",)):
    """Add the element at the path of the rule, once for each text."""
    path = next(rule.paths())
    last = root if path.anywhere else context
    above = grown(last, path.steps[:-1])
    for text in texts:
        if path.steps:
            last = grown(above, path.steps[-1:])
            last.text = text
        if path.attribute:
            last.set(path.attribute, "")


def too_many(rule, root, context):
    """Add the element at the path of the rule once more than allowed, each with another text."""
    found(rule, root, context, [str(number) for number in range(int(rule.argument) + 1)])


def twice(rule, root, context):
    """Add two elements at the path of the rule, or divide the text of one by a comment."""
    path = next(rule.paths())
    if rule.check == "single_text":
        last = grown(context, path.steps)
        last.text = last.text or "DE"
        last.append(etree.Comment("?"))
        last[-1].tail = last.text
        return
    for text in ("1", "1" if "[same_parent]" in rule.path else "2"):
        last = grown(grown(context, path.steps[:-1]), path.steps[-1:])
        last.text = text
        if path.attribute:
            last.set(path.attribute, text)


def not_a_number(rule, root, context):
    """Add the element at the path of the rule, with a text that is not a number."""
    found(rule, root, context, ["A"])


def each_name(rule, root, context):
    """Add one element for each name of the last step."""
    *above, last = next(rule.paths()).steps
    holder = grown(context, above)
    for name in step(last).names:
        etree.SubElement(holder, name.text)


def nothing(rule, root, context):
    """Add nothing to the context."""


def none_or_two(rule, root, context):
    """Add the element at the path of the rule, twice if the context has it already."""
    path = next(rule.paths())
    if len(path.steps) == 1 and context.find(step(path.steps[0]).names[0].text) is not None:
        grown(context, path.steps)


def text(content):
    """Set the text of the context."""

    def fill(rule, root, context):
        context.text = content

    return fill


def child(path, content=""):
    """Add an element at ``path`` below the element."""

    def fill(*around):
        grown(around[-1], parse(path).steps).text = content

    return fill


def attribute(name, content):
    """Set an attribute of the element."""
    return lambda element: element.set(name, content)


def equal(name, content):
    """Set an attribute (``@schemeID``) or the text of a child element."""
    return attribute(name[1:], content) if name.startswith("@") else child(name, content)


def code(content):
    """Set the type of the document, in either syntax."""

    def fill(element):
        name = "ram:TypeCode" if element.tag.startswith("{urn:un:") else "cbc:DocumentTypeCode"
        child(name, content)(element)

    return fill


def indicated(content):
    """Set the indicator of the allowance or charge, in either syntax."""

    def fill(element):
        path = "ram:ChargeIndicator/udt:Indicator" if element.tag.startswith("{urn:un:") else "cbc:ChargeIndicator"
        child(path, content)(element)

    return fill


def numbered(scheme):
    """Add a number with that scheme to the registration."""

    def fill(element):
        grown(element, parse("ram:ID").steps).set("schemeID", scheme)

    return fill


def priced(name):
    """Set the currency of the amount and of the document."""

    def fill(element):
        settlement = next(element.iterancestors(qualified("ram:ApplicableHeaderTradeSettlement")), None)
        if settlement is None:  # an amount of a line
            path = parse("rsm:SupplyChainTradeTransaction/ram:ApplicableHeaderTradeSettlement")
            settlement = grown(element.getroottree().getroot(), path.steps)
        grown(settlement, parse(name).steps).text = "?"
        element.set("currencyID", "?")

    return fill


def unknown(rule, root, context):
    """Set a code that is in no list."""
    found(rule, root, context, ["?"])
    path = next(rule.paths())
    last = grown(context, path.steps[:-1]) if path.steps else context
    if path.attribute:
        last.set(path.attribute, "?")
    else:
        last.text = "?"


def as_it_is(element):
    """Add nothing: an empty element meets the condition."""


# How to violate a check; for other checks an element at the path is sufficient.
def process(identifier):
    """Return a function that adds a business process to the document."""

    def add(element):
        etree.SubElement(element.getroottree().getroot(), qualified("cbc:ProfileID")).text = identifier

    return add


def project_of_credit_note(element):
    """Make the document a credit note, and the element a reference to its project."""
    element.getroottree().getroot().tag = qualified("cn:CreditNote")
    code("50")(element)


def with_text(content):
    """Set the text of the element at the path of the rule, which may be the context."""

    def fill(rule, root, context):
        steps = next(rule.paths()).steps
        (grown(context, steps) if steps else context).text = content

    return fill


def with_code(rule, root, context):
    """Set a code that is in no list, where the condition of the path asks for some text."""
    (with_text("?") if "[filled]" in rule.path else found)(rule, root, context)


def unmatched(rule, root, context):
    """Set a text in which the pattern of the rule does not occur."""
    with_text("L" if "L" in rule.argument and rule.argument.startswith("^$") else "?")(rule, root, context)


def wrong_siret(rule, root, context):
    """Give the party a SIRET that is too short."""
    grown(context, next(rule.paths()).steps).set("schemeID", "0009")


def too_long(rule, root, context):
    """Set a text with one character more than allowed."""
    context.text = "x" * (int(rule.argument) + 1)


def same_attributes(rule, root, context):
    """Add two elements with the same attribute."""
    twice(rule, root, context)
    path = next(rule.paths())
    for element in root.iter(step(path.steps[-1]).names[0].text):
        element.set(path.attribute, "?")


def uncredited(rule, root, context):
    """Make the document a credit note with a line that refers to no invoice."""
    if rule.syntax == "CII":
        at_root("rsm:ExchangedDocument/ram:TypeCode", "381")(root)
        at_root("rsm:SupplyChainTradeTransaction/ram:IncludedSupplyChainTradeLineItem")(root)
    else:
        root.tag = qualified("cn:CreditNote")
        at_root("cbc:CreditNoteTypeCode", "381")(root)
        at_root("cac:CreditNoteLine")(root)


def unmet(rule, root, context):
    """Violate the requirement of a rule: about the amount due, credit notes, or groups of lines."""
    others = {"due_if_payable": text("1.00"), "credited_invoice": uncredited}
    others.get(rule.argument, in_groups)(rule, root, context)


def in_groups(rule, root, context):
    """Make the line of the context a group without content, in an invoice of several sellers or in two directions."""
    two_way = "-BD-" in rule.code
    is_cii = rule.syntax == "CII"
    process = "ram:BusinessProcessSpecifiedDocumentContextParameter/ram:ID"
    at_root(f"rsm:ExchangedDocumentContext/{process}" if is_cii else "cbc:ProfileID", "S9" if two_way else "S8")(root)
    if rule.argument in ("group_exists", "two_groups"):
        return
    type_code = "261" if two_way else "384"
    at_root("rsm:ExchangedDocument/ram:TypeCode" if is_cii else "cbc:InvoiceTypeCode", type_code)(root)
    at_root("rsm:ExchangedDocument/ram:ID" if is_cii else "cbc:ID", "N")(root)
    kind = "DETAIL" if rule.argument == "group_exemption_has_number" else "GROUP"
    for line in _lines(root, rule, context):
        if is_cii:
            child("ram:AssociatedDocumentLineDocument/ram:LineStatusReasonCode", kind)(line)
        else:
            has = line.find("cac:BillingReference", NAMESPACES)
            reference = grown(line if has is None else has, parse("cac:BillingReference").steps if has is None else ())
            child("cac:InvoiceDocumentReference/cbc:ID", "N")(reference)
            child("cac:InvoiceDocumentReference/cbc:DocumentStatusCode", kind)(reference)
        _fill(rule, root, line)


def _lines(root, rule, context):
    """Return the lines of the document, in one of several groups two."""
    names = ("ram:IncludedSupplyChainTradeLineItem", "cac:InvoiceLine", "cac:CreditNoteLine")
    lines = [it for name in names for it in root.iter(qualified(name))]
    if rule.argument == "group_has_kind":
        return []
    if not lines:
        above = context if rule.syntax == "CII" else root
        lines = [grown(above, parse(names[rule.syntax == "UBL"]).steps) for _ in range(2)]
    return lines


def _fill(rule, root, line):
    """Add to a group what makes a rule apply."""
    is_cii = rule.syntax == "CII"
    if rule.argument == "group_has_vat_in_tax_currency":
        settlement = "rsm:SupplyChainTradeTransaction/ram:ApplicableHeaderTradeSettlement"
        at_root(f"{settlement}/ram:TaxCurrencyCode" if is_cii else "cbc:TaxCurrencyCode", "USD")(root)
    elif rule.argument == "group_has_gross":
        summation = "ram:SpecifiedLineTradeSettlement/ram:SpecifiedTradeSettlementLineMonetarySummation"
        child(f"{summation}/ram:GrandTotalAmount", "1")(line)
    elif rule.argument == "group_distinct_numbers" and is_cii:
        document = grown(line, parse("ram:SpecifiedLineTradeSettlement/ram:AdditionalReferencedDocument").steps)
        for name, content in (("IssuerAssignedID", "1"), ("TypeCode", "130"), ("ReferenceTypeCode", "AFL")):
            child(f"ram:{name}", content)(document)
    elif rule.argument == "group_distinct_numbers":
        document = grown(line, parse("cac:DocumentReference").steps)
        number = grown(document, parse("cbc:ID").steps)
        number.text = "1"
        number.set("schemeID", "AFL")
        child("cbc:DocumentTypeCode", "130")(document)
    elif rule.argument == "group_has_number_of_invoice":
        agreement = "rsm:SupplyChainTradeTransaction/ram:ApplicableHeaderTradeAgreement/ram:SellerTradeParty"
        seller = "cac:AccountingSupplierParty/cac:Party/cac:PartyLegalEntity/cbc:CompanyID"
        at_root(f"{agreement}/ram:SpecifiedLegalOrganization/ram:ID" if is_cii else seller, "1")(root)
        own = "ram:SpecifiedLineTradeAgreement/ram:ItemSellerTradeParty/ram:SpecifiedLegalOrganization/ram:ID"
        child(own if is_cii else "cac:Item/cac:ManufacturerParty/cac:PartyLegalEntity/cbc:CompanyID", "1")(line)


BREAKING = {
    "matches": unmatched,
    "max_length": too_long,
    "is_date": text("1999-12-31"),
    "number_form": with_text("1.2345678"),
    "distinct": same_attributes,
    "siret_of_siren": wrong_siret,
    "siret_of_any_siren": wrong_siret,
    "value_or_quantity": nothing,
    "french_vat_category": nothing,
    "meets": unmet,
    "in_code_list_exactly": unknown,
    "in_code_list": with_code,
    "single": twice,
    "single_text": twice,
    "numeric": not_a_number,
    "at_most": too_many,
    "at_most_distinct": too_many,
    "at_most_distinct_words": too_many,
    "required": nothing,
    "exactly_one": none_or_two,
    "all_of": nothing,
    "payee_not_seller": nothing,
    "one_name_of": each_name,
    "decimals": text("1.234"),
    "date": text("2026-01-31"),
    "calendar_date": text("20260131"),
    "subject_in_code_list": text("#???#"),
    "document_type": child("cbc:DocumentTypeCode", "916"),
    "one_of": unknown,
    "date_time": text("20260131"),
    "value_or_measure": nothing,
    "one_account": nothing,
}

SKONTO = "#SKONTO#TAGE=7#PROZENT=2.00#"


def at_root(path, content=""):
    """Add an element at ``path`` below the root element."""
    return lambda element: child(path, content)(element.getroottree().getroot())


def of_vehicle(element):
    """Make the item attribute that of a vehicle, in an invoice under the Clean Vehicles Directive."""
    child("ram:Description", "cva")(element)
    specification = "rsm:ExchangedDocumentContext/ram:GuidelineSpecifiedDocumentContextParameter/ram:ID"
    at_root(specification, "urn:#compliant#urn:xeinkauf.de:kosit:xrechnung:cvd_0.9")(element)


def in_document_currency(amount):
    """Give the amount the currency of the document."""
    at_root("cbc:DocumentCurrencyCode", "EUR")(amount)
    amount.set("currencyID", "EUR")


def intra_community_supply(element):
    """Add a VAT breakdown of an intra-community supply."""
    category = grown(element.getroottree().getroot(), parse("cac:TaxTotal/cac:TaxSubtotal/cac:TaxCategory").steps)
    child("cbc:ID", "K")(category)
    child("cac:TaxScheme/cbc:ID", "VAT")(category)


def text_of(content):
    """Set the text of the element."""

    def fill(element):
        element.text = content

    return fill


def registered(number):
    """Add a VAT registration to a party."""

    def fill(party):
        registration = grown(party, parse("cac:PartyTaxScheme").steps)
        child("cbc:CompanyID", number)(registration)
        child("cac:TaxScheme/cbc:ID", "VAT")(registration)

    return fill


def with_both(*names):
    """Add several elements."""
    return lambda element: [child(name, "1")(element) for name in names]


def added_to(category):
    """Give the amount and a VAT breakdown the same category and rate."""

    def fill(element):
        own = "ram:ApplicableTradeTax" if element.tag.endswith("Settlement") else "ram:CategoryTradeTax"
        settlement = "rsm:SupplyChainTradeTransaction/ram:ApplicableHeaderTradeSettlement/ram:ApplicableTradeTax"
        for tax in (grown(element, parse(own).steps), grown(element.getroottree().getroot(), parse(settlement).steps)):
            child("ram:CategoryCode", category)(tax)
            child("ram:RateApplicablePercent", "7")(tax)

    return fill


def in_breakdown(settlement):
    """Give a line and a VAT breakdown the same category, rate and exemption reason code."""
    added_to("E")(settlement)
    for tax in settlement.getroottree().getroot().iter(qualified("ram:ApplicableTradeTax")):
        child("ram:ExemptionReasonCode", "VATEX-EU-O")(tax)


# How to meet a condition.
def within(seller, buyer=""):
    """Give the seller, and the buyer, a country, unless the document has it."""
    parties = {"cac:AccountingSupplierParty": seller, "cac:AccountingCustomerParty": buyer}

    def fill(element):
        for party, country in parties.items():
            path = f"{party}/cac:Party/cac:PostalAddress/cac:Country/cbc:IdentificationCode"
            if element.getroottree().getroot().find(path, NAMESPACES) is None:
                at_root(path, country)(element)

    return fill


def every(*conditions):
    """Meet several conditions."""
    return lambda element: [condition(element) for condition in conditions]


def of_credit_note(element):
    """Make the document a credit note."""
    element.getroottree().getroot().tag = qualified("cn:CreditNote")


def danish_means(code, *others):
    """A payment means in Denmark."""
    return every(within("DK", "DK"), child("cbc:PaymentMeansCode", code), *others)


def of_scheme(scheme, *others):
    """Give an identifier a scheme, and meet further conditions."""
    return every(attribute("schemeID", scheme), *others)


def in_process(identifier):
    """Set the business process, in either syntax."""

    def fill(element):
        root = element.getroottree().getroot()
        context = "rsm:ExchangedDocumentContext/ram:BusinessProcessSpecifiedDocumentContextParameter/ram:ID"
        path = context if root.tag.endswith("CrossIndustryInvoice") else "cbc:ProfileID"
        if root.find(path, NAMESPACES) is None:
            at_root(path, identifier)(element)

    return fill


def beside_siret(identifier):
    """Give the party of a SIREN a SIRET."""
    party = identifier.getparent().getparent()
    grown(party, parse("cac:PartyIdentification/cbc:ID").steps).set("schemeID", "0009")


def of_top_group(amount):
    """Make the line of an amount a group without a parent."""
    in_process("S8")(amount)
    line = next(amount.iterancestors(qualified("ram:IncludedSupplyChainTradeLineItem")))
    child("ram:AssociatedDocumentLineDocument/ram:LineStatusReasonCode", "GROUP")(line)


def of_same_parent(identifier):
    """Give the lines the same identifier, which one of them names as its parent."""
    in_process("S8")(identifier)
    identifier.text = "1"
    if identifier.tag.endswith("}LineID"):
        child("ram:ParentLineID", "1")(identifier.getparent())
        return
    at_root("cbc:ID", "N")(identifier)
    reference = grown(identifier.getparent(), parse("cac:BillingReference").steps)
    child("cac:InvoiceDocumentReference/cbc:ID", "N")(reference)
    child("cac:BillingReferenceLine/cbc:ID", "1")(reference)


def own_status(status):
    """Make the reference of a status one to the invoice itself."""
    in_process("S8")(status)
    at_root("cbc:ID", "N")(status)
    child("cbc:ID", "N")(status.getparent())


def in_detail(element):
    """Make the line around the element a detail of a group."""
    in_process("S8")(element)
    line = element.getparent().getparent().getparent()
    if line.tag.endswith("LineItem"):
        child("ram:AssociatedDocumentLineDocument/ram:LineStatusReasonCode", "DETAIL")(line)
    else:
        at_root("cbc:ID", "N")(line)
        reference = grown(line, parse("cac:BillingReference/cac:InvoiceDocumentReference").steps)
        child("cbc:ID", "N")(reference)
        child("cbc:DocumentStatusCode", "DETAIL")(reference)


def in_dollars(amount):
    """Make the amount one in euros, of an invoice in dollars."""
    amount.set("currencyID", "EUR")
    at_root("cbc:DocumentCurrencyCode", "USD")(amount)
    at_root("cbc:TaxCurrencyCode", "EUR")(amount)


def of_vat_group(element):
    """Make the seller a member of a VAT group."""
    party = grown(element.getroottree().getroot(), parse("cac:AccountingSupplierParty/cac:Party").steps)
    grown(party, parse("cac:PartyIdentification/cbc:ID").steps).set("schemeID", "0231")


def of_partial_invoice(scheme):
    """Make the identifier one of a partial invoice."""
    return every(attribute("schemeID", scheme), lambda it: code("130")(it.getparent()), in_process("S8"))


BAR = at_root("cbc:Note", "#BAR#B2B")
CONDITIONS = {
    "siren_or_group": attribute("schemeID", "0002"),
    "filled": text_of("?"),
    "in_paid_invoice": in_process("S2"),
    "in_groups": in_process("S8"),
    "in_detail": in_detail,
    "one_way": as_it_is,
    "two_way": in_process("S9"),
    "in_rebate": every(of_credit_note, at_root("cbc:CreditNoteTypeCode", "262")),
    "siren_beside_siret": of_scheme("0002", beside_siret),
    "siren_of_b2b": of_scheme("0002", BAR),
    "siren_of_self_billed": of_scheme("0002", BAR, at_root("cbc:InvoiceTypeCode", "389")),
    "euros_beside_another_currency": in_dollars,
    "of_vat_group": of_vat_group,
    "own_status_in_groups": own_status,
    "partial_invoice_in_groups": of_partial_invoice("AFL"),
    "framework_in_groups": of_partial_invoice("AVV"),
    "siret_without_siren": attribute("schemeID", "0009"),
    "vat_in_groups": every(priced("ram:InvoiceCurrencyCode"), in_process("S8")),
    "same_parent": of_same_parent,
    "of_top_group": of_top_group,
    "compared_due_date": as_it_is,
    "german_beside_skonto": every(within("DE", "DE"), child("cbc:Note", SKONTO)),
    "danish": within("DK"),
    "within_denmark": within("DK", "DK"),
    "danish_credit_note": every(within("DK", "DK"), of_credit_note),
    "danish_levy": every(within("DK", "DK"), child("cbc:AllowanceChargeReasonCode", "ZZZ")),
    "levy_number": text_of("5"),
    "danish_transfer": danish_means("31"),
    "danish_transfer_to_account": danish_means("42", child("cac:PayeeFinancialAccount/cbc:ID", "1")),
    "danish_debit": danish_means("49"),
    "danish_debit_by_mandate": danish_means("49", child("cac:PaymentMandate/cbc:ID", "1")),
    "danish_giro_or_card": danish_means("50"),
    "danish_card": danish_means("93", child("cbc:PaymentID", "71#1")),
    "greek": within("GR"),
    "icelandic_claim": every(within("IS"), child("cbc:PaymentMeansCode", "9")),
    "icelandic_transfer": every(within("IS"), child("cbc:PaymentMeansCode", "42")),
    "icelandic_final_date": every(within("IS"), child("cbc:DocumentDescription", "EINDAGI")),
    "norwegian": within("NO"),
    "other_tax": child("cac:TaxScheme/cbc:ID", "TAX"),
    "exactly_vat": child("cac:TaxScheme/cbc:ID", "VAT"),
    "swedish_with_vat": every(
        child("cac:PostalAddress/cac:Country/cbc:IdentificationCode", "SE"), registered("SE123456789001")
    ),
    "in_breakdown": added_to("E"),
    "in_breakdown_by_code": in_breakdown,
    **{f"added_to_{category}": added_to(category) for category in ("S", "L", "M", "AE", "E", "G", "K", "O", "Z")},
    "outside_scope_rules": as_it_is,
    "written_false": indicated("false"),
    "written_true": indicated("true"),
    "vat_number": attribute("schemeID", "VA"),
    "with_tax_currency": child("ram:TaxCurrencyCode", "USD"),
    "calculated": with_both("ram:CalculationPercent", "ram:BasisAmount"),
    "percentage_with_base": as_it_is,
    "percentage_with_base_amount": as_it_is,
    "with_amount": child("ram:ChargeAmount", "1"),
    "with_actual_amount": child("ram:ActualAmount", "1"),
    "with_gross_price": child("ram:GrossPriceProductTradePrice/ram:ChargeAmount", "1"),
    "vehicle_category": of_vehicle,
    "with_description": child("ram:Description", SKONTO),
    "with_skonto": child("ram:SpecifiedTradePaymentTerms/ram:Description", SKONTO),
    "ending_in_skonto": child("ram:SpecifiedTradePaymentTerms/ram:Description", SKONTO),
    "with_skonto_or_interest": child("ram:SpecifiedTradePaymentTerms/ram:Description", SKONTO),
    "without_preceding_invoice": as_it_is,
    "without_billing_reference": as_it_is,
    "in_document_currency": in_document_currency,
    "of_intra_community_supply": intra_community_supply,
    "dated_intra_community_supply": intra_community_supply,
    "beside_tax_currency": at_root("cbc:TaxCurrencyCode", "USD"),
    "beside_line_start": at_root("cac:InvoiceLine/cac:InvoicePeriod/cbc:StartDate", "2026-01-01"),
    "beside_line_end": at_root("cac:InvoiceLine/cac:InvoicePeriod/cbc:EndDate", "2026-01-31"),
    "beside_start": at_root("cac:InvoicePeriod/cbc:StartDate", "2026-01-01"),
    "beside_end": at_root("cac:InvoicePeriod/cbc:EndDate", "2026-01-31"),
    "first_note": as_it_is,
    "beside_skonto": child("cbc:Note", SKONTO),
    "beside_end_in_skonto": child("cbc:Note", SKONTO),
    "beside_skonto_or_interest": child("cbc:Note", SKONTO),
    "allowance": indicated("false"),
    "charge": indicated("true"),
    "invoiced_object": code("130"),
    "invoiced_object_trimmed": code(" 130 "),
    "supporting_trimmed": code(" 916 "),
    "tender": code("50"),
    "vat": child("cac:TaxScheme/cbc:ID", "vat"),
    "no_vat": child("cac:TaxScheme/cbc:ID", "GST"),
    "sepa": attribute("schemeID", "sepa"),
    "no_sepa": attribute("schemeID", "0088"),
    "format_102": attribute("format", "102"),
    "without_account": child("ram:TypeCode", "58"),
    "of_party": as_it_is,
    "of_no_registration": as_it_is,
    "without_scheme": as_it_is,
    "other_document": as_it_is,
    "no_payment_code": as_it_is,
    "no_price": as_it_is,
    "no_tax_total": as_it_is,
    "named_allowance": indicated("false"),
    "named_charge": indicated("true"),
    "named_scheme": attribute("schemeID", "?"),
    "named_currency": as_it_is,
    "with_breakdown": child("cac:TaxSubtotal", ""),
    "billing_process": process("urn:peppol:bis:billing_with_response"),
    "first_billing_process": process("urn:fdc:peppol.eu:2017:poacc:billing:01:1.0"),
    "selfbilling_process": process("urn:peppol:france:billing:regulated"),
    "first_selfbilling_process": process("urn:fdc:peppol.eu:2017:poacc:selfbilling:01:1.0"),
    "project_of_credit_note": project_of_credit_note,
    "indicated_false": indicated("false"),
    "indicated_true": indicated("true"),
    "neither_indicated": as_it_is,
    "of_type_50": code("50"),
    "of_type_130": code("130"),
    "of_type_916": code("916"),
    "of_other_type": as_it_is,
    "with_vat_number": numbered("VA"),
    "with_tax_number": numbered("FC"),
    "with_other_number": as_it_is,
    "unlisted": as_it_is,
    "of_list_5153": attribute("listID", "5153"),
    "of_other_list": attribute("listID", "1"),
    "in_invoice_currency": priced("ram:InvoiceCurrencyCode"),
    "in_tax_currency": priced("ram:TaxCurrencyCode"),
    "in_other_currency": attribute("currencyID", "GBP"),
    "credit_transfer": code("58"),
    "with_subject": child("ram:SubjectCode", "AAI"),
    "of_other_party": as_it_is,
    "format_205": attribute("format", "205"),
}
