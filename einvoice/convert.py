"""From one syntax to the other through the model, with a list of what had no place there."""

from __future__ import annotations

import datetime
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Final, Literal, TypeAlias

from einvoice.model.group import Group, terms_of
from einvoice.model.invoice import Invoice
from einvoice.model.location import line, xpath
from einvoice.model.terms import terms as business_terms
from einvoice.model.values import Value, normalize_space
from einvoice.syntax import xml
from einvoice.syntax.writer import write
from einvoice.validation import read

Syntax: TypeAlias = Literal["UBL", "CII"]

#: UNTDID 1001 types that UBL writes as a CreditNote (EN 16931-3-2, BT-3).
_CREDIT_NOTES: Final = frozenset(
    ("81", "83", "261", "262", "296", "308", "381", "396", "420", "458", "502", "503", "532")
)
_BESIDE: Final = ("schemeID", "listID", "unitCode", "mimeCode", "filename")


@dataclass(frozen=True, slots=True)
class Loss:
    """Something that the other syntax has no place for.

    Attributes:
        terms: its business terms; empty for what no business term covers.
        text: what the document says there; of an element without a text of its own, all texts in it.
        line: the line of the original, counted from 1; None where there is none.
        xpath: its place in the original (prefixes: `einvoice.NAMESPACES`).
    """

    terms: tuple[str, ...]
    text: str
    line: int | None
    xpath: str


@dataclass(frozen=True, slots=True)
class Converted:
    """A document in the other syntax: its bytes (UTF-8), its syntax, and what was lost on the way."""

    xml: bytes
    syntax: Syntax
    losses: tuple[Loss, ...]

    def __repr__(self) -> str:
        return f"<Converted to {self.syntax}: {len(self.losses)} losses>"


def convert(source: xml.Source, to: Syntax | None = None) -> Converted:
    """Write an invoice in the other syntax.

    Nothing is judged and nothing is calculated that the other syntax does not ask for. A UBL document becomes a
    CreditNote where its type (BT-3) says so.

    Args:
        source: a path, bytes, or a binary file.
        to: "UBL" or "CII"; by default the one that the document is not in.

    Raises:
        UnreadableDocument: one of its subclasses, see `einvoice.errors`.
        ValueError: another syntax than these two.
        OSError: the file cannot be opened.
    """
    if to not in (None, "UBL", "CII"):
        raise ValueError(f"to is 'UBL' or 'CII', not {to!r}")
    data, _ = xml.source_bytes(source)
    invoice = read(data)
    target: Syntax = to or ("CII" if invoice.syntax == "UBL" else "UBL")
    if target == invoice.syntax:
        return Converted(write(invoice, invoice.root), target, tuple(_uncovered(invoice)))
    written = write(invoice, _root(invoice, target))
    return Converted(written, target, tuple(_losses(invoice, read(written))))


def _root(invoice: Invoice, syntax: Syntax) -> str:
    if syntax == "CII":
        return "CrossIndustryInvoice"
    return "CreditNote" if normalize_space(invoice.type_code.raw or "") in _CREDIT_NOTES else "Invoice"


# ---------------------------------------------------------------- what is lost


def _losses(original: Invoice, target: Invoice) -> Iterator[Loss]:
    """What stands in the original, and neither in the target nor in a translation of it back.

    Either alone would tell too much: the syntaxes spell some values differently, some have another term there (the
    creditor's identifier), and some fields are only read from one of them.
    """
    back = read(write(target, original.root))
    found = [Counter(key for _, _, key in _values(invoice)) for invoice in (target, back)]
    texts = Counter(value.text for _, value, _ in _values(target))
    texts.subtract(value.text for _, value, _ in _values(original))
    for terms, value, key in _values(original):
        if any(keys[key] for keys in found):
            if not _once(terms):
                for keys in found:
                    keys[key] -= 1
        elif value.filled and texts[value.text] < 0:
            yield Loss(terms, value.raw, value.line, value.xpath)
    yield from _uncovered(original)


def _once(terms: tuple[str, ...]) -> bool:
    """Whether the norm has the term once an invoice; the same again, as CII has it beside each VAT rate, is no more."""
    known = business_terms()
    return bool(terms) and all(number in known and not known[number].parent for number in terms)


def _uncovered(invoice: Invoice) -> Iterator[Loss]:
    """What no business term covers, which the writer leaves out in any syntax."""
    misplaced = (group.node for groups in invoice.misplaced.values() for group in groups)
    for element in (*misplaced, *invoice.unmapped):
        if text := " ".join("".join(element.itertext()).split()):
            yield Loss((), text, line(element), xpath(element))


def _values(group: Group) -> Iterator[tuple[tuple[str, ...], Value, tuple[Any, ...]]]:
    """Every value of the groups below, its terms, and what makes it the same in another syntax."""
    for below in group.walk():
        for name in below.fields:
            content = getattr(below, name)
            for value in content if isinstance(content, list | tuple) else (content,):
                if isinstance(value, Value):
                    terms = terms_of(type(below), name)
                    for occurrence in (value, *value.more):
                        yield terms, occurrence, (terms or name, *_meaning(occurrence))


def _meaning(value: Value) -> tuple[Any, ...]:
    typed = value.value
    meant = typed if isinstance(typed, Decimal | datetime.date) else normalize_space(value.text)
    return meant, *(value.attributes.get(name) for name in _BESIDE)
