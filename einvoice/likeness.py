"""Tells what a text looks like that stands in the field of something else."""

from __future__ import annotations

import re
from typing import Final

_FORMS: Final = {
    "iban": re.compile(r"[A-Z]{2}[0-9]{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?"),
    "vat_number": re.compile(r"[A-Z]{2}[A-Z]?[0-9]{8,12}(?:B[0-9]{2})?"),
    "date": re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{1,2}([./])[0-9]{1,2}\1[0-9]{4}"),
    "amount": re.compile(r"-?[0-9]+[.,][0-9]{2}"),
}
_MIN_IBAN: Final = 15


def likeness(text: str) -> str:
    """Return "iban", "vat_number", "date" or "amount" if a text has the form of one; otherwise "".

    >>> likeness("DE813479020"), likeness("DE55 8699 9990 0047 1152 0"), likeness("31.12.2026"), likeness("1,50")
    ('vat_number', 'iban', 'date', 'amount')
    >>> likeness("H87"), likeness("1234")
    ('', '')
    """
    stated = text.strip()
    found = next((name for name, form in _FORMS.items() if form.fullmatch(stated)), "")
    return "vat_number" if found == "iban" and len(stated.replace(" ", "")) < _MIN_IBAN else found
