"""The payment terms of the draft (BT-20): free text, cash discounts and retentions.

XRechnung writes cash discounts for programs, one a line (XRechnung 3.0, BT-20 and BR-DE-18); other specifications have
text for people only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from decimal import Decimal
from typing import Any, Final

from einvoice.draft.fields.base import DraftModel, draft_field
from einvoice.draft.fields.types import Day, Money, Number, Text, WholeNumber
from einvoice.errors import DraftProblem
from einvoice.localization import Language, languages
from einvoice.model.money import PaymentTerms
from einvoice.model.values import Text as TextValue
from einvoice.model.worded import payment_terms

_CODED: Final = re.compile(r"#SKONTO#TAGE=([0-9]+)#PROZENT=([0-9]+\.[0-9]{2})#(?:BASISBETRAG=(-?[0-9]+\.[0-9]{2})#)?")


class Discount(DraftModel):
    """A cash discount (Skonto) for payment within a number of days."""

    days: WholeNumber = draft_field(title="Discount.days", example=14, required=True)
    percent: Number = draft_field(title="Discount.percent", hint="percentage", example="2", required=True)
    base: Money | None = draft_field(title="Discount.base", hint="Discount.base", example="357.93")

    def problems(self) -> Iterator[DraftProblem]:
        """Yield an error for a percentage with more decimals than XRechnung has."""
        if self.percent != round(self.percent, 2):
            yield DraftProblem("/percent", "percent_decimals", {"found": f"{self.percent:f}"})

    def coded(self) -> str:
        """Return the line of BT-20 in the form of XRechnung.

        >>> Discount(days=14, percent=Decimal(2), base=Decimal("357.93")).coded()
        '#SKONTO#TAGE=14#PROZENT=2.00#BASISBETRAG=357.93#'
        """
        base = "" if self.base is None else f"BASISBETRAG={self.base:.2f}#"
        return f"#SKONTO#TAGE={self.days}#PROZENT={self.percent:.2f}#{base}"

    def worded(self, currency: str, lang: Language) -> str:
        """Return the discount in words."""
        return payment_terms.Discount(self.days, self.percent, self.base).write(currency, lang)


class Retention(DraftModel):
    """An amount that the buyer keeps back until a date, such as for defects of construction work.

    The claim, its VAT and the amount due stay the same; EN 16931 has no term for a retention, so it is text in BT-20.
    """

    amount: Money = draft_field(title="Retention.amount", hint="Retention.amount", example="500.00", required=True)
    until: Day | None = draft_field(title="Retention.until", example="2031-11-20")
    reason: Text | None = draft_field(title="Retention.reason", example="Gewährleistung nach § 17 VOB/B")

    def worded(self, currency: str, lang: Language) -> str:
        """Return the retention in words."""
        return payment_terms.Retention(self.amount, self.until, self.reason).write(currency, lang)


def build_terms(
    text: str | None,
    discounts: Sequence[Discount],
    retentions: Sequence[Retention],
    currency: str,
    lang: Language,
    *,
    is_coded: bool,
) -> list[PaymentTerms]:
    """Return the payment terms of the invoice; with `is_coded` the discounts in the form of XRechnung."""
    lines = [] if text is None else [text]
    lines += [it.worded(currency, lang) for it in retentions]
    lines += [it.coded() if is_coded else it.worded(currency, lang) for it in discounts]
    if not lines:
        return []
    ends_coded = is_coded and lines[-1].rpartition("\n")[2].startswith("#")
    return [PaymentTerms(note=TextValue("\n".join(lines) + ("\n" if ends_coded else "")))]


def agreement_language(line: str, currency: str) -> Language | None:
    """Return the language in which a draft wrote a line on a discount or a retention; None for any other line.

    >>> agreement_language("2 % Skonto bei Zahlung innerhalb von 14 Tagen", "EUR"), agreement_language("netto", "EUR")
    ('de', None)
    """
    agreement = payment_terms.read_discount(line, currency) or payment_terms.read_retention(line, currency)
    return next((it for it in languages() if agreement and agreement.write(currency, it) == line), None)


def split_terms(note: str, currency: str, lang: Language | None, *, is_coded: bool) -> dict[str, Any]:
    """Return the content that `build_terms` makes payment terms of: the text, then retentions, then cash discounts.

    Args:
        note: the payment terms.
        currency: of the invoice.
        lang: language in which retentions and, without `is_coded`, discounts are put into words; None if none is.
        is_coded: whether discounts have the form of XRechnung.

    >>> split_terms("30 Tage netto\\n#SKONTO#TAGE=14#PROZENT=2.00#\\n", "EUR", None, is_coded=True)
    {'payment_terms': '30 Tage netto', 'retentions': [], 'discounts': [{'days': 14, 'percent': Decimal('2.00')}]}
    """
    lines = note.strip().split("\n")

    def taken(read: Callable[[str], Any]) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = []
        while lines and (agreement := read(lines[-1].strip())):
            found.insert(0, {name: value for name, value in asdict(agreement).items() if value is not None})
            lines.pop()
        return found

    def worded(read: Callable[[str, str], Any]) -> Callable[[str], Any]:
        return lambda line: read(line, currency) if agreement_language(line, currency) == lang else None

    discounts = taken(_read_coded if is_coded else worded(payment_terms.read_discount))
    retentions = taken(worded(payment_terms.read_retention))
    return {"payment_terms": "\n".join(lines), "retentions": retentions, "discounts": discounts}


def _read_coded(line: str) -> payment_terms.Discount | None:
    found = _CODED.fullmatch(line)
    if found is None:
        return None
    return payment_terms.Discount(int(found[1]), Decimal(found[2]), None if found[3] is None else Decimal(found[3]))
