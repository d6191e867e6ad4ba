"""The dates of an invoice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from einvoice.model.values import Date, absent

if TYPE_CHECKING:
    from einvoice.model.invoice import Invoice


def dates_of(invoice: Invoice) -> Sequence[Date]:
    """Return all dates of an invoice. This runs for every invoice, so it has loops, which are the fastest."""
    found = [invoice.issue_date, invoice.tax_point_date, invoice.due_date]
    for terms_ in invoice.payment_terms:
        found.append(terms_.due_date)
    for means in invoice.payment_means:
        found.append(means.due_date)
    for vat in invoice.vat_breakdown:
        found.append(vat.tax_point_date)
    for reference in invoice.preceding_invoices:
        found.append(reference.issue_date)
    for delivery in invoice.deliveries:
        found.append(delivery.date)
    for period in invoice.periods:
        found += (period.start, period.end)
    for line in invoice.lines:
        for period in line.periods:
            found += (period.start, period.end)
    return [it for it in found if it is not absent]
