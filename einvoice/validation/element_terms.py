"""Business terms of the elements of a document."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from einvoice.model.group import Group, terms_of
from einvoice.model.invoice import Invoice
from einvoice.model.iteration import is_in_accounting_currency
from einvoice.model.lines import Document, Line, Period
from einvoice.model.location import name as name_of
from einvoice.model.money import AllowanceCharge, AllowanceTax, TaxTotal, VatBreakdown
from einvoice.model.parties import SellerTaxRegistration
from einvoice.model.terms import term
from einvoice.syntax.paths import numbers_at

_LINE: Final = "BG-25"
_SUPPORTING: Final = "BT-122"
_VAT_TYPES: Final = ("VA", "VAT")


def terms_of_elements(invoice: Invoice) -> dict[Any, tuple[str, ...]]:
    """Return the business term of each element of the document, unless it is ambiguous."""
    terms: dict[Any, tuple[str, ...]] = {}
    groups: list[Group] = [invoice]
    for group in groups:  # nested groups come later, and overwrite the terms of their elements
        cls: Any = type(group)
        numbers = _terms(cls)
        choice = alternative(group, invoice)
        for name, content in vars(group).items():
            for it in content if isinstance(content, list) else (content,):
                if isinstance(it, Group):
                    groups.append(it)
                if name in numbers and not getattr(it, "attribute", None):
                    alternatives = _alternatives(group, name, it, numbers[name])
                    if len(alternatives) == 1:
                        terms[it.node] = alternatives
                    elif len(alternatives) == 2:
                        chosen = alternative(it, invoice) if isinstance(it, Group) else choice
                        if chosen is not None and alternatives[chosen]:
                            terms[it.node] = (alternatives[chosen],)
    return terms


def enclosing_group(element: Any, by_element: Mapping[Any, tuple[str, ...]]) -> str:
    """Return the innermost business group that contains an element; "" outside of groups.

    Args:
        element: element of the document.
        by_element: the result of `terms_of_elements`.
    """
    for ancestor in element.iterancestors():
        if ancestor in by_element:
            number = by_element[ancestor][0]
            return number if term(number).datatype == "Group" else term(number).parent
    return ""


def terms_of_child(
    parent: Any, names: Sequence[str], by_element: Mapping[Any, tuple[str, ...]], syntax: str
) -> tuple[str, ...]:
    """Return the business term that a missing element would be; empty if it would be none or is ambiguous.

    Args:
        parent: element that lacks it.
        names: of the elements on its path, from the child of `parent`.
        by_element: the result of `terms_of_elements`.
        syntax: "UBL" or "CII".
    """
    above = [name_of(it.tag) for it in (parent, *parent.iterancestors())][-2::-1]
    numbers = numbers_at((*above, *names), syntax)
    if len(numbers) > 1:
        group = next(iter(by_element.get(parent, ())), "") or enclosing_group(parent, by_element)
        numbers = tuple(it for it in numbers if term(it).parent == group)
    return numbers if len(numbers) == 1 else ()


def is_elsewhere(number: str, group: str) -> bool:
    """Return whether a term cannot be at an element in this group.

    Syntaxes have terms of the document (BT-7, in CII) inside of groups, but never inside of invoice lines.

    >>> is_elsewhere("BT-121", "BG-25"), is_elsewhere("BT-121", "BG-23"), is_elsewhere("BT-7", "BG-23")
    (True, False, False)
    """
    groups = set(_groups(number))
    if group in ("", *groups):
        return False
    return bool(groups) or _LINE in _groups(group)


def _groups(number: str) -> Iterator[str]:
    """Yield the groups of a term or a group, beginning with the group itself."""
    while number:
        known = term(number)
        if known.datatype == "Group":
            yield number
        number = known.parent


def _alternatives(group: Group, name: str, content: Any, numbers: tuple[str, ...]) -> tuple[str, ...]:
    """Return the terms that a field of a group can have, from those that its class can have."""
    if isinstance(group, Document) and name == "identifier":
        return (group.identifier_term,)
    if isinstance(content, Document) and content.identifier_term != _SUPPORTING:
        return (content.identifier_term,)
    if name == "exemption_reason_code" and not isinstance(group, VatBreakdown):
        return ()
    return numbers


@functools.cache
def _terms(cls: type[Group]) -> dict[str, tuple[str, ...]]:
    """Return the business terms of each field of a class; several if they depend on the group, "" for none."""
    numbers = {name: tuple(dict.fromkeys(terms_of(cls, name))) for name in cls.fields}
    return {name: terms for name, terms in numbers.items() if any(terms)}


def alternative(group: Group, invoice: Invoice) -> int | None:
    """Return which of two terms the fields of a group have; None if it is not known.

    They depend on whether it is an allowance or a charge, whether a period belongs to the invoice or to a line, on the
    currency of a VAT total, and on the type of a tax registration. The type of a VAT identifier in the other syntax
    counts, too: the number is one, though the official rules do not recognise it.
    """
    if isinstance(group, AllowanceTax):
        group = group.parent
    if isinstance(group, AllowanceCharge):
        return 1 if group.is_charge else 0 if group.is_allowance else None
    if isinstance(group, Period):
        return int(isinstance(group.parent, Line))
    if isinstance(group, TaxTotal):
        return int(is_in_accounting_currency(group, invoice))
    if isinstance(group, SellerTaxRegistration):
        return 0 if group.is_vat or str(group.scheme.raw).strip().upper() in _VAT_TYPES else 1
    return None
