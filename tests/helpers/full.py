"""A fictitious, consistent invoice with most business terms and any number of lines."""

from __future__ import annotations

from decimal import Decimal

from einvoice.model.invoice import Invoice, Note, PrecedingInvoice, Totals
from einvoice.model.lines import Document, Item, ItemClassification, ItemProperty, Line, Period, Price
from einvoice.model.money import (
    AllowanceCharge,
    AllowanceTax,
    CreditTransfer,
    LineAllowanceCharge,
    LineTax,
    PaymentMeans,
    PaymentTerms,
    TaxTotal,
    VatBreakdown,
)
from einvoice.model.parties import (
    Buyer,
    BuyerAddress,
    BuyerContact,
    BuyerTaxRegistration,
    Delivery,
    DeliveryAddress,
    Payee,
    Seller,
    SellerAddress,
    SellerContact,
    SellerTaxRegistration,
    TaxRepresentative,
    TaxRepresentativeAddress,
    TaxRepresentativeTaxRegistration,
)
from einvoice.model.values import Amount, Binary, Code, Date, Identifier, Percentage, Quantity, Text, UnitPrice, absent
from tests.helpers.strategies import cents

VAT = Code("VAT")
XRECHNUNG = "urn:cen.eu:en16931:2017#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0"
_ITEMS = ("Sechskantschraube M8 × 40, verzinkt", "Beratung vor Ort", "Fachbuch „XML in der Praxis“", "Schlauch 10 m")
_RATES = (("S", 19), ("S", 7), ("E", 0), ("Z", 0))
_UNITS = ("C62", "HUR", "KGM", "MTK", "DAY")


def euro(amount: Decimal) -> Amount:
    return Amount(f"{amount:.2f}", {"currencyID": "EUR"})


def full_invoice(lines: int = 3, *, text: str = "", specification: str = XRECHNUNG) -> Invoice:
    """Return an invoice with that number of lines, most groups, and ``text`` in its free texts."""
    items = [_line(number, text) for number in range(1, lines + 1)]
    extras = [_extra("false", "20.00", "Treuerabatt", "95"), _extra("true", "12.50", "Fracht", "FC")]
    breakdown = _breakdown(items)
    tax = sum((part.tax_amount.number for part in breakdown), Decimal(0))
    net = sum((line.net_amount.number for line in items), Decimal(0))
    return Invoice(
        specification=Identifier(specification),
        business_process=Text("urn:fdc:peppol.eu:2017:poacc:billing:01:1.0"),
        number=Identifier("R-2026-0815"),
        issue_date=Date("2026-03-31"),
        due_date=Date("2026-04-30"),
        type_code=Code("380"),
        currency=Code("EUR"),
        buyer_reference=Text("04011000-12345-03"),
        purchase_order=Identifier("B-778899"),
        contract=Identifier("RV-2025-11"),
        project=Identifier("Umbau Rathaus"),
        notes=[Note(subject_code=Code("AAI"), text=Text(f"Vielen Dank für Ihren Auftrag. {text}"))],
        preceding_invoices=[PrecedingInvoice(number=Identifier("R-2026-0700"), issue_date=Date("2026-02-28"))],
        seller=_seller(text),
        buyer=_buyer(),
        payee=Payee(name=Text("Factoring AG"), identifiers=[Identifier("F-1")]),
        tax_representative=_tax_representative(),
        deliveries=[_delivery()],
        periods=[Period(start=Date("2026-03-01"), end=Date("2026-03-31"))],
        payment_terms=[PaymentTerms(note=Text("#SKONTO#TAGE=14#PROZENT=2.00#\nDanach rein netto."))],
        payment_means=[_means()],
        documents=[_attached(), Document(identifier=Identifier("Zähler 7"), type_code=Code("130"))],
        allowances_and_charges=extras,
        totals=Totals(
            line_net=euro(net),
            allowances=euro(Decimal(20)),
            charges=euro(Decimal("12.5")),
            net=euro(net - Decimal("7.5")),
            gross=euro(net - Decimal("7.5") + tax),
            paid=euro(Decimal(100)),
            due=euro(net - Decimal("107.5") + tax),
        ),
        tax_totals=[TaxTotal(amount=euro(tax))],
        vat_breakdown=breakdown,
        lines=items,
    )


def _line(number: int, text: str) -> Line:
    quantity, price = Decimal(number * 7 % 40 + 1) / 4, Decimal(number * 131 % 9000 + 100) / 100
    category, rate = _RATES[number % len(_RATES)]
    allowance = Decimal(5) if number % 7 == 2 else Decimal(0)
    return Line(
        identifier=Identifier(str(number)),
        notes=[Text(f"Wie besprochen. {text}")] if number % 5 == 1 else [],
        quantity=Quantity(str(quantity), {"unitCode": _UNITS[number % len(_UNITS)]}),
        net_amount=euro(cents(quantity * price) - allowance),
        order_line=Identifier(str(number * 10)) if number % 3 == 0 else absent,
        periods=[Period(start=Date("2026-03-01"), end=Date("2026-03-15"))] if number % 4 == 0 else [],
        allowances_and_charges=[_line_allowance(allowance)] if allowance else [],
        price=Price(net=UnitPrice(str(price), {"currencyID": "EUR"})),
        taxes=[LineTax(category=Code(category), rate=Percentage(str(rate)), scheme=VAT)],
        item=Item(
            name=Text(f"{_ITEMS[number % len(_ITEMS)]} {text}".strip()),
            description=Text("Güteklasse 8.8, lose verpackt") if number % 2 else absent,
            seller_identifier=Identifier(f"4711-{number:05d}"),
            standard_identifier=Identifier("4012345000009", {"schemeID": "0160"}) if number % 2 else absent,
            classifications=[ItemClassification(identifier=Identifier("31161600", {"listID": "TST"}))],
            origin_country=Code("IT") if number % 6 == 1 else absent,
            properties=[ItemProperty(name=Text("Farbe"), value=Text("blau"))] if number % 4 == 1 else [],
        ),
    )


def _line_allowance(amount: Decimal) -> LineAllowanceCharge:
    return LineAllowanceCharge(
        indicator=Code("false"), amount=euro(amount), base_amount=euro(amount * 10), percentage=Percentage("10"),
        reason=Text("Mengenrabatt"), reason_code=Code("95"),
    )  # fmt: skip


def _extra(indicator: str, amount: str, reason: str, code: str) -> AllowanceCharge:
    tax = AllowanceTax(category=Code("S"), rate=Percentage("19"), scheme=VAT)
    return AllowanceCharge(
        indicator=Code(indicator),
        amount=euro(Decimal(amount)),
        taxes=[tax],
        reason=Text(reason),
        reason_code=Code(code),
    )


def _breakdown(lines: list[Line]) -> list[VatBreakdown]:
    found = []
    for category, rate in _RATES:
        own = [it for it in lines if (it.vat.category.raw, it.vat.rate.raw) == (category, str(rate))]
        extra = Decimal("-7.5") if (category, rate) == ("S", 19) else Decimal(0)
        if own or extra:
            net = sum((it.net_amount.number for it in own), extra)
            found.append(
                VatBreakdown(
                    taxable_amount=euro(net), tax_amount=euro(cents(net * rate / 100)), category=Code(category),
                    rate=Percentage(str(rate)), scheme=VAT,
                    exemption_reason=Text("Umsatzsteuerfrei nach § 4 UStG") if category == "E" else absent,
                )
            )  # fmt: skip
    return found


def _seller(text: str) -> Seller:
    return Seller(
        name=Text(f"Müller & Söhne GmbH {text}".strip()),
        trading_name=Text("Müller Technik"),
        legal_identifier=Identifier("HRB 12345"),
        legal_information=Text("Amtsgericht Köln\nGeschäftsführerin: Änne Groß"),
        tax_registrations=[SellerTaxRegistration(identifier=Identifier("DE123456789"), scheme=VAT)],
        electronic_address=Identifier("rechnung@mueller.example", {"schemeID": "EM"}),
        address=SellerAddress(
            line_1=Text("Hauptstraße 1"), city=Text("Köln"), postal_code=Text("50667"), country_code=Code("DE")
        ),
        contact=SellerContact(
            name=Text("Änne Groß"), telephone=Text("+49 221 123456"), email=Text("gross@mueller.example")
        ),
    )


def _buyer() -> Buyer:
    return Buyer(
        name=Text("Stadt Musterstadt"),
        tax_registrations=[BuyerTaxRegistration(identifier=Identifier("DE987654321"), scheme=VAT)],
        electronic_address=Identifier("eingang@musterstadt.example", {"schemeID": "EM"}),
        address=BuyerAddress(
            line_1=Text("Am Markt 2"), city=Text("Musterstadt"), postal_code=Text("12345"), country_code=Code("DE")
        ),
        contact=BuyerContact(name=Text("Frau Schmidt"), department=Text("Einkauf"), telephone=Text("+49 30 1234")),
    )


def _tax_representative() -> TaxRepresentative:
    registration = TaxRepresentativeTaxRegistration(identifier=Identifier("DE111222333"), scheme=VAT)
    return TaxRepresentative(
        name=Text("Steuer & Co KG"),
        tax_registrations=[registration],
        address=TaxRepresentativeAddress(
            line_1=Text("Steuerweg 7"), city=Text("Bonn"), postal_code=Text("53111"), country_code=Code("DE")
        ),
    )


def _delivery() -> Delivery:
    return Delivery(
        party_name=Text("Bauhof Musterstadt"),
        date=Date("2026-03-28"),
        address=DeliveryAddress(
            line_1=Text("Werkstraße 9"), city=Text("Musterstadt"), postal_code=Text("12345"), country_code=Code("DE")
        ),
    )


def _means() -> PaymentMeans:
    return PaymentMeans(
        code=Code("58"),
        remittance_information=[Text("R-2026-0815")],
        credit_transfer=CreditTransfer(
            identifier=Identifier("DE89370400440532013000"), name=Text("Müller & Söhne GmbH")
        ),
        service_provider=Identifier("COBADEFFXXX"),
    )


def _attached() -> Document:
    return Document(
        identifier=Identifier("Aufmaß 3"),
        description=Text("Aufmaß vom 28.03.2026"),
        attachment=Binary("YWJj" * 500, {"mimeCode": "application/pdf", "filename": "aufmass.pdf"}),
    )
