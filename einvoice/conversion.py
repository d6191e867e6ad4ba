"""Converts an invoice between UBL and CII through the model, and lists the content that is lost."""

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
from einvoice.syntax import reader, xml
from einvoice.syntax.writer import root_of, write
from einvoice.validation import read

Syntax: TypeAlias = Literal["UBL", "CII"]

_ATTRIBUTES: Final = ("schemeID", "listID", "unitCode", "mimeCode", "filename")


@dataclass(frozen=True, slots=True)
class Loss:
    """Content that the target syntax cannot contain.

    Attributes:
        terms: its business terms; empty if no business term covers the element.
        text: its text, or the concatenated texts of its descendants if it has none.
        line: line in the source document, counted from 1; None if unknown.
        xpath: its XPath in the source document (prefixes: `einvoice.NAMESPACES`).
    """

    terms: tuple[str, ...]
    text: str
    line: int | None
    xpath: str


@dataclass(frozen=True, slots=True)
class Converted:
    """A converted document: its bytes (UTF-8), its syntax, and the lost content."""

    xml: bytes
    syntax: Syntax
    losses: tuple[Loss, ...]

    def __repr__(self) -> str:
        return f"<Converted to {self.syntax}: {len(self.losses)} losses>"


def convert(source: xml.Source, to: Syntax | None = None) -> Converted:
    """Convert an invoice to the other syntax, without validating it.

    Only values that the target syntax requires are calculated. The UBL root element is CreditNote if the type code
    (BT-3) requires it.

    Args:
        source: a path, bytes, or a binary file.
        to: "UBL" or "CII"; by default the other syntax.

    Raises:
        UnreadableDocument: the file is not an invoice; raised as one of its subclasses (see `einvoice.errors`).
        ValueError: `to` is neither "UBL" nor "CII".
        OSError: the file cannot be opened.
    """
    if to not in (None, "UBL", "CII"):
        raise ValueError(f"argument 'to' must be 'UBL' or 'CII', not {to!r}")
    data, _ = xml.source_bytes(source)
    invoice = read(data)
    target: Syntax = to or ("CII" if invoice.syntax == "UBL" else "UBL")
    if target == invoice.syntax:
        return Converted(write(invoice, invoice.root), target, tuple(_unmapped(invoice)))
    written = write(invoice, root_of(invoice, target))
    return Converted(written, target, tuple(_losses(invoice, _reread(written))))


def _reread(written: bytes) -> Invoice:
    """Read a document that was written here: it may exceed the limits for files, as its source did not."""
    size = len(written)
    return reader.read(xml.parse(written, xml.Limits(bytes=size, elements=size)).getroot())


# ---------------------------------------------------------------- losses


def _losses(original: Invoice, target: Invoice) -> Iterator[Loss]:
    """Yield the values of the original that are neither in the target nor in the target converted back.

    Each comparison alone would report too much: some values are written differently in the two syntaxes, some belong to
    a different term (creditor identifier), and some fields are read from only one syntax.
    """
    back = _reread(write(target, original.root))
    counts = [Counter(key for _, _, key in _values(invoice)) for invoice in (target, back)]
    texts = Counter(value.text for _, value, _ in _values(target))
    texts.subtract(value.text for _, value, _ in _values(original))
    for terms, value, key in _values(original):
        if any(counter[key] for counter in counts):
            if not _is_document_level(terms):
                for counter in counts:
                    counter[key] -= 1
        elif value.filled and texts[value.text] < 0:
            yield Loss(terms, value.raw, value.line, value.xpath)
    yield from _unmapped(original)


def _is_document_level(terms: tuple[str, ...]) -> bool:
    """Whether the term occurs once per invoice; CII repeats some of them for each VAT rate."""
    known = business_terms()
    return bool(terms) and all(number in known and not known[number].parent for number in terms)


def _unmapped(invoice: Invoice) -> Iterator[Loss]:
    """Yield the elements that no business term covers; the writer omits them in both syntaxes."""
    misplaced = (group.node for groups in invoice.misplaced.values() for group in groups)
    for element in (*misplaced, *invoice.unmapped):
        if text := " ".join(" ".join(element.itertext()).split()):
            yield Loss((), text, line(element), xpath(element))


def _values(group: Group) -> Iterator[tuple[tuple[str, ...], Value, tuple[Any, ...]]]:
    """Yield every value of a group and its subgroups, with its terms and a key for comparison across syntaxes."""
    for inner in group.walk():
        for name in inner.fields:
            content = getattr(inner, name)
            for value in content if isinstance(content, list | tuple) else (content,):
                if isinstance(value, Value):
                    terms = terms_of(type(inner), name)
                    for occurrence in (value, *value.more):
                        yield terms, occurrence, (terms or name, *_comparable(occurrence))


def _comparable(value: Value) -> tuple[Any, ...]:
    typed = value.value
    content = typed if isinstance(typed, Decimal | datetime.date) else normalize_space(value.text)
    return content, *(value.attributes.get(name) for name in _ATTRIBUTES)
