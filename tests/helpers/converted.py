"""Invoices written as documents and read again."""

from __future__ import annotations

from einvoice.model.invoice import Invoice
from einvoice.syntax.reader import read
from einvoice.syntax.writer import write
from einvoice.syntax.xml import parse


def read_again(document: bytes) -> Invoice:
    return read(parse(document).getroot())


def converted(invoice: Invoice, root: str) -> Invoice:
    return read_again(write(invoice, root))
