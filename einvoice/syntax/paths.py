"""XPath of each business term in a syntax, derived from its binding table."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from einvoice.model.group import Group, terms_of, types_of
from einvoice.model.location import name
from einvoice.model.terms import Term, terms
from einvoice.syntax.mapping.binding import Row
from einvoice.syntax.mapping.tables import table

_ROOTS: Final = {"UBL": "*", "CII": "rsm:CrossIndustryInvoice"}
_OF_CREDIT_NOTES: Final = "CreditNote"

#: XML attributes of values, by their name in the model.
_ATTRIBUTES: Final = {
    "scheme": "schemeID",
    "unit": "unitCode",
    "mime": "mimeCode",
    "filename": "filename",
    "list_id": "listID",
    "list_version": "listVersionID",
}

_NAME: Final = r"\b\w+:\w+"  # a step that differs in credit notes has two

#: Terms that share the element of supporting documents (BG-24), distinguished by type.
_REFERENCES: Final = {"BT-17": "BT-122", "BT-18": "BT-122"}
_TYPED: Final = ("BT-17", "BT-18", "BT-18-1")

#: Conditions that distinguish the groups or terms of a shared element.
_CONDITIONS: Final[Mapping[str, Mapping[str, str]]] = {
    "UBL": {
        **dict.fromkeys(("BT-31", "BT-48", "BT-63"), "cac:TaxScheme/cbc:ID='VAT'"),
        "BT-32": "cac:TaxScheme/cbc:ID!='VAT'",
        **dict.fromkeys(("BG-20", "BG-27", "BG-DEX-03"), "cbc:ChargeIndicator='false'"),
        **dict.fromkeys(("BG-21", "BG-28", "BG-DEX-04"), "cbc:ChargeIndicator='true'"),
        "BT-110": "cbc:TaxAmount/@currencyID=../cbc:DocumentCurrencyCode",
        "BT-111": "cbc:TaxAmount/@currencyID=../cbc:TaxCurrencyCode",
        "BT-18": "cbc:DocumentTypeCode='130'",
    },
    "CII": {
        **dict.fromkeys(("BT-31", "BT-48", "BT-63"), "ram:ID/@schemeID='VA'"),
        "BT-32": "ram:ID/@schemeID='FC'",
        **dict.fromkeys(("BG-20", "BG-27", "BG-DEX-03"), "ram:ChargeIndicator/udt:Indicator='false'"),
        **dict.fromkeys(("BG-21", "BG-28", "BG-DEX-04"), "ram:ChargeIndicator/udt:Indicator='true'"),
        "BT-110": "@currencyID=../../ram:InvoiceCurrencyCode",
        "BT-111": "@currencyID=../../ram:TaxCurrencyCode",
        "BG-24": "ram:TypeCode='916'",
        "BT-17": "ram:TypeCode='50'",
        **dict.fromkeys(("BT-18", "BT-18-1"), "ram:TypeCode='130'"),
    },
}


class _Element(NamedTuple):
    """An element of the table.

    Attributes:
        steps: path of the element; each step with the numbers of the group that begins there.
        fields: path of the field in the model.
        numbers: business terms of the field.
        is_group: whether the element is a group.
    """

    steps: tuple[tuple[str, tuple[str, ...]], ...]
    fields: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    is_group: bool = False

    @property
    def groups(self) -> set[str]:
        """The groups that contain it."""
        return {group for _, groups in self.steps for group in groups}

    def maps_to(self, number: str) -> bool:
        """Return whether the element is the term, and not another term of a class that several groups share."""
        if number not in self.numbers:
            return False
        matching = [it for it in self.numbers if terms()[it].parent in self.groups]
        return not matching or number in matching


@functools.lru_cache(maxsize=2048)
def path_of(number: str, syntax: str) -> str:
    """Return the XPath of a business term or group in `UBL` (invoices and credit notes) or `CII`.

    Prefixes are those of `einvoice.NAMESPACES`. For a term without an element in the syntax it is the path of its
    group; "" for an unknown number or if the syntax has no such group either.

    >>> path_of("BT-106", "UBL")
    '/*/cac:LegalMonetaryTotal/cbc:LineExtensionAmount'
    """
    known = terms().get(number)
    if known is None:
        return ""
    elements = _elements_of(number, syntax) or _elements_of(_REFERENCES.get(number, ""), syntax)
    if not elements:
        return _attribute_path(known, syntax) or path_of(known.parent, syntax)
    best = min(elements, key=lambda it: (it.is_group, known.parent not in it.groups, ".".join(it.fields) != known.path))
    return _xpath(best, known, syntax)


@functools.cache
def term_of_attribute(number: str, attribute: str) -> str:
    """Return the term in an XML attribute of another term; "" if it has no number.

    >>> term_of_attribute("BT-129", "unitCode"), term_of_attribute("BT-131", "currencyID")
    ('BT-130', '')
    """
    known = terms().get(number)
    field = next((field for field, name in _ATTRIBUTES.items() if name == attribute), "")
    return next((it.number for it in terms().values() if known and it.path == f"{known.path}.{field}"), "")


@functools.cache
def numbers_at(names: tuple[str, ...], syntax: str) -> tuple[str, ...]:
    """Return the terms or groups that an element can be; of one that only contains elements, the group around them.

    Args:
        names: of the elements on its path, from the child of the root, such as "cac:LegalMonetaryTotal".
        syntax: "UBL" or "CII".

    >>> numbers_at(("cac:LegalMonetaryTotal",), "UBL"), numbers_at(("cac:AccountingCustomerParty",), "UBL")
    (('BG-22',), ('BG-7',))
    >>> numbers_at(("cac:AllowanceCharge", "cbc:Amount"), "UBL")
    ('BT-92', 'BT-99')
    """
    depth = len(names)
    below = [it for it in _elements(syntax) if _begins_with(it.steps, names)]
    exact = [it for it in below if len(it.steps) == depth]
    if exact:
        return tuple(dict.fromkeys(number for it in exact for number in it.numbers if it.maps_to(number)))
    inside = [(*(group for _, groups in it.steps[depth:] for group in groups), *it.numbers) for it in below]
    return next(((it,) for it in inside[0] if all(it in others for others in inside)), ()) if inside else ()


def _begins_with(steps: tuple[tuple[str, tuple[str, ...]], ...], names: tuple[str, ...]) -> bool:
    pairs = zip(steps, names, strict=False)
    return len(steps) >= len(names) and all(name in re.findall(_NAME, step) for (step, _), name in pairs)


def _elements_of(number: str, syntax: str) -> list[_Element]:
    return [element for element in _elements(syntax) if element.maps_to(number)]


def _attribute_path(known: Term, syntax: str) -> str:
    """Return the path of a term that is an attribute of another term."""
    owner, _, attribute = known.path.rpartition(".")
    value = next((it for it in terms().values() if it.path == owner), None)
    if attribute not in _ATTRIBUTES or value is None:
        return ""
    # CII has a separate element for identifiers with a scheme.
    schemed = [it for it in _elements_of(value.number, syntax) if it.fields[-1].startswith("global_")]
    path = _xpath(schemed[0], value, syntax) if schemed else path_of(value.number, syntax)
    return f"{path}/@{_ATTRIBUTES[attribute]}" if path else ""


def _xpath(element: _Element, known: Term, syntax: str) -> str:
    """Return the path of an element, with the conditions of the term and of its groups."""
    belongs = [known.number, *_groups_of(known)]
    path = f"/{_ROOTS[syntax]}"
    for step, groups in element.steps:
        numbers = (*groups, *_TYPED) if "BG-24" in groups else groups
        conditions = [_CONDITIONS[syntax][it] for it in belongs if it in numbers and it in _CONDITIONS[syntax]]
        path += f"/{step}" + "".join(f"[{condition}]" for condition in conditions)
    return path


def _groups_of(known: Term) -> Iterator[str]:
    while known.parent:
        yield known.parent
        known = terms()[known.parent]


@functools.cache
def _elements(syntax: str) -> tuple[_Element, ...]:
    """Return all elements of a syntax with business terms."""
    bound = table(syntax)
    return tuple(_below(bound.rows, bound.model, bound.model, _Element(())))


def _below(rows: tuple[Row, ...], owner: type[Group], parent: type[Group], outer: _Element) -> Iterator[_Element]:
    """Yield the elements of `rows`, whose fields are those of `owner` or, with `../`, of `parent`."""
    for row in rows:
        if row.root == _OF_CREDIT_NOTES:
            continue
        names = _names(row, rows)
        steps = (*outer.steps, *((step, ()) for step in names))
        if row.field is None:
            yield from _below(row.rows or (), owner, parent, outer._replace(steps=steps))
            continue
        holder = parent if row.of_parent else owner
        fields = (*(outer.fields[:-1] if row.of_parent else outer.fields), row.field)
        numbers = tuple(filter(None, terms_of(holder, row.field)))
        if not row.is_group:
            yield _Element(steps, fields, numbers)
            continue
        element = _Element((*steps[:-1], (names[-1], numbers)), fields, numbers, is_group=True)
        yield element
        cls, _ = types_of(holder)[row.field]
        if row.rows is not None:
            yield from _below(row.rows, cls, owner, element)
        elif owner is not parent:  # one level of sub-lines
            yield from _below(rows, cls, cls, element)


def _names(row: Row, rows: tuple[Row, ...]) -> list[str]:
    """Return the steps of a row; if a credit note has another element for the term, the last step matches both."""
    names = [name(step) for step in row.path] + ([f"@{row.attribute}"] if row.attribute else [])
    for other in rows:
        if row.root and other.root == _OF_CREDIT_NOTES and other.field == row.field and other.path != row.path:
            names[-1] = f"*[self::{names[-1]} or self::{name(other.path[-1])}]"
    return names
