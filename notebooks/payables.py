"""Incoming invoices of a year, as accounts payable receives them from six suppliers.

    write_invoices(folder)          # 240 files
    write_invoices(folder, 2000)

The invoices are the same in every call and on every machine: prices rise, one supplier changes its bank account, one
does building work without VAT (reverse charge), some invoices come twice, and some are credit notes.
"""

from __future__ import annotations

import datetime
import random
from decimal import Decimal
from pathlib import Path
from typing import Any, NamedTuple

from sample_draft import draft

import einvoice

YEAR = 2025


class Supplier(NamedTuple):
    """A supplier.

    Attributes:
        name, vat_id, country: of the supplier.
        ibans: its account, and the one from July on if it changes.
        syntax: of its invoices.
        category, rate: VAT of what it sells.
        items: article number, name, unit and price in January of what it sells.
        discount: percentage of the cash discount within ten days; "" for none.
    """

    name: str
    vat_id: str
    country: str
    ibans: tuple[str, ...]
    syntax: str
    category: str
    rate: str
    items: tuple[tuple[str, str, str, str], ...]
    discount: str = ""


SUPPLIERS = (
    Supplier("Papierlager Nord GmbH", "DE123456789", "DE", ("DE02120300000000202051",), "UBL", "S", "19.00",
             (("P-80", "Kopierpapier A4", "C62", "4.20"), ("P-20", "Briefumschlag", "C62", "0.035")), "2.00"),
    Supplier("Reinigung Sauber KG", "DE987654321", "DE", ("DE02500105170137075030", "DE02300209000106531065"), "CII",
             "S", "19.00", (("R-1", "Unterhaltsreinigung", "HUR", "28.50"), ("R-2", "Glasreinigung", "MTK", "1.90"))),
    Supplier("Verlag am Markt GmbH", "DE444555662", "DE", ("DE02100500000054540402",), "UBL", "S", "7.00",
             (("V-7", "Fachzeitschrift", "C62", "18.00"), ("V-9", "Handbuch", "C62", "64.00"))),
    Supplier("Hochbau Weber AG", "DE111222339", "DE", ("DE02370502990000684712",), "CII", "AE", "0",
             (("B-3", "Trockenbau", "MTK", "42.00"), ("B-5", "Estrich", "MTK", "31.50"))),
    Supplier("Energie Elbtal eG", "DE811193231", "DE", ("DE02600501010002034304",), "UBL", "S", "19.00",
             (("E-1", "Strom", "KWH", "0.31"), ("E-2", "Grundpreis", "MON", "12.00")), "3.00"),
    Supplier("Software Werft GmbH", "DE136695976", "DE", ("DE02700202700010108669",), "UBL", "S", "19.00",
             (("S-1", "Wartungsvertrag", "MON", "390.00"),)),
)  # fmt: skip


def write_invoices(folder: Path, count: int = 240) -> None:
    """Write the invoices of the year into a folder with a subfolder per supplier."""
    chance = random.Random(YEAR)
    for number in range(count):
        supplier = SUPPLIERS[number % len(SUPPLIERS)]
        month = 1 + number * 12 // count
        data = _invoice(supplier, number, month, chance)
        path = folder / supplier.name.split()[0].lower() / f"{number + 1:05}.xml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        if number % 40 == 11:  # sent again by e-mail
            path.with_stem(f"{path.stem}-2").write_bytes(data)


def _invoice(supplier: Supplier, number: int, month: int, chance: random.Random) -> bytes:
    date = datetime.date(YEAR, month, chance.randint(1, 28))
    is_credit_note = chance.random() < 0.05
    seller = {"name": supplier.name, "tax_id": supplier.vat_id, "country_code": supplier.country}
    iban = supplier.ibans[-1 if month > 6 else 0]
    content: dict[str, Any] = {
        **draft,
        "invoice_number": f"{supplier.items[0][0][0]}-{YEAR}-{number + 1:05}",
        "type_code": "381" if is_credit_note else "380",
        "issue_date": str(date),
        "service_date": str(date - datetime.timedelta(3)),
        "purchase_order_reference": f"PO-{chance.randint(100, 999)}" if number % 5 else None,
        "seller": draft["seller"] | seller,
        "buyer": draft["buyer"] | {"vat_id": "DE129273398"},
        "payment": draft["payment"] | {"iban": iban},
        "lines": [_line(supplier, position, month, chance) for position in range(chance.randint(1, 5))],
        "due_date": None if is_credit_note else str(date + datetime.timedelta(30)),
    }
    if supplier.discount and not is_credit_note:
        content["discounts"] = [{"days": 10, "percent": supplier.discount}]
    if supplier.category == "AE":
        reason = {"exemption_reason": "Steuerschuldnerschaft des Leistungsempfängers"}
        content["vat_breakdown"] = [{"tax_category": "AE", "tax_rate": "0", **reason}]
    return einvoice.generate({key: it for key, it in content.items() if it is not None}, supplier.syntax).data


def _line(supplier: Supplier, position: int, month: int, chance: random.Random) -> dict[str, Any]:
    article, name, unit, price = chance.choice(supplier.items)
    rise = Decimal("1.06") if month > 3 else Decimal(1)  # a new price list in April
    return {
        "line_id": str(position + 1),
        "seller_item_id": article,
        "name": name,
        "quantity": str(chance.randint(1, 60)),
        "unit_code": unit,
        "unit_price": str((Decimal(price) * rise).quantize(Decimal("0.0001"))),
        "tax_category": supplier.category,
        "tax_rate": supplier.rate,
    }
