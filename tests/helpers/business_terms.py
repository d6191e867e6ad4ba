"""Business terms of an invoice, independent of their place and notation."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from einvoice.model.group import Group, terms_of
from einvoice.model.invoice import Invoice
from einvoice.model.lines import Document, Line, LineDocument, Period
from einvoice.model.money import AllowanceCharge, TaxTotal
from einvoice.model.parties import TaxRegistration
from einvoice.model.values import Binary, Date, Identifier, Quantity, Value, absent


def business_terms(invoice: Invoice) -> Counter[tuple[str, str]]:
    """Count the values of each business term, independent of place and notation."""
    terms = Counter(_terms(invoice, invoice, 0))
    for number, text in terms:
        if number in SAID_AGAIN:
            terms[number, text] = 1
    return terms


#: Terms that a syntax may repeat: in each payment means, price or breakdown.
SAID_AGAIN = {"BT-7", "BT-8", "BT-83", "BT-149"}
UBL_TAX_POINT = {"3": "5", "35": "29", "432": "72"}


def _terms(invoice: Invoice, group: Group, which: int) -> Iterator[tuple[str, str]]:
    """Return the business term for group ``which`` of a class, such as an allowance (0) or a charge (1)."""
    for name in group.fields:
        content = getattr(group, name)
        if content is absent or name == "more":
            continue
        for item in (content,) if isinstance(content, Group | Value) else content:
            if isinstance(item, Group):
                yield from _terms(invoice, item, _which(group, item, which))
            else:
                yield from _said(invoice, group, name, item, which)


def _which(above: Group, group: Group, which: int) -> int:
    if isinstance(group, AllowanceCharge):
        return int(group.is_charge)
    if isinstance(group, Period):
        return int(isinstance(above, Line))
    if isinstance(group, TaxRegistration):
        return int(not group.is_vat)
    return 0 if isinstance(group, Line) else which


def _said(invoice: Invoice, group: Group, name: str, value: Value, which: int) -> Iterator[tuple[str, str]]:
    numbers = terms_of(type(group), name)
    text = _spelled(value)
    subject = re.match(r"#([A-Z]{3})#(.*)", text, re.DOTALL)
    if isinstance(group, Document) and name == "identifier":
        kind = "130" if isinstance(group, LineDocument) else group.type_code.text
        number = {"130": "BT-18", "50": "BT-17" if invoice.syntax == "CII" else "BT-11"}.get(kind, "BT-122")
        yield number, f"{value.text} {group.reference_type.text or value.attributes.get('schemeID', '')}".strip()
    elif name in ("reference_type", "scheme") or not numbers:
        return
    elif numbers == ("BT-22",) and subject:
        yield "BT-21", subject[1]
        yield "BT-22", subject[2]
    elif isinstance(group, TaxTotal):
        yield ("BT-111" if value.attributes.get("currencyID", invoice.currency.text) != invoice.currency.text
               else "BT-110"), text  # fmt: skip
    elif numbers == ("BT-8",) or name == "tax_point_code":
        yield "BT-8", UBL_TAX_POINT.get(text, text)
    elif numbers[0] in ("BT-29", "BT-60") and value.attributes.get("schemeID") == "SEPA":
        yield "BT-90", value.text
    elif isinstance(group, TaxRegistration):
        yield numbers[min(which, len(numbers) - 1)], value.text
    elif (numbers[0], text) != ("BT-13", "NA"):
        yield numbers[min(which, len(numbers) - 1)], text


def _spelled(value: Value) -> str:
    """Return the text without differences in notation, and the attributes that both syntaxes have."""
    if isinstance(value, Date) and value.date is not absent:
        return str(value.date)
    if isinstance(value, Binary):
        return " ".join([*value.raw.split(), str(value.mime), str(value.filename)])
    beside = [value.attributes[name] for name in ("schemeID", "listID", "unitCode") if name in value.attributes]
    return " ".join([*value.raw.split(), *(beside if isinstance(value, Identifier | Quantity) else [])])
