"""Labels of the invoice page, and names of codes.

``labels.csv`` has short labels, by business term or by a key of this program; the label of any other term is its name
in EN 16931. ``codes.csv`` has the codes of the code lists that are used in practice.
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
    """Return the label of a business term, or of a key such as ``payment``.

    Raises:
        LookupError: there is neither a label nor a term.

    >>> label("BT-84", "de"), label("BT-97", "en")
    ('IBAN / Konto', 'Document level allowance reason')
    """
    known = _labels().get(key)
    return known[lang] if known else terms.name(key, lang)


def meaning(codes: str, code: str, lang: Language) -> str | None:
    """Return the name of a code in a code list; None if the table does not contain it.

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
