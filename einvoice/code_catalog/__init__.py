"""The catalog: one entry for each code of every layer and release, with its texts by language.

The entries come from rule files, from text folders (`rules/schema`, `rules/file`) and from the tables in the folder
`syntax` of each rule set. They are cached as plain data, so that printing a finding reads nothing else.
"""

from __future__ import annotations

import functools
import marshal
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from einvoice.resources import RuleData, shipped
from einvoice.rulebook import cache
from einvoice.rulebook.releases import Release, releases

if TYPE_CHECKING:
    from einvoice.code_catalog.catalog_entry import CatalogEntry, Values

_PACKAGE: Final = Path(__file__).parents[1]

__all__ = ["Catalog", "CatalogEntry", "Values", "catalog", "digest", "entry"]


def __getattr__(name: str) -> Any:
    """Import the class of the entries on first access: a valid invoice needs no texts."""
    if name not in ("CatalogEntry", "Values"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from einvoice.code_catalog import catalog_entry

    value = globals()[name] = getattr(catalog_entry, name)
    return value


class Catalog(Mapping[str, "CatalogEntry"]):
    """The entries by code; an alias finds its entry, but is not listed.

    Args:
        rows: the encoded entries by code: decoding all of them takes as long as thirty validations.
        aliases: the codes of entries by their aliases.
    """

    def __init__(self, rows: dict[str, bytes], aliases: dict[str, str]) -> None:
        self._rows = rows
        self._aliases = aliases

    def __getitem__(self, code: str) -> CatalogEntry:
        from einvoice.code_catalog.catalog_entry import CatalogEntry

        return CatalogEntry(*marshal.loads(self._rows[code if code in self._rows else self._aliases[code]]))

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)


def catalog(release: Release | None = None, data: RuleData | None = None) -> Catalog:
    """Return the catalog for a release, by default the newest one of the default CIUS.

    The other rule sets have the release that goes with it. `data` is the rule data, by default the shipped one.

    Raises:
        RuleError: invalid rule file.
    """
    data = data or shipped()
    if release is None:
        return _newest(data)
    known = releases(data)
    return _catalog(known.stack(known.sets, release), data)


def entry(code: str, data: RuleData | None = None) -> CatalogEntry:
    """Return the entry of a code. Raise `KeyError` for an unknown one."""
    return _entry(code, data or shipped())


@functools.cache
def _entry(code: str, data: RuleData) -> CatalogEntry:
    return _newest(data)[code]


@functools.cache
def digest(data: RuleData) -> str:
    """Return the SHA-256 of all files with rules and texts, in hexadecimal digits."""
    rules = (path for folder in (data.root, *data.added.values()) for path in _rule_files(folder))
    names = ("localization", "model", "code_catalog")
    messages = (path for name in names for path in cache.listed(_PACKAGE / name / "messages", ".toml"))
    return cache.digest(sorted({*rules, *messages}))


def _rule_files(folder: Path) -> Iterator[str]:
    """Yield the paths of all files with rules and texts; `Path.glob` takes several times as long."""
    for place, _, names in os.walk(folder):
        suffixes = (".toml", ".csv") if os.path.basename(place) == "syntax" else ".toml"  # noqa: PTH119
        yield from (f"{place}{os.sep}{name}" for name in names if name.endswith(suffixes))


@functools.cache
def _newest(data: RuleData) -> Catalog:
    known = releases(data)
    return _catalog(known.stack(known.sets, known.newest(known.default)), data)


@functools.cache
def _catalog(versions: tuple[tuple[str, str], ...], data: RuleData) -> Catalog:
    parts = repr(("catalog", versions)), digest(data)

    def stored() -> tuple[dict[str, bytes], dict[str, str]]:
        key = cache.key(*parts)
        content: tuple[dict[str, bytes], dict[str, str]] | None = cache.load("catalog", key)
        if content is None:
            content = _built(versions, data)
            cache.store("catalog", key, content)
        return content

    return Catalog(*cache.built("catalog", lambda: cache.state(*parts), stored))


def _built(versions: tuple[tuple[str, str], ...], data: RuleData) -> tuple[dict[str, bytes], dict[str, str]]:
    from einvoice.code_catalog.build import entries

    known = list(entries(data, dict(versions)))
    aliases = {alias: entry.code for entry in known for alias in entry.aliases}
    return {entry.code: cache.encoded(tuple(entry)) for entry in known}, aliases
