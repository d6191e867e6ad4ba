"""Candidates for edits of a valid document, each with a name.

Every element is removed, doubled and given other content, VAT categories are exchanged throughout, and elements are
added that the XML schema allows in addition.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, Final, NamedTuple
from xml.sax.saxutils import escape

from lxml import etree

from einvoice.model.location import NAMESPACES
from einvoice.model.location import xpath as path_of
from einvoice.syntax.schema import content_models

_CODES: Final = (
    "S", "Z", "E", "AE", "K", "G", "O", "L", "M", "B", "VAT", "GST", "FC", "EUR", "XXX", "DE", "IT", "XX", "EL",
    "30", "58", "59", "48", "380", "381", "389", "130", "916", "50", "C62", "95", "ABC", "true", "false", "GROUP",
)  # fmt: skip
_TEXTS: Final = ("", " ", "#AAI#x", "2026-02-30", "20260230", "VATEX-EU-O", "0088", "DE123", "1e3")
_STEPS: Final = ("0.01", "-0.01", "1.00", "-1000.00")
_NUMBERS: Final = ("0", "-1.00", "19.00", "100.005", "99.995")
_ATTRIBUTES: Final = ("", "XXX", "EUR", "USD", "VA", "FC", "0088", "EM", "C62", "102", "205", "text/csv")
_CATEGORIES: Final = ("Z", "E", "AE", "K", "G", "O", "L", "M", "B")
_CATEGORY_CODES: Final = {
    "UBL": "//cac:ClassifiedTaxCategory/cbc:ID | //cac:TaxCategory/cbc:ID",
    "CII": "//ram:CategoryCode",
}
_RATES: Final = {
    "UBL": "//cac:ClassifiedTaxCategory/cbc:Percent | //cac:TaxCategory/cbc:Percent",
    "CII": "//ram:RateApplicablePercent",
}
#: Contents of added elements by data type of the XML schema.
_CONTENTS: Final = {
    "decimal": "1.00", "date": "2026-03-31", "time": "12:00:00", "boolean": "true", "dateTime": "2026-03-31T12:00:00",
    "base64Binary": "YQ==",
}  # fmt: skip
_REQUIRED_ATTRIBUTES: Final = {"currencyID": "EUR", "unitCode": "C62", "mimeCode": "text/csv", "format": "102"}
_DEEPEST: Final = 4
_POSITION: Final = re.compile(r"\[\d+\]")
_TOGETHER: Final = 12


class Candidate(NamedTuple):
    """Edits of a case, and the name of the case."""

    name: str
    edits: list[list[Any]]


def candidates(root: Any, kind: str, chance: random.Random) -> Iterator[Candidate]:
    """Yield candidates for a document of a root element or profile, in the order of its elements."""
    first = {_POSITION.sub("", path_of(it)): it for it in reversed([*root.iterdescendants("*")])}
    for element in reversed(first.values()):
        yield from _of_element(element, chance)
    yield from _of_categories(root, "CII" if "CrossIndustry" in root.tag else "UBL")
    yield from _added(root, kind, chance)


def _of_element(element: Any, chance: random.Random) -> Iterator[Candidate]:
    path, name = path_of(element), _name(element)
    yield Candidate(f"remove-{name}", [["remove", path]])
    yield Candidate(f"repeat-{name}", [["repeat", path]])
    if not len(element):
        for text in _texts(element.text or "", chance):
            yield Candidate(f"text-{name}", [["text", path, text]])
    for attribute in element.attrib:
        yield Candidate(f"remove-{name}-{attribute}", [["attribute", path, attribute, None]])
        yield Candidate(f"{attribute}-{name}", [["attribute", path, attribute, chance.choice(_ATTRIBUTES)]])


def _texts(text: str, chance: random.Random) -> Sequence[str]:
    """Return texts instead of this one: of an amount, of a code, or any."""
    try:
        number = Decimal(text)
    except InvalidOperation:
        others = _CODES if len(text) <= 5 else _TEXTS
        return [*chance.sample(others, 3), f" {text} "]
    changed = number + Decimal(chance.choice(_STEPS))
    return [f"{changed:f}", f"{number:.3f}", chance.choice(_NUMBERS), chance.choice(_CODES)]


def _of_categories(root: Any, syntax: str) -> Iterator[Candidate]:
    """Yield one category for the whole document, with three rates, and without each of some elements."""
    codes, rates = _CATEGORY_CODES[syntax], _RATES[syntax]
    if not root.xpath(codes, namespaces=NAMESPACES):
        return
    parts = [it for it in root.iter("*") if _name(it) in _NAMED_BY_CATEGORIES]
    for category in _CATEGORIES:
        exchanged = ["text", codes, category]
        variants: dict[str, list[list[Any]]] = {
            "": [],
            "-rate-0": [["text", rates, "0"]],
            "-without-rate": [["remove", rates]],
        }
        for suffix, edits in variants.items():
            yield Candidate(f"category-{category}{suffix}", [exchanged, *edits])
        for part in parts:
            yield Candidate(
                f"category-{category}-rate-0-without-{_name(part)}",
                [exchanged, ["text", rates, "0"], ["remove", path_of(part)]],
            )


_NAMED_BY_CATEGORIES: Final = (
    "PartyTaxScheme", "TaxRepresentativeParty", "Delivery", "InvoicePeriod", "AllowanceCharge", "TaxSubtotal",
    "TaxTotal", "InvoiceLine", "CreditNoteLine", "SpecifiedTaxRegistration", "SellerTaxRepresentativeTradeParty",
    "SpecifiedTradeAllowanceCharge", "ApplicableTradeTax", "BillingSpecifiedPeriod", "ActualDeliverySupplyChainEvent",
    "IncludedSupplyChainTradeLineItem",
)  # fmt: skip


# ---------------------------------------------------------------- added elements


def _added(root: Any, kind: str, chance: random.Random) -> Iterator[Candidate]:
    """Yield children that the schema allows and the document lacks, several of them together."""
    models, added = content_models(kind), []
    for element in root.iter("*"):
        present = {it.tag for it in element}
        for index, particle in enumerate(models.sequence_of(element)):
            if particle.tag not in present and (content := _content(element, particle.tag, models, _DEEPEST)):
                before = {it.tag for it in models.sequence_of(element)[:index]}
                position = sum(it.tag in before for it in element)
                added.append((particle.tag, ["insert", path_of(element), position, content]))
    chance.shuffle(added)
    distinct = list({(_POSITION.sub("", edit[1]), edit[3]): (tag, edit) for tag, edit in added}.values())
    for start in range(0, len(distinct), _TOGETHER):
        chosen = distinct[start : start + _TOGETHER]
        # From the end of the document, so that no path or position shifts before it is used.
        edits = sorted((edit for _, edit in chosen), key=lambda edit: edit[2], reverse=True)
        yield Candidate(f"add-{etree.QName(chosen[0][0]).localname}-and-more", edits)


def _content(parent: Any, tag: str, models: Any, depth: int) -> str:
    """Return the XML of a child with what it requires; "" if that is nested too deeply."""
    if depth == 0:
        return ""
    child = etree.SubElement(parent, tag)
    try:
        name = path_of(child).rpartition("/")[2].partition("[")[0]
        attributes = "".join(
            f' {it}="{_REQUIRED_ATTRIBUTES[it]}"' for it in models.attributes_of(child) if it in _REQUIRED_ATTRIBUTES
        )
        required = [it for it in models.sequence_of(child) if it.min_occurs] or models.sequence_of(child)[:1]
        below = [_content(child, it.tag, models, depth - 1) for it in required]
        if not all(below) or ":" not in name:
            return ""
        text = "".join(below) or escape(_CONTENTS.get(models.datatype_of(child), "1"))
        return f"<{name}{attributes}>{text}</{name}>"
    finally:
        parent.remove(child)


def _name(element: Any) -> str:
    return str(etree.QName(element).localname)
