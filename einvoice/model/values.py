"""Values of business terms: what a document says, letter by letter, and what it means.

A value keeps its ``raw`` text beside the typed view, because the official rules judge both: ``"12.50 "`` is a number,
and it has three characters after the point. ``absent`` stands for a term that the document does not carry.
"""

from __future__ import annotations

import base64
import binascii
import datetime
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any, ClassVar, Final, Self

from einvoice.model import location

#: White space as XML knows it; Python's ``str.strip`` would also take the no-break space, which XPath keeps.
BLANKS: Final = " \t\r\n"
NO_ATTRIBUTES: Final[Mapping[str, str]] = {}

_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)\Z")
_ISO_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?:Z|[+-][0-9]{2}:[0-9]{2})?\Z")
_CALENDAR_DATE = re.compile(r"([0-9]{4})([0-9]{2})([0-9]{2})\Z")


class Absent:
    """A term that the document does not carry; it behaves as the empty sequence does in XPath.

    Comparing with it is false, calculating with it is absent, iterating over it yields nothing, and every attribute
    of it is absent again.

    >>> absent == absent, absent != 1, 1 < absent, absent + 1, list(absent), absent.name
    (False, False, False, absent, [], absent)
    """

    __slots__ = ()
    raw: Any
    text: Any
    number: Any
    value: Any

    def _absent(self, *_: object) -> Absent:
        return self

    def _false(self, *_: object) -> bool:
        return False

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _absent
    __truediv__ = __rtruediv__ = __neg__ = __pos__ = __abs__ = _absent
    __lt__ = __le__ = __gt__ = __ge__ = __contains__ = _false

    def __eq__(self, _: object) -> bool:
        return False

    def __ne__(self, _: object) -> bool:
        return False

    def __hash__(self) -> int:
        return id(self)

    def __bool__(self) -> bool:
        return False

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __str__(self) -> str:
        return ""

    def __repr__(self) -> str:
        return "absent"

    def __getattr__(self, name: str) -> Absent:
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __copy__(self) -> Absent:
        return self

    def __deepcopy__(self, _: object) -> Absent:
        return self

    def __reduce__(self) -> str:
        return "absent"


absent: Final[Any] = Absent()


class Value:
    """One occurrence of a business term.

    ``raw`` is the text as it stands in the document, ``text`` the view of it that the rules of its syntax compare,
    ``attributes`` what stands beside it, ``more`` further occurrences of a term that the norm allows once.
    """

    __slots__ = ("attribute", "attributes", "more", "node", "raw", "text")
    datatype: ClassVar[str] = "Text"

    def __init__(self, raw: str, attributes: Mapping[str, str] = NO_ATTRIBUTES) -> None:
        self.raw = self.text = raw
        self.attributes = attributes
        self.node: Any = None
        self.attribute: str | None = None
        self.more: Sequence[Value] = ()

    @property
    def value(self) -> Any:
        """The typed value: text, ``Decimal``, ``date`` or ``bytes``; ``absent`` where the text is none of its type."""
        return self.text

    @property
    def filled(self) -> bool:
        """Whether anything but blanks stands here."""
        return bool(self.raw.strip(BLANKS))

    @property
    def line(self) -> int | None:
        """The line of the document, counted from 1; None for a value that no document gave."""
        return location.line(self.node)

    @property
    def xpath(self) -> str:
        """Where the value stands in its document, with the usual prefixes; empty for a value that no document gave."""
        return location.xpath(self.node, self.attribute)

    def __copy__(self) -> Self:
        twin = object.__new__(type(self))
        for name in Value.__slots__:
            setattr(twin, name, getattr(self, name))
        return twin

    def __getstate__(self) -> tuple[None, dict[str, Any]]:
        """For a deep copy or another process: what was said, without the document that said it."""
        return None, {name: getattr(self, name) for name in Value.__slots__} | {"node": None}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Value):
            return NotImplemented
        return (
            type(self) is type(other)
            and self.raw == other.raw
            and dict(self.attributes) == dict(other.attributes)
            and list(self.more) == list(other.more)
        )

    def __hash__(self) -> int:
        return hash((type(self), self.raw))

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        beside = "".join(f", {name}={text!r}" for name, text in self.attributes.items())
        return f"{type(self).__name__}({self.raw!r}{beside})"


class Text(Value):
    """Running text."""

    __slots__ = ()


class Code(Value):
    """One entry of a code list."""

    __slots__ = ()
    datatype = "Code"

    @property
    def list_id(self) -> str:
        """The code list that the document names beside the code, or ``absent``."""
        return self.attributes.get("listID", absent)


class Identifier(Value):
    """What identifies something, with the scheme it comes from."""

    __slots__ = ()
    datatype = "Identifier"

    @property
    def scheme(self) -> str:
        """The scheme identifier, such as ``0088`` or ``EM``, or ``absent``."""
        return self.attributes.get("schemeID", absent)

    @property
    def list_id(self) -> str:
        """The classification that the document names beside the identifier, or ``absent``."""
        return self.attributes.get("listID", absent)

    @property
    def list_version(self) -> str:
        """The version of that classification, or ``absent``."""
        return self.attributes.get("listVersionID", absent)


class Number(Value):
    """What can be calculated with."""

    __slots__ = ("_number",)
    datatype = "Number"

    @property
    def number(self) -> Any:
        """The exact number; ``absent`` where the text is none (XML Schema's xs:decimal, so no exponent)."""
        try:
            return self._number
        except AttributeError:
            text = self.raw.strip(BLANKS)
            self._number: Any = Decimal(text) if _DECIMAL.match(text) else absent
            return self._number

    value = number


class Amount(Number):
    """An amount of money, with its currency."""

    __slots__ = ()
    datatype = "Amount"

    @property
    def currency(self) -> str:
        """The currency beside the amount, or ``absent``."""
        return self.attributes.get("currencyID", absent)


class UnitPrice(Amount):
    """The price of one unit; it may have more than two decimals."""

    __slots__ = ()
    datatype = "Unit price amount"


class Quantity(Number):
    """How much, with its unit."""

    __slots__ = ()
    datatype = "Quantity"

    @property
    def unit(self) -> str:
        """The unit code beside the quantity, or ``absent``."""
        return self.attributes.get("unitCode", absent)


class Percentage(Number):
    """A rate in percent: 19 means 19 %."""

    __slots__ = ()
    datatype = "Percentage"


class Date(Value):
    """A day of the calendar, written as ISO 8601 (UBL) or as CCYYMMDD (CII, format 102)."""

    __slots__ = ()
    datatype = "Date"

    @property
    def date(self) -> Any:
        """The day; ``absent`` where the text is no date of the calendar."""
        text = self.raw.strip(BLANKS)
        parts = _ISO_DATE.match(text) or _CALENDAR_DATE.match(text)
        try:
            return datetime.date(*map(int, parts.groups())) if parts else absent
        except ValueError:
            return absent

    value = date


class Binary(Value):
    """An attached file."""

    __slots__ = ()
    datatype = "Binary object"

    @property
    def value(self) -> Any:
        """The bytes of the file; ``absent`` where the text is not base64."""
        try:
            return base64.b64decode("".join(self.raw.split()), validate=True)
        except (binascii.Error, ValueError):
            return absent

    @property
    def mime(self) -> str:
        """The MIME type beside the file, or ``absent``."""
        return self.attributes.get("mimeCode", absent)

    @property
    def filename(self) -> str:
        """The name beside the file, or ``absent``."""
        return self.attributes.get("filename", absent)
