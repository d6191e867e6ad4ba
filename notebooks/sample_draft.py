"""The draft of an invoice that the notebooks share."""

draft = {
    "invoice_number": "WK-2026-0815",
    "issue_date": "2026-11-20",
    "due_date": "2026-12-20",
    "service_date": "2026-11-18",
    "buyer_reference": "04011000-12345-34",
    "seller": {
        "name": "Werkstatt am Kanal GmbH",
        "street": "Uferweg 7",
        "postal_code": "10997",
        "city": "Berlin",
        "country_code": "DE",
        "tax_id": "DE123456789",
        "electronic_address": {"id": "rechnung@werkstatt.example", "scheme": "EM"},
        "contact": {"name": "Ada Krause", "telephone": "+49 30 1234567", "email": "krause@werkstatt.example"},
    },
    "buyer": {
        "name": "Bezirksamt Musterstadt",
        "street": "Rathausplatz 1",
        "postal_code": "20095",
        "city": "Hamburg",
        "country_code": "DE",
        "electronic_address": {"id": "eingang@musterstadt.example", "scheme": "EM"},
    },
    "payment": {"iban": "DE02120300000000202051", "payment_means_code": "58"},
    "lines": [
        {
            "line_id": "1",
            "name": "Fahrradwartung",
            "quantity": "3",
            "unit_code": "HUR",
            "unit_price": "65.00",
            "tax_category": "S",
            "tax_rate": "19.00",
        },
        {
            "line_id": "2",
            "name": "Handbuch",
            "quantity": "2",
            "unit_code": "C62",
            "unit_price": "14.95",
            "tax_category": "S",
            "tax_rate": "7.00",
        },
    ],
}
