"""Refuses invoices that no document of the other syntax can stand for."""

from __future__ import annotations

from einvoice.conversion.specification import NO_INVOICES, facturx_profile
from einvoice.errors import ConversionRefused
from einvoice.model.invoice import Invoice
from einvoice.model.iteration import filled
from einvoice.model.values import Date, absent
from einvoice.quotation import quote


def check_convertible(invoice: Invoice, target: str) -> None:
    """Raise if an invoice cannot be converted.

    Raises:
        ConversionRefused: it declares MINIMUM or BASIC WL, or has a date that the target cannot hold.
    """
    profile = facturx_profile(invoice)
    if profile in NO_INVOICES:
        raise ConversionRefused("profile", profile=profile.conformance_level, line=invoice.specification.line)
    for it in filled(invoice):
        if isinstance(it.value, Date) and it.value.filled and it.value.date is absent:
            raise ConversionRefused("date", term=it.number, line=it.value.line, date=quote(it.value.raw), syntax=target)
