"""Where a syntax says each business term: the XPath that its binding table leads to."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from einvoice.model.group import Group, kinds_of, terms_of
from einvoice.model.location import name
from einvoice.model.terms import Term, terms
from einvoice.syntax.mapping.binding import Row
from einvoice.syntax.mapping.tables import table

_ROOTS: Final = {"UBL": "*", "CII": "rsm:CrossIndustryInvoice"}
_OF_CREDIT_NOTES: Final = "CreditNote"

#: What stands beside a value, by the model's name for it.
_ATTRIBUTES: Final = {
    "scheme": "schemeID",
    "unit": "unitCode",
    "mime": "mimeCode",
    "filename": "filename",
    "list_id": "listID",
    "list_version": "listVersionID",
}

#: What the element of the supporting documents (BG-24) has of other references, if its type says so.
_REFERENCES: Final = {"BT-17": "BT-122", "BT-18": "BT-122"}
_TYPED: Final = ("BT-17", "BT-18", "BT-18-1")

#: Elements that stand for several groups or terms: how each of them is told from the others.
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


class _Place(NamedTuple):
    """A row of a table. ``steps`` lead to it, each with the numbers of the group that begins there."""

    steps: tuple[tuple[str, tuple[str, ...]], ...]
    fields: tuple[str, ...] = ()
    numbers: tuple[str, ...] = ()
    is_group: bool = False

    @property
    def around(self) -> set[str]:
        """The groups that it stands in."""
        return {group for _, groups in self.steps for group in groups}

    def stands_for(self, number: str) -> bool:
        """Whether this is the term's place, and not that of another one of a class that several groups share."""
        if number not in self.numbers:
            return False
        at_home = [it for it in self.numbers if terms()[it].parent in self.around]
        return not at_home or number in at_home


def path_of(number: str, syntax: str) -> str:
    """The XPath of a business term or group in documents of ``UBL`` (invoices and credit notes) or ``CII``.

    Prefixes are those of `einvoice.NAMESPACES`. Where the syntax has no element for a term it is the path of the group
    that the term belongs to; "" for an unknown number, and where there is no such group either.

    >>> path_of("BT-106", "UBL")
    '/*/cac:LegalMonetaryTotal/cbc:LineExtensionAmount'
    """
    known = terms().get(number)
    if known is None:
        return ""
    found = _found(number, syntax) or _found(_REFERENCES.get(number, ""), syntax)
    if not found:
        return _beside_a_value(known, syntax) or path_of(known.parent, syntax)
    best = min(found, key=lambda it: (it.is_group, known.parent not in it.around, ".".join(it.fields) != known.path))
    return _written(best, known, syntax)


def _found(number: str, syntax: str) -> list[_Place]:
    return [place for place in _places(syntax) if place.stands_for(number)]


def _beside_a_value(known: Term, syntax: str) -> str:
    """A term that the document has as an attribute of another one."""
    owner, _, beside = known.path.rpartition(".")
    value = next((it for it in terms().values() if it.path == owner), None)
    if beside not in _ATTRIBUTES or value is None:
        return ""
    # CII has identifiers with a scheme in an element of their own.
    schemed = [it for it in _found(value.number, syntax) if it.fields[-1].startswith("global_")]
    path = _written(schemed[0], value, syntax) if schemed else path_of(value.number, syntax)
    return f"{path}/@{_ATTRIBUTES[beside]}" if path else ""


def _written(place: _Place, known: Term, syntax: str) -> str:
    """The path of a place, with the conditions of the term and of the groups that it belongs to."""
    belongs = [known.number, *_groups_of(known)]
    path = f"/{_ROOTS[syntax]}"
    for step, groups in place.steps:
        here = (*groups, *_TYPED) if "BG-24" in groups else groups
        conditions = [_CONDITIONS[syntax][it] for it in belongs if it in here and it in _CONDITIONS[syntax]]
        path += f"/{step}" + "".join(f"[{condition}]" for condition in conditions)
    return path


def _groups_of(known: Term) -> Iterator[str]:
    while known.parent:
        yield known.parent
        known = terms()[known.parent]


@functools.cache
def _places(syntax: str) -> tuple[_Place, ...]:
    """Every place of a syntax that has business terms."""
    bound = table(syntax)
    return tuple(_below(bound.rows, bound.model, bound.model, _Place(())))


def _below(rows: tuple[Row, ...], owner: type[Group], above: type[Group], around: _Place) -> Iterator[_Place]:
    """The places of ``rows``, whose fields are those of ``owner`` or, with ``../``, of ``above``."""
    for row in rows:
        if row.root == _OF_CREDIT_NOTES:
            continue
        names = _names(row, rows)
        steps = (*around.steps, *((step, ()) for step in names))
        if row.field is None:
            yield from _below(row.rows or (), owner, above, around._replace(steps=steps))
            continue
        holder = above if row.up else owner
        fields = (*(around.fields[:-1] if row.up else around.fields), row.field)
        numbers = tuple(filter(None, terms_of(holder, row.field)))
        if not row.is_group:
            yield _Place(steps, fields, numbers)
            continue
        place = _Place((*steps[:-1], (names[-1], numbers)), fields, numbers, is_group=True)
        yield place
        kind, _ = kinds_of(holder)[row.field]
        if row.rows is not None:
            yield from _below(row.rows, kind, owner, place)
        elif owner is not above:  # lines below lines, once
            yield from _below(rows, kind, kind, place)


def _names(row: Row, beside: tuple[Row, ...]) -> list[str]:
    """The steps of a row; where a credit note has another element for the same, either of the two."""
    names = [name(step) for step in row.path] + ([f"@{row.attribute}"] if row.attribute else [])
    for other in beside:
        if row.root and other.root == _OF_CREDIT_NOTES and other.field == row.field and other.path != row.path:
            names[-1] = f"*[self::{names[-1]} or self::{name(other.path[-1])}]"
    return names
