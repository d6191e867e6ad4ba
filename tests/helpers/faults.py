"""Faults as they happen in practice, made in invoices whose truth is known.

`invoices()` are valid and without findings, in UBL and CII. A fault edits the XML as a faulty program or a person does,
and says which business terms it is about and where. All is drawn from a seed and knows nothing of the code under test.
"""

from __future__ import annotations

import copy
import functools
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from typing import Any, Final

from lxml import etree

import einvoice
from einvoice.model.location import NAMESPACES, xpath
from einvoice.syntax.paths import path_of
from einvoice.syntax.xml import parse

_CENT: Final = Decimal("0.01")
_TOTALS: Final = ("BT-106", "BT-107", "BT-108", "BT-109", "BT-110", "BT-112", "BT-115")


@dataclass(frozen=True)
class Fault:
    """A fault in an invoice.

    Attributes:
        kind: name of the fault.
        terms: business terms or groups, one of which a cause must name.
        node: element that is edited, or a group around it: a line, an allowance, a row; None if it is gone.
    """

    kind: str
    terms: tuple[str, ...]
    node: Any = None


@dataclass(frozen=True)
class Place:
    """A fault as tests compare it: `at` is the XPath that a cause must lie in, "" for anywhere."""

    kind: str
    terms: tuple[str, ...]
    at: str


@dataclass(frozen=True)
class Faulty:
    """A faulty invoice, its faults, and the valid invoice."""

    data: bytes
    faults: tuple[Place, ...]
    original: bytes


class Document:
    """An invoice to edit."""

    def __init__(self, data: bytes, draw: random.Random) -> None:
        self.root = parse(data).getroot()
        self.syntax = "CII" if self.root.tag.endswith("CrossIndustryInvoice") else "UBL"
        self.draw = draw

    def all(self, term: str) -> list[Any]:
        """Return the elements of a term."""
        return list(self.root.xpath(path_of(term, self.syntax), namespaces=NAMESPACES))

    def one(self, *terms: str) -> tuple[str, Any] | None:
        """Return one of these terms with one of its elements."""
        found = [(term, node) for term in terms for node in self.all(term)]
        return self.draw.choice(found) if found else None

    def group(self, term: str, node: Any) -> Any:
        """Return the group of a kind around an element."""
        around = [node, *node.iterancestors()]
        return next((it for it in self.all(term) if it in around), None)


Kind = Callable[[Document], Fault | None]
KINDS: dict[str, Kind] = {}


def _kind(function: Kind) -> Kind:
    KINDS[function.__name__.strip("_")] = function
    return function


def _number(node: Any) -> Decimal:
    return Decimal(node.text.strip())


def _money(number: Decimal) -> str:
    return f"{number.quantize(_CENT, ROUND_HALF_UP):f}"


def _set(document: Document, kind: str, terms: Sequence[str], change: Callable[[str], str | None]) -> Fault | None:
    found = document.one(*terms)
    if found is None or not (found[1].text or "").strip():
        return None
    term, node = found
    text = change(node.text.strip())
    if text is None or text == node.text.strip():
        return None
    node.text = text
    return Fault(kind, (term,), node)


def _typo(draw: random.Random) -> Callable[[str], str | None]:
    """Return a function that mistypes a number: two digits exchanged, one digit wrong, a digit lost."""

    def change(text: str) -> str | None:
        digits = [at for at, mark in enumerate(text) if mark.isdigit()]
        at = draw.choice(digits)
        how = draw.randrange(3)
        if how == 0:
            pairs = [(one, one + 1) for one in digits if one + 1 in digits and text[one] != text[one + 1]]
            if not pairs:
                return None
            one, other = draw.choice(pairs)
            return text[:one] + text[other] + text[one] + text[other + 1 :]
        if how == 1:
            return text[:at] + draw.choice([it for it in "123456789" if it != text[at]]) + text[at + 1 :]
        whole = text.partition(".")[0].strip("-")
        return text.replace(whole, whole[:-1], 1) if len(whole) > 1 else None

    return change


@_kind
def total_mistyped(document: Document) -> Fault | None:
    return _set(document, "total_mistyped", _TOTALS, _typo(document.draw))


@_kind
def total_cent(document: Document) -> Fault | None:
    cent = document.draw.choice((_CENT, -_CENT))
    return _set(document, "total_cent", _TOTALS, lambda text: _money(Decimal(text) + cent))


@_kind
def taxable_mistyped(document: Document) -> Fault | None:
    return _set(document, "taxable_mistyped", ("BT-116",), _typo(document.draw))


@_kind
def tax_mistyped(document: Document) -> Fault | None:
    return _set(document, "tax_mistyped", ("BT-117",), _typo(document.draw))


@_kind
def line_amount_mistyped(document: Document) -> Fault | None:
    return _set(document, "line_amount_mistyped", ("BT-131",), _typo(document.draw))


@_kind
def price_mistyped(document: Document) -> Fault | None:
    return _set(document, "price_mistyped", ("BT-146",), _typo(document.draw))


@_kind
def quantity_mistyped(document: Document) -> Fault | None:
    return _set(document, "quantity_mistyped", ("BT-129",), _typo(document.draw))


@_kind
def allowance_mistyped(document: Document) -> Fault | None:
    return _set(document, "allowance_mistyped", ("BT-92", "BT-99"), _typo(document.draw))


@_kind
def line_allowance_mistyped(document: Document) -> Fault | None:
    return _set(document, "line_allowance_mistyped", ("BT-136", "BT-141"), _typo(document.draw))


@_kind
def amount_in_cents(document: Document) -> Fault | None:
    terms = (*_TOTALS, "BT-116", "BT-117", "BT-131")
    return _set(document, "amount_in_cents", terms, lambda text: _money(Decimal(text) * 100))


@_kind
def price_in_cents(document: Document) -> Fault | None:
    found = document.all("BT-146")
    for node in found:
        node.text = f"{_number(node) * 100:f}"
    return Fault("price_in_cents", ("BT-146",))


@_kind
def sign_lost(document: Document) -> Fault | None:
    return _set(document, "sign_lost", (*_TOTALS, "BT-116", "BT-117", "BT-131"), lambda text: _money(-Decimal(text)))


@_kind
def decimal_comma(document: Document) -> Fault | None:
    terms = (*_TOTALS, "BT-116", "BT-117", "BT-131", "BT-146", "BT-92", "BT-113")
    return _set(document, "decimal_comma", terms, lambda text: text.replace(".", ",") if "." in text else None)


@_kind
def thousands(document: Document) -> Fault | None:
    """Separate thousands, in the German or the English way."""

    def change(text: str) -> str | None:
        if abs(Decimal(text)) < 1000:
            return None
        english = f"{Decimal(text):,.2f}"
        return english if document.draw.random() < 0.5 else english.translate(str.maketrans(",.", ".,"))

    return _set(document, "thousands", (*_TOTALS, "BT-116", "BT-131"), change)


@_kind
def currency_sign(document: Document) -> Fault | None:
    return _set(document, "currency_sign", (*_TOTALS, "BT-131", "BT-146"), lambda text: f"{text} EUR")


@_kind
def scientific(document: Document) -> Fault | None:
    """Write a number as spreadsheets do."""
    return _set(
        document, "scientific", (*_TOTALS, "BT-146", "BT-129", "BT-119", "BT-94"), lambda text: f"{Decimal(text):.6E}"
    )


@_kind
def more_decimals(document: Document) -> Fault | None:
    return _set(document, "more_decimals", (*_TOTALS, "BT-116", "BT-117", "BT-131"), lambda text: f"{Decimal(text)}4")


_DATES: Final = ("BT-2", "BT-9", "BT-72", "BT-73", "BT-74")


def _parts(text: str) -> tuple[str, str, str]:
    plain = text.replace("-", "")
    return plain[:4], plain[4:6], plain[6:8]


@_kind
def german_date(document: Document) -> Fault | None:
    return _set(document, "german_date", _DATES, lambda text: "{2}.{1}.{0}".format(*_parts(text)))


@_kind
def american_date(document: Document) -> Fault | None:
    return _set(document, "american_date", _DATES, lambda text: "{1}/{2}/{0}".format(*_parts(text)))


@_kind
def date_with_time(document: Document) -> Fault | None:
    return _set(document, "date_with_time", _DATES, lambda text: "{}-{}-{}T00:00:00".format(*_parts(text)))


@_kind
def lower_case(document: Document) -> Fault | None:
    terms = ("BT-5", "BT-40", "BT-55", "BT-151", "BT-118")
    return _set(document, "lower_case", terms, lambda text: text.lower())


@_kind
def code_as_name(document: Document) -> Fault | None:
    names = {"DE": "Deutschland", "FR": "France", "AT": "Austria", "EUR": "Euro"}
    return _set(document, "code_as_name", ("BT-5", "BT-40", "BT-55"), names.get)


@_kind
def unit_as_name(document: Document) -> Fault | None:
    found = document.one("BT-129")
    names = {"HUR": "Stunde", "H87": "Stück", "KGM": "kg", "DAY": "Tag", "C62": "Stk"}
    if found is None or found[1].get("unitCode") not in names:
        return None
    found[1].set("unitCode", names[found[1].get("unitCode")])
    return Fault("unit_as_name", ("BT-130", "BT-129"), found[1])


@_kind
def unit_mistyped(document: Document) -> Fault | None:
    found = document.one("BT-129")
    if found is None:
        return None
    found[1].set("unitCode", f"{found[1].get('unitCode')}X")
    return Fault("unit_mistyped", ("BT-130", "BT-129"), found[1])


@_kind
def unit_lost(document: Document) -> Fault | None:
    found = document.one("BT-129")
    if found is None:
        return None
    del found[1].attrib["unitCode"]
    return Fault("unit_lost", ("BT-130", "BT-129"), found[1])


@_kind
def currency_mistyped(document: Document) -> Fault | None:
    return _set(document, "currency_mistyped", ("BT-5",), lambda text: text[:2] + "T")


@_kind
def currency_other(document: Document) -> Fault | None:
    return _set(document, "currency_other", ("BT-5",), lambda text: "USD" if text != "USD" else "EUR")


@_kind
def amount_currency(document: Document) -> Fault | None:
    found = document.one(*(it for it in (*_TOTALS, "BT-131", "BT-116") if it != "BT-110"))
    if found is None or "currencyID" not in found[1].attrib:
        return None
    found[1].set("currencyID", "USD")
    return Fault("amount_currency", (found[0],), found[1])


@_kind
def amount_currency_lost(document: Document) -> Fault | None:
    found = document.one(*_TOTALS, "BT-131", "BT-116")
    if found is None or "currencyID" not in found[1].attrib:
        return None
    del found[1].attrib["currencyID"]
    return Fault("amount_currency_lost", (found[0],), found[1])


@_kind
def row_rate(document: Document) -> Fault | None:
    return _set(document, "row_rate", ("BT-119",), lambda text: "16" if Decimal(text) else None)


@_kind
def line_rate(document: Document) -> Fault | None:
    return _set(document, "line_rate", ("BT-152", "BT-96", "BT-103"), lambda text: "16" if Decimal(text) else None)


@_kind
def rate_everywhere(document: Document) -> Fault | None:
    """State the rate of last year everywhere; the amounts are right."""
    nodes = [node for term in ("BT-119", "BT-152", "BT-96", "BT-103") for node in document.all(term)]
    known = [node for node in nodes if _number(node) == 19]
    for node in known:
        node.text = "16"
    return Fault("rate_everywhere", ("BT-119", "BT-152")) if known else None


@_kind
def line_category(document: Document) -> Fault | None:
    return _set(document, "line_category", ("BT-151", "BT-95", "BT-102"), lambda text: "E" if text == "S" else "S")


@_kind
def row_category(document: Document) -> Fault | None:
    return _set(document, "row_category", ("BT-118",), lambda text: "E" if text == "S" else "S")


def _lost(document: Document, kind: str, group: str) -> Fault | None:
    nodes = document.all(group)
    if not nodes or (group in ("BG-25", "BG-23") and len(nodes) < 2):
        return None
    node = document.draw.choice(nodes)
    node.getparent().remove(node)
    return Fault(kind, (group,))


@_kind
def line_lost(document: Document) -> Fault | None:
    return _lost(document, "line_lost", "BG-25")


@_kind
def allowance_lost(document: Document) -> Fault | None:
    return _lost(document, "allowance_lost", "BG-20")


@_kind
def charge_lost(document: Document) -> Fault | None:
    return _lost(document, "charge_lost", "BG-21")


@_kind
def row_lost(document: Document) -> Fault | None:
    return _lost(document, "row_lost", "BG-23")


@_kind
def line_allowance_lost(document: Document) -> Fault | None:
    fault = _lost(document, "line_allowance_lost", document.draw.choice(("BG-27", "BG-28")))
    return fault and Fault(fault.kind, (*fault.terms, "BT-131"))


def _doubled(document: Document, kind: str, group: str) -> Fault | None:
    nodes = document.all(group)
    if not nodes:
        return None
    node = document.draw.choice(nodes)
    twin = copy.deepcopy(node)
    node.addnext(twin)
    if group == "BG-25":
        for term in ("BT-126",):
            for it in document.all(term):
                if twin in it.iterancestors():
                    it.text = str(len(nodes) + 1)
    return Fault(kind, (group,))


@_kind
def line_doubled(document: Document) -> Fault | None:
    return _doubled(document, "line_doubled", "BG-25")


@_kind
def allowance_doubled(document: Document) -> Fault | None:
    return _doubled(document, "allowance_doubled", "BG-20")


@_kind
def charge_doubled(document: Document) -> Fault | None:
    return _doubled(document, "charge_doubled", "BG-21")


@_kind
def row_doubled(document: Document) -> Fault | None:
    return _doubled(document, "row_doubled", "BG-23")


@_kind
def row_split(document: Document) -> Fault | None:
    """Give a category and rate two entries, which add up."""
    nodes = document.all("BG-23")
    node = document.draw.choice(nodes)
    twin = copy.deepcopy(node)
    node.addnext(twin)
    for term in ("BT-116", "BT-117"):
        for it in document.all(term):
            around = list(it.iterancestors())
            if node in around:
                whole = _number(it)
                part = (whole / 2).quantize(_CENT, ROUND_HALF_UP)
                it.text = _money(part)
            elif twin in around:
                it.text = _money(_number(it) - part)
    return Fault("row_split", ("BG-23", "BT-116", "BT-118", "BT-119"))


def _exchanged(kind: str, one: Any, other: Any, terms: tuple[str, ...], node: Any = None) -> Fault | None:
    if one.text == other.text:
        return None
    one.text, other.text = other.text, one.text
    return Fault(kind, terms, node)


@_kind
def totals_exchanged(document: Document) -> Fault | None:
    pair = document.draw.choice(
        (("BT-109", "BT-112"), ("BT-106", "BT-109"), ("BT-107", "BT-108"), ("BT-112", "BT-115"))
    )
    nodes = [document.all(term) for term in pair]
    return _exchanged("totals_exchanged", nodes[0][0], nodes[1][0], pair) if all(nodes) else None


@_kind
def row_exchanged(document: Document) -> Fault | None:
    rows = document.all("BG-23")
    row = document.draw.choice(rows)
    found = [next(it for it in document.all(term) if row in it.iterancestors()) for term in ("BT-116", "BT-117")]
    return _exchanged("row_exchanged", *found, ("BT-116", "BT-117"), row)


@_kind
def columns_exchanged(document: Document) -> Fault | None:
    """Exchange the columns of prices and line amounts."""
    prices, amounts = document.all("BT-146"), document.all("BT-131")
    if len(prices) != len(amounts) or any(_money(_number(it)) != _money(_number(it)) for it in prices):
        return None
    changed = False
    for price, amount in zip(prices, amounts, strict=True):
        if _number(price) != _number(amount):
            price.text, amount.text = amount.text, _money(_number(price))
            changed = True
    return Fault("columns_exchanged", ("BT-131", "BT-146")) if changed else None


@_kind
def indicator_turned(document: Document) -> Fault | None:
    found = document.one("BG-20", "BG-21")
    if found is None:
        return None
    term, node = found
    (indicator,) = (it for it in node.iter("{*}ChargeIndicator"))
    leaf = indicator if not len(indicator) else indicator[0]
    leaf.text = "true" if term == "BG-20" else "false"
    return Fault("indicator_turned", ("BG-20", "BG-21", "BT-92", "BT-99"), node)


@_kind
def prepaid_lost(document: Document) -> Fault | None:
    for node in document.all("BT-113"):
        node.getparent().remove(node)
        return Fault("prepaid_lost", ("BT-113", "BT-115"))
    return None


@_kind
def prepaid_mistyped(document: Document) -> Fault | None:
    return _set(document, "prepaid_mistyped", ("BT-113",), _typo(document.draw))


@_kind
def prepaid_ignored(document: Document) -> Fault | None:
    """State the total with VAT as the amount due, although something was paid."""
    if not document.all("BT-113"):
        return None
    (due,), (gross,) = document.all("BT-115"), document.all("BT-112")
    due.text = gross.text
    return Fault("prepaid_ignored", ("BT-115", "BT-113"), due)


@_kind
def rounding_lost(document: Document) -> Fault | None:
    for node in document.all("BT-114"):
        node.getparent().remove(node)
        return Fault("rounding_lost", ("BT-114", "BT-115"))
    return None


@_kind
def line_signs(document: Document) -> Fault | None:
    """Correct an invoice with negative quantities, and leave the line amounts positive."""
    for node in document.all("BT-131"):
        node.text = _money(-_number(node))
    return Fault("line_signs", ("BT-131",))


@_kind
def quantity_signs(document: Document) -> Fault | None:
    for node in document.all("BT-129"):
        node.text = f"{-_number(node):f}"
    return Fault("quantity_signs", ("BT-129",))


@_kind
def line_amounts_with_vat(document: Document) -> Fault | None:
    amounts, rates = document.all("BT-131"), document.all("BT-152")
    if len(amounts) != len(rates) or not all(map(_number, rates)):
        return None
    for amount, rate in zip(amounts, rates, strict=True):
        amount.text = _money(_number(amount) * (100 + _number(rate)) / 100)
    return Fault("line_amounts_with_vat", ("BT-131",))


@_kind
def prices_with_vat(document: Document) -> Fault | None:
    prices, rates = document.all("BT-146"), document.all("BT-152")
    if len(prices) != len(rates) or document.all("BT-148") or not all(map(_number, rates)):
        return None
    for price, rate in zip(prices, rates, strict=True):
        price.text = f"{(_number(price) * (100 + _number(rate)) / 100).normalize():f}"
    return Fault("prices_with_vat", ("BT-146",))


@_kind
def lines_with_vat(document: Document) -> Fault | None:
    """State prices and net amounts of all lines with VAT; the totals are right."""
    if document.all("BG-27") or document.all("BG-28") or document.all("BT-148"):
        return None
    found = False
    for amount, price, quantity, rate in zip(
        *(document.all(it) for it in ("BT-131", "BT-146", "BT-129", "BT-152")), strict=True
    ):
        factor = 1 + _number(rate) / 100
        found = found or factor > 1
        price.text = _money(_number(price) * factor)
        amount.text = _money(_number(price) * _number(quantity))
    return Fault("lines_with_vat", ("BT-131", "BT-146")) if found else None


@_kind
def base_quantity(document: Document) -> Fault | None:
    """State the quantity as the base quantity of the price, in every line."""
    tag = {
        "UBL": ("cac:Price", "cbc:PriceAmount", "cbc:BaseQuantity"),
        "CII": ("ram:NetPriceProductTradePrice", "ram:ChargeAmount", "ram:BasisQuantity"),
    }[document.syntax]
    if document.all("BT-149"):
        return None
    for line, quantity in zip(document.all("BG-25"), document.all("BT-129"), strict=True):
        (amount,) = line.xpath(f".//{tag[0]}/{tag[1]}", namespaces=NAMESPACES)
        prefix, _, local = tag[2].partition(":")
        node = etree.Element(f"{{{NAMESPACES[prefix]}}}{local}", unitCode=quantity.get("unitCode"))
        node.text = quantity.text
        amount.addnext(node)
    return Fault("base_quantity", ("BT-149",))


@_kind
def total_lost(document: Document) -> Fault | None:
    found = document.one("BT-106", "BT-109", "BT-112", "BT-107", "BT-108")
    if found is None:
        return None
    found[1].getparent().remove(found[1])
    return Fault("total_lost", (found[0],))


@_kind
def line_amount_lost(document: Document) -> Fault | None:
    found = document.one("BT-131")
    assert found
    line = document.group("BG-25", found[1])
    found[1].getparent().remove(found[1])
    return Fault("line_amount_lost", ("BT-131",), line)


@_kind
def quantity_lost(document: Document) -> Fault | None:
    found = document.one("BT-129")
    assert found
    line = document.group("BG-25", found[1])
    found[1].getparent().remove(found[1])
    return Fault("quantity_lost", ("BT-129",), line)


@_kind
def fact_lost(document: Document) -> Fault | None:
    """Leave out what only the issuer knows."""
    found = document.one("BT-1", "BT-2", "BT-10", "BT-31", "BT-38", "BT-41", "BT-43", "BT-52", "BT-55", "BT-84")
    if found is None:
        return None
    term, node = found
    parent = node.getparent()
    parent.remove(node)
    while not len(parent) and not (parent.text or "").strip() and parent is not document.root:
        node, parent = parent, parent.getparent()
        parent.remove(node)
    groups = {"BT-31": "BG-4", "BT-41": "BG-6", "BT-43": "BG-6", "BT-84": "BG-17"}
    return Fault("fact_lost", tuple(filter(None, (term, groups.get(term)))))


@_kind
def name_mistyped(document: Document) -> Fault | None:
    """Misspell the name of an element."""
    found = document.one("BT-2", "BT-5", "BT-109", "BT-106", "BT-116")
    assert found
    term, node = found
    node = node.getparent() if document.syntax == "CII" and term == "BT-2" else node
    node.tag = node.tag[:-1]
    return Fault("name_mistyped", (term, ""), node)


@_kind
def order_wrong(document: Document) -> Fault | None:
    found = document.one("BT-109", "BT-106", "BT-5", "BT-116")
    assert found
    term, node = found
    if node.getnext() is None:
        return None
    node.getnext().addnext(node)
    return Fault("order_wrong", (term, ""), node.getparent())


@_kind
def fact_twice(document: Document) -> Fault | None:
    found = document.one("BT-10", "BT-5", "BT-109", "BT-23")
    if found is None:
        return None
    term, node = found
    node = node.getparent() if document.syntax == "CII" and term == "BT-23" else node
    node.addnext(copy.deepcopy(node))
    return Fault("fact_twice", (term, ""))


@_kind
def element_empty(document: Document) -> Fault | None:
    """Leave an optional element without content."""
    return _set(document, "element_empty", ("BT-28", "BT-20", "BT-36", "BT-154", "BT-22"), lambda _: "")


@_kind
def process_lost(document: Document) -> Fault | None:
    for node in document.all("BT-23"):
        node = node.getparent() if document.syntax == "CII" else node
        node.getparent().remove(node)
        return Fault("process_lost", ("BT-23",))
    return None


@_kind
def specification_mistyped(document: Document) -> Fault | None:
    return _set(document, "specification_mistyped", ("BT-24",), lambda text: text.replace("xrechnung_", "xrechnung-"))


@_kind
def means_wrong(document: Document) -> Fault | None:
    fault = _set(document, "means_wrong", ("BT-81",), lambda text: "59" if text in ("58", "30") else "58")
    return fault and Fault(fault.kind, ("BT-81", "BG-19", "BG-17", "BT-89", "BT-90", "BT-91", "BT-84"))


@_kind
def debit_beside_transfer(document: Document) -> Fault | None:
    """State details of a direct debit, although the payment is a credit transfer."""
    means = document.all("BG-16")
    if document.syntax == "CII":
        parent, step, place = means[0].getparent(), "CreditorReferenceID", 0
    else:
        parent, step, place = means[0], "PaymentMandate", len(means[0])
    uri = means[0].tag[1 : means[0].tag.index("}")]
    added = etree.Element(f"{{{uri}}}{step}")
    if document.syntax == "CII":
        added.text = "DE98ZZZ09999999999"
    else:
        etree.SubElement(added, means[0][0].tag[: means[0][0].tag.index("}") + 1] + "ID").text = "M-1"
    parent.insert(place, added)
    return Fault("debit_beside_transfer", ("BG-19", "BT-89", "BT-90"))


@_kind
def untaxed_rate(document: Document) -> Fault | None:
    """State a rate everywhere in a category without tax; the tax is 0."""
    found = False
    for category, rate in (("BT-118", "BT-119"), ("BT-151", "BT-152"), ("BT-95", "BT-96"), ("BT-102", "BT-103")):
        nodes = {node.getparent() for node in document.all(category) if node.text in ("E", "K")}
        for node in document.all(rate):
            if node.getparent() in nodes:
                node.text, found = "19", True
    return Fault("untaxed_rate", ("BT-119", "BT-152")) if found else None


@_kind
def period_reversed(document: Document) -> Fault | None:
    starts, ends = document.all("BT-73"), document.all("BT-74")
    if not starts or not ends:
        return None
    return _exchanged("period_reversed", starts[0], ends[0], ("BT-73", "BT-74"))


@_kind
def vat_scheme(document: Document) -> Fault | None:
    if document.syntax == "CII":
        nodes = [it for it in document.root.iter("{*}ID") if it.get("schemeID") == "VA"]
        node = document.draw.choice(nodes)
        node.set("schemeID", "va")
        return Fault("vat_scheme", ("BT-31", "BT-48", "BT-63"), node.getparent())
    nodes = [it[0] for it in document.root.iter("{*}TaxScheme") if len(it)]
    node = document.draw.choice(nodes)
    node.text = "vat"
    return Fault("vat_scheme", ("BT-31", "BT-48", "BT-118", "BT-151", "BT-95", "BT-102", ""), node.getparent())


@_kind
def exemption_lost(document: Document) -> Fault | None:
    found = [node for term in ("BT-120", "BT-121") for node in document.all(term)]
    for node in found:
        node.getparent().remove(node)
    return Fault("exemption_lost", ("BT-120", "BT-121")) if found else None


@_kind
def blanks(document: Document) -> Fault | None:
    """Pad a code or a scheme, as fixed-width fields do."""
    return _set(document, "blanks", ("BT-5", "BT-40", "BT-55", "BT-151", "BT-118", "BT-81"), lambda text: f"{text}  ")


# ---------------------------------------------------------------------------------------------------------------------


def _party(name: str, country: str, **more: Any) -> dict[str, Any]:
    town = {"DE": ("04109", "Leipzig"), "FR": ("75001", "Paris"), "AT": ("1010", "Wien")}[country]
    mail = f"post@{name.split()[0].lower()}.example"
    return {
        "name": name, "street": "Marktstraße 1", "postal_code": town[0], "city": town[1], "country_code": country,
        "electronic_address": {"id": mail, "scheme": "EM"}, **more,
    }  # fmt: skip


def _draft(draw: random.Random, number: int) -> dict[str, Any]:
    """Return a draft: several lines with their own prices, and at random all that the sums can contain."""
    taxed = draw.choice(("one", "one", "two", "two", "exempt", "abroad"))
    pairs = {
        "one": [("S", "19")], "two": [("S", "19"), ("S", "7")], "exempt": [("S", "19"), ("E", "0")],
        "abroad": [("K", "0")],
    }[taxed]  # fmt: skip
    contact = {"name": "Ada Amsel", "telephone": "+49 341 123456", "email": "ada@amsel.example"}
    seller = _party("Amsel Werke GmbH", "DE", tax_id="DE123456789", contact=contact, trading_name="Amsel",
                    legal_registration={"id": "HRB 12345"}, additional_street="Hof 2")  # fmt: skip
    buyer = _party("Drossel SA", "FR", vat_id="FR83404833048") if taxed == "abroad" else _party("Drossel KG", "DE")
    draft: dict[str, Any] = {
        "invoice_number": f"A-{number}", "issue_date": "2026-11-20", "due_date": "2026-12-20",
        "service_date": draw.choice(("2026-11-18", "2026-11-05")), "buyer_reference": "04011000-12345-34",
        "seller": seller, "buyer": buyer, "payment_terms": "Zahlbar ohne Abzug.",
        "payment": {"payment_means_code": draw.choice(("58", "30")),
                    "accounts": [{"iban": "DE02120300000000202051"}]},
        "notes": [{"text": "Vielen Dank."}],
    }  # fmt: skip
    if taxed == "abroad":
        address = ("street", "postal_code", "city", "country_code")
        draft["delivery"] = {key: buyer[key] for key in address}
    if draw.random() < 0.3:
        draft["type_code"], draft["preceding_invoices"] = "381", [{"number": "A-1", "issue_date": "2026-11-02"}]
    if draw.random() < 0.4:
        draft["invoicing_period"] = {"start": "2026-11-01", "end": "2026-11-20"}
    lines = []
    for position in range(draw.randint(2, 5)):
        category, rate = pairs[position % len(pairs)]
        line = {
            "line_id": str(position + 1), "name": draw.choice(("Rad", "Helm", "Wartung", "Kette", "Licht")),
            "description": "wie bestellt", "quantity": draw.choice(("2", "3", "7", "12", "2.5", "20")),
            "unit_code": draw.choice(("HUR", "H87", "C62", "KGM", "DAY")),
            "unit_price": f"{draw.randint(200, 99999) / 100:.2f}", "tax_category": category, "tax_rate": rate,
        }  # fmt: skip
        if draw.random() < 0.2:
            line["allowances"] = [{"amount": f"{draw.randint(20, 300) / 100:.2f}", "reason": "Rabatt"}]
        if draw.random() < 0.15:
            line["charges"] = [{"amount": f"{draw.randint(20, 300) / 100:.2f}", "reason": "Verpackung"}]
        if draw.random() < 0.2:
            line["gross_price"] = f"{Decimal(line['unit_price']) + 5:.2f}"
            line["price_discount"] = "5.00"
        lines.append(line)
    draft["lines"] = lines
    category, rate = pairs[0]
    net = sum(Decimal(it["quantity"]) * Decimal(it["unit_price"]) for it in lines)
    if draw.random() < 0.5:
        draft["allowances"] = [
            {"amount": _money(net / 20), "tax_category": category, "tax_rate": rate, "reason": "Treue"}
        ]
    if draw.random() < 0.5:
        charge = f"{draw.randint(300, 2000) / 100:.2f}"
        draft["charges"] = [{"amount": charge, "tax_category": category, "tax_rate": rate, "reason": "Fracht"}]
    reasons = {"E": "VATEX-EU-132", "K": "VATEX-EU-IC"}
    if exempt := [it for it in pairs if it[0] in reasons]:
        draft["vat_breakdown"] = [
            {"tax_category": it, "tax_rate": rate, "exemption_reason_code": reasons[it]} for it, rate in exempt
        ]
    if draw.random() < 0.4:
        draft["totals"] = {"paid_amount": f"{draw.randint(1000, 5000) / 100:.2f}"}
        if draw.random() < 0.5:
            draft["totals"]["rounding_amount"] = draw.choice(("0.02", "-0.03"))
    return draft


@functools.cache
def invoices(count: int = 60) -> tuple[bytes, ...]:
    """Return valid invoices without findings, alternately in UBL and CII."""
    found: list[bytes] = []
    number = 0
    while len(found) < count:
        number += 1
        draft = _draft(random.Random(f"invoice/{number}"), number)
        data = einvoice.generate(draft, ("UBL", "CII")[number % 2]).xml.encode()
        result = einvoice.validate(data)
        if not result.findings:
            found.append(data)
    return tuple(found)


def faulty(count: int, faults: int = 1, start: int = 0, kinds: Sequence[str] = ()) -> Iterator[Faulty]:
    """Yield invoices with this number of faults of different kinds, each of which adds findings of its own.

    Args:
        count: how many.
        faults: number of faults in each.
        start: where the numbers begin that the seeds are made of.
        kinds: names of the kinds; default: all, in turn.
    """
    names = list(kinds or KINDS)
    number, made = start, 0
    while made < count:
        number += 1
        draw = random.Random(f"{number}/{faults}")
        first = names[number % len(names)]
        others = draw.sample([it for it in names if it != first], faults - 1)
        found = _faulty(draw, draw.choice(invoices()), (first, *others))
        if found is not None:
            made += 1
            yield found


def _faulty(draw: random.Random, original: bytes, kinds: Sequence[str]) -> Faulty | None:
    document = Document(original, draw)
    known: set[tuple[str, str]] = set()
    faults: list[Fault] = []
    data = original
    for kind in kinds:
        try:
            fault = KINDS[kind](document)
        except (IndexError, InvalidOperation, ValueError, StopIteration, AttributeError, TypeError, AssertionError):
            return None  # another fault has made it impossible
        if fault is None or any(set(fault.terms) & set(it.terms) for it in faults):
            return None
        faults.append(fault)
        data = etree.tostring(document.root, xml_declaration=True, encoding="UTF-8")
        found = {(it.code, it.xpath) for it in einvoice.validate(data).findings}
        if found <= known:
            return None
        known = found
    if any(it.node is not None and it.node.getroottree().getroot() is not document.root for it in faults):
        return None  # another fault has taken it away
    places = (Place(it.kind, it.terms, "" if it.node is None else xpath(_scope(document, it.node))) for it in faults)
    return Faulty(data, tuple(places), original)


def _scope(document: Document, node: Any) -> Any:
    """Return the line, allowance or row around an element, or else the element itself or its parent."""
    for group in ("BG-25", "BG-23", "BG-20", "BG-21"):
        if (found := document.group(group, node)) is not None:
            return found
    return document.root


def names(cause: Any, fault: Place) -> bool:
    """Return whether a cause names a fault: one of its terms, at its place."""
    known = {*cause.terms, cause.missing} - {""}
    places = [cause.location.xpath]
    for change in cause.changes:
        places += [getattr(it, "parent", "") or it.xpath for it in change.edits]
    is_there = not fault.at or any(f"{it}/".startswith(f"{fault.at}/") for it in places)
    return is_there and ("" in fault.terms or not known.isdisjoint(fault.terms))


def false_values(original: bytes, given: bytes, fixed: bytes, *, is_doubled: bool = False) -> list[str]:
    """Return what a repair wrote that the valid invoice does not state, and what it took away that is stated there.

    Args:
        original: the valid invoice.
        given: the faulty one.
        fixed: the repaired one.
        is_doubled: whether the faulty one has a group twice, in each of which a value can be mended.
    """
    right, before, after = map(_content, (original, given, fixed))
    written, taken = after - before, before - after
    wrong = written - (right + right - before if is_doubled else right - before)
    lost = taken - (before - right)
    return [*(f"+ {path}={text}" for path, text in wrong), *(f"- {path}={text}" for path, text in lost)]


def _content(data: bytes) -> Counter[tuple[str, str]]:
    """Return what a document states: path and text of each leaf and attribute, numbers in their shortest form."""
    found: Counter[tuple[str, str]] = Counter()
    for node in parse(data).getroot().iter(etree.Element):
        path = "/".join(etree.QName(it).localname for it in (*reversed(list(node.iterancestors())), node))
        if text := _plain(node.text or ""):
            found[path, text] += 1
        found.update((f"{path}/@{name}", _plain(text)) for name, text in node.attrib.items())
    return found


def _plain(text: str) -> str:
    text = text.strip()
    try:
        return f"{Decimal(text).normalize():f}" if Decimal(text).is_finite() and "E" not in text.upper() else text
    except InvalidOperation:
        return text
