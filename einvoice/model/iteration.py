"""What an invoice carries, value by value, each with the business term that it is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from einvoice.model.group import Group, terms_of
from einvoice.model.invoice import Invoice
from einvoice.model.lines import Document, Line, LineDocument
from einvoice.model.money import AllowanceCharge, TaxTotal
from einvoice.model.parties import SellerTaxRegistration
from einvoice.model.terms import term
from einvoice.model.values import Value


@dataclass(frozen=True, slots=True)
class Filled:
    """A value, the field of the group that holds it, and its business term: '' where it serves the syntax alone."""

    number: str
    group: Group
    field: str
    value: Value


@dataclass(frozen=True, slots=True)
class _Inside:
    """What a group stands in, where that decides which term a field is."""

    invoice: Invoice
    line: bool = False
    charge: bool = False


def filled(invoice: Invoice) -> Iterator[Filled]:
    """Every value of the invoice, in the order of the model; a term the norm allows once may come several times."""
    yield from _of_group(invoice, _Inside(invoice))


def _of_group(group: Group, inside: _Inside) -> Iterator[Filled]:
    if isinstance(group, Line):
        inside = replace(inside, line=True)
    elif isinstance(group, AllowanceCharge):
        inside = replace(inside, charge=group.is_charge)
    for name in group.fields:
        content = getattr(group, name)
        for it in content if isinstance(content, list | tuple) else (content,):
            if isinstance(it, Group):
                yield from _of_group(it, inside)
            elif isinstance(it, Value):
                number = _number(group, name, inside)
                for value in (it, *it.more):
                    yield Filled(number, group, name, value)


def _number(group: Group, name: str, inside: _Inside) -> str:
    numbers = list(dict.fromkeys(filter(None, terms_of(type(group), name))))
    if isinstance(group, Document) and not isinstance(group, LineDocument):
        special = {"130": "BT-18", "50": "BT-17"}.get(group.type_code.text)
        return special if special and name == "identifier" else (numbers or [""])[0]
    if len(numbers) > 1:
        numbers = [number for number in numbers if _is_of_line(number) == inside.line] or numbers
    if not numbers:
        return ""
    return numbers[-1] if _is_second(group, inside) else numbers[0]


def _is_of_line(number: str) -> bool:
    parent = term(number).parent
    return parent == "BG-25" or (bool(parent) and _is_of_line(parent))


def _is_second(group: Group, inside: _Inside) -> bool:
    """Whether of two terms the second is meant: a charge, another tax than VAT, the other currency."""
    if isinstance(group, SellerTaxRegistration):
        return not group.is_vat
    if isinstance(group, TaxTotal):
        currency, invoice = group.amount.currency, inside.invoice
        return bool(currency == invoice.tax_currency.text and currency != invoice.currency.text)
    return inside.charge
