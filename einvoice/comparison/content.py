"""The content of an invoice in one form for both syntaxes: groups that repeat, each with its terms.

It is read from the model without the functions that convert an invoice, so that it can prove what a conversion did.
Sources: EN 16931-3-2 (UBL) and EN 16931-3-3 (CII), for the terms that the syntaxes have in different forms.
"""

from __future__ import annotations

import datetime
import functools
import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any, Final, TypeAlias

from einvoice.model import location
from einvoice.model.group import Group
from einvoice.model.invoice import Invoice, Note, PrecedingInvoice
from einvoice.model.iteration import Context, number_of
from einvoice.model.lines import Document, ItemProperty, Line, LineDocument, Period
from einvoice.model.money import (
    AllowanceCharge,
    FinancialAdjustment,
    LineAllowanceCharge,
    LogisticsCharge,
    LogisticsTax,
    PaymentMeans,
    PriceAllowance,
    TaxCategory,
    ThirdPartyPayment,
    VatBreakdown,
)
from einvoice.model.parties import TaxRegistration
from einvoice.model.terms import terms
from einvoice.model.values import Amount, Binary, Code, Identifier, Value, absent, normalize_space

Content: TypeAlias = str | Decimal | datetime.date

#: Groups that an invoice or a line has several times; the fields of all other groups belong to the group around them.
_REPEATED: Final[tuple[type[Group], ...]] = (
    Note,
    PrecedingInvoice,
    PaymentMeans,
    AllowanceCharge,
    LogisticsCharge,
    FinancialAdjustment,
    ThirdPartyPayment,
    VatBreakdown,
    Document,
    ItemProperty,
)
#: Terms of the whole invoice that a syntax repeats in groups.
_IN_TAX_CURRENCY: Final = "BT-111"
"""The amount that may be in the VAT accounting currency (BT-6)."""
_OF_INVOICE: Final = frozenset(("BT-7", "BT-8", "BT-9", "BT-82", "BT-83", "BT-89", "BT-90"))
#: Terms that a document may give several times with the same content; once is the same statement.
_ONCE: Final = _OF_INVOICE | {"BT-20", "BT-149", "BT-150"}
#: Fields that only decide which term another field is.
_STRUCTURAL: Final = {"indicator": AllowanceCharge, "type_code": Document, "parent_line": Line}
_LOGISTICS: Final = {"description": "BT-104", "amount": "BT-99", "category": "BT-102", "rate": "BT-103"}
_SUBJECT: Final = re.compile(r"#([^#\s]{3})#(.*)", re.DOTALL)
#: Codes of the date of the tax point (BT-8): CII has those of UNTDID 2475, UBL those of UNTDID 2005.
_TAX_POINTS: Final = {"5": "3", "29": "35", "72": "432"}
_TAX_SCHEMES: Final = ("VAT", "VA", "FC")
_INVOICED_OBJECT: Final = "130"
#: Elements that a syntax requires with a fixed text, by name: another text is content without a term.
_FIXED: Final = {"SpecifiedProcuringProject/Name": "Project reference", "CardAccount/NetworkID": "NA"}


@dataclass(frozen=True, slots=True)
class Entry:
    """One value of an invoice.

    Attributes:
        term: its business term; "" if it has none.
        name: what tells it from the other values of its group: the term, or the field or element without one.
        content: its content: a number, a date, or text.
        scheme: the scheme of an identifier, the currency of an amount in another one than that of the invoice.
        node, attribute: its element and the XML attribute that holds it.
        of_extension: the group of an extension that it is read from, such as "BG-X-42".
        steps: cache of the XPaths of its document, so that each element is visited once.
    """

    term: str
    name: str
    content: Content
    scheme: str = ""
    node: Any = None
    attribute: str | None = None
    of_extension: str = ""
    steps: dict[Any, str] | None = field(default=None, repr=False, compare=False)

    @property
    def key(self) -> tuple[str, Content, str]:
        """What is the same in two invoices if the value is the same."""
        return self.name, self.content, self.scheme

    @property
    def line(self) -> int | None:
        """Line in the document, counted from 1."""
        return location.line(self.node)

    @property
    def xpath(self) -> str:
        """XPath in the document."""
        return location.xpath(self.node, self.attribute, self.steps)


@dataclass(slots=True, eq=False)
class Part:
    """The invoice ("BG-0") or a group that repeats: its number, its entries, the groups inside it."""

    group: str
    entries: list[Entry] = field(default_factory=list)
    parts: list[Part] = field(default_factory=list)

    def key(self, *without: str) -> tuple[Any, ...]:
        """Return what is the same in two invoices if the group is the same, except for some terms."""
        entries = Counter(it.key for it in self.entries if it.term not in without)
        parts = Counter(part.key() for part in self.parts)
        return self.group, frozenset(entries.items()), frozenset(parts.items())

    def first(self, name: str) -> Content | None:
        """Return the first content with this name; None if there is none."""
        return next((entry.content for entry in self.entries if entry.name == name), None)

    def add(self, entry: Entry) -> None:
        """Add an entry, unless its term is already here with the same content and once is enough."""
        if entry.term not in _ONCE or all(entry.key != other.key for other in self.entries):
            self.entries.append(entry)


def content_of(invoice: Invoice) -> Part:
    """Return the content of an invoice. White space around values and zeros behind numbers make no difference."""
    reader = _Reader(invoice)
    reader.group(invoice, reader.root, Context(invoice))
    for element in (*invoice.unmapped, *_other_than_fixed(invoice)):
        if text := _lines("\n".join(element.itertext())):
            reader.root.entries.append(Entry("", location.name(element.tag), text, node=element, steps=reader.steps))
    return reader.root


def _other_than_fixed(invoice: Invoice) -> Iterator[Any]:
    if invoice.node is None:
        return
    for path, text in _FIXED.items():
        parent, _, name = path.partition("/")
        for owner in invoice.node.iter(f"{{*}}{parent}"):
            yield from (it for it in owner.iterchildren(f"{{*}}{name}") if normalize_space(it.text or "") != text)


class _Reader:
    """Collects the content of one invoice in `root`."""

    def __init__(self, invoice: Invoice) -> None:
        self.invoice = invoice
        self.root = Part("BG-0")
        self.steps: dict[Any, str] = {}
        self.currency = invoice.currency.text, invoice.tax_currency.text

    def group(self, group: Group, part: Part, context: Context) -> None:
        """Add the fields of a group, and the groups inside it."""
        for name in group.fields:
            content = getattr(group, name)
            for it in content if isinstance(content, list | tuple) else (content,):
                if isinstance(it, Group):
                    self._inner(it, part, context)
                elif isinstance(it, Value):
                    for value in (it, *it.more):
                        if value.filled and (name not in _STRUCTURAL or not isinstance(group, _STRUCTURAL[name])):
                            self._value(group, name, value, part, context)

    def _inner(self, group: Any, part: Part, context: Context) -> None:
        if isinstance(group, Line):
            self._line(group, part)
            return
        if isinstance(group, AllowanceCharge):
            context = context._replace(charge=group.is_charge)
        if isinstance(group, Note) and group.subject_code is absent and (text := _SUBJECT.match(group.text.raw or "")):
            group = Note(subject_code=Code(text[1]), text=_like(group.text, text[2]))
        if isinstance(group, _REPEATED) and not self._is_single(group):
            part.parts.append(inner := Part(_number_of_group(group, context)))
            part = inner
        self.group(group, part, context)

    def _is_single(self, group: Group) -> bool:
        """Return whether the group stands for one term of the group around it."""
        if isinstance(group, Document):
            return group.identifier_term != "BT-122"
        return isinstance(group, PriceAllowance)

    def _line(self, line: Line, above: Part) -> None:
        """Add a line to the invoice; a sub-line names the line above it, as in CII."""
        self.root.parts.append(part := Part("BG-25"))
        parent = line.parent_line
        name = above.first("BT-126") if above.group == "BG-25" else _content(parent) if parent else None
        if name is not None:
            node = line.node if parent is absent else parent.node
            part.add(Entry("", "parent_line", name, node=node, steps=self.steps))
        self.group(line, part, Context(self.invoice, line=True))

    def _value(self, group: Group, name: str, value: Value, part: Part, context: Context) -> None:
        number = self._number(group, name, value, context)
        if number is None:
            return
        scheme = self._scheme(group, value, number)
        if isinstance(value, Identifier) and name == "identifiers" and scheme.upper() == "SEPA":
            number, scheme = "BT-90", ""
        content = _content(value)
        if number == "BT-8" and self.invoice.syntax == "CII":
            content = _TAX_POINTS.get(str(content), content)
        target = self.root if number in _OF_INVOICE else part
        extension = "BG-X-42" if isinstance(group, LogisticsCharge | LogisticsTax) else ""
        label = number or f"{type(group).__name__}.{name}"
        target.add(Entry(number, label, content, scheme, value.node, value.attribute, extension, self.steps))
        for attribute, own in _attribute_terms().get(number, {}).items():
            if not isinstance(value, Identifier) and (text := value.attributes.get(attribute)):
                part.add(Entry(own, own, normalize_space(text), "", value.node, attribute, steps=self.steps))

    def _number(self, group: Group, name: str, value: Value, context: Context) -> str | None:
        """Return the term, "" for a field without one, None for a field that states nothing of its own."""
        if isinstance(group, LogisticsCharge | LogisticsTax):
            return _LOGISTICS.get(name) if name != "scheme" else None
        if name == "scheme" and isinstance(group, TaxCategory | TaxRegistration):
            return None if normalize_space(value.raw).upper() in _TAX_SCHEMES else ""
        if isinstance(group, Period) and name == "tax_point_code" and context.line:
            return ""
        if name == "status_reason" and value.text == "DETAIL":  # a line like any other
            return None
        if isinstance(group, Document):
            return self._number_in_document(group, name, context)
        if isinstance(group, Invoice) and name == "purchase_order" and value.text == "NA" and group.sales_order:
            return None  # required by the UBL schema beside a sales order
        return number_of(group, name, context)

    def _number_in_document(self, group: Document, name: str, context: Context) -> str | None:
        if name == "reference_type":
            return None if group.identifier is not absent else ""
        if isinstance(group, LineDocument) and group.type_code.text not in (_INVOICED_OBJECT, absent):
            return ""
        return number_of(group, name, context)

    def _scheme(self, group: Group, value: Value, number: str) -> str:
        if isinstance(value, Amount):
            own, *other = self.currency
            usual = (own, *(other if number == _IN_TAX_CURRENCY else ()))
            return value.currency if value.currency not in (absent, *usual) else ""
        if not isinstance(value, Identifier) or isinstance(group, TaxRegistration):
            return ""
        if isinstance(group, Document) and group.reference_type is not absent:
            return str(group.reference_type.text)
        return " ".join(it for it in (value.scheme, value.list_id, value.list_version) if it is not absent)


def _number_of_group(group: Group, context: Context) -> str:
    if isinstance(group, FinancialAdjustment):
        return "BG-X-72"
    if isinstance(group, LogisticsCharge):
        return "BG-21"
    if isinstance(group, AllowanceCharge):
        numbers = ("BG-27", "BG-28") if isinstance(group, LineAllowanceCharge) or context.line else ("BG-20", "BG-21")
        return numbers[context.charge]
    return "BG-32" if isinstance(group, ItemProperty) else group.groups[0]


def _like(value: Any, raw: str) -> Any:
    """Return a value with another text at the same place."""
    result = type(value)(raw)
    result.node = value.node
    return result


def _content(value: Value) -> Content:
    """Return the content of a value; text that is no number or date as it is, a file by its hash."""
    if isinstance(value, Binary):
        data = value.value
        return hashlib.sha256(value.raw.encode() if data is absent else data).hexdigest()
    if isinstance(value, Code | Identifier):
        return normalize_space(value.raw)
    typed = value.value
    return typed if isinstance(typed, Decimal | datetime.date) else _lines(value.raw)


def _lines(text: str) -> str:
    """Return the text without white space that means nothing; line breaks inside it stay."""
    return "\n".join(filter(None, map(normalize_space, text.split("\n"))))


@functools.cache
def _attribute_terms() -> Mapping[str, Mapping[str, str]]:
    """Return the terms in XML attributes of a value, by the term of the value and the name of the attribute."""
    names = {"unit": "unitCode", "mime": "mimeCode", "filename": "filename"}
    by_path = {it.path: it.number for it in terms().values() if it.datatype != "Group"}
    found: dict[str, dict[str, str]] = {}
    for it in terms().values():
        path, _, name = it.path.rpartition(".")
        if name in names and path in by_path:
            found.setdefault(by_path[path], {})[names[name]] = it.number
    return found
