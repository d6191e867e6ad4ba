"""Rule changes between two releases."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from einvoice.authoring.added import rule_data
from einvoice.code_catalog import CatalogEntry, entry
from einvoice.localization.options import language
from einvoice.result.finding import UNKNOWN_RULE
from einvoice.result.languages import Language
from einvoice.rulebook.changes import changes
from einvoice.rulebook.releases import releases

if TYPE_CHECKING:
    import pandas as pd

KINDS: Final = ("added", "removed", "changed")


@dataclass(frozen=True, slots=True, repr=False)
class RuleChanges:
    """Rule changes from one release to another.

    Attributes:
        old, new: names of the releases.
        added: codes of the rules that only the newer release has.
        removed: codes of the rules that only the older release has.
        changed: codes of the rules whose condition, severity, location or code list changed.
        layers: rule sets of the newer release: its own, then those that it builds on.
        lang: default language of the texts.
    """

    old: str
    new: str
    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]
    layers: tuple[str, ...] = ()
    lang: Language = "de"

    def __bool__(self) -> bool:
        """Return whether any rule changed."""
        return any((self.added, self.removed, self.changed))

    def entries(self, kind: str) -> Iterator[CatalogEntry]:
        """Yield the catalog entries of one kind of change (`KINDS`); renamed rules keep the code of their release."""
        return (_entry(code, self.layers[0]) for code in getattr(self, kind))

    def layer(self, entry: CatalogEntry) -> str:
        """Return the compared rule set that has a rule; the first one if several do."""
        return next((name for name in self.layers if name in entry.layers), entry.layer)

    def to_frame(self, *, lang: Language | None = None) -> pd.DataFrame:
        """Return a pandas table, one row per rule, described as in the current catalog.

        Columns: `change` ("added", "removed" or "changed"), `severity` (ordered), `layer` and `section` as categories;
        `code` and `title` as string.

        Raises:
            ImportError: pandas is not installed (extra "notebook").
        """
        from einvoice.render.rule_changes import changes_frame

        return changes_frame(self, lang or self.lang)

    def to_text(self, lang: Language | None = None) -> str:
        """Return the rules with their titles, by rule set and kind of change."""
        from einvoice.render.rule_changes import changes_text

        return changes_text(self, lang or self.lang)

    def __str__(self) -> str:
        return self.to_text()

    def __repr__(self) -> str:
        counts = ", ".join(f"{len(getattr(self, kind))} {kind}" for kind in KINDS)
        return f"<RuleChanges {self.old} to {self.new}: {counts}>"

    def _repr_html_(self) -> str:
        from einvoice.render.rule_changes import changes_html

        return changes_html(self, self.lang)


def _entry(code: str, layer: str) -> CatalogEntry:
    """Return the entry of a code; that of an unknown rule for one that only an imported release of a layer has."""
    try:
        return entry(code)._replace(code=code)
    except KeyError:
        return entry(UNKNOWN_RULE)._replace(code=code, layers=(layer,))


def rule_changes(old: str, new: str, *, lang: Language | None = None) -> RuleChanges:
    """Compare two releases, including the rule sets that they build on.

    Args:
        old, new: releases as in `einvoice.validate`: "xrechnung-2.3.1" and "xrechnung-3.0.2", or
            "en16931-1.3.15" and "en16931-1.3.16".
        lang: default language of the texts, such as "de"; default: `einvoice.options.lang`.

    Raises:
        ValueError: an argument has an unknown value; the message lists the valid ones.
    """
    lang = language(lang)
    data = rule_data()
    known = releases(data)
    before, after = known.named(old), known.named(new)
    layers = tuple(name for name, _ in reversed(after.versions))
    return RuleChanges(before.name, after.name, *changes(before, after, data), layers, lang)
