"""Minimal drafts, extended by each test."""

import pytest

import einvoice
from einvoice.draft import read

REQUIRED = [
    "/invoice_number", "/issue_date", "/format", "/seller", "/seller/name", "/seller/country_code", "/buyer",
    "/buyer/name", "/buyer/country_code", "/lines", "/lines/0/name", "/lines/0/quantity", "/lines/0/unit_price",
    "/lines/0/tax_category",
]  # fmt: skip


def line(**more):
    return {"name": "Ware", "quantity": "1", "unit_price": "10.00", "tax_category": "S", "tax_rate": "19", **more}


def draft(**more):
    """As little as a draft may say."""
    return {
        "invoice_number": "1",
        "issue_date": "2026-11-20",
        "format": "UBL",
        "seller": {"name": "A", "country_code": "DE"},
        "buyer": {"name": "B", "country_code": "DE"},
        "lines": [line()],
        **more,
    }


def errors(content):
    with pytest.raises(einvoice.DraftError) as caught:
        read(content)
    return caught.value
