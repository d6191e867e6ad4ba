"""Properties of the strategies."""

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from lxml import etree

from einvoice.model.group import types_of
from einvoice.model.invoice import Invoice, Note
from einvoice.model.values import absent
from tests.helpers.properties import examples
from tests.helpers.strategies import ATTRIBUTES, everything, invoices, plausible_invoices, texts


@given(texts())
def test_texts_survive_an_xml_round_trip(text: str) -> None:
    element = etree.Element("a", b=text)
    element.text = text
    again = etree.fromstring(etree.tostring(element, encoding="UTF-8"))
    assert again.get("b") == (again.text or "") == text


@given(invoices(lambda cls, field: cls is Invoice and field != "number", required=lambda cls, field: field == "notes"))
def test_invoices_have_allowed_and_required_fields(invoice: Invoice) -> None:
    assert invoice.number is absent
    assert invoice.notes
    assert all(note == Note() for note in invoice.notes)


@pytest.mark.slow
@examples(25)
@given(invoices(repeated=everything, syntax="CII"))
def test_invoices_have_values_of_the_declared_classes(invoice: Invoice) -> None:
    assert invoice.syntax == "CII"
    for group in invoice.walk():
        for field, content in vars(group).items():
            if field in group.fields and field != "more":
                kind, many = types_of(type(group))[field]
                for item in content if many else [content, *content.more]:
                    assert type(item) is kind
                    assert set(getattr(item, "attributes", ())) <= {*ATTRIBUTES.get(kind, ()), "format"}


@given(plausible_invoices())
def test_plausible_invoices_add_up(invoice: Invoice) -> None:
    def total(amounts: Any) -> Decimal:
        return sum((amount.number for amount in amounts), Decimal(0))

    def of(amount: Any) -> Decimal:
        return Decimal(0) if amount is absent else Decimal(amount.raw)

    totals = invoice.totals
    assert totals.line_net.number == total(line.net_amount for line in invoice.lines)
    assert of(totals.allowances) == total(it.amount for it in invoice.allowances)
    assert of(totals.charges) == total(it.amount for it in invoice.charges)
    assert (totals.allowances is absent) == (not invoice.allowances)
    assert (totals.charges is absent) == (not invoice.charges)
    assert totals.net.number == totals.line_net.number - of(totals.allowances) + of(totals.charges)
    assert invoice.vat_total.number == total(part.tax_amount for part in invoice.vat_breakdown)
    assert totals.gross.number == totals.net.number + invoice.vat_total.number
    assert totals.due.number == totals.gross.number - of(totals.paid)
    assert totals.net.number == total(part.taxable_amount for part in invoice.vat_breakdown)
    for part in invoice.vat_breakdown:
        exact = part.taxable_amount.number * part.rate.number / 100
        assert abs(part.tax_amount.number - exact) <= Decimal("0.005")
