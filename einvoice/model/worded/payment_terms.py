"""Cash discounts and retentions as lines of the payment terms (BT-20)."""

from __future__ import annotations

import datetime
from dataclasses import asdict, dataclass
from decimal import Decimal
from typing import Final

from einvoice.localization import Language, Messages
from einvoice.localization.formatting import format_date
from einvoice.model.worded.phrase import DateFormat, Phrase

_MESSAGES: Final = Messages("einvoice.model", "worded_terms")
_DISCOUNT: Final = Phrase(_MESSAGES, "discount")
_DISCOUNT_BASE: Final = Phrase(_MESSAGES, "discount_base")
_RETENTION: Final = Phrase(_MESSAGES, "retention", "until", "reason")


@dataclass(frozen=True, slots=True)
class Discount:
    """A cash discount for payment within a number of days, on the amount due or on another base."""

    days: int
    percent: Decimal
    base: Decimal | None = None

    def write(self, currency: str, lang: Language) -> str:
        """Return the line."""
        phrase = _DISCOUNT if self.base is None else _DISCOUNT_BASE
        return phrase.write({**asdict(self), "currency": currency}, lang)


@dataclass(frozen=True, slots=True)
class Retention:
    """An amount that the buyer keeps back until a day, such as for defects of construction work."""

    amount: Decimal
    until: datetime.date | None = None
    reason: str | None = None

    def write(self, currency: str, lang: Language, date_format: DateFormat = format_date) -> str:
        """Return the line."""
        return _RETENTION.write({**asdict(self), "currency": currency}, lang, date_format)


def read_discount(line: str, currency: str) -> Discount | None:
    """Return the discount of a line that `Discount.write` wrote; None for any other line."""
    for phrase in (_DISCOUNT_BASE, _DISCOUNT):
        if found := phrase.read(line, {"currency": currency}):
            return Discount(int(found["days"]), found["percent"], found.get("base"))
    return None


def read_retention(line: str, currency: str) -> Retention | None:
    """Return the retention of a line that `Retention.write` wrote; None for any other line."""
    found = _RETENTION.read(line, {"currency": currency})
    return Retention(found["amount"], found.get("until"), found.get("reason")) if found else None
