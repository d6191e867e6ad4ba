"""Drafts of invoices as businesses send them, one for each kind of transaction."""

from __future__ import annotations

from typing import Any, Final

Draft = dict[str, Any]

SELLER: Final[Draft] = {
    "name": "Muster Handwerk GmbH", "street": "Werkstraße 1", "postal_code": "10115", "city": "Berlin",
    "country_code": "DE", "tax_id": "DE123456788", "legal_registration": {"id": "HRB 12345"},
    "electronic_address": {"id": "DE123456788", "scheme": "9930"},
    "contact": {"name": "Erika Beispiel", "telephone": "+49 30 1234567", "email": "rechnung@handwerk.example"},
}  # fmt: skip
BUYER: Final[Draft] = {
    "name": "Nordlicht Handel KG", "street": "Am Markt 2", "postal_code": "20095", "city": "Hamburg",
    "country_code": "DE", "electronic_address": {"id": "DE987654321", "scheme": "9930"},
}  # fmt: skip
DUTCH: Final[Draft] = {
    "name": "Tulp Handel B.V.", "street": "Keizersgracht 10", "postal_code": "1015 CJ", "city": "Amsterdam",
    "country_code": "NL", "vat_id": "NL123456782B90", "legal_registration": {"id": "12345678", "scheme": "0106"},
    "electronic_address": {"id": "12345678", "scheme": "0106"},
}  # fmt: skip
ADDRESS: Final = {"street": "Keizersgracht 10", "postal_code": "1015 CJ", "city": "Amsterdam", "country_code": "NL"}
TRANSFER: Final = {"payment_means_code": "58", "iban": "DE02120300000000202051"}


def line(name: str, quantity: str, price: str, rate: str | None = "19", category: str = "S", **more: Any) -> Draft:
    """Return a line of a draft."""
    taxed = {} if rate is None else {"tax_rate": rate}
    return {"name": name, "quantity": quantity, "unit_price": price, "tax_category": category, **taxed, **more}


def invoice(number: int, *lines: Draft, **more: Any) -> Draft:
    """Return a draft with parties, payment and dates; `more` replaces or adds fields, None removes one."""
    content = {
        "invoice_number": f"R-2026-{number:04}",
        "issue_date": "2026-11-20",
        "due_date": "2026-12-20",
        "service_date": "2026-11-18",
        "format": "UBL",
        "buyer_reference": "EK-4711",
        "seller": SELLER,
        "buyer": BUYER,
        "payment": {**TRANSFER, "payment_reference": f"R-2026-{number:04}"},
        "lines": list(lines),
        **more,
    }
    return {name: it for name, it in content.items() if it is not None}


def exempt(category: str, reason: str, code: str) -> list[Draft]:
    """Return the VAT breakdown of a category without VAT."""
    rate = {} if category == "O" else {"tax_rate": "0"}
    return [{"tax_category": category, **rate, "exemption_reason": reason, "exemption_reason_code": code}]


HOURS: Final = line("Montage", "8", "65.00", unit_code="HUR")
_UNREGISTERED: Final = {name: it for name, it in SELLER.items() if name != "tax_id"}

DRAFTS: Final[dict[str, Draft]] = {
    "standard": invoice(1, HOURS, line("Kabelkanal", "12.5", "4.80", unit_code="MTR")),
    "public buyer": invoice(
        2, HOURS, buyer_reference="04011000-12345-34", contract_reference="RV-2025-17",
        buyer={
            **BUYER, "name": "Amt für Beispiele", "electronic_address": {"id": "04011000-12345-34", "scheme": "0204"},
        },
    ),
    "reverse charge for construction, § 13b UStG": invoice(
        3, line("Rohbauarbeiten", "1", "48500.00", "0", "AE", unit_code="LS"), buyer={**BUYER, "vat_id": "DE987654321"},
        vat_breakdown=exempt("AE", "Steuerschuldnerschaft des Leistungsempfängers", "VATEX-EU-AE"),
    ),
    "intra-community supply": invoice(
        4, line("Steuergerät", "20", "310.00", "0", "K"), buyer=DUTCH, delivery=ADDRESS,
        vat_breakdown=exempt("K", "Innergemeinschaftliche Lieferung", "VATEX-EU-IC"),
    ),
    "export": invoice(
        5, line("Pumpe", "3", "1250.00", "0", "G", origin_country="DE"),
        buyer={**BUYER, "name": "Alpenwerk AG", "city": "Zürich", "postal_code": "8001", "country_code": "CH"},
        vat_breakdown=exempt("G", "Steuerfreie Ausfuhrlieferung", "VATEX-EU-G"),
    ),
    "small business, § 19 UStG": invoice(
        6, line("Webseite", "1", "900.00", "0", "E", unit_code="LS"),
        seller={**_UNREGISTERED, "tax_number": "29/123/45678"},
        vat_breakdown=[{
            "tax_category": "E", "tax_rate": "0", "exemption_reason": "Kein Ausweis von Umsatzsteuer nach § 19 UStG",
        }],
    ),
    "mixed rates": invoice(
        7, line("Buch", "10", "18.50", "7"), line("Regal", "2", "129.00"), line("Porto", "1", "5.50", "7")
    ),
    "discounts on lines and invoice": invoice(
        8, line("Stuhl", "12", "89.00", allowances=[{"percentage": "10", "base_amount": "1068.00", "reason": "Menge"}]),
        line("Tisch", "2", "249.00", charges=[{"amount": "15.00", "reason": "Sondermaß"}]),
        allowances=[{"amount": "50.00", "tax_category": "S", "tax_rate": "19", "reason": "Treue"}],
        charges=[{"amount": "39.00", "tax_category": "S", "tax_rate": "19", "reason": "Fracht", "reason_code": "FC"}],
    ),
    "cash discount": invoice(
        9, HOURS, payment_terms="Zahlbar bis 20.12.2026 ohne Abzug.",
        discounts=[{"days": 7, "percent": "3"}, {"days": 14, "percent": "2", "base": "400.00"}],
    ),
    "down payment invoice": invoice(
        10, line("Anzahlung Küche, 30 %", "1", "3000.00", unit_code="LS"), type_code="326",
        invoicing_period={"start": "2026-11-01", "end": "2026-12-31"},
    ),
    "final invoice after down payments": invoice(
        11, line("Küche", "1", "10000.00", unit_code="LS"),
        prepayments=[
            {"amount": "3570.00", "tax_rate": "19", "tax_amount": "570.00",
             "date": "2026-09-01", "invoice_number": "A-1", "invoice_date": "2026-08-20"},
            {"amount": "2380.00", "tax_rate": "19", "tax_amount": "380.00",
             "date": "2026-10-01", "invoice_number": "A-2", "invoice_date": "2026-09-21"},
        ],
    ),
    "credit note": invoice(
        12, line("Rückgabe Stuhl", "1", "89.00"), type_code="381", preceding_invoices=[{"number": "R-2026-0008"}]
    ),
    "correction": invoice(
        13, line("Montage", "-2", "65.00", unit_code="HUR"), line("Montage", "1", "65.00", unit_code="HUR"),
        type_code="384", preceding_invoices=[{"number": "R-2026-0001", "issue_date": "2026-11-20"}],
    ),
    "foreign currency": invoice(
        14, line("Beratung", "10", "120.00", unit_code="HUR"), currency="USD", tax_currency="EUR",
        payment={**TRANSFER, "payment_means_code": "30", "payment_reference": "R-2026-0014"},
        totals={"vat_amount_in_tax_currency": "209.52"},
    ),
    "attachments": invoice(
        15, HOURS, attachments=[
            {"id": "Aufmaß", "description": "Aufmaß", "content": "JVBERi0xLjQK", "mime_type": "application/pdf",
             "filename": "aufmass.pdf"},
            {"id": "Fotos", "url": "https://handwerk.example/fotos/15"},
        ],
    ),
    "service periods": invoice(
        16, line("Wartung Oktober", "1", "200.00", period={"start": "2026-10-01", "end": "2026-10-31"}),
        line("Wartung November", "1", "200.00", period={"start": "2026-11-01", "end": "2026-11-30"}),
        invoicing_period={"start": "2026-10-01", "end": "2026-11-30"},
    ),
    "direct debit": invoice(
        17, line("Strom", "420", "0.2875", unit_code="KWH"), payment={
            "payment_means_code": "59", "payment_reference": "V-17",
            "direct_debit": {
                "mandate_reference": "M-17", "creditor_id": "DE98ZZZ09999999999",
                "debited_iban": "DE75512108001245126199",
            },
        },
    ),
    "card": invoice(
        18, line("Ersatzteil", "1", "42.00"), totals={"paid_amount": "49.98"}, due_date=None,
        payment={"payment_means_code": "48", "card": {"number": "4242", "holder": "Max Muster"}},
    ),
    "gross prices": invoice(19, line("Filter", "40", "8.10", gross_price="9.00"), line("Öl", "250", "1.95",
                            price_base_quantity="100", gross_price="2.10", unit_code="LTR")),
    "long texts": invoice(
        20, line("Gutachten " + "zur Standsicherheit der Halle " * 3, "1", "2400.00",
                 description="Befund und Rechnung. " * 60),
        notes=[{"text": "Die Leistung wurde mit Protokoll abgenommen. " * 20}],
    ),
    "Cyrillic and Arabic names": invoice(
        21, line("Übersetzung أرابيك", "1", "300.00"), buyer={**BUYER, "name": "ООО «Ромашка» / شركة النور"},
    ),
    "1,000 lines": invoice(
        22, *(line(f"Artikel {n}", str(n % 9 + 1), f"{n % 50 + 1}.{n % 100:02}") for n in range(1000))
    ),
    "travel": invoice(
        23, line("Beratung vor Ort", "2", "1100.00", unit_code="DAY"), line("Übernachtung", "1", "98.13", "7"),
        line("Bahnfahrt", "1", "121.50", "7"), line("Kilometer", "84", "0.30", unit_code="KMT"),
    ),
    "construction": invoice(
        24, line("Erdaushub", "145.375", "18.40", unit_code="MTQ"),
        line("Beton C25/30", "38.2", "142.00", unit_code="MTQ"),
        line("Bewehrung", "3.412", "1480.00", unit_code="TNE"), project_reference="BV Hafenstraße", type_code="875",
        contract_reference="VOB-2026-3", invoicing_period={"start": "2026-10-01", "end": "2026-10-31"},
    ),
    "rent": invoice(
        25, line("Miete Büro November", "1", "2800.00", unit_code="MON"),
        line("Stellplatz", "2", "80.00", unit_code="MON"),
        invoiced_object={"id": "ME-4711"}, invoicing_period={"start": "2026-11-01", "end": "2026-11-30"},
    ),
    "exempt rent": invoice(
        26, line("Miete Wohnung November", "1", "980.00", "0", "E", unit_code="MON"),
        vat_breakdown=exempt("E", "Umsatzsteuerfrei nach § 4 Nr. 12 UStG", "VATEX-EU-135-1"),
    ),
    "retention": invoice(
        27, line("Dachdeckung", "1", "20000.00", unit_code="LS"), payment_terms="Zahlbar binnen 30 Tagen.",
        retentions=[{"amount": "1190.00", "until": "2031-11-20", "reason": "Gewährleistung, § 17 VOB/B"}],
        discounts=[{"days": 10, "percent": "2"}],
    ),
    "self-billing": invoice(28, line("Milch", "12500", "0.4275", unit_code="LTR"), type_code="389"),
    "delivery to another address, factoring": invoice(
        29, line("Palette", "30", "21.00"), delivery={**ADDRESS, "name": "Lager Amsterdam"},
        payee={"name": "Factoring Bank AG", "legal_registration": {"id": "HRB 777"}},
        purchase_order_reference="B-815", despatch_advice_reference="LS-12",
    ),
    "not subject to VAT": invoice(
        30, line("Schadenersatz", "1", "500.00", None, "O"), seller={**_UNREGISTERED, "identifiers": [{"id": "L-30"}]},
        vat_breakdown=exempt("O", "Kein Leistungsaustausch", "VATEX-EU-O"),
    ),
    "several preceding invoices": invoice(
        31, line("Bonus 2026", "1", "740.00"), type_code="381",
        preceding_invoices=[{"number": f"R-2026-000{n}", "issue_date": "2026-11-20"} for n in (1, 2, 7)],
    ),
}  # fmt: skip
"""Valid XRechnung in UBL; in CII too, but for `UBL_ONLY`."""

UBL_ONLY: Final = frozenset(("several preceding invoices",))
"""CII allows one preceding invoice."""

OTHER_PROFILES: Final[dict[str, Draft]] = {
    "Peppol self-billing": {**DRAFTS["self-billing"], "profile": "PEPPOL-SELFBILLING"},
    "Dutch parties": {**DRAFTS["standard"], "seller": DUTCH, "buyer": DUTCH, "profile": "NLCIUS"},
}
"""Drafts of further specifications."""

EXTENDED: Final[dict[str, Draft]] = {
    "sub-lines": invoice(
        40, line("Bad komplett", "1", "900.00", unit_code="LS", lines=[
            line("Fliesen", "20", "25.00", unit_code="MTK"), line("Verlegung", "8", "50.00", unit_code="HUR"),
        ]), profile="XRECHNUNG-EXTENSION",
    ),
    "third-party payment": invoice(
        41, line("Transport", "1", "480.00"), profile="XRECHNUNG-EXTENSION",
        third_party_payments=[{"type": "Maut", "amount": "37.20", "description": "Maut vom 18. November"}],
    ),
}  # fmt: skip
"""Drafts of the XRechnung Extension."""
