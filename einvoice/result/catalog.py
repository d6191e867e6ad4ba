"""The error catalog: every code that a finding can have, with its texts."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from einvoice import code_catalog as rulebook
from einvoice import syntax
from einvoice.authoring.added import rule_data
from einvoice.code_catalog import CatalogEntry
from einvoice.localization.options import language
from einvoice.resources import RuleData, shipped
from einvoice.result.languages import Language
from einvoice.rulebook import cache
from einvoice.rulebook.files.versions import RuleSet
from einvoice.rulebook.releases import Release, releases
from einvoice.rulebook.rule import SYNTAXES
from einvoice.syntax import mapping
from einvoice.syntax.paths import path_of

if TYPE_CHECKING:
    import pandas as pd


class Catalog(Mapping[str, CatalogEntry]):
    """The catalog entries by code. Aliases are accepted as keys, but not listed.

    It contains every code of every release. Rules are described as `rule_set` defines them, with the texts of the
    current release. `entry.current` says whether `rule_set` contains the rule.

    Attributes:
        rule_set: the described release.
        lang: default language of the texts.
        data: the rule data.
    """

    def __init__(self, rule_set: Release, lang: Language = "de", data: RuleData | None = None) -> None:
        self.rule_set = rule_set
        self.lang = lang
        self.data = data or shipped()

    @property
    def rule_sets(self) -> tuple[RuleSet, ...]:
        """The rule sets that documents declare, each after the one that it builds on."""
        return tuple(it for it in releases(self.data).sets.values() if not it.is_informative)

    @property
    def layers(self) -> tuple[str, ...]:
        """Layers of the entries, in the order of a validation: file, XML schema, rule sets, PDF."""
        return "file", "schema", *releases(self.data).sets, "pdf"

    def label(self, layer: str) -> str:
        """Return the short name of a layer that is a rule set, such as "XRechnung"; "" for other layers."""
        ruleset = releases(self.data).sets.get(layer)
        return ruleset.label if ruleset else ""

    def error_class(self, code: str, law: str = "de") -> str:
        """Return the class of errors with a code by the VAT law of a country, such as "content"; "" for none."""
        from einvoice.assessment.law import law as law_of

        return law_of(law).classify_entry(self[code]).error_class

    def error_classes(self, code: str, lang: Language | None = None) -> dict[str, str]:
        """Return the class of errors with a code in words, or why they have none, for each VAT law by its label."""
        from einvoice.assessment.law import laws

        lang, entry = lang or self.lang, self[code]
        return {it.text("error_class", lang): it.describe(it.classify_entry(entry), lang) for it in laws().values()}

    @property
    def xrechnung_version(self) -> str:
        """Version of XRechnung in the described release, such as "3.0.2"."""
        return releases(self.data).national(self.rule_set).specification

    @functools.cached_property
    def _entries(self) -> rulebook.Catalog:
        return rulebook.catalog(self.rule_set, self.data)

    def __getitem__(self, code: str) -> CatalogEntry:
        """Return the entry of a code; the message of a KeyError names similar codes."""
        try:
            entry = self._entries[code]
        except KeyError:
            near = get_close_matches(str(code), self._entries)
            hint = f"; similar are {', '.join(near)}" if near else ""
            raise KeyError(f"the catalog has no code {code!r}{hint}") from None
        paths = {syntax: path_of(number, syntax) for syntax, number in entry.points_at.items()} | entry.xpaths
        xpaths = {syntax: paths[syntax] for syntax in SYNTAXES if paths.get(syntax)}
        return entry._replace(xpaths=xpaths, lang=self.lang)

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    @functools.cached_property
    def version(self) -> str:
        """Sixteen hexadecimal digits that change with every rule and text."""
        digest = rulebook.digest(self.data)
        key = cache.key(repr(("version", self.rule_set)), digest, _code_of_paths())
        version: str | None = cache.load("version", key)
        if version is None:
            entries = [tuple(entry._replace(lang="de")) for entry in self.values()]
            content = repr((digest, self.rule_set.name, entries))
            version = hashlib.sha256(content.encode()).hexdigest()[:16]
            cache.store("version", key, version)
        return version

    def to_dict(self, lang: Language | None = None) -> dict[str, Any]:
        """Return the catalog as plain data, ready for JSON."""
        from einvoice.render.json import catalog_dict

        return catalog_dict(self, lang or self.lang)

    def to_frame(self, lang: Language | None = None) -> pd.DataFrame:
        """Return the catalog as a pandas table, one row per code, in the order of the catalog.

        Columns: `code`; `severity` (ordered: information, warning, fatal), `layer` and `section` as categories;
        `layers`, all layers with the code, separated by spaces;
        `bt_field`, the leading business term; `terms`, separated by spaces; `title`, `explanation` and `fix` in
        `lang`; `error_class`, by German law; `examples`, separated by line feeds; `xpath_ubl` and `xpath_cii`;
        `source`; `since` and `until`, the first and last release of the rule set with the rule. Missing texts are "".

        Raises:
            ImportError: pandas is not installed (extra "notebook").
        """
        from einvoice.render.catalog_table import catalog_frame

        return catalog_frame(self, lang or self.lang)

    def to_markdown(self, lang: Language | None = None) -> str:
        """Return the catalog as a Markdown document, by layer and section; each code is an anchor."""
        from einvoice.render.catalog import catalog_markdown

        return catalog_markdown(self, lang or self.lang)

    def to_html(self, lang: Language | None = None) -> str:
        """Return the catalog as a self-contained HTML page without scripts; each code is an anchor."""
        from einvoice.render.catalog import catalog_html

        return catalog_html(self, lang or self.lang)

    def __repr__(self) -> str:
        return f"<Catalog {self.version}: {len(self)} codes, XRechnung {self.xrechnung_version}>"

    def _repr_html_(self) -> str:
        from einvoice.render.catalog import summary_html

        return summary_html(self, self.lang)


def _code_of_paths() -> str:
    """Return a digest of the code that the paths of business terms depend on."""
    folders = (Path(syntax.__file__).parent, Path(mapping.__file__).parent)
    return cache.digest(sorted(Path(path) for folder in folders for path in cache.listed(folder, ".py")))


def notes(entry: CatalogEntry, lang: Language) -> Iterator[dict[str, str]]:
    """Yield the notes on a rule: kind, text, source ("" if unknown) and syntax ("" for both).

    Notes on older releases appear only in findings of those releases.
    """
    for index, note in enumerate(entry.notes):
        if not note["until"]:
            text = entry.note(index, lang)
            yield {"kind": note["kind"], "text": text, "source": note["source"], "syntax": note["syntax"]}


def catalog(*, lang: Language | None = None, ruleset: str | None = None, rules: str | Path | None = None) -> Catalog:
    """Return the catalog of einvoice: every code of every layer.

    Args:
        lang: default language of the texts, such as "de"; default: `einvoice.options.lang`.
        ruleset: release to describe, such as "xrechnung-2.3.1". Default: the current release, or the one set by the
            environment variable EINVOICE_RULESET.
        rules: folder or archive of added rule sets, as in `einvoice.validate`.

    Raises:
        ValueError: an argument has an unknown value; the message lists the valid ones.
        RuleError: a file in `rules` is invalid.
    """
    lang = language(lang)
    data = rule_data(rules)
    known = releases(data)
    return _catalog(known.named(ruleset) if ruleset else known.current(), lang, data)


@functools.cache
def _catalog(rule_set: Release, lang: Language, data: RuleData) -> Catalog:
    return Catalog(rule_set, lang, data)
