"""Valid invoices for benchmarks: a typical one and ones with any number of lines."""

from __future__ import annotations

import re
from decimal import Decimal
from functools import cache

from tests.helpers.paths import SAMPLES

SAMPLE = SAMPLES / "ubl-invoice.xml"
TAX = Decimal("0.19")
PEPPOL = "urn:cen.eu:en16931:2017#compliant#urn:fdc:peppol.eu:2017:poacc:billing:3.0"


@cache
def typical() -> bytes:
    """Return an invoice with three lines, two VAT rates and an allowance (6 kB)."""
    return SAMPLE.read_bytes()


@cache
def peppol() -> bytes:
    """Return the typical invoice, declared as Peppol BIS Billing."""
    text = SAMPLE.read_text(encoding="utf-8").replace('schemeID="EM"', 'schemeID="9930"')  # Peppol does not allow EM
    return re.sub("(<cbc:CustomizationID>).*?<", rf"\g<1>{PEPPOL}<", text).encode("utf-8")


@cache
def long(lines: int) -> bytes:
    """Return the typical invoice with this number of lines and consistent totals."""
    text = SAMPLE.read_text(encoding="utf-8")
    first = text[text.index("  <cac:InvoiceLine>") :].partition("  <cac:InvoiceLine>\n    <cbc:ID>2<")[0]
    copies = (first.replace("<cbc:ID>1<", f"<cbc:ID>{number}<", 1) for number in range(10, lines + 8))
    net = Decimal("102.00") * (lines - 2)
    tax = (net - Decimal("102.00")) * TAX
    text = text.replace(first, "".join(copies))
    for amount, increase in (
        ("260.00", net - 102),
        ("49.40", tax),
        ("56.33", tax),
        ("369.00", net - 102),
        ("359.00", net - 102),
        ("415.33", net - 102 + tax),
        ("400.00", net - 102 + tax),
    ):
        text = text.replace(f'"EUR">{amount}<', f'"EUR">{Decimal(amount) + increase:.2f}<')
    return text.encode("utf-8")
