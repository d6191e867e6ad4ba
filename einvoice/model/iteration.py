"""Iterates over the values of an invoice, each with its business term."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from einvoice.model.group import Group, terms_of, types_of
from einvoice.model.lines import Document, Line
from einvoice.model.money import AllowanceCharge, TaxTotal
from einvoice.model.parties import SellerTaxRegistration
from einvoice.model.terms import Term, term, terms
from einvoice.model.values import Value, absent


class Filled(NamedTuple):
    """A value, its group and field, and its business term: "" for a field of one syntax only."""

    number: str
    group: Group
    field: str
    value: Value


class Context(NamedTuple):
    """The ancestors of a group that decide which business term a field represents."""

    invoice: Any
    line: bool = False
    charge: bool = False


def filled(invoice: Group) -> Iterator[Filled]:
    """Yield all values of the invoice, in the order of the model, including further occurrences."""
    yield from _of_group(invoice, Context(invoice))


def _of_group(group: Group, context: Context) -> Iterator[Filled]:
    if isinstance(group, Line):
        context = context._replace(line=True)
    elif isinstance(group, AllowanceCharge):
        context = context._replace(charge=group.is_charge)
    for name in group.fields:
        content = getattr(group, name)
        for it in content if isinstance(content, list | tuple) else (content,):
            if isinstance(it, Group):
                yield from _of_group(it, context)
            elif isinstance(it, Value):
                number = number_of(group, name, context)
                for value in (it, *it.more):
                    yield Filled(number, group, name, value)


def number_of(group: Group, name: str, context: Context) -> str:
    """Return the business term of a field of a group; "" for a field of one syntax only."""
    numbers = list(dict.fromkeys(filter(None, terms_of(type(group), name))))
    if isinstance(group, Document) and name == "identifier":
        return group.identifier_term
    if len(numbers) > 1:
        numbers = [number for number in numbers if _is_of_line(number) == context.line] or numbers
    if not numbers:
        return ""
    return numbers[-1] if _is_second(group, context) else numbers[0]


def _is_of_line(number: str) -> bool:
    parent = term(number).parent
    return parent == "BG-25" or (bool(parent) and _is_of_line(parent))


def _is_second(group: Group, context: Context) -> bool:
    """Return whether the second of two terms applies: a charge, a tax other than VAT, the accounting currency."""
    if isinstance(group, SellerTaxRegistration):
        return not group.is_vat
    if isinstance(group, TaxTotal):
        return is_in_accounting_currency(group, context.invoice)
    return context.charge


def is_in_accounting_currency(total: TaxTotal, invoice: Any) -> bool:
    """Return whether a VAT total is that in the accounting currency (BT-111).

    It also is if the accounting currency (BT-6) is wrong, as long as another total is in the currency of the invoice.
    """
    currency, own, other = total.amount.currency, invoice.currency.text, invoice.tax_currency.text
    if currency in (absent, own) or other is absent:
        return False
    return bool(currency == other or any(it.amount.currency == own for it in invoice.tax_totals))


def content_of(invoice: Group, number: str) -> Any:
    """Return the content of a business term; see `Invoice.__getitem__`.

    Raises:
        LookupError: unknown number.
    """
    known = term(number)
    found: Sequence[Any]
    if known.datatype == "Group":
        found = list(_at(invoice, known.path.split(".")))
    elif owner_number := owner(number):
        attribute = known.path.rpartition(".")[2]
        texts = (getattr(it.value, attribute) for it in filled(invoice) if it.number == owner_number)
        found = [text for text in texts if text is not absent]
    else:
        found = [it.value for it in filled(invoice) if it.number == number]
    if repeats(known):
        return found
    return found[0] if found else absent


def set_content(invoice: Group, number: str, given: Any) -> None:
    """Set the content of a known business term; see `Invoice.__setitem__`.

    Raises:
        TypeError: the invoice has the term several times, or it is an attribute of another one.
    """
    if owner_number := owner(number):
        raise TypeError(f"{number} is an attribute of {owner_number}: assign a value that has it")
    *steps, field = term(number).path.split(".")
    group: Any = invoice
    for step in steps:
        kind, many = types_of(type(group))[step]
        content = getattr(group, step)
        found = list(content) if many else [content] if content is not absent else []
        if many and (len(found) > 1 or repeats(term(number))):
            raise TypeError(f"an invoice can have {number} several times: assign it in invoice.{step}[…]")
        if not found:
            found = [kind()]
            setattr(group, step, found if many else found[0])
        (group,) = found
    setattr(group, field, given)


def _at(group: Any, path: Sequence[str]) -> Iterator[Any]:
    """Yield the groups at a path of fields."""
    if not path:
        yield group
        return
    content = getattr(group, path[0])
    for it in content if isinstance(content, list | tuple) else (content,):
        if it is not absent:
            yield from _at(it, path[1:])


def owner(number: str) -> str:
    """Return the number of the term whose XML attribute holds a term; "" if it is the text of an element.

    >>> owner("BT-130"), owner("BT-129")
    ('BT-129', '')
    """
    path = term(number).path.rpartition(".")[0]
    return next((it.number for it in terms().values() if it.path == path and it.datatype != "Group"), "")


def repeats(known: Term) -> bool:
    """Return whether an invoice can have a term or group several times, as the groups around it can repeat.

    >>> repeats(term("BT-125")), repeats(term("BT-7"))
    (True, False)
    """
    return known.cardinality.endswith("n") or (bool(known.parent) and repeats(term(known.parent)))
