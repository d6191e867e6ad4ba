"""Compares the pages of a PDF with the invoice in its XML."""

from __future__ import annotations

import datetime
import functools
import re
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from einvoice.model.iteration import filled
from einvoice.model.values import Value
from einvoice.pdf.picture import values
from einvoice.pdf.picture.page_text import Pages, Row

if TYPE_CHECKING:
    from einvoice.model.invoice import Invoice

_LABELS: Final = Path(__file__).with_name("labels.toml")
_MIN_LETTERS: Final = 40
"""A page of text has more letters; fewer are stamps or page numbers on a scan."""
_BELOW: Final = 60.0
"""A value below its word has a base line within this distance (points)."""
_MAX_SHOWN: Final = 60
_MIN_SHOWN: Final = 2
"""How often a currency has to stand on the pages; once it may be that of something else."""
_AMOUNTS: Final = ("BT-109", "BT-110", "BT-112", "BT-115")
_DATES: Final = ("BT-2", "BT-9")
_OTHER_DATES: Final = ("BT-2", "BT-7", "BT-9", "BT-26", "BT-72", "BT-73", "BT-74")
_REFERENCES: Final = (
    "BT-11",
    "BT-12",
    "BT-13",
    "BT-14",
    "BT-15",
    "BT-16",
    "BT-17",
    "BT-18",
    "BT-25",
    "BT-31",
    "BT-48",
    "BT-63",
)
_OF_AMOUNTS: Final = (*_AMOUNTS, "BT-107")
_SYMBOLS: Final = {"EUR": "€", "USD": "$", "GBP": "£", "JPY": "¥", "PLN": "zł", "CHF": "Fr."}
_CODES: Final = re.compile(r"(?<![A-Z])(EUR|USD|GBP|CHF|PLN|CZK|DKK|SEK|NOK|HUF|RON|JPY)(?![A-Z])|([€$£¥])")


Search: TypeAlias = Callable[[str], Iterable[values.Found]]


class Difference(NamedTuple):
    """A value of the XML that the pages contradict.

    Attributes:
        number: its business term.
        value: the value in the XML.
        shown: the value on the page, as it is written there.
        label: the word beside it; "" if the value needs none.
        page: number of the page.
    """

    number: str
    value: Value
    shown: str
    label: str
    page: int


@dataclass(frozen=True)
class Comparison:
    """What a comparison found.

    Attributes:
        has_text: whether the pages have text; else nothing was compared.
        found: number of values of the XML that the pages show, even for another term.
        missing: values that they do not show, without the contradicted ones.
        differences: values that they contradict.
    """

    has_text: bool
    found: int = 0
    missing: Sequence[tuple[str, Value]] = ()
    differences: Sequence[Difference] = ()


def compare(invoice: Invoice, pages: Pages) -> Comparison:
    """Return what the pages show of an invoice: number, dates, totals, currency, accounts and VAT numbers."""
    picture = _Picture(pages)
    if picture.letters < _MIN_LETTERS:
        return Comparison(False)
    wanted = list(_wanted(invoice))
    shown: list[tuple[str, Value]] = []
    missing: list[tuple[str, Value]] = []
    for number, value in wanted:
        (shown if picture.shows(number, value) else missing).append((number, value))
    if len(missing) == len(wanted) and not picture.has_labels:  # such as fonts whose characters have no meaning
        return Comparison(False)
    known = _Known(invoice, wanted)
    differences = [it for number, value in missing if (it := _difference(number, value, picture, known))]
    differences += [it for number, value in shown if (it := _other_meaning(number, value, picture, known))]
    contradicted = {it.number for it in differences}
    rest = [(number, value) for number, value in missing if number not in contradicted]
    return Comparison(True, len(shown), rest, differences)


def _wanted(invoice: Invoice) -> Iterator[tuple[str, Value]]:
    """Yield the values to look for; totals of zero are often left out."""
    totals = invoice.totals
    for number, value in (
        ("BT-1", invoice.number),
        ("BT-2", invoice.issue_date),
        ("BT-5", invoice.currency),
        *(("BT-9", it) for it in _due_dates(invoice)),
        ("BT-31", invoice.seller.vat_identifier),
        ("BT-48", invoice.buyer.vat_identifier),
        ("BT-109", totals.net),
        ("BT-110", invoice.vat_total),
        ("BT-112", totals.gross),
        ("BT-115", totals.due),
        *(("BT-84", means.credit_transfer.identifier) for means in invoice.payment_means),
    ):
        if isinstance(value, Value) and value.text and (number not in _AMOUNTS or _number(value)):
            yield number, value


def _number(value: Value) -> Decimal | None:
    """Return the amount of a value without sign; None if it is no amount."""
    number = getattr(value, "number", None)
    return abs(number) if isinstance(number, Decimal) else None


def _number_or_date(value: Value) -> values.Reading | None:
    """Return what a value means: a date, or an amount without sign; None if it is neither."""
    day = getattr(value, "value", None)
    return day if isinstance(day, datetime.date) else _number(value)


def _forms(value: Value) -> Sequence[str]:
    """Return the usual forms of an amount or a date."""
    meaning = _number_or_date(value)
    if isinstance(meaning, datetime.date):
        return values.date_forms(meaning)
    return () if meaning is None else values.amount_forms(meaning)


def _due_dates(invoice: Invoice) -> list[Value]:
    """Return the due date, which is in other places in credit notes and in CII."""
    in_terms = [it.due_date for it in invoice.payment_terms]
    return [invoice.due_date, *in_terms, *(it.due_date for it in invoice.payment_means)]


class _Label(NamedTuple):
    terms: Sequence[str]
    below: bool
    strict: bool
    row: int
    page: int
    start: int
    end: int
    text: str


class _Picture:
    """The pages, with what they show."""

    def __init__(self, pages: Pages) -> None:
        self.pages = pages
        self.texts = [[row.text for row in page] for page in pages]
        text = "\n".join(line for page in self.texts for line in page)
        self.letters = sum(map(str.isalpha, text))
        self.text = text

    @functools.cached_property
    def _numbers(self) -> set[values.Reading]:
        return {reading for line in self._lines() for it in values.numbers(line) for reading in it.readings}

    @functools.cached_property
    def _dates(self) -> set[values.Reading]:
        return {reading for line in self._lines() for it in values.dates(line) for reading in it.readings}

    def _lines(self) -> Iterator[str]:
        return (line for page in self.texts for line in page)

    def _shows_written(self, forms: Sequence[str]) -> bool:
        """Return whether the pages have one of the usual forms of a value; quicker than reading all values."""
        return _has_written(self.text, forms)

    def may_contradict(self, number: str, forms: Sequence[str]) -> bool:
        """Return whether words mean this term only, none beside its value in a usual form; quicker than `labels`."""
        text = values.unaccented(self.text.replace("\t", " "))
        expressions = [expression for terms, _, strict, expression in _labels() if strict and terms == (number,)]
        lines = [text[it.end() :].partition("\n")[0] for each in expressions for it in each.finditer(text)]
        return bool(lines) and not any(_has_written(line, forms) for line in lines)

    def shows(self, number: str, value: Value) -> bool:
        """Return whether a value stands anywhere on the pages."""
        if number in (*_AMOUNTS, *_DATES):
            meaning = _number_or_date(value)
            if meaning is None or self._shows_written(_forms(value)):
                return meaning is not None
            return meaning in (self._numbers if number in _AMOUNTS else self._dates)
        if number == "BT-5":
            code = rf"(?<![A-Z]){re.escape(value.text)}(?![A-Z])"
            return (value.text in _SYMBOLS and _SYMBOLS[value.text] in self.text) or bool(re.search(code, self.text))
        return self.shows_identifier(value.text)

    def shows_identifier(self, written: str) -> bool:
        """Return whether an identifier stands on the pages as a whole, whatever blanks and marks divide it."""
        return values.contains(self.text, written)

    @functools.cached_property
    def labels(self) -> Sequence[_Label]:
        """The words that name a value; one within another, as "Total" in "Total net", does not count."""
        found = []
        for number, page in enumerate(self.texts):
            for index, line in enumerate(page):
                here = [
                    _Label(terms, below, strict, index, number, *match.span(), line[slice(*match.span())].strip())
                    for terms, below, strict, expression in _labels()
                    for match in expression.finditer(values.unaccented(line.replace("\t", " ")))
                    if match[0].strip()
                ]
                found += [it for it in here if not any(_is_within(it, other) for other in here)]
        return found

    @functools.cached_property
    def _by_row(self) -> Mapping[tuple[int, int], Sequence[_Label]]:
        found: defaultdict[tuple[int, int], list[_Label]] = defaultdict(list)
        for label in self.labels:
            found[label.page, label.row].append(label)
        return found

    @property
    def has_labels(self) -> bool:
        return bool(self.labels)

    def right_of(self, label: _Label, search: Search) -> list[values.Found]:
        """Return the values that stand right of a word, up to the next one."""
        line = self.texts[label.page][label.row]
        following = (it.start for it in self._by_row[label.page, label.row] if it.start >= label.end)
        return list(search(line[label.end : min(following, default=len(line))]))

    def below(self, label: _Label, search: Search) -> list[values.Found]:
        """Return the values that stand close below a word."""
        page = self.pages[label.page]
        left, right = _extent(page[label.row], label.start, label.end)
        found = []
        for index, line in enumerate(self.texts[label.page][label.row + 1 :], label.row + 1):
            row = page[index]
            if page[label.row].bottom - row.bottom > _BELOW:
                break
            named = [it for it in self._by_row[label.page, index] if it.terms[0] in _OF_AMOUNTS]
            for it in search(line):
                begin, end = _extent(row, it.start, it.end)
                if begin <= right and end >= left and not any(other.end <= it.start for other in named):
                    found.append(it)
        return found


def _has_written(text: str, forms: Sequence[str]) -> bool:
    return bool(forms) and bool(re.search(rf"(?<![\d.,])(?:{'|'.join(map(re.escape, forms))})(?!\d)", text))


def _is_within(label: _Label, other: _Label) -> bool:
    """Return whether a word is a part of a longer one that means another amount."""
    if other.start > label.start or label.end > other.end or other.end - other.start == label.end - label.start:
        return False
    return label.terms == other.terms or (label.terms[0] in _OF_AMOUNTS and other.terms[0] in _OF_AMOUNTS)


def _extent(row: Row, start: int, end: int) -> tuple[float, float]:
    """Return from where to where characters of a row stretch (points)."""
    inside = [
        word
        for word, begin in zip(row.words, row.starts, strict=True)
        if begin < end and begin + len(word.text) > start
    ]
    return inside[0].left, inside[-1].right


@functools.cache
def _labels() -> list[tuple[Sequence[str], bool, bool, re.Pattern[str]]]:
    entries = tomllib.loads(_LABELS.read_text("utf-8"))["label"]
    return [
        (
            tuple(it["terms"]),
            it.get("below", False),
            it.get("strict", False),
            re.compile(rf"(?<!\w)(?:{'|'.join(it['words'])})(?!\w)", re.IGNORECASE),
        )
        for it in entries
    ]


class _Known:
    """The values of the XML, to tell what an amount or a date on the pages may be."""

    def __init__(self, invoice: Invoice, wanted: Sequence[tuple[str, Value]]) -> None:
        self.invoice = invoice
        self.wanted = dict(wanted)

    @functools.cached_property
    def _filled(self) -> list[tuple[str, Value]]:
        return [(it.number, it.value) for it in filled(self.invoice)]

    def explains(self, number: str, label: _Label, found: values.Found) -> bool:
        """Return whether a value beside a word may be that of another term than the one that the pages do not show."""
        if number in _AMOUNTS:
            same = self.equal_to(number)
            others = self._numbers(set(label.terms) - same if label.strict else None, same)
            return not found.readings.isdisjoint(others)
        if number in _DATES:
            return found.text in self._notes or (
                not label.strict and not found.readings.isdisjoint(self._dates(number))
            )
        return values.compact(found.text) in self._references()

    def _numbers(self, terms: set[str] | None, same: set[str]) -> set[Decimal]:
        """Return the amounts of these terms, by default of all but those in `same`."""
        chosen = (value for it, value in self._filled if it not in same and (terms is None or it in terms))
        return {number for it in chosen if (number := _number(it)) is not None}

    def equal_to(self, number: str) -> set[str]:
        """Return the terms that have the same amount in every invoice with the terms of this one (EN 16931, 6.4)."""
        invoice, totals, same = self.invoice, self.invoice.totals, {number}
        if number in ("BT-112", "BT-115") and not (totals.paid.number or totals.rounding.number):
            same |= {"BT-112", "BT-115"}
        if number == "BT-109" and not (totals.allowances.number or totals.charges.number):
            same |= {"BT-106", "BT-131"} if len(invoice.lines) == 1 else {"BT-106"}
        if len(invoice.vat_breakdown) == 1:
            same |= {"BT-109": {"BT-116"}, "BT-110": {"BT-117"}}.get(number, set())
        return same

    def has_other(self, number: str, value: Value) -> bool:
        """Return whether the invoice has the same value for another term, for which the pages may show it."""
        meaning = _number_or_date(value)
        same = self.equal_to(number) if number in _AMOUNTS else {number}
        others = [*self.wanted.items(), ("BT-72", self.invoice.delivery.date), ("BT-113", self.invoice.totals.paid)]
        return any(_number_or_date(it) == meaning for term, it in others if term not in same)

    def _dates(self, number: str) -> set[datetime.date]:
        dates = ((it, getattr(value, "value", None)) for it, value in self._filled)
        return {date for it, date in dates if it in _OTHER_DATES and it != number and isinstance(date, datetime.date)}

    @functools.cached_property
    def _notes(self) -> str:
        """The notes and terms of payment, which a page repeats."""
        return "\n".join(it.text for known, it in self._filled if known in ("BT-20", "BT-22") and it.text)

    def _references(self) -> set[str]:
        """Return the numbers of other documents, and all VAT numbers."""
        return {values.compact(it.text) for known, it in self._filled if known in _REFERENCES and it.text}


def _difference(number: str, value: Value, picture: _Picture, known: _Known) -> Difference | None:
    """Return where the pages contradict a value that they do not show; None if they do not prove it."""
    if number == "BT-84":
        return _other_account(value, picture, known)
    if number == "BT-5":
        return _other_currency(value, picture)
    search = _SEARCH.get("amount" if number in _AMOUNTS else number)
    if search is None:
        return None
    labels = [it for it in picture.labels if number in it.terms]
    exact = [it for it in labels if len(it.terms) == 1 and it.below]
    strict = [it for it in labels if it.strict]
    for chosen, beside in ((exact, picture.right_of), (strict, picture.right_of), (labels, picture.right_of)):
        found = [
            (label, it) for label in chosen for it in beside(label, search) if not known.explains(number, label, it)
        ]
        if found:  # if they differ, the words mean something else
            return _claim(number, value, found) if _is_same(it for _, it in found) else None
    for label in reversed(labels):  # totals follow the lines
        others = [it for it in picture.below(label, search) if not known.explains(number, label, it)]
        if label.below and others and _is_same(others):
            return _claim(number, value, [(label, others[0])])
    return None


def _other_meaning(number: str, value: Value, picture: _Picture, known: _Known) -> Difference | None:
    """Return where a word that means this term only has another value, if that of the XML stands for another term.

    There is no contradiction if the value of the XML stands beside or below any word that may mean its term.
    """
    if (number not in _AMOUNTS and number not in _DATES) or not known.has_other(number, value):
        return None
    if not picture.may_contradict(number, _forms(value)):
        return None
    search = _SEARCH["amount" if number in _AMOUNTS else number]
    labels = [it for it in picture.labels if number in it.terms and it.strict]
    beside = [(label, it) for label in labels for it in picture.right_of(label, search)]
    below = [it for label in labels if label.below for it in picture.below(label, search)]
    own = _number_or_date(value)
    if any(own in it.readings for it in (*below, *(it for _, it in beside))):
        return None
    others = [(label, it) for label, it in beside if label.terms == (number,) and not known.explains(number, label, it)]
    return _claim(number, value, others) if others and _is_same(it for _, it in others) else None


def _is_same(found: Iterable[values.Found]) -> bool:
    return len({it.readings or values.compact(it.text) for it in found}) == 1


def _claim(number: str, value: Value, found: Sequence[tuple[_Label, values.Found]]) -> Difference:
    label, other = found[0]
    return Difference(number, value, other.text[:_MAX_SHOWN], label.text, label.page + 1)


def _money(text: str) -> Iterator[values.Found]:
    taken = [(it.start, it.end) for it in values.dates(text)]
    for it in values.numbers(text):
        if it.is_money and any(it.readings) and not any(start < it.end and it.start < end for start, end in taken):
            yield it


_IDENTIFIER: Final = re.compile(r"(?<![\w/.-])[A-Z0-9][\w/.\-]*[A-Za-z0-9](?![\w/-])")


def _identifiers(text: str) -> Iterator[values.Found]:
    """Yield the first text that may be the number of an invoice: with a digit, and not a date."""
    days = [(it.start, it.end) for it in values.dates(text)]
    for match in _IDENTIFIER.finditer(text):
        if any(map(str.isdigit, match[0])) and not any(a <= match.start() and match.end() <= b for a, b in days):
            yield values.Found(match.start(), match.end(), match[0], frozenset())
            return


_SEARCH: Final[dict[str, Search]] = {
    "amount": _money,
    "BT-1": _identifiers,
    "BT-2": values.dates,
    "BT-9": values.dates,
    "BT-31": values.vat_numbers,
}


def _other_account(value: Value, picture: _Picture, known: _Known) -> Difference | None:
    """Return an account on the pages that the XML does not have.

    If the pages show another account of the XML, as many must stand beside the word IBAN as the pages lack: those in a
    footer are no contradiction.
    """
    accounts = {values.compact(it.text) for number, it in known._filled if number in ("BT-84", "BT-91")}
    lacking = {it for it in accounts if not picture.shows_identifier(it)}
    if not re.match("[A-Z]{2}[0-9]{2}", values.compact(value.text)):
        return None
    if lacking == accounts:
        for page, lines in enumerate(picture.texts, 1):
            for line in lines:
                for written in values.ibans(line):
                    return Difference("BT-84", value, written, "", page)
    labels = [it for it in picture.labels if "BT-84" in it.terms]
    found = [(label, it) for label in labels for it in picture.right_of(label, values.account_numbers)]
    others = [(label, it) for label, it in found if values.compact(it.text) not in accounts]
    is_exchanged = lacking == accounts or len({values.compact(it.text) for _, it in others}) == len(lacking)
    return _claim("BT-84", value, others) if others and is_exchanged else None


def _other_currency(value: Value, picture: _Picture) -> Difference | None:
    """Return the currency beside a total, or the only one of the pages, if they show that of the XML nowhere."""
    for label in picture.labels:
        if "BT-112" in label.terms or "BT-115" in label.terms:
            line = picture.texts[label.page][label.row][label.start :]
            found = _CODES.search(line)
            if found and any(map(_close_to(found), _money(line))):
                return Difference("BT-5", value, found[0], label.text, label.page + 1)
    return _only_currency(value, picture)


def _only_currency(value: Value, picture: _Picture) -> Difference | None:
    """Return the currency that the pages show several times and no other, unless that of the XML has other symbols."""
    lines = [(page, line) for page, lines in enumerate(picture.texts, 1) for line in lines]
    found = [(it[0], line, page) for page, line in lines for it in _CODES.finditer(line)]
    codes = {symbol: code for code, symbol in _SYMBOLS.items()}
    is_only = len({codes.get(shown, shown) for shown, _, _ in found}) == 1
    if value.text not in _SYMBOLS or len(found) < _MIN_SHOWN or not is_only:
        return None
    shown, line, page = found[0]
    return Difference("BT-5", value, shown, " ".join(line.split())[:_MAX_SHOWN], page)


def _close_to(currency: re.Match[str]) -> Callable[[values.Found], bool]:
    return lambda it: abs(it.start - currency.end()) <= 2 or abs(currency.start() - it.end) <= 2
