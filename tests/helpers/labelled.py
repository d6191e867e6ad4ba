"""What an invoice page shows, with the label of each text, and what it has to show of each value."""

from __future__ import annotations

import functools
import re
from collections import defaultdict
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from lxml import html as parser

from einvoice.model.iteration import Filled, filled
from einvoice.model.values import Amount, Binary, Code, Date, Identifier, Number, Quantity, Text
from einvoice.model.worded.payment_terms import read_discount, read_retention
from einvoice.visualization import glyphs
from einvoice.visualization.formatting import format_date
from einvoice.visualization.invoice.context import PageContext
from einvoice.visualization.invoice.page import invoice_html
from einvoice.visualization.labels import label, meaning

CODE_LISTS = (
    "invoice_types",
    "payment_means",
    "vat_categories",
    "vat_short",
    "line_statuses",
    "tax_point_codes",
    "allowance_reasons",
    "charge_reasons",
    "note_subjects",
    "exemption_reasons",
    "countries",
)
#: Terms that a reader knows without a label: names, addresses, notes, descriptions and reasons, where their group is.
UNLABELLED = frozenset(
    f"BT-{number}"
    for number in (
        *(3, 20, 21, 22, 25, 26, 27, 35, 36, 37, 38, 39, 40, 162, 44, 50, 51, 52, 53, 54, 55, 163, 59, 62),
        *(64, 65, 66, 67, 68, 69, 164, 70, 75, 76, 77, 78, 79, 80, 165, 127, 154, 160, 161),
        *(97, 98, 104, 105, 139, 140, 144, 145, "DEX-001", "DEX-002", "DEX-003"),
    )
)
#: Tax numbers, whose scheme the label tells.
LABELLED_BY_TAX = ("BT-31", "BT-32", "BT-48", "BT-63")
#: Labels under which a term is shown besides its own: where it has none of its own, that of its group or column.
OTHERS = {
    "BT-8": ["BT-7"],
    "BT-10": ["leitweg_id"],
    "BT-106": ["BT-109"],  # equal, without allowances and charges
    "BT-111": ["BT-110"],  # "Umsatzsteuer in EUR"
    "BT-9": ["payment"],
    "BT-18-1": ["BT-18", "BT-122", "BT-17", "BT-11"],
    "BT-74": ["BT-73"],
    "BT-135": ["BT-134"],
    "BT-84": ["iban", "account"],
    "BT-46": ["BT-29"],  # with a scheme
    "BT-82": ["BT-81"],  # equal to the name of the code
    "BT-86": ["bank"],
    "BT-87": ["card_ending"],
    "BT-120": ["BT-120", "vat_note"],
    "BT-121": ["BT-120", "vat_note"],
    "BT-92": ["BT-131"],
    "BT-99": ["BT-131"],
    "BT-93": ["base"],
    "BT-100": ["base"],
    "BT-101": ["BT-94"],
    "BT-95": ["BT-151"],
    "BT-96": ["BT-151"],
    "BT-102": ["BT-151"],
    "BT-103": ["BT-151"],
    "BT-136": ["allowance"],
    "BT-137": ["allowance"],
    "BT-138": ["allowance"],
    "BT-141": ["charge"],
    "BT-142": ["charge"],
    "BT-143": ["charge"],
    "BT-147": ["price_charge"],
    "BT-148": ["base"],
    "BT-149": ["BT-146"],
    "BT-152": ["BT-151"],
    "BT-128-1": ["BT-128"],
    "BT-123": ["BT-122", "BT-18", "BT-17", "BT-11"],
    "BT-124": ["BT-122", "BT-18", "BT-17", "BT-11"],
    "BT-125": ["BT-122", "BT-18", "BT-17", "BT-11"],
    "BT-29": ["BT-90"],
    "BT-60": ["BT-29", "BT-90"],
}


def condensed(text: str) -> str:
    """Return a text without blanks, in lower case: a name of a code begins a cell."""
    return "".join(text.split()).replace("\u200b", "").lower()


class Page:
    """The texts of an invoice page, by label. Labels and texts have no blanks."""

    def __init__(self, invoice: Any, lang: str) -> None:
        context = PageContext(invoice, lang)
        self.label = context.label
        tree = parser.document_fromstring(f"<body>{invoice_html(context)}</body>")
        self.text = condensed(tree.text_content())
        self._by_label: defaultdict[str, list[str]] = defaultdict(list)
        for name, text in self._labelled(tree):
            self._by_label[condensed(name)].append(condensed(text))

    @functools.cached_property
    def joined(self) -> dict[str, str]:
        """All texts of each label."""
        return {name: "\n".join(texts) for name, texts in self._by_label.items()}

    def _labelled(self, tree: Any) -> Iterator[tuple[str, str]]:
        for table in tree.xpath("//table"):
            heads = [it.text_content() for it in table.xpath("./thead/tr/th")]
            for row in table.xpath("./tbody/tr"):
                cells = [it.text_content() for it in row]
                if heads:
                    yield from zip((head.split("\u00a0")[0] for head in heads), cells, strict=True)
                    name, _, text = cells[0].partition(": ")  # "Hinweis: Steuerschuldnerschaft des …"
                    yield name, text
                else:
                    name = cells[0].rpartition(": ")[2]
                    yield name, cells[1]
                    yield re.sub(r" (in|en) [A-Za-z]+$", "", name), cells[1]
        for block in tree.xpath("//section"):
            yield block.xpath("string(./h2)"), block.text_content()
        for small in tree.xpath("//p[@class='small'] | //p[@class='name']/@data-footer/.. | //p[@class='status']"):
            for part in small.text_content().replace("\u00a0", " ").split(" · "):
                name, _, text = part.strip().partition(": ")
                yield name, text
                yield name.split(" ")[0], part  # "Nachlass 10 % auf 100,00 EUR: …"

    def under(self, *keys: str) -> str:
        """Return all texts with one of these labels."""
        return "\n".join(self.joined.get(condensed(self.label(key)), "") for key in keys)


def forms(it: Filled, lang: str) -> list[list[str]]:
    """Return what has to be read of a value: for each part of it, the forms of which one suffices."""
    value, raw = it.value, it.value.raw.strip()
    if not raw:
        return []
    if isinstance(value, Number):
        if it.number == "BT-149" and value.number == 1:
            return []  # a price for one unit
        is_number = isinstance(value.number, Decimal)
        return [number_forms(value, lang) if is_number else [glyphs.printable(raw)], *unit_forms(value, lang)]
    if isinstance(value, Date) and value.date:
        return [[f"{value.date:%d.%m.%Y}"]] if lang == "de" else [[str(value.date.day)], [str(value.date.year)]]
    if isinstance(value, Binary):
        return [[glyphs.printable(value.filename or value.mime or str(len(value.value)) or raw[:40])]]
    if isinstance(value, Code):
        if it.field == "category" and raw == "S":
            return []  # the standard rate, which the rate tells
        return [[glyphs.printable(raw), *(found for name in CODE_LISTS if (found := meaning(name, raw, lang)))]]
    if it.number == "BT-20":  # structured conditions are put into words, those of drafts into the page's language
        lines = [line.strip() for line in raw.splitlines()]
        return [[glyphs.printable(in_language(line, lang))] for line in lines if line and not line.startswith("#")]
    parts = [[glyphs.printable(raw)]]
    if isinstance(value, Text) and raw.startswith("#") and raw[4:5] == "#":  # UBL has the subject in the text
        code = raw[1:4]
        parts = [[glyphs.printable(raw[5:])], [code, meaning("note_subjects", code, lang) or code]]
    if isinstance(value, Identifier) and value.scheme and it.number not in LABELLED_BY_TAX and value.scheme != "SEPA":
        scheme = glyphs.printable(value.scheme)
        parts.append([scheme, meaning("schemes", value.scheme, lang) or scheme])
    return parts


def in_language(line: str, lang: str) -> str:
    """Return the line of a draft on a discount or retention in euros in another language; others unchanged."""
    if discount := read_discount(line, "EUR"):
        return discount.write("EUR", lang)
    retention = read_retention(line, "EUR")
    return retention.write("EUR", lang, format_date) if retention else line


def number_forms(value: Number, lang: str) -> list[str]:
    """Return a number with two decimals where it is money, with its own if those are more."""
    places = -min(0, value.number.normalize().as_tuple().exponent)
    text = f"{abs(value.number):,.{max(places, 2) if isinstance(value, Amount) else places}f}"
    return [text.translate(str.maketrans(",.", ".,")) if lang == "de" else text]


def unit_forms(value: Number, lang: str) -> list[list[str]]:
    """Return the forms of the unit of a quantity, and the currency of an amount."""
    if isinstance(value, Amount) and value.currency:
        return [[glyphs.printable(value.currency.strip())]]
    if not isinstance(value, Quantity) or not value.unit:
        return []
    words = meaning("units", value.unit, lang)
    return [[glyphs.printable(value.unit), *(words.split("|") if words else ())]]


def missing(invoice: Any, lang: str) -> list[tuple[str, str, list[str]]]:
    """Return the values that the page does not show: the term, the raw text, and the forms that were looked for."""
    page = Page(invoice, lang)
    return [
        (it.number, it.value.raw, wanted)
        for it in filled(invoice)
        if it.number
        for wanted in forms(it, lang)
        if not any(condensed(form) in page.text for form in wanted)
    ]


def unlabelled(invoice: Any, lang: str) -> list[tuple[str, str]]:
    """Return the values that the page does not show under their own label: the term and the raw text."""
    page = Page(invoice, lang)
    found = []
    for it in filled(invoice):
        wanted = forms(it, lang)
        if not it.number or not wanted or it.number in UNLABELLED:
            continue
        texts = page.under(it.number, *OTHERS.get(it.number, ()))
        if not any(condensed(form) in texts for form in wanted[0]):
            found.append((it.number, it.value.raw))
    return found


def missing_further(invoice: Any, lang: str) -> list[tuple[str, str]]:
    """Return the texts of elements without a business term that the page does not show: the element and the text."""
    page = Page(invoice, lang)
    found = []
    for element in (it for top in invoice.unmapped for it in top.iter() if isinstance(it.tag, str)):
        text = (element.text or "").strip()
        if text == "VAT":
            continue  # the heading of the column, or the label
        if text and not any(condensed(form) in page.text for form in _further_forms(element, text, lang)):
            found.append((element.tag.rpartition("}")[2], text))
    return found


def _further_forms(element: Any, text: str, lang: str) -> Iterator[str]:
    yield glyphs.printable(text)
    yield from filter(None, (element.get("filename"), element.get("mimeCode")))
    yield from filter(None, (meaning(name, text, lang) for name in CODE_LISTS))
    if text in ("true", "1", "false", "0"):
        yield label("yes" if text in ("true", "1") else "no", lang)
        yield label("test_document", lang)
        yield label("copy_document", lang)
    digits = text.replace("-", "")[:8]
    if len(digits) == 8 and digits.isdigit():
        yield f"{digits[6:]}.{digits[4:6]}.{digits[:4]}"
    try:
        number = Amount(text)
    except ValueError:
        return
    if isinstance(number.number, Decimal):
        yield from number_forms(number, lang)
        yield from number_forms(Quantity(text), lang)
