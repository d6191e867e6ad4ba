"""The catalog: one entry for each code of every layer and release, with its texts in German and English.

The entries come from rule files, from text folders (``rules/schema``, ``rules/file``) and from the tables of
``rules/syntax`` and ``rules/facturx/syntax``. They are cached as plain data, so that printing a finding reads nothing
else.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from einvoice.resources import rules_folder
from einvoice.rulebook import cache
from einvoice.rulebook.catalog.entry import CatalogEntry, Values
from einvoice.rulebook.releases import Release, newest

__all__ = ["Catalog", "CatalogEntry", "Values", "catalog", "entry", "read_catalog"]


class Catalog(Mapping[str, CatalogEntry]):
    """The entries by code; an alias finds its entry, but is not listed."""

    def __init__(self, rows: list[tuple[Any, ...]], digest: str) -> None:
        self._rows = {row[0]: row for row in rows}
        self._aliases = {alias: row[0] for row in rows for alias in row[10]}
        self.digest = digest

    def __getitem__(self, code: str) -> CatalogEntry:
        return CatalogEntry(*self._rows[code if code in self._rows else self._aliases[code]])

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


def catalog(release: Release | None = None) -> Catalog:
    """Return the catalog of the installed rules for a release, by default the newest one.

    Its ``digest`` changes with every rule and text.
    """
    return _catalog((release or newest()).versions)


@functools.cache
def _catalog(versions: tuple[tuple[str, str], ...]) -> Catalog:
    return read_catalog(rules_folder(), versions)


def entry(code: str) -> CatalogEntry:
    """Return the entry of a code. Raise ``KeyError`` for an unknown one."""
    return catalog()[code]


def read_catalog(folder: Path, versions: tuple[tuple[str, str], ...] = ()) -> Catalog:
    """Return the catalog of a folder of rules, for the releases in ``Release.versions``.

    Raise ``RuleError`` for an invalid file.
    """
    digest = cache.digest(
        sorted((*folder.rglob("*.toml"), *folder.glob("syntax/*.csv"), *folder.glob("facturx/syntax/*.csv")))
    )
    key = cache.key(repr(("catalog", versions)), digest)
    rows = cache.load("catalog", key)
    if rows is None:
        from einvoice.rulebook.catalog.build import entries

        rows = [tuple(entry) for entry in entries(folder, dict(versions))]
        cache.store("catalog", key, rows)
    return Catalog(rows, digest)
