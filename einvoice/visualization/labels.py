"""The words on the page: what stands before a value, and what a code means.

``labels.csv`` has the short labels, by business term or by a name of our own; for any other term the norm's name
serves. ``codes.csv`` has the codes of the code lists that occur in practice.
"""

from __future__ import annotations

import csv
import functools
import pkgutil
from collections.abc import Mapping
from typing import Final

from einvoice.model import terms
from einvoice.result.languages import Language

_PACKAGE: Final = "einvoice.visualization"


def label(key: str, lang: Language) -> str:
    """The short label of a business term, or one of our own words such as ``payment``.

    Raises ``LookupError`` where there is neither a label nor a term.

    >>> label("BT-84", "de"), label("BT-97", "en")
    ('IBAN / Konto', 'Document level allowance reason')
    """
    known = _labels().get(key)
    return known[lang] if known else terms.name(key, lang)


def meaning(codes: str, code: str, lang: Language) -> str | None:
    """What a code of a list means, or None where the table does not have it.

    >>> meaning("units", "C62", "de"), meaning("payment_means", "58", "en"), meaning("units", "?", "de")
    ('Stück', 'SEPA credit transfer', None)
    """
    known = _codes().get((codes, code))
    return known[lang] if known else None


@functools.cache
def _labels() -> Mapping[str, Mapping[str, str]]:
    return {row["key"]: row for row in _rows("labels.csv")}


@functools.cache
def _codes() -> Mapping[tuple[str, str], Mapping[str, str]]:
    return {(row["list"], row["code"]): row for row in _rows("codes.csv")}


def _rows(name: str) -> list[dict[str, str]]:
    data = pkgutil.get_data(_PACKAGE, name)
    if data is None:
        raise FileNotFoundError(f"{name} is missing from the package {_PACKAGE}. Install einvoice again.")
    return list(csv.DictReader(data.decode().splitlines()))
