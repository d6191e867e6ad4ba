"""Every code that a finding can have, with its texts: for integrations, for readers, for notebooks."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from einvoice.model.terms import leading
from einvoice.result.languages import LANGUAGES, Language
from einvoice.rulebook import catalog as rulebook
from einvoice.rulebook.catalog import CatalogEntry
from einvoice.rulebook.releases import Release, current, named, national
from einvoice.rulebook.rule import SEVERITIES, SYNTAXES
from einvoice.rulebook.sections import SECTIONS
from einvoice.syntax.paths import path_of

if TYPE_CHECKING:
    import pandas as pd

#: The layers, from the file to the rules of a country.
LAYERS: Final = ("file", "schema", "en16931", "cius", "extension", "profile", "pdf")
COLUMNS: Final = (
    "code",
    "severity",
    "layer",
    "section",
    "bt_field",
    "terms",
    "title",
    "explanation",
    "fix",
    "examples",
    "xpath_ubl",
    "xpath_cii",
    "source",
    "since",
    "until",
)


class Catalog(Mapping[str, CatalogEntry]):
    """The entries by code, those of rules in their order; an alias finds its entry too, but is not listed.

    There is one for each code that any release can find, as its rule reads in the one that is described; the texts are
    always those of today. `entry.current` says whether that release has the rule.

    Attributes:
        rule_set: the release whose rules are described.
        lang: the language of the texts where none is asked for.
    """

    def __init__(self, rule_set: Release, lang: Language = "de") -> None:
        self.rule_set = rule_set
        self.lang = lang

    @property
    def xrechnung_version(self) -> str:
        """The version of XRechnung whose rules are described, such as "3.0.2"."""
        return national(self.rule_set).specification

    @functools.cached_property
    def _entries(self) -> rulebook.Catalog:
        return rulebook.catalog(self.rule_set)

    def __getitem__(self, code: str) -> CatalogEntry:
        entry = self._entries[code]
        found = {syntax: path_of(number, syntax) for syntax, number in entry.points_at.items()} | entry.xpaths
        xpaths = {syntax: found[syntax] for syntax in SYNTAXES if found.get(syntax)}
        return entry._replace(xpaths=xpaths, lang=self.lang)

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    @functools.cached_property
    def version(self) -> str:
        """Sixteen hexadecimal digits that change whenever a rule or a text does."""
        said = [self._entries.digest, self.rule_set.name, *(list(self._items(lang)) for lang in LANGUAGES)]
        return hashlib.sha256(repr(said).encode()).hexdigest()[:16]

    def to_dict(self, lang: Language | None = None) -> dict[str, Any]:
        """The catalog as the HTTP interface answers it, ready for JSON."""
        return {
            "status": "ok",
            "catalog_version": self.version,
            "xrechnung_version": self.xrechnung_version,
            "rule_set": self.rule_set.name,
            "rule_count": len(self),
            "language": lang or self.lang,
            "items": list(self._items(lang or self.lang)),
        }

    def to_frame(self, lang: Language | None = None) -> pd.DataFrame:
        """The catalog as a pandas table, one row a code, in the order of the catalog.

        Columns: `code`; `severity` (ordered: information, warning, fatal), `layer` and `section` as categories;
        `bt_field`, the leading business term; `terms`, all of them, separated by blanks; `title`, `explanation` and
        `fix` in `lang`; `examples`, separated by line ends; `xpath_ubl` and `xpath_cii`; `source`; `since` and
        `until`, the releases of the rule set that have it. "" where there is nothing to say.

        Raises:
            ImportError: pandas is not installed (extra "notebook").
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("A table needs pandas: pip install 'einvoice-toolkit[notebook]'") from error
        frame = pd.DataFrame([self._row(entry, lang or self.lang) for entry in self.values()], columns=list(COLUMNS))
        severities = pd.CategoricalDtype(list(reversed(SEVERITIES)), ordered=True)
        layers, sections = pd.CategoricalDtype(list(LAYERS)), pd.CategoricalDtype(list(SECTIONS))
        return frame.astype({"severity": severities, "layer": layers, "section": sections})

    def to_markdown(self, lang: Language | None = None) -> str:
        """The catalog as a document in Markdown, by layer and section; each code is an anchor."""
        from einvoice.render.catalog import markdown

        return markdown(self, lang or self.lang)

    def to_html(self, lang: Language | None = None) -> str:
        """The catalog as a page that needs nothing else and runs no script; each code is an anchor."""
        from einvoice.render.catalog import html

        return html(self, lang or self.lang)

    def _items(self, lang: Language) -> Iterator[dict[str, Any]]:
        return (_item(entry, lang) for entry in self.values())

    def _row(self, entry: CatalogEntry, lang: Language) -> tuple[str, ...]:
        return (
            entry.code,
            entry.severity,
            entry.layer,
            entry.section,
            leading(entry.terms),
            " ".join(entry.terms),
            entry.title(lang),
            entry.explanation(lang),
            entry.fix(lang),
            "\n".join(entry.examples.get(lang, ())),
            *(entry.xpaths.get(syntax, "") for syntax in SYNTAXES),
            entry.source,
            entry.since,
            entry.until,
        )

    def __repr__(self) -> str:
        return f"<Catalog {self.version}: {len(self)} codes, XRechnung {self.xrechnung_version}>"

    def _repr_html_(self) -> str:
        from einvoice.render.catalog import short_html

        return short_html(self, self.lang)


def _item(entry: CatalogEntry, lang: Language) -> dict[str, Any]:
    """One code as the HTTP interface answers it; `xpath` selects the place in documents of either syntax."""
    return {
        "code": entry.code,
        "severity": entry.severity,
        "validation_layer": entry.layer,
        "section": entry.section,
        "title": entry.title(lang),
        "explanation": entry.explanation(lang),
        "fix": entry.fix(lang),
        "bt_field": leading(entry.terms),
        "terms": list(entry.terms),
        "xpath": " | ".join(entry.xpaths.values()),
        "xpaths": dict(entry.xpaths),
        "examples": list(entry.examples.get(lang, ())),
        "notes": list(notes(entry, lang)),
        "current": entry.current,
        "doc_url": f"/catalog/{entry.code}",
    }


def notes(entry: CatalogEntry, lang: Language) -> Iterator[dict[str, str]]:
    """What is to be known of a rule itself: kind, text, source ("" without) and the syntax that it is about ("": both).

    Notes on older releases are left to the findings of those.
    """
    for number, note in enumerate(entry.notes):
        if not note["until"]:
            said = entry.note(number, lang)
            yield {"kind": note["kind"], "text": said, "source": note["source"], "syntax": note["syntax"]}


def catalog(*, lang: Language = "de", ruleset: str | None = None) -> Catalog:
    """The catalog that comes with einvoice: every code of every layer.

    Args:
        lang: language of the texts, "de" or "en"; they can still be asked for in the other one.
        ruleset: the release as whose rules read they are described, such as "xrechnung-2.3.1". Without it those of
            today: the newest in force, or those that the environment variable EINVOICE_RULESET names.

    Raises:
        ValueError: an argument has a value that is not known; the message names those that are.
    """
    if lang not in LANGUAGES:
        raise ValueError(f"lang is {' or '.join(map(repr, LANGUAGES))}, not {lang!r}")
    return _catalog(named(ruleset) if ruleset else current(), lang)


@functools.cache
def _catalog(rule_set: Release, lang: Language) -> Catalog:
    return Catalog(rule_set, lang)
