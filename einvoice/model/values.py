"""Values of business terms: the text of the document and its typed value.

A value keeps the `raw` text beside the typed value, because the official rules check both: `"12.50 "` is a number,
but has three characters after the point. `absent` stands for a term that the document does not contain.
"""

from __future__ import annotations

import base64
import binascii
import datetime
import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from types import FunctionType, MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Final, Self, TypeAlias, cast, overload

from einvoice.model import location

#: White space as XML defines it; Python's `str.strip` would also remove the no-break space, which XPath keeps.
BLANKS: Final = " \t\r\n"
NO_ATTRIBUTES: Final[Mapping[str, str]] = MappingProxyType({})

_DECIMAL = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)\Z")
_ISO_DATE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})(?:Z|[+-][0-9]{2}:[0-9]{2})?\Z")
_CALENDAR_DATE = r"([0-9]{4})([0-9]{2})([0-9]{2})\Z"


class Absent:
    """A term that the document does not contain; it behaves like the empty sequence in XPath.

    Comparisons with it are false, arithmetic with it is absent, iteration yields nothing, and so is every attribute
    that a group or value has. Another name is an error: it is misspelt.

    >>> absent == absent, absent != 1, 1 < absent, absent + 1, list(absent), absent.text
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

    __hash__ = object.__hash__

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
        from difflib import get_close_matches  # on use: only for messages

        near = get_close_matches(name, [it for it in vars(Absent) if not it.startswith("_")], 1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise AttributeError(f"the invoice does not contain this term, and no term has a field {name!r}{hint}")

    def __copy__(self) -> Absent:
        return self

    def __deepcopy__(self, _: object) -> Absent:
        return self

    def __reduce__(self) -> str:
        return "absent"


absent: Final[Any] = Absent()


def normalize_space(text: str) -> str:
    """Return the text as XPath's normalize-space() does.

    >>> normalize_space("  a \\n b ")
    'a b'
    """
    if text.isalnum():  # as most codes are
        return text
    return " ".join(part for part in text.translate(_SPACES).split(" ") if part)


_SPACES: Final = str.maketrans(BLANKS, " " * len(BLANKS))


class Value:
    """One occurrence of a business term.

    Attributes:
        raw: the text exactly as in the document.
        text: the text that the official rules of its syntax compare.
        filled: whether the text has a character other than white space.
        attributes: the XML attributes of its element; read-only, since values with the same ones may share them.
        more: further occurrences of a term that the standard allows once.
        node: the element; None for a value that was not read from a document.
        attribute: the XML attribute that holds the value; None for the text of the element.
    """

    __slots__ = ("attribute", "attributes", "filled", "more", "node", "raw", "text")
    datatype: ClassVar[str] = "Text"

    def __init__(self, raw: str, attributes: Mapping[str, str] = NO_ATTRIBUTES) -> None:
        self.raw = self.text = raw
        self.filled = bool(raw.strip(BLANKS))
        self.attributes = attributes
        self.node: Any = None
        self.attribute: str | None = None
        self.more: Sequence[Value] = ()

    @property
    def value(self) -> Any:
        """The typed value: text, `Decimal`, `date` or `bytes`; `absent` if the text is invalid."""
        return self.text

    @property
    def line(self) -> int | None:
        """Line in the document, counted from 1; None for a value that was not read from a document."""
        return location.line(self.node)

    @property
    def xpath(self) -> str:
        """XPath of the value, with the prefixes of `NAMESPACES`; empty for one that was not read from a document."""
        return location.xpath(self.node, self.attribute)

    if TYPE_CHECKING:  # fields of groups take plain values, too; see `model.editing`

        def __get__(self, group: object, owner: object = None) -> Self: ...
        def __set__(self, group: object, given: Value | str) -> None: ...

    def __copy__(self) -> Self:
        twin = object.__new__(type(self))
        for name in Value.__slots__:
            setattr(twin, name, getattr(self, name))
        return twin

    def __getstate__(self) -> tuple[None, dict[str, Any]]:
        """Return the state for a deep copy or another process: the content without the document."""
        state = {name: getattr(self, name) for name in Value.__slots__}
        return None, state | {"node": None, "attributes": dict(self.attributes)}

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
        attributes = "".join(f", {name}={text!r}" for name, text in self.attributes.items())
        return f"{type(self).__name__}({self.raw!r}{attributes})"


class Text(Value):
    """Free text."""

    __slots__ = ()


class Code(Value):
    """An entry of a code list."""

    __slots__ = ()
    datatype = "Code"

    @property
    def list_id(self) -> str:
        """The code list (XML attribute `listID`), or `absent`."""
        return self.attributes.get("listID", absent)


class Identifier(Value):
    """An identifier, with its scheme."""

    __slots__ = ()
    datatype = "Identifier"

    @property
    def scheme(self) -> str:
        """The scheme identifier (XML attribute `schemeID`), such as `0088` or `EM`, or `absent`."""
        return self.attributes.get("schemeID", absent)

    @property
    def list_id(self) -> str:
        """The classification scheme (XML attribute `listID`), or `absent`."""
        return self.attributes.get("listID", absent)

    @property
    def list_version(self) -> str:
        """The version of the classification scheme (XML attribute `listVersionID`), or `absent`."""
        return self.attributes.get("listVersionID", absent)


_SHORT: Final = 16
"""Number of characters up to which numbers and dates are kept: rates, quantities and prices repeat."""


def parse_number(text: str) -> Any:
    """Return the exact `Decimal`; `absent` if the text is not an xs:decimal, which allows no exponent.

    >>> parse_number(" 12.50 "), parse_number("1e3")
    (Decimal('12.50'), absent)
    """
    text = text.strip(BLANKS)
    return Decimal(text) if _DECIMAL.match(text) else absent


_parse_short: Final = functools.lru_cache(maxsize=4096)(parse_number)


class Number(Value):
    """A numeric value.

    `number` is the exact `Decimal`; `absent` if the text is not an xs:decimal, which allows no exponent.
    """

    __slots__ = ("number",)
    datatype = "Number"
    number: Any

    if TYPE_CHECKING:

        def __set__(self, group: object, given: Value | Decimal | int | str) -> None: ...

    def __getattr__(self, name: str) -> Any:
        """Parse `number` on first use; the slot stores it."""
        if name != "number":
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        self.number = number = parse_number(self.raw)
        return number

    @property
    def value(self) -> Any:
        """The `number`."""
        return self.number

    def __eq__(self, other: object) -> bool:
        """Return whether it is equal: to another value if the text is the same, to a `Decimal` or `int` by number."""
        return bool(self.number == other) if isinstance(other, Decimal | int) else super().__eq__(other)

    def __hash__(self) -> int:
        return hash(self.raw if self.number is absent else self.number)

    def __lt__(self, other: Operand) -> bool:
        return bool(self.number < _number(other))

    def __le__(self, other: Operand) -> bool:
        return bool(self.number <= _number(other))

    def __gt__(self, other: Operand) -> bool:
        return bool(self.number > _number(other))

    def __ge__(self, other: Operand) -> bool:
        return bool(self.number >= _number(other))

    def __add__(self, other: Operand) -> Decimal:
        return cast("Decimal", self.number + _number(other))

    def __sub__(self, other: Operand) -> Decimal:
        return cast("Decimal", self.number - _number(other))

    def __rsub__(self, other: Operand) -> Decimal:
        return cast("Decimal", _number(other) - self.number)

    def __mul__(self, other: Operand) -> Decimal:
        return cast("Decimal", self.number * _number(other))

    def __truediv__(self, other: Operand) -> Decimal:
        return cast("Decimal", self.number / _number(other))

    def __rtruediv__(self, other: Operand) -> Decimal:
        return cast("Decimal", _number(other) / self.number)

    def __neg__(self) -> Decimal:
        return cast("Decimal", -self.number)

    def __abs__(self) -> Decimal:
        return cast("Decimal", abs(self.number))

    __radd__, __rmul__ = __add__, __mul__


Operand: TypeAlias = Number | Decimal | int
"""What can be calculated with a number of the invoice; a float is refused, as it is not exact."""


def _number(operand: Any) -> Any:
    """Return the number of an operand; `absent` for a malformed or missing one.

    Raises:
        TypeError: it is none, such as a float.
    """
    if operand is absent or isinstance(operand, Number):
        return operand.number
    if isinstance(operand, Decimal | int):
        return operand
    raise TypeError(f"amounts are calculated with Decimal or int, not {type(operand).__name__}")


class Amount(Number):
    """An amount of money, with its currency."""

    __slots__ = ()
    datatype = "Amount"

    @property
    def currency(self) -> str:
        """The currency (XML attribute `currencyID`), or `absent`."""
        return self.attributes.get("currencyID", absent)


class UnitPrice(Amount):
    """The price of one unit; it may have more than two decimals."""

    __slots__ = ()
    datatype = "Unit price amount"


class Quantity(Number):
    """A quantity, with its unit."""

    __slots__ = ()
    datatype = "Quantity"

    @property
    def unit(self) -> str:
        """The unit of measure (XML attribute `unitCode`), or `absent`."""
        return self.attributes.get("unitCode", absent)


class Percentage(Number):
    """A percentage: 19 means 19 %."""

    __slots__ = ()
    datatype = "Percentage"


def _date_of(text: str) -> Any:
    text = text.strip(BLANKS)
    parts = _ISO_DATE.match(text) or re.match(_CALENDAR_DATE, text)
    try:
        return datetime.date(*map(int, parts.groups())) if parts else absent
    except ValueError:
        return absent


_date_of_short: Final = functools.lru_cache(maxsize=1024)(_date_of)


class Date(Value):
    """A calendar date, in ISO 8601 (UBL) or as CCYYMMDD (CII, format 102)."""

    __slots__ = ()
    datatype = "Date"

    if TYPE_CHECKING:

        def __set__(self, group: object, given: Value | datetime.date | str) -> None: ...

    @property
    def date(self) -> Any:
        """The date; `absent` if the text is not a calendar date."""
        return _date_of_short(self.raw) if len(self.raw) < _SHORT else _date_of(self.raw)

    value = date

    def __eq__(self, other: object) -> bool:
        """Return whether it is equal: to another value if the text is the same, to a date by the day."""
        return bool(self.date == other) if isinstance(other, datetime.date) else super().__eq__(other)

    def __hash__(self) -> int:
        return hash(self.raw if self.date is absent else self.date)

    def __lt__(self, other: Date | datetime.date) -> bool:
        return bool(self.date < _day(other))

    def __le__(self, other: Date | datetime.date) -> bool:
        return bool(self.date <= _day(other))

    def __gt__(self, other: Date | datetime.date) -> bool:
        return bool(self.date > _day(other))

    def __ge__(self, other: Date | datetime.date) -> bool:
        return bool(self.date >= _day(other))

    def __add__(self, days: datetime.timedelta) -> datetime.date:
        return cast("datetime.date", self.date + days)

    @overload
    def __sub__(self, other: datetime.timedelta) -> datetime.date: ...
    @overload
    def __sub__(self, other: Date | datetime.date) -> datetime.timedelta: ...
    def __sub__(self, other: Any) -> Any:
        return self.date - _day(other)


def _day(operand: Any) -> Any:
    return operand.date if operand is absent or isinstance(operand, Date) else operand


class Binary(Value):
    """An attached file."""

    __slots__ = ()
    datatype = "Binary object"

    @property
    def value(self) -> Any:
        """The bytes of the file; `absent` if the text is not base64."""
        try:
            return base64.b64decode("".join(self.raw.split()), validate=True)
        except (binascii.Error, ValueError):
            return absent

    @property
    def mime(self) -> str:
        """The MIME type (XML attribute `mimeCode`), or `absent`."""
        return self.attributes.get("mimeCode", absent)

    @property
    def filename(self) -> str:
        """The file name (XML attribute `filename`), or `absent`."""
        return self.attributes.get("filename", absent)


@functools.cache
def creator(cls: type[Any]) -> Callable[[str, bool, str, Mapping[str, str], Any], Any]:
    """Return a function that creates the values of one class faster than its constructor.

    Its arguments are `raw`, `filled`, `text`, `attributes` and `node`. Each class has a function with code of
    its own, because CPython remembers the slots of one class at each place in the code.
    """
    is_number = issubclass(cls, Number)

    def create(raw: str, filled: bool, text: str, attributes: Mapping[str, str], node: Any) -> Any:
        value = _new(cls)
        value.raw = raw
        value.filled = filled
        value.text = text
        value.attributes = attributes
        value.node = node
        value.attribute = None
        value.more = ()
        if is_number:
            value.number = _parse_short(raw) if len(raw) < _SHORT else parse_number(raw)
        return value

    code, closure = create.__code__.replace(), create.__closure__
    return FunctionType(code, globals(), create.__name__, None, closure)


_new: Final[Any] = object.__new__


for _kind in (Value, Text, Code, Identifier, Number, Amount, UnitPrice, Quantity, Percentage, Date, Binary):
    for _name in (*_kind.__slots__, *(it for it, found in vars(_kind).items() if isinstance(found, property))):
        setattr(Absent, _name, absent)
