"""Labels of bulk results."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from einvoice.localization import Language, Messages
from einvoice.localization.formatting import format_number

VERDICT_LABELS: Final = Messages("einvoice.bulk", "verdicts")

LABELS: Final = Messages("einvoice.bulk", "labels")


def whole(number: int, lang: Language) -> str:
    """Return a count with group separators: 12.345 in German, 12,345 in English."""
    return format_number(number, lang)


def validated_with(rulesets: Iterable[str], lang: Language) -> str:
    """Return the releases that validated the files: "Validated with xrechnung-3.0.2-2.6.0"."""
    labels = LABELS[lang]
    return labels["validated_with"].format(after=", ".join(rulesets) or labels["no_ruleset"])
