"""Content of the document that EN 16931 does not define, such as that of Factur-X EXTENDED, in readable form.

The reader lists the elements at which the business terms end. Each belongs to the closest group around it: a line, a
party, or the invoice.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator
from decimal import Decimal, InvalidOperation
from typing import Any, Final, NamedTuple

from einvoice.code_catalog.element_names import element_name
from einvoice.localization import Language
from einvoice.localization.formatting import colon
from einvoice.model.group import Group
from einvoice.visualization.formatting import format_date, format_number
from einvoice.visualization.labels import code_text, label, meaning

_WORDS: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z0-9]*|[a-z0-9]+")
_DATE: Final = re.compile(r"(\d{4})-?(\d\d)-?(\d\d)(?:Z|[+-]\d\d:\d\d|T00:00:00)?")
_NUMBER: Final = re.compile(r"[+-]?(\d{1,40}(\.\d{0,40})?|\.\d{1,40})")
#: Elements that only carry the text of the element around them.
_CARRIERS: Final = (
    "DateTimeString",
    "DateString",
    "DateTime",
    "Indicator",
    "IndicatorString",
    "Party",
    "PartyName",
    "URIID",
)
#: Elements with a code, by the end of the name of the element around them and their own, and the table of its names.
_CODES: Final = {
    ("", "CountryID"): "countries",
    ("", "IdentificationCode"): "countries",
    ("", "CategoryCode"): "vat_categories",
    ("TaxCategory", "ID"): "vat_categories",
    ("TaxScheme", "ID"): "taxes",
    ("Tax", "TypeCode"): "taxes",
    ("", "DueDateTypeCode"): "tax_point_codes",
    ("", "PaymentMeansCode"): "payment_means",
    ("", "SubjectCode"): "note_subjects",
    ("", "ContentCode"): "text_blocks",
    ("ReferencedDocument", "TypeCode"): "document_types",
    ("", "DocumentTypeCode"): "document_types",
    ("", "ReferenceTypeCode"): "reference_types",
    ("", "LineStatusCode"): "line_actions",
    ("", "LineStatusReasonCode"): "line_statuses",
    ("", "DocumentStatusCode"): "line_statuses",
    ("", "RoleCode"): "party_roles",
    ("", "DeliveryTypeCode"): "delivery_terms",
    ("", "ModeCode"): "transport_modes",
    ("", "MimeCode"): "mime_types",
    ("", "LanguageID"): "languages",
}
#: Elements that say what a text below them is about, though their other content has business terms.
_PARTS: Final = ("ReferencedDocument", "Reference", "TradeParty", "FinancialInstitution", "TaxTotal")
_BOOLEANS: Final = {"true": "yes", "1": "yes", "false": "no", "0": "no"}


class Leaf(NamedTuple):
    """A text below an element: the elements around it, the outermost first, and its own element."""

    path: tuple[Any, ...]

    @property
    def element(self) -> Any:
        """The element that has the text."""
        return self.path[-1]


class FurtherContent:
    """The elements of an invoice without a business term, by the group that contains them.

    Elements are marked as shown when another section of the page shows their content.
    """

    def __init__(self, invoice: Any) -> None:
        self._by_group: dict[int, list[Any]] = {}
        self._groups: list[Group] = []
        self._shown: set[Any] = set()
        if not invoice.unmapped:
            return
        groups = {group.node: group for group in invoice.walk() if group.node is not None}
        listed = set(invoice.unmapped)
        for element in invoice.unmapped:
            if not listed.isdisjoint(element.iterancestors()):
                continue  # with the element around it
            group = next((groups[it] for it in element.iterancestors() if it in groups), invoice)
            if id(group) not in self._by_group:
                self._groups.append(group)
            self._by_group.setdefault(id(group), []).append(element)

    def of(self, group: Group, *names: str) -> list[Any]:
        """Return the elements that belong to a group, those with these local names if any are given."""
        found = self._by_group.get(id(group), [])
        return [it for it in found if not names or local_name(it) in names]

    def mark_shown(self, element: Any) -> None:
        """Mark an element with all its content as shown."""
        self._shown.add(element)

    def unshown(self) -> Iterator[tuple[Group, list[Leaf]]]:
        """Yield the groups with their texts that are not shown yet."""
        for group in self._groups:
            elements = [it for it in self._by_group[id(group)] if it not in self._shown]
            found = [Leaf((*_around(it, group), *leaf.path)) for it in elements for leaf in leaves(it)]
            if found:
                yield group, found


def _around(element: Any, group: Group) -> list[Any]:
    """Return the elements between a group and an element that say what it is about, such as a referenced document."""
    found = []
    for it in element.iterancestors():
        if it is group.node:
            break
        if local_name(it).endswith(_PARTS) and known_name(it, "de"):
            found.append(it)
    return found[::-1]


def local_name(element: Any) -> str:
    """Return the name of an element without its namespace."""
    return str(element.tag).rpartition("}")[2]


def leaves(element: Any) -> Iterator[Leaf]:
    """Yield the texts of an element and of those below it, in document order; children do not end a text."""
    stack: list[tuple[Any, ...]] = [(element,)]
    while stack:
        path = stack.pop()
        if isinstance(path[-1].tag, str):  # not a comment
            if _direct_text(path[-1]):
                yield Leaf(path)
            stack.extend((*path, child) for child in reversed(path[-1]))


def _direct_text(element: Any) -> str:
    parts = [element.text, *(child.tail for child in element)]
    return " ".join(" ".join(filter(None, parts)).split()) if len(element) else (element.text or "").strip()


def leaf_label(leaf: Leaf, lang: Language) -> str:
    """Return the label of a text: the names of its elements, without those that only carry the text."""
    names = [_name(element, lang) for element in leaf.path if local_name(element) not in _CARRIERS]
    return colon(lang).join(dict.fromkeys(names)) or name_of(leaf.element, lang)


def _name(element: Any, lang: Language) -> str:
    """Return the name of an element; of a country its name, since its code is shown in words."""
    return label("country", lang) if _codes(element) == "countries" else name_of(element, lang)


def name_of(element: Any, lang: Language) -> str:
    """Return the name of an element: from the message files, from the texts of the rules, or its words."""
    found = known_name(element, lang) or _words(local_name(element))
    return found[:1].upper() + found[1:]


def known_name(element: Any, lang: Language) -> str:
    """Return the name of an element in the message files or in the texts of the rules; '' if there is none."""
    return element_name(_path(element), lang)


def _path(element: Any) -> str:
    names = [local_name(element), *(local_name(it) for it in element.iterancestors())]
    return "/" + "/".join(reversed(names[:3]))


def _words(name: str) -> str:
    """Return an English element name as words.

    >>> _words("UltimateCustomerOrderID")
    'ultimate customer order ID'
    """
    return " ".join(word if len(word) > 1 and word.isupper() else word.lower() for word in _WORDS.findall(name))


def leaf_text(leaf: Leaf, lang: Language, currency: str) -> str:
    """Return the text of an element in the form of the page: numbers, dates, units, files, and yes or no."""
    element, text = leaf.element, _direct_text(leaf.element)
    name = local_name(element)
    if filename := element.get("filename") or element.get("mimeCode"):
        return str(filename)
    if codes := _codes(element):
        return code_text(codes, text, lang)
    if name.endswith(("Indicator", "IndicatorString")) and text in _BOOLEANS:
        return label(_BOOLEANS[text], lang)
    if name.endswith(("Date", "DateTime", "DateTimeString", "DateString")):
        return _date(text, lang)
    if name.endswith(("Amount", "Percent", "Quantity", "Measure", "Rate", "Numeric")):
        return _number(element, name, text, lang, currency)
    scheme = element.get("schemeID", "")
    return f"{text} ({meaning('schemes', scheme, lang) or scheme})" if scheme else text


def _codes(element: Any) -> str:
    """Return the table with the names of an element's codes; '' if it has no code, or one without names."""
    around = element.getparent()
    place, own = "" if around is None else local_name(around), local_name(element)
    return next((it for (end, name), it in _CODES.items() if name == own and place.endswith(end)), "")


def _date(text: str, lang: Language) -> str:
    match = _DATE.fullmatch(text)
    try:
        return format_date(datetime.date(*map(int, match.groups())), lang) if match else text
    except ValueError:
        return text


def _number(element: Any, name: str, text: str, lang: Language, currency: str) -> str:
    try:
        number = Decimal(text) if _NUMBER.fullmatch(text) else None
    except InvalidOperation:
        number = None
    unit = "%" if name.endswith("Percent") else ""
    if name.endswith("Amount"):
        unit = element.get("currencyID", currency)
    elif code := element.get("unitCode"):
        singular, _, plural = (meaning("units", code, lang) or code).partition("|")
        unit = plural if plural and number != 1 else singular
    shown = text if number is None else format_number(number, lang, decimals=2 if name.endswith("Amount") else 0)
    return f"{shown}\u00a0{unit}" if unit else shown
