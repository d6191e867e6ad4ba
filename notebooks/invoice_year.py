"""The invoices of a year, as four companies export them from the same ERP system, with the faults of their exports.

    write_year(folder)                            # as exported
    write_year(folder, corrected=["rounding"])    # without one of the faults

The invoices are the same in every call and on every machine.
"""

from __future__ import annotations

import datetime
import functools
import random
import re
from collections.abc import Callable, Collection, Mapping
from decimal import ROUND_HALF_UP, Decimal
from pathlib import Path
from typing import Any, NamedTuple

from sample_draft import draft

import einvoice

YEAR = 2025
CENT = Decimal("0.01")


class Company(NamedTuple):
    """A company with its export.

    Attributes:
        name: name of the seller.
        vat_id: its VAT identifier.
        syntax: syntax of its export.
        monthly: number of invoices per month.
        items: names, unit codes and prices of what it sells.
    """

    name: str
    vat_id: str
    syntax: str
    monthly: int
    items: tuple[tuple[str, str, str], ...]


COMPANIES = {
    "canal": Company(
        "Werkstatt am Kanal GmbH",
        "DE123456789",
        "UBL",
        16,
        (("Wartung", "HUR", "64.90"), ("Reparatur", "HUR", "71.50"), ("Anfahrt", "HUR", "47.30")),
    ),
    "linden": Company(
        "Lindenhof Gartenbau GmbH",
        "DE987654321",
        "UBL",
        14,
        (("Baumpflege", "HUR", "58.00"), ("Rindenmulch", "MTQ", "42.00"), ("Hecke schneiden", "MTR", "6.00")),
    ),
    "harbour": Company(
        "Hafenkran Service AG",
        "DE111222339",
        "CII",
        7,
        (("Kranstunde", "HUR", "186.00"), ("Prüfung", "C62", "420.00"), ("Bereitschaft", "DAY", "310.00")),
    ),
    "print": Company(
        "Druckerei Holm KG",
        "DE444555662",
        "UBL",
        12,
        (("Broschüre", "C62", "2.40"), ("Plakat", "C62", "11.00"), ("Satz", "HUR", "54.00")),
    ),
}


class Export(NamedTuple):
    """An exported document.

    Attributes:
        company: key in `COMPANIES`.
        number: position among the invoices of its company, from 0.
        draft: what the ERP system knows.
        data: the document without any fault.
    """

    company: str
    number: int
    draft: Mapping[str, Any]
    data: bytes

    @property
    def month(self) -> int:
        """Month of the invoice date."""
        return int(self.draft["issue_date"][5:7])

    @property
    def file(self) -> str:
        """Name of the file."""
        return f"{self.company}/{self.draft['invoice_number']}.xml"


def write_year(folder: Path, *, corrected: Collection[str] = ()) -> None:
    """Write the exports of the year into a folder with a subfolder per company, without the faults in `corrected`.

    Raises:
        ValueError: a fault is unknown.
    """
    if unknown := sorted(set(corrected) - set(FAULTS)):
        raise ValueError(f"unknown fault {', '.join(unknown)}; valid are {', '.join(FAULTS)}")
    for company in COMPANIES:
        (folder / company).mkdir(parents=True)
    for export in exports():
        data = export.data
        for name, fault in FAULTS.items():
            if name not in corrected:
                data = fault(export, data)
        path = folder / export.file
        path.write_bytes(data)
        if export.company == "linden" and export.number % 50 == 25:  # sent again, as a copy
            path.with_stem(f"{path.stem}-2").write_bytes(data)


@functools.cache
def exports() -> tuple[Export, ...]:
    """Return the exports of the year."""
    chance = random.Random(YEAR)
    return tuple(
        _export(key, month * company.monthly + number, month + 1, chance)
        for key, company in COMPANIES.items()
        for month in range(12)
        for number in range(company.monthly)
    )


def _export(key: str, number: int, month: int, chance: random.Random) -> Export:
    company = COMPANIES[key]
    date = datetime.date(YEAR, month, chance.randint(1, 28))
    is_credit_note = chance.random() < 0.05
    changed = {
        "invoice_number": f"{key[0].upper()}-{YEAR}-{number + 1:04}",
        "type_code": "381" if is_credit_note else "380",
        "issue_date": str(date),
        "service_date": str(date - datetime.timedelta(2)),
        "due_date": str(date + datetime.timedelta(30)),
        "seller": draft["seller"] | {"name": company.name, "tax_id": company.vat_id},
        "lines": [_line(company, position, chance) for position in range(chance.randint(2, 6))],
    }
    if is_credit_note:
        del changed["due_date"]
    complete = {name: value for name, value in draft.items() if name != "due_date"} | changed
    return Export(key, number, complete, einvoice.generate(complete, company.syntax).data)


def _line(company: Company, position: int, chance: random.Random) -> dict[str, str]:
    name, unit, price = chance.choice(company.items)
    quantity = Decimal(chance.randint(1, 80)) / (4 if unit == "HUR" else 1)  # hours are booked in quarters
    return {
        "line_id": str(position + 1),
        "name": name,
        "quantity": str(quantity),
        "unit_code": unit,
        "unit_price": price,
        "tax_category": "S",
        "tax_rate": "19.00",
    }


# ---------------------------------------------------------------- faults: the document that is exported instead


def _rounding(export: Export, data: bytes) -> bytes:
    """Take the net totals from the lines before they are rounded."""
    if export.company != "canal":
        return data
    total = sum(Decimal(line["quantity"]) * Decimal(line["unit_price"]) for line in export.draft["lines"])
    amount = str(total.quantize(CENT, ROUND_HALF_UP)).encode()
    head, tag, totals = data.partition(b"<cac:LegalMonetaryTotal>")
    for name in (b"LineExtensionAmount", b"TaxExclusiveAmount"):
        totals = re.sub(rb'(<cbc:%s currencyID="EUR">)[^<]*' % name, rb"\g<1>" + amount, totals, count=1)
    return head + tag + totals


def _buyer_reference(export: Export, data: bytes) -> bytes:
    """Leave out the Leitweg-ID, since a release in May, for customers that were created in the new form."""
    if export.company == "linden" and export.month >= 5 and export.number % 4:
        return re.sub(rb"\s*<cbc:BuyerReference>.*?</cbc:BuyerReference>", b"", data)
    return data


def _unit(export: Export, data: bytes) -> bytes:
    """Write the unit of the ERP system instead of its code."""
    return data.replace(b'unitCode="HUR"', b'unitCode="Std"') if export.company == "harbour" else data


def _telephone(export: Export, data: bytes) -> bytes:
    """Write a placeholder as telephone number."""
    return data.replace(b">+49 30 1234567<", b">-<") if export.company in ("print", "linden") else data


def _address(export: Export, data: bytes) -> bytes:
    """Leave out the electronic address of customers who get their invoices by post."""
    if export.company == "harbour" and export.number % 3 == 0:
        head, tag, buyer = data.partition(b"<ram:BuyerTradeParty>")
        address = rb"\s*<ram:URIUniversalCommunication>.*?</ram:URIUniversalCommunication>"
        return head + tag + re.sub(address, b"", buyer, flags=re.DOTALL)
    return data


def _contact(export: Export, data: bytes) -> bytes:
    """Leave out the e-mail address of a clerk who has none."""
    if export.company == "print" and export.number % 30 == 7:
        return re.sub(rb"\s*<cbc:ElectronicMail>.*?</cbc:ElectronicMail>", b"", data)
    return data


def _vat_id(export: Export, data: bytes) -> bytes:
    """Write the VAT identifier without its country code, in one branch."""
    if export.company == "harbour" and export.number % 40 == 13:
        return data.replace(b">DE111222339<", b">111222339<")
    return data


def _broken(export: Export, data: bytes) -> bytes:
    """Interrupt the transfer, or store the page of a failed download."""
    if export.company == "print" and export.number % 75 == 30:
        return data[: len(data) // 2]
    if export.company == "canal" and export.number == 111:
        return b"<html><body>502 Bad Gateway</body></html>"
    return data


FAULTS: Mapping[str, Callable[[Export, bytes], bytes]] = {
    "rounding": _rounding,
    "buyer reference": _buyer_reference,
    "electronic address": _address,
    "unit": _unit,
    "telephone": _telephone,
    "contact": _contact,
    "VAT identifier": _vat_id,
    "transfer": _broken,
}
