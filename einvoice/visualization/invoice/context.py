"""Formats the values of an invoice for the page, and records which values were shown.

The end of the page shows all remaining values, so that the page is complete.
"""

from __future__ import annotations

import datetime
import functools
import re
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Any, Final, TypeAlias

from einvoice.localization.formatting import with_colon
from einvoice.model.invoice import Invoice
from einvoice.model.iteration import Filled, filled
from einvoice.model.values import Amount, Binary, Date, Identifier, Number, Percentage, Quantity, Value, absent
from einvoice.result.languages import Language
from einvoice.visualization import formatting
from einvoice.visualization.formatting import file_size, format_number
from einvoice.visualization.invoice.further_content import FurtherContent, leaf_label, leaf_text, leaves
from einvoice.visualization.labels import code_text, label, meaning
from einvoice.visualization.markup import EMPTY, Markup, solid, tag

#: A label and its value.
Row: TypeAlias = tuple[str, str]

_SELF_BILLED: Final = ("389", "527")
_AMOUNT_DECIMALS: Final = 2
_SUBJECT: Final = re.compile(r"#([A-Z]{3})#(.*)", re.DOTALL)
_BEFORE_UNIT: Final = re.compile(r"(?<=[0-9]) (?=[€$£%]|[A-Z]{3}\b)")
_SHORT_UNIT: Final = 8
"""Length of a unit (characters) up to which no line break may separate it from its number."""


class PageContext:
    """The state of one invoice page."""

    def __init__(self, invoice: Invoice, lang: Language) -> None:
        self.invoice = invoice
        self.lang = lang
        self.currency: str = (invoice.currency.text or "").strip()
        self._shown: set[int] = set()
        self.is_self_billed = (invoice.type_code.text or "").strip() in _SELF_BILLED
        self._kind = self._kind_of_labels()
        self._numbers = {id(it.value): it.number for it in filled(invoice)}

    @functools.cached_property
    def further(self) -> FurtherContent:
        """The content of the document that EN 16931 does not define."""
        return FurtherContent(self.invoice)

    @property
    def due(self) -> Decimal | None:
        """The amount due (BT-115); None if it is no number."""
        number = self.invoice.totals.due.number
        return number if isinstance(number, Decimal) else None

    # ------------------------------------------------------------ labels

    def _kind_of_labels(self) -> str:
        if self.is_self_billed:
            return "self_billed"
        if self.invoice.is_credit_note:
            return "credit_note"
        return "negative" if self.due is not None and self.due < 0 else ""

    def label(self, key: str) -> str:
        """Return a label of the page; see `labels`."""
        return label(key, self.lang, self._kind)

    def named(self, name: str, text: str) -> str:
        """Return a text behind its name and a colon."""
        return with_colon(name, self.lang, text)

    def label_of(self, value: Value) -> str:
        """Return the label of a value's business term."""
        number = self._numbers.get(id(value), "")
        return self.label(number) if number else ""

    def code(self, codes: str, code: str) -> str:
        """Return a code in words; see `labels.code_text`."""
        return code_text(codes, code.strip(), self.lang)

    # ------------------------------------------------------------ values

    def text(self, value: Any, codes: str = "", *, currency: bool = False, scheme: bool = True) -> str:
        """Return all occurrences of a value as text, and mark them as shown; '' if it is absent or empty.

        Args:
            value: of the model.
            codes: code list, for a code.
            currency: whether an amount is followed by its currency, or else that of the invoice (BT-5); one in another
                currency always is.
            scheme: whether an identifier is followed by its scheme.
        """
        texts = (self._one(it, codes, currency, scheme) for it in _occurrences(value))
        return "; ".join(filter(None, texts))

    def quantity(self, value: Any, unit: str) -> str:
        """Return a quantity as text, in this unit if it has none of its own."""
        text = self.text(value)
        return f"{text}\u00a0{self._unit(unit, value.number)}" if text and unit and not value.unit else text

    def mark_shown(self, *values: Any) -> None:
        """Mark values that a heading or label implies as shown."""
        self._shown.update(id(it) for value in values for it in _occurrences(value))

    def unshown(self) -> Iterator[Filled]:
        """Yield the values not shown yet, in the order of EN 16931."""
        for it in filled(self.invoice):
            if id(it.value) not in self._shown and it.value.raw.strip():
                yield it

    def money(self, number: Decimal) -> str:
        """Return a number as an amount in the currency of the invoice."""
        text = format_number(number, self.lang, decimals=_AMOUNT_DECIMALS)
        return f"{text}\u00a0{self.currency}" if self.currency else text

    def _one(self, value: Value, codes: str, currency: bool, scheme: bool) -> str:
        self._shown.add(id(value))
        if isinstance(value, Number):
            return self._number(value, currency)
        if isinstance(value, Date):
            day = value.date
            return formatting.format_date(day, self.lang) if isinstance(day, datetime.date) else value.raw.strip()
        if isinstance(value, Binary):
            return self._file(value)
        text = value.raw.strip()
        if codes:
            return self.code(codes, text) if text else ""
        if scheme and isinstance(value, Identifier):
            return self._identifier(value, text)
        return text

    def _number(self, value: Number, currency: bool) -> str:
        number, text, unit = value.number, value.raw.strip(), ""
        if not text:
            return ""
        if isinstance(number, Decimal):
            text = format_number(number, self.lang, decimals=_AMOUNT_DECIMALS if isinstance(value, Amount) else 0)
        if isinstance(value, Percentage):
            unit = "%"
        elif isinstance(value, Quantity):
            unit = self._unit(value.unit, number) if value.unit else ""
        elif isinstance(value, Amount):
            own = (value.currency or "").strip()
            unit = own or self.currency if currency else own if own != self.currency else ""
        return f"{text}{_gap(unit)}{unit}" if unit else text

    def _unit(self, code: str, number: Any) -> str:
        """Return the name of a unit; the table has "singular|plural" if they differ."""
        name = meaning("units", code.strip(), self.lang)
        if name is None:
            return code
        singular, _, plural = name.partition("|")
        word = plural if plural and number != 1 else singular
        return word.replace(" ", _gap(word))

    def _identifier(self, value: Identifier, text: str) -> str:
        scheme = (value.scheme or "").strip()
        listed = " ".join(filter(None, (value.list_id or "", value.list_version or "")))
        if not text:
            return ""
        schemes = [self._scheme(scheme)] if scheme else []
        if listed:
            classification = meaning("classifications", value.list_id or "", self.lang)
            schemes.append(f"{classification} {value.list_version or ''}".strip() if classification else listed)
        return f"{text} ({', '.join(schemes)})" if schemes else text

    def _scheme(self, code: str) -> str:
        known = meaning("schemes", code, self.lang)
        return known or (self.label("scheme").format(code=code) if code.isdecimal() else code)

    def _file(self, value: Binary) -> str:
        """Return the name of a file, what it is, and its size."""
        content = value.value
        size = file_size(len(content), self.lang) if content else ""
        kind = self.code("mime_types", value.mime) if value.mime else ""
        return ", ".join(filter(None, (value.filename or "", kind, size))) or value.raw.strip()[:40]

    # ------------------------------------------------------------ rows

    def rows(self, group: Any, *names: str, currency: bool = False, scheme: bool = True) -> list[Row]:
        """Return fields of a group as rows; missing and absent fields are skipped."""
        rows = []
        for name in names:
            content = getattr(group, name, absent)
            items = content if isinstance(content, list | tuple) else (content,)
            values = [it for it in items if isinstance(it, Value)]
            texts = [self.text(it, currency=currency, scheme=scheme) for it in values]
            if text := "; ".join(filter(None, texts)):
                rows.append((self.label_of(values[0]), text))
        return rows

    def row(self, key: str, *texts: str) -> list[Row]:
        """Return one row with the joined texts, or none if they are empty."""
        text = " ".join(filter(None, texts))
        return [(self.label(key), text)] if text else []

    def coded(self, group: Any, name: str, codes: str) -> list[Row]:
        """Return a code field as a row."""
        value = getattr(group, name)
        text = self.text(value, codes)
        return [(self.label_of(value), text)] if text else []

    def further_rows(self, group: Any, *names: str) -> list[Row]:
        """Return the content of a group that EN 16931 does not define, of elements with these names if any."""
        rows = []
        for element in self.further.of(group, *names):
            self.further.mark_shown(element)
            rows += [(leaf_label(it, self.lang), leaf_text(it, self.lang, self.currency)) for it in leaves(element)]
        return rows

    def reference(self, document: Any) -> list[str]:
        """Return the identifier of a referenced document or object and, in words, what kind of reference it is.

        In UBL, the scheme of the identifier is the kind.
        """
        texts = []
        for it in _occurrences(document.identifier):
            scheme = it.scheme if isinstance(it, Identifier) else None
            texts += [self._one(it, "", currency=False, scheme=False), self.code("reference_types", scheme or "")]
        texts.append(self.text(document.reference_type, "reference_types"))
        return [it for it in dict.fromkeys(texts) if it]

    def period(self, start: Any, end: Any) -> str:
        """Return a period as text."""
        first, last = self.text(start), self.text(end)
        if first and last:
            return f"{first} – {last}"
        return f"{self.label('from')} {first}" if first else f"{self.label('until')} {last}" if last else ""

    def note(self, subject: Any, text: Any) -> Markup:
        """Return a note with the name of its subject, which UBL writes into the text."""
        heading, body = self.text(subject, "note_subjects"), self.text(text)
        if not heading and (match := _SUBJECT.fullmatch(body)):
            heading, body = self.code("note_subjects", match[1]), match[2]
        return (
            paragraph(tag("strong", self.named(heading, "")) if heading else EMPTY, body) if heading or body else EMPTY
        )


def _gap(unit: str) -> str:
    return "\u00a0" if len(unit) <= _SHORT_UNIT else " "


def address(context: PageContext, group: Any) -> list[str]:
    """Return the lines of a postal address."""
    city = " ".join(filter(None, (context.text(group.postal_code), context.text(group.city))))
    street = map(context.text, (group.line_1, group.line_2, group.line_3))
    country = (context.text(group.subdivision), context.text(group.country_code, "countries"))
    return list(filter(None, (*street, city, *country)))


def key_value_table(rows: Iterable[Row], class_: str = "facts") -> Markup:
    """Return a table of labels and values; '' if there are none."""
    body = [tag("tr", tag("th", key, scope="row"), tag("td", solid(text))) for key, text in rows]
    return tag("table", tag("tbody", *body), class_=class_) if body else EMPTY


def section(title: str, *content: Markup, class_: str = "") -> Markup:
    """Return a section with its heading; '' if it has no content."""
    inner = [it for it in content if it]
    if not inner:
        return EMPTY
    body = (tag("h2", title), *inner)
    return tag("section", *body, class_=class_) if class_ else tag("section", *body)


def distinct(*texts: str, separator: str = ", ") -> str:
    """Join texts, without those that another one begins with.

    >>> distinct("Maut", "Maut vom 18. November"), distinct("Fracht", "Fracht"), distinct("Rabatt", "Treue")
    ('Maut vom 18. November', 'Fracht', 'Rabatt, Treue')
    """
    found = {it.lower(): it for it in texts if it}
    return separator.join(it for key, it in found.items() if not any(_goes_on(other, key) for other in found))


def _goes_on(text: str, words: str) -> bool:
    """Whether a text begins with the words and goes on with another one."""
    return text.startswith((f"{words} ", f"{words},"))


def paragraph(*content: str) -> Markup:
    """Return a paragraph that preserves line breaks, and in which no number is apart from its currency or percent."""
    return tag(
        "p", *(it if isinstance(it, Markup) else _BEFORE_UNIT.sub("\u00a0", it) for it in content), class_="text"
    )


def _occurrences(value: Any) -> list[Value]:
    if not isinstance(value, Value):
        return []
    return [value, *value.more]
