"""Names of elements in words, for findings and pages about content that EN 16931 does not define."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from einvoice.code_catalog.naming import Names
from einvoice.localization import Language, Messages, fallbacks
from einvoice.resources import rules_folder

_ELEMENTS: Final = Messages("einvoice.code_catalog", "elements")


class _Tables(NamedTuple):
    file: str
    tables: Mapping[str, Any]

    def table(self, name: str) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.tables.get(name, {})
        return found


@functools.lru_cache(maxsize=1024)
def element_name(path: str, lang: Language) -> str:
    """Return the name of an element, such as "Anzahlung", by its path: at most its parents, and its own name.

    It is that of the message files, or else that of the texts of syntax rules; "" if there is none.
    """
    rows = [row for names in _names_of_rules() if (row := names.get(path))]
    found = (row[tag] for tag in fallbacks(lang) for row in rows if row.get(tag))
    return _ELEMENTS[lang].get(path.rpartition("/")[2]) or next(found, "")


@functools.cache
def _names_of_rules() -> tuple[Names, ...]:
    facturx, syntax = (rules_folder() / name for name in ("facturx", "syntax"))
    return (
        Names(facturx / "syntax" / "elements.csv", _translations(facturx)),
        Names(syntax / "elements.csv", _translations(syntax)),
    )


def _translations(folder: Path) -> dict[Language, _Tables]:
    files = (folder / "translations").glob("*.toml")
    return {it.stem: _Tables(str(it), tomllib.loads(it.read_text("utf-8"))) for it in files}
