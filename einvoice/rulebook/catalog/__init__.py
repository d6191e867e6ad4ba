"""Everything that a finding can say: one entry for each code of every layer, with its texts in German and English.

The entries come from the rule files, from the folders of texts alone (``rules/schema``, ``rules/file``) and from the
tables of ``rules/syntax`` and ``rules/facturx/syntax``, and are kept in the cache as plain data: a program that prints one
finding reads nothing else. There is one for each code that any release can find; how a rule reads is up to the release.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

from einvoice.resources import rules_folder
from einvoice.rulebook import cache
from einvoice.rulebook.catalog.formatting import lacking, show
from einvoice.rulebook.releases import Release, newest

_QUOTED: Final = re.compile(r"([„“]?)\{([\w.]+)\}([“”]?)")
_TWICE: Final = re.compile(r"(\([^()]+\)) \1")
"""What lacks twice in a row, such as an amount and its currency, is told once."""
_UNKNOWN: Final = "…"
_NOT_YET: Final[Mapping[str, str]] = {
    "de": "Diese Angaben berichtigen oder ergänzen: {terms}. Erst dann lässt sich der Betrag errechnen.",
    "en": "Correct or complete this information: {terms}. Only then can the amount be calculated.",
}
"""What to do where a fix would quote an expected amount that cannot be worked out."""
_NO_VALUES: Final[Mapping[str, Any]] = {}
Values: TypeAlias = "Mapping[str, Any] | None"
"""What a finding has to quote; None where no invoice is at hand."""


class CatalogEntry(NamedTuple):
    """What is known of a code apart from any invoice.

    ``severity`` and ``terms`` are those of UBL where the syntaxes differ; ``severities`` and ``not_applicable`` (why the rule
    cannot be broken) say it for each. ``texts`` are by language and name, ``stand_ins`` what they quote where no
    invoice is at hand. ``examples`` are, by language, situations that break the rule. ``points_at`` is the leading term
    in each syntax that can break it, ``xpaths`` where that stands (prefixes: `einvoice.NAMESPACES`); only
    `einvoice.catalog` has worked them out for every rule. ``notes`` are what is to be known of the rule itself
    (`notes.Note`, by the names of its parts); those with an ``until`` are about older releases. ``lang`` is the
    language in which it shows itself.
    (`notes.Note`, by the names of its parts); those with an ``until`` are about older releases. ``current`` says
    whether the release of the catalog has the rule.
    """

    code: str
    severity: str
    layer: str
    section: str
    terms: tuple[str, ...]
    texts: dict[str, dict[str, str]]
    file: str
    source: str = ""
    since: str = ""
    until: str = ""
    aliases: tuple[str, ...] = ()
    replaces: tuple[str, ...] = ()
    severities: dict[str, str] = {}  # noqa: RUF012 (the default of a tuple's field; entries are never changed)
    not_applicable: dict[str, str] = {}  # noqa: RUF012
    stand_ins: dict[str, str] = {}  # noqa: RUF012
    examples: dict[str, tuple[str, ...]] = {}  # noqa: RUF012
    xpaths: dict[str, str] = {}  # noqa: RUF012
    points_at: dict[str, str] = {}  # noqa: RUF012
    notes: tuple[dict[str, Any], ...] = ()
    lang: str = "de"
    current: bool = True

    def title(self, language: str, values: Values = None) -> str:
        """What is wrong, in a line. ``language`` is ``de`` or ``en``, ``values`` what a finding has to quote."""
        return self._filled(self.texts[language]["title"], language, values)

    def explanation(self, language: str, values: Values = None) -> str:
        """Why it is wrong."""
        return self._filled(self.texts[language]["explanation"], language, values)

    def fix(self, language: str, values: Values = None) -> str:
        """What to do about it."""
        text = self.texts[language]["fix"]
        if values is not None and "{expected}" in text and "expected" not in values:
            return _NOT_YET[language].format(terms=", ".join(self.terms))
        return self._filled(text, language, values)

    def note(self, number: int, language: str, values: Values = None) -> str:
        """What a note says."""
        return self._filled(self.notes[number][language], language, values)

    def __str__(self) -> str:
        return "\n".join((f"{self.code}: {self.title(self.lang)}", *self._told()))

    def __repr__(self) -> str:
        return f"<CatalogEntry {self.code}: {self.severity}, {self.layer}>"

    def _repr_html_(self) -> str:
        from html import escape

        kind = ", ".join((self.severity, self.layer, *self.terms))
        head = f"<strong>{escape(self.code)}: {escape(self.title(self.lang))}</strong> <small>{escape(kind)}</small>"
        told = "".join(f"<p>{escape(text)}</p>" for text in self._told())
        return f'<div class="einvoice" lang="{self.lang}"><p>{head}</p>{told}</div>'

    def _told(self) -> tuple[str, str]:
        return self.explanation(self.lang), f"→ {self.fix(self.lang)}"

    def _filled(self, text: str, language: str, values: Values) -> str:
        def quoted(found: re.Match[str]) -> str:
            before, name, after = found.groups()
            if values is None:
                said = self.stand_ins.get(name, _UNKNOWN)
            elif name in values:
                # A path leads to what the document says, which has the decimals that it has there.
                said = show(values[name], _NO_VALUES if "." in name else values, language)
            else:
                said = ""
            if said.strip():
                return f"{before}{said}{after}"
            words = lacking(name, values or {}, language, text[: found.start()])
            return words if before and after else f"{before}{words}{after}"  # words of ours stand in no quotation marks

        return _TWICE.sub(r"\1", _QUOTED.sub(quoted, text))


class Catalog(Mapping[str, CatalogEntry]):
    """The entries by code; an alias finds its entry too, but is not listed."""

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
    """The catalog that comes with einvoice, as the rules read in a release, or else in the newest one.

    Its ``digest`` changes whenever a rule or a text does.
    """
    return _catalog((release or newest()).versions)


@functools.cache
def _catalog(versions: tuple[tuple[str, str], ...]) -> Catalog:
    return read_catalog(rules_folder(), versions)


def entry(code: str) -> CatalogEntry:
    """The entry of a code. Raises ``KeyError`` for an unknown one."""
    return catalog()[code]


def read_catalog(folder: Path, versions: tuple[tuple[str, str], ...] = ()) -> Catalog:
    """The catalog of a folder of rules, in the releases of its rule sets as ``Release.versions`` names them.

    Raises ``RuleError`` where a file is wrong.
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
