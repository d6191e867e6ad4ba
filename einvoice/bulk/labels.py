"""Labels of bulk results."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import ROUND_FLOOR, Decimal
from typing import Final

from einvoice.localization import Language, Messages
from einvoice.localization.formatting import format_number

VERDICT_LABELS: Final = Messages("einvoice.bulk", "verdicts")

LABELS: Final = Messages("einvoice.bulk", "labels")

COLUMN_LABELS: Final = Messages("einvoice.bulk", "columns")

REPORT_LABELS: Final = Messages("einvoice.bulk", "report")

GROUP_LABELS: Final = Messages("einvoice.bulk", "groups")


def whole(number: int, lang: Language) -> str:
    """Return a count with group separators: 12.345 in German, 12,345 in English."""
    return format_number(number, lang)


def validated_with(rulesets: Iterable[str], lang: Language) -> str:
    """Return the releases that validated the files: "Validated with xrechnung-3.0.2-2.6.0"."""
    labels = LABELS[lang]
    return labels["validated_with"].format(after=", ".join(rulesets) or labels["no_ruleset"])


def too_few_valid(valid: int, files: int, share: float, lang: Language) -> str:
    """Return that too few files are valid; the share is rounded down, so that it is never that which is required."""
    found = (Decimal(100 * valid) / files).quantize(Decimal("0.1"), ROUND_FLOOR)
    numbers = {"valid": whole(valid, lang), "files": whole(files, lang)}
    shares = {"share": format_number(found, lang), "wanted": format_number(100 * Decimal(str(share)), lang)}
    return GROUP_LABELS[lang]["too_few_valid"].format(**numbers, **shares)
