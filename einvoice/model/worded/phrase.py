"""A sentence with values that is written in one language and read in all."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from string import Formatter
from typing import Any, Final

from einvoice.localization import Language, Messages, languages
from einvoice.localization.formatting import FORMAT, format_date, format_number

Values = Mapping[str, Any]
"""The values of a sentence by field: `Decimal`, `datetime.date` or text; None if there is none."""
DateFormat = Callable[[datetime.date, Language], str]

_RATES: Final = ("rate", "percent", "days")
_MONEY: Final = ("amount", "net", "tax", "base")
_DATES: Final = ("received", "issued", "until")
_MAX_LENGTH: Final = 1000


class Phrase:
    """A sentence made of parts, each a template of a message table. A part without a value for a field is left out.

    The names of the fields tell their types: amounts, rates, days and texts.

    Args:
        messages: the table.
        keys: of the templates, in order; the first part is always there.
    """

    def __init__(self, messages: Messages, *keys: str) -> None:
        self._messages = messages
        self._keys = keys

    def write(self, values: Values, lang: Language, date_format: DateFormat = format_date) -> str:
        """Return the sentence; it is read again only with the default `date_format`."""
        given = {name: _shown(name, value, lang, date_format) for name, value in values.items() if value is not None}
        templates = (self._messages[lang][key] for key in self._keys)
        return "".join(it.format_map(given) for it in templates if given.keys() >= set(_fields(it)))

    def read(self, text: str, fixed: Values) -> dict[str, Any] | None:
        """Return the values of a sentence in any language; None if the text is no such sentence.

        Args:
            text: without line breaks.
            fixed: values that the sentence must have, such as its currency.
        """
        for lang in languages() if len(text) <= _MAX_LENGTH else ():
            if match := self._expression(fixed, lang).fullmatch(text):
                found = {name: _value(name, it, lang) for name, it in match.groupdict().items() if it is not None}
                if None not in found.values() and self.write({**found, **fixed}, lang) == text:
                    return found
        return None

    def _expression(self, fixed: Values, lang: Language) -> re.Pattern[str]:
        first, *others = (_pattern(self._messages[lang][key], fixed) for key in self._keys)
        return re.compile(first + "".join(f"(?:{it})?" for it in others))


def _fields(template: str) -> Sequence[str]:
    return [name for _, name, _, _ in Formatter().parse(template) if name]


def _pattern(template: str, fixed: Values) -> str:
    parts = Formatter().parse(template)
    return "".join(re.escape(text) + (_field(name, fixed) if name else "") for text, name, _, _ in parts)


def _field(name: str, fixed: Values) -> str:
    if name in fixed:
        return re.escape(str(fixed[name]))
    return f"(?P<{name}>{'[^ ]+' if name in (*_RATES, *_MONEY, *_DATES) else '.+?'})"


def _shown(name: str, value: Any, lang: Language, date_format: DateFormat) -> str:
    if isinstance(value, Decimal | int):
        return format_number(value, lang, decimals=0 if name in _RATES else 2)
    return date_format(value, lang) if isinstance(value, datetime.date) else str(value)


def _value(name: str, text: str, lang: Language) -> Any:
    """Return the value of a field; None if the text is none."""
    if name in _DATES:
        return _day(text, lang)
    return _number(text, lang) if name in (*_RATES, *_MONEY) else text


def _number(text: str, lang: Language) -> Decimal | None:
    marks = FORMAT[lang]
    plain = text.replace(marks["group"], "").replace(marks["decimal"], ".").replace(marks["minus"], "-")
    return Decimal(plain) if re.fullmatch(r"-?[0-9]{1,40}(?:\.[0-9]{1,40})?", plain) else None


def _day(text: str, lang: Language) -> datetime.date | None:
    pattern = re.escape(re.sub(r"\{(\w+):0\d\}", r"<\1>", FORMAT[lang]["date"]))
    match = re.fullmatch(re.sub("<(year|month|day)>", r"(?P<\1>[0-9]+)", pattern), text)
    try:
        return datetime.date(**{name: int(it) for name, it in match.groupdict().items()}) if match else None
    except ValueError:
        return None
