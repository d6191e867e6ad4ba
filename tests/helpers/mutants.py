"""Faulty invoices with known edits: valid invoices, each with one or several edits as faulty programs make them.

All is drawn from a seed. An edit knows its place, its business term and whether the rest of the invoice says what stood
there (`can_be_undone`), independently of the code under test.
"""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings
from lxml import etree

import einvoice
from einvoice.model.iteration import filled
from einvoice.model.location import xpath
from einvoice.syntax.reader import read
from einvoice.syntax.writer import write
from einvoice.syntax.xml import parse
from tests.helpers.paths import SAMPLES
from tests.helpers.strategies import plausible_invoices

ROOTS = {"UBL": "Invoice", "CII": "CrossIndustryInvoice"}


@dataclass(frozen=True)
class Edit:
    """An edit of a valid invoice.

    Attributes:
        kind: name of the edit.
        place: XPath of the edited element; of the parent for a removed one.
        term: business term of the element; "" if it has none.
        can_be_undone: whether the rest of the invoice, or the form of the value, says what stood there.
    """

    kind: str
    place: str
    term: str
    can_be_undone: bool


@dataclass(frozen=True)
class Mutant:
    """A faulty invoice, its edits and the valid invoice that was edited."""

    data: bytes
    edits: tuple[Edit, ...]
    original: bytes


@functools.cache
def valid_invoices() -> tuple[bytes, ...]:
    """Return valid invoices without findings, in UBL and CII: the samples and generated ones."""
    documents = [path.read_bytes() for path in sorted(SAMPLES.glob("*.xml"))]
    documents += [
        write(einvoice.read(document), root)
        for document in documents
        if (root := "CrossIndustryInvoice" if b"CrossIndustryInvoice" not in document else "Invoice")
    ]

    @seed(17)
    @settings(
        max_examples=40,
        database=None,
        phases=[Phase.generate],
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(plausible_invoices())
    def collect(invoice: Any) -> None:
        documents.extend(write(invoice, root) for root in ROOTS.values())

    collect()
    return tuple(document for document in dict.fromkeys(documents) if not einvoice.validate(document).findings)


def mutants(count: int, edits: int = 1, start: int = 0, kinds: Sequence[Kind] = ()) -> Iterator[Mutant]:
    """Yield mutants with findings, each with this number of edits of these kinds (default: all) at different places."""
    documents, number = valid_invoices(), start
    made = 0
    while made < count:
        number += 1
        mutant = _mutant(random.Random(f"{number}/{edits}"), documents, edits, kinds or _KINDS)
        if mutant is not None:
            made += 1
            yield mutant


def _mutant(draw: random.Random, documents: Sequence[bytes], edits: int, kinds: Sequence[Kind]) -> Mutant | None:
    original = data = draw.choice(documents)
    done: list[Edit] = []
    for _ in range(edits):
        root = parse(data).getroot()
        targets = [
            _Target(it.number, it.value, it.group, root) for it in filled(read(root)) if it.value.node is not None
        ]
        targets = [it for it in targets if it.place not in {edit.place for edit in done}]
        kind = draw.choice(kinds)
        edit = kind(draw, root, targets)
        if edit is None:
            return None
        done.append(edit)
        before, data = data, etree.tostring(root, xml_declaration=True, encoding="UTF-8")
        if _findings(data) <= _findings(before):  # the edit went unnoticed
            return None
    return Mutant(data, tuple(done), original)


def _findings(data: bytes) -> set[tuple[str, str]]:
    return {(finding.code, finding.xpath) for finding in einvoice.validate(data).findings}


class _Target:
    """A value of the invoice that can be edited."""

    def __init__(self, term: str, value: Any, group: Any, root: Any) -> None:
        self.term, self.value, self.group, self.node = term, value, group, value.node
        self.place = xpath(value.node, value.attribute)
        self.in_attribute = value.attribute is not None

    def edit(self, kind: str, can_be_undone: bool, text: str | None = None) -> Edit:
        if text is not None:
            if self.in_attribute:
                self.node.set(self.value.attribute, text)
            else:
                self.node.text = text
        return Edit(kind, self.place, self.term, can_be_undone)


#: Amounts that EN 16931 (6.4.3) derives from others, and inputs that the amounts derived from them decide.
_DERIVED = {"BT-106", "BT-107", "BT-108", "BT-109", "BT-110", "BT-112", "BT-115", "BT-116", "BT-117"}
_INPUTS = {"BT-92", "BT-99", "BT-113", "BT-129", "BT-131", "BT-136", "BT-141", "BT-146"}
_VAT_CODES = {"BT-95", "BT-102", "BT-118", "BT-151"}
_VAT_RATES = {"BT-96", "BT-103", "BT-119", "BT-152"}
_DATES = {"BT-2", "BT-9", "BT-72", "BT-73", "BT-74"}
_CODES = {"BT-5", "BT-40", "BT-55", *_VAT_CODES}
_STEPS = ("0.01", "-0.10", "1.00", "9.00", "-5.00", "100.00")


def _number(target: _Target) -> Decimal | None:
    try:
        return Decimal(target.value.raw.strip())
    except InvalidOperation:
        return None


def _amount(draw: random.Random, root: Any, targets: list[_Target]) -> Edit | None:
    """Change an amount that others determine."""
    target = _one(draw, targets, _DERIVED)
    if target is None or (number := _number(target)) is None:
        return None
    return target.edit("amount", True, f"{number + Decimal(draw.choice(_STEPS)):.2f}")


def _input(draw: random.Random, root: Any, targets: list[_Target]) -> Edit | None:
    """Change a quantity, price or amount from which others were calculated."""
    target = _one(draw, targets, _INPUTS)
    if target is None or (number := _number(target)) is None:
        return None
    return target.edit("input", True, f"{number + Decimal(draw.choice(_STEPS)):f}")


def _digits(draw: random.Random, root: Any, targets: list[_Target]) -> Edit | None:
    """Swap two digits of an amount."""
    target = _one(draw, targets, _DERIVED | _INPUTS)
    if target is None or len(target.value.raw) < 2:
        return None
    at = draw.randrange(len(target.value.raw) - 1)
    text = target.value.raw
    swapped = text[:at] + text[at + 1] + text[at] + text[at + 2 :]
    if not swapped.replace(".", "").isdigit() or swapped.startswith(".") or swapped.endswith("."):
        return None
    return target.edit("digits", True, swapped)


def _category(draw: random.Random, root: Any, targets: list[_Target]) -> Edit | None:
    """Change a VAT category."""
    target = _one(draw, targets, _VAT_CODES)
    return target and target.edit("category", True, draw.choice([it for it in "SZE" if it != target.value.raw]))


def _rate(draw: random.Random, root: Any, targets: list[_Target]) -> Edit | None:
    """Change a VAT rate."""
    target = _one(draw, targets, _VAT_RATES)
    rates = ("0", "7", "16", "19")
    return target and target.edit("rate", True, draw.choice([it for it in rates if Decimal(it) != _number(target)]))


def _case(draw: random.Random, root: Any, targets: list[_Target]) -> Edit | None:
    """Write a code in small letters."""
    target = _one(draw, targets, _CODES)
    return target and target.edit("case", True, target.value.raw.lower())


def _pad(draw: random.Random, root: Any, targets: list[_Target]) -> Edit | None:
    """Add blanks to a code, number or date."""
    target = _one(draw, targets, _CODES | _DERIVED | _DATES | {"BT-24", "BT-23", "BT-3", "BT-81", "BT-84"})
    return target and target.edit(
        "pad", True, draw.choice(("{} ", " {}", "\n{}\n", "{}\u00a0")).format(target.value.raw)
    )


def _date(draw: random.Random, root: Any, targets: list[_Target]) -> Edit | None:
    """Write a date in another notation."""
    target = _one(draw, targets, _DATES)
    if target is None:
        return None
    day = target.value.date
    return target.edit("date", True, f"{day:{draw.choice(('%d.%m.%Y', '%Y/%m/%d', '%Y-%m-%dT00:00:00'))}}")


def _comma(draw: random.Random, root: Any, targets: list[_Target]) -> Edit | None:
    """Write an amount with a decimal comma, a currency or too many decimals."""
    target = _one(draw, targets, _DERIVED)
    if target is None:
        return None
    raw = target.value.raw
    return target.edit("comma", True, draw.choice((raw.replace(".", ","), f"{raw} EUR", f"{raw}00", f"EUR {raw}")))


def _currency(draw: random.Random, root: Any, targets: list[_Target]) -> Edit | None:
    """Change or remove the currency of an amount."""
    target = _one([it for it in targets if it.node.get("currencyID")] and draw, targets, _DERIVED | _INPUTS)
    if target is None or not target.node.get("currencyID"):
        return None
    if draw.random() < 0.5:
        target.node.set("currencyID", draw.choice(("USD", "eur", "CHF")))
    else:
        del target.node.attrib["currencyID"]
    return Edit("currency", target.place, target.term, True)


_REMOVABLE = {*_DERIVED, *_VAT_CODES, *_VAT_RATES, "BT-5", "BT-23", "BT-126", "BT-131"}
_UNKNOWN = {"BT-1", "BT-2", "BT-3", "BT-10", "BT-27", "BT-31", "BT-34", "BT-37", "BT-38", "BT-40", "BT-41", "BT-42",
            "BT-43", "BT-44", "BT-49", "BT-52", "BT-53", "BT-55", "BT-81", "BT-84", "BT-130", "BT-153"}  # fmt: skip


def _remove(draw: random.Random, root: Any, targets: list[_Target]) -> Edit | None:
    """Remove a term that the rest of the invoice determines."""
    return _removed(_one(draw, targets, _REMOVABLE), "remove", True)


def _lose(draw: random.Random, root: Any, targets: list[_Target]) -> Edit | None:
    """Remove a term that only the issuer knows."""
    return _removed(_one(draw, targets, _UNKNOWN), "lose", False)


def _removed(target: _Target | None, kind: str, can_be_undone: bool) -> Edit | None:
    if target is None or target.in_attribute:
        return None
    parent = target.node.getparent()
    edit = Edit(kind, xpath(parent), target.term, can_be_undone)
    parent.remove(target.node)
    return edit


def _empty(draw: random.Random, root: Any, targets: list[_Target]) -> Edit | None:
    """Empty a term."""
    target = _one(draw, targets, _REMOVABLE | _UNKNOWN)
    return target and target.edit("empty", target.term in _REMOVABLE, "")


def _wrong_code(draw: random.Random, root: Any, targets: list[_Target]) -> Edit | None:
    """Replace a code by one that no list has."""
    target = _one(draw, targets, {"BT-3", "BT-5", "BT-40", "BT-55", "BT-81"})
    return target and target.edit("code", target.term in ("BT-5",), "XQ7")


def _breakdown(draw: random.Random, root: Any, targets: list[_Target]) -> Edit | None:
    """Remove a VAT breakdown."""
    target = _one(draw, targets, {"BT-116"})
    if target is None:
        return None
    node = target.group.node
    parent = node.getparent()
    edit = Edit("breakdown", xpath(parent), "BG-23", True)
    parent.remove(node)
    return edit


def _double(draw: random.Random, root: Any, targets: list[_Target]) -> Edit | None:
    """Repeat an element."""
    target = _one(draw, targets, {"BT-1", "BT-2", "BT-5", "BT-10", *_DERIVED})
    if target is None or target.in_attribute:
        return None
    copy = etree.fromstring(etree.tostring(target.node))
    copy.tail = target.node.tail
    target.node.addnext(copy)
    return Edit("double", xpath(copy), target.term, True)


def _unknown_element(draw: random.Random, root: Any, targets: list[_Target]) -> Edit | None:
    """Add an element that neither the schema nor a business term has."""
    target = draw.choice(targets)
    element = etree.Element(etree.QName(etree.QName(target.node).namespace, "InternalNote"))
    element.text = "x"
    target.node.addnext(element)
    return Edit("unknown", xpath(element), "", True)


def _order(draw: random.Random, root: Any, targets: list[_Target]) -> Edit | None:
    """Move an element behind the next one."""
    target = draw.choice(targets)
    following = target.node.getnext()
    if target.in_attribute or following is None or following.tag == target.node.tag:
        return None
    following.addnext(target.node)
    return Edit("order", xpath(target.node), target.term, True)


def _indicator(draw: random.Random, root: Any, targets: list[_Target]) -> Edit | None:
    """Make an allowance a charge, or a charge an allowance."""
    groups = _groups(targets, {"BT-92", "BT-99", "BT-136", "BT-141"})
    if not groups:
        return None
    for node in draw.choice(groups).iter("{*}ChargeIndicator", "{*}Indicator"):
        if (text := (node.text or "").strip()) in _OTHER:
            node.text = _OTHER[text]
            return Edit("indicator", xpath(node), "", True)
    return None


_OTHER = {"true": "false", "false": "true"}


def _group(draw: random.Random, root: Any, targets: list[_Target]) -> Edit | None:
    """Remove or repeat a line, an allowance, a charge or a VAT breakdown."""
    group = draw.choice(groups) if (groups := _groups(targets, {"BT-92", "BT-99", "BT-116", "BT-131"})) else None
    if group is None:
        return None
    parent = group.getparent()
    if draw.random() < 0.5:
        edit = Edit("group removed", xpath(parent), "", False)
        parent.remove(group)
        return edit
    group.addnext(copy := etree.fromstring(etree.tostring(group)))
    return Edit("group repeated", xpath(copy), "", True)


def _groups(targets: list[_Target], terms: set[str]) -> list[Any]:
    """Return the elements of the groups with these terms, each once."""
    found = [it.group.node for it in targets if it.term in terms]
    return [node for node in dict.fromkeys(found) if node is not None]


def _one(draw: Any, targets: list[_Target], terms: set[str]) -> Any:
    found = [it for it in targets if it.term in terms]
    if not found or not draw:
        return None
    term = draw.choice(sorted({it.term for it in found}))
    return draw.choice([it for it in found if it.term == term])


Kind = Callable[[random.Random, Any, list[_Target]], Edit | None]

_KINDS: Sequence[Kind] = (
    _amount, _amount, _input, _input, _digits, _category, _category, _rate, _rate, _case, _pad, _date, _comma,
    _currency, _remove, _remove, _lose, _empty, _wrong_code, _breakdown, _double, _unknown_element, _order,
)  # fmt: skip
AMOUNTS: Sequence[Kind] = (
    _amount, _input, _digits, _rate, _category, _comma, _remove, _empty, _indicator, _indicator, _group, _group, _group,
)  # fmt: skip
"""Kinds of edits of an amount, rate, category or indicator, and of whole groups."""
