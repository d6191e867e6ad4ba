"""Values as the page shows them, and a record of which it has shown: what no part of the page took is shown at its end.

So the page says all that the invoice says, whatever it is.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any, Final, TypeAlias

from einvoice.model.invoice import Invoice
from einvoice.model.iteration import Filled, filled
from einvoice.model.values import Amount, Binary, Date, Identifier, Number, Percentage, Quantity, Value, absent
from einvoice.result.languages import Language
from einvoice.visualization import formatting
from einvoice.visualization.labels import label, meaning
from einvoice.visualization.markup import EMPTY, Markup, join, tag

#: A label and what stands behind it.
Row: TypeAlias = tuple[str, str]

_CENTS: Final = 2
#: Lists whose codes say nothing to people: the meaning stands alone.
_WORDS_ALONE: Final = ("invoice_types", "payment_means", "units", "countries", "tax_point_codes", "note_subjects")
_SUBJECT: Final = re.compile(r"#([A-Z]{3})#(.*)", re.DOTALL)


class Sheet:
    """The page while it is written."""

    def __init__(self, invoice: Invoice, lang: Language) -> None:
        self.invoice = invoice
        self.lang = lang
        self.currency: str = invoice.currency.text or ""
        self._shown: set[int] = set()
        self._numbers = {id(it.value): it.number for it in filled(invoice)}

    # ------------------------------------------------------------ words

    def word(self, key: str) -> str:
        """A label of the page, see ``labels``."""
        return label(key, self.lang)

    def label(self, value: Value) -> str:
        """The label of a value, by its business term."""
        number = self._numbers.get(id(value), "")
        return self.word(number) if number else ""

    def code(self, codes: str, code: str) -> str:
        """A code in words; with the code behind them where people use it too."""
        words = meaning(codes, code.strip(), self.lang)
        if words is None:
            return code
        return words if codes in _WORDS_ALONE else f"{words} ({code})"

    # ------------------------------------------------------------ values

    def text(self, value: Any, codes: str = "", *, currency: bool = False) -> str:
        """All occurrences of a value as text, and a note that they are shown; '' where it is absent or empty."""
        return "; ".join(filter(None, (self._one(it, codes, currency) for it in _occurrences(value))))

    def seen(self, *values: Any) -> None:
        """Note that something is shown which is not shown by ``text``, since a heading or a label says it."""
        self._shown.update(id(it) for value in values for it in _occurrences(value))

    def rest(self) -> Iterator[Filled]:
        """What is not yet shown, in the order of the norm."""
        for it in filled(self.invoice):
            if id(it.value) not in self._shown and it.value.raw.strip():
                yield it

    def _one(self, value: Value, codes: str, currency: bool) -> str:
        self._shown.add(id(value))
        if isinstance(value, Number):
            return self._number(value, currency)
        if isinstance(value, Date):
            day = value.date
            return formatting.day(day, self.lang) if isinstance(day, datetime.date) else value.raw.strip()
        if isinstance(value, Binary):
            return self._file(value)
        text = value.raw.strip()
        if codes:
            return self.code(codes, text) if text else ""
        if isinstance(value, Identifier):
            return self._identifier(value, text)
        return text

    def _number(self, value: Number, currency: bool) -> str:
        number, text, beside = value.number, value.raw.strip(), ""
        if not text:
            return ""
        if isinstance(number, Decimal):
            text = formatting.number(number, self.lang, places=_CENTS if isinstance(value, Amount) else 0)
        if isinstance(value, Percentage):
            beside = "%"
        elif isinstance(value, Quantity):
            beside = self._unit(value.unit, number) if value.unit else ""
        elif isinstance(value, Amount) and value.currency and (currency or value.currency != self.currency):
            beside = value.currency
        return f"{text}\u00a0{beside}" if beside else text

    def _unit(self, code: str, number: Any) -> str:
        """A unit in words, of which the table has the singular before the plural where they differ."""
        words = meaning("units", code.strip(), self.lang)
        if words is None:
            return code
        one, _, many = words.partition("|")
        return many if many and number != 1 else one

    def _identifier(self, value: Identifier, text: str) -> str:
        scheme = value.scheme or ""
        listed = " ".join(filter(None, (value.list_id or "", value.list_version or "")))
        if not text:
            return ""
        named = [meaning("schemes", scheme, self.lang) or scheme] if scheme else []
        if listed:
            classification = meaning("classifications", value.list_id or "", self.lang)
            named.append(f"{classification} {value.list_version or ''}".strip() if classification else listed)
        return f"{text} ({', '.join(named)})" if named else text

    def _file(self, value: Binary) -> str:
        content = value.value
        size = f"{formatting.number(Decimal(len(content)), self.lang)} {self.word('bytes')}" if content else ""
        return ", ".join(filter(None, (value.filename or "", value.mime or "", size))) or value.raw.strip()[:40]

    # ------------------------------------------------------------ rows

    def rows(self, group: Any, *names: str) -> list[Row]:
        """Fields of a group as rows; those that it has not, or that are absent, make none."""
        found = []
        for name in names:
            content = getattr(group, name, absent)
            several = content if isinstance(content, list | tuple) else (content,)
            values = [it for it in several if isinstance(it, Value)]
            if text := "; ".join(filter(None, map(self.text, values))):
                found.append((self.label(values[0]), text))
        return found

    def row(self, key: str, *texts: str) -> list[Row]:
        """One row, if it says anything; the texts are put together."""
        text = " ".join(filter(None, texts))
        return [(self.word(key), text)] if text else []

    def coded(self, group: Any, name: str, codes: str) -> list[Row]:
        """A field that holds a code, as a row."""
        value = getattr(group, name)
        text = self.text(value, codes)
        return [(self.label(value), text)] if text else []

    def span(self, start: Any, end: Any) -> str:
        """From when to when."""
        first, last = self.text(start), self.text(end)
        if first and last:
            return f"{first} – {last}"
        return f"{self.word('from')} {first}" if first else f"{self.word('until')} {last}" if last else ""

    def note(self, subject: Any, text: Any) -> Markup:
        """A note with its subject in words; UBL writes the subject into the text."""
        heading, body = self.text(subject, "note_subjects"), self.text(text)
        if not heading and (written := _SUBJECT.fullmatch(body)):
            heading, body = self.code("note_subjects", written[1]), written[2]
        return paragraph(join(tag("strong", f"{heading}: ") if heading else EMPTY, body)) if heading or body else EMPTY


def address(sheet: Sheet, group: Any) -> list[str]:
    """A postal address, line by line."""
    place = " ".join(filter(None, (sheet.text(group.postal_code), sheet.text(group.city))))
    above = map(sheet.text, (group.line_1, group.line_2, group.line_3))
    below = (sheet.text(group.subdivision), sheet.text(group.country_code, "countries"))
    return list(filter(None, (*above, place, *below)))


def facts(rows: Iterable[Row], class_: str = "facts") -> Markup:
    """Labels and values below each other; nothing where there are none."""
    body = [tag("tr", tag("th", key, scope="row"), tag("td", text)) for key, text in rows]
    return tag("table", tag("tbody", *body), class_=class_) if body else EMPTY


def section(title: str, *content: Markup, class_: str = "") -> Markup:
    """A part of the page under its heading; nothing where it has no content."""
    inner = [it for it in content if it]
    if not inner:
        return EMPTY
    body = (tag("h2", title), *inner)
    return tag("section", *body, class_=class_) if class_ else tag("section", *body)


def paragraph(*content: str) -> Markup:
    """A paragraph that keeps its line breaks."""
    return tag("p", *content, class_="text")


def _occurrences(value: Any) -> list[Value]:
    if not isinstance(value, Value):
        return []
    return [value, *value.more]
