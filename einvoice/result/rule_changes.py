"""What changed between two releases of the rules, to look at: as text, as a table, in a notebook."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Final

from einvoice.render.html import STYLE
from einvoice.result.languages import LANGUAGES, Language
from einvoice.rulebook.catalog import CatalogEntry, entry
from einvoice.rulebook.changes import changes
from einvoice.rulebook.releases import named
from einvoice.rulebook.rule import SEVERITIES

if TYPE_CHECKING:
    import pandas as pd

_KINDS: Final = ("added", "removed", "changed")
_WORDS: Final[Mapping[Language, Mapping[str, str]]] = {
    "de": {"added": "Neu", "removed": "Entfallen", "changed": "Geändert"},
    "en": {"added": "Added", "removed": "Removed", "changed": "Changed"},
}
_COLUMNS: Final = ("change", "code", "severity", "layer", "section", "title")


@dataclass(frozen=True, slots=True, repr=False)
class RuleChanges:
    """What changed from one release of the rules to another.

    Attributes:
        old, new: the names of the releases.
        added: the codes of the rules that only the newer one has.
        removed: those that only the older one has.
        changed: those that judge otherwise: by another condition, with another severity, at another place, or by
            other codes of a list.
        lang: the language of the texts where none is asked for.
    """

    old: str
    new: str
    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[str, ...]
    lang: Language = "de"

    def __bool__(self) -> bool:
        """Whether anything changed."""
        return any((self.added, self.removed, self.changed))

    def to_frame(self, *, lang: Language | None = None) -> pd.DataFrame:
        """A row for each rule: `change` ("added", "removed" or "changed"), `severity` (ordered), `layer` and `section`
        as categories; `code` and `title` as text. What is told of a rule is what the catalog says of it today.

        Raises:
            ImportError: pandas is not installed (extra "notebook").
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError("A table needs pandas: pip install 'einvoice-toolkit[notebook]'") from error
        rows = [
            (kind, it.code, it.severity, it.layer, it.section, it.title(lang or self.lang))
            for kind in _KINDS
            for it in self._entries(kind)
        ]
        kinds: dict[str, Any] = {
            "change": pd.CategoricalDtype(list(_KINDS)),
            "severity": pd.CategoricalDtype(list(reversed(SEVERITIES)), ordered=True),
            **dict.fromkeys(("layer", "section"), "category"),
            **dict.fromkeys(("code", "title"), "str"),
        }
        return pd.DataFrame(rows, columns=list(_COLUMNS)).astype(kinds)

    def in_words(self, lang: Language | None = None) -> str:
        """Every rule with its title, by what became of it."""
        words = _WORDS[lang or self.lang]
        parts = []
        for kind in _KINDS:
            lines = [f"  {it.code}  {it.title(lang or self.lang)}\n" for it in self._entries(kind)]
            parts.append(f"{words[kind]}: {len(lines)}\n{''.join(lines)}")
        return "\n".join(parts)

    def _entries(self, kind: str) -> Iterator[CatalogEntry]:
        """What the catalog says of the rules; one that has another code today stands there by that."""
        return (entry(code)._replace(code=code) for code in getattr(self, kind))

    def __str__(self) -> str:
        return self.in_words()

    def __repr__(self) -> str:
        counts = ", ".join(f"{len(getattr(self, kind))} {kind}" for kind in _KINDS)
        return f"<RuleChanges {self.old} to {self.new}: {counts}>"

    def _repr_html_(self) -> str:
        lists = "".join(self._list(kind) for kind in _KINDS)
        return (
            f'<div class="einvoice" lang="{self.lang}"><style>{STYLE}</style>'
            f"<p><strong>{escape(self.old)} → {escape(self.new)}</strong></p>{lists}</div>"
        )

    def _list(self, kind: str) -> str:
        rows = "".join(
            f'<tr><td class="mark {it.severity}">{escape(it.code)}</td><td>{escape(it.title(self.lang))}</td></tr>'
            for it in self._entries(kind)
        )
        summary = f"{_WORDS[self.lang][kind]}: {len(getattr(self, kind))}"
        return f"<details><summary>{escape(summary)}</summary><table><tbody>{rows}</tbody></table></details>"


def rule_changes(old: str, new: str, *, lang: Language = "de") -> RuleChanges:
    """What changed from one release of the rules to another, with the EN 16931 rules that go with them.

    Args:
        old, new: releases as `einvoice.validate` takes them: "xrechnung-2.3.1" and "xrechnung-3.0.2", or
            "en16931-1.3.15" and "en16931-1.3.16".
        lang: language of the texts, "de" or "en"; they can still be asked for in the other one.

    Raises:
        ValueError: there is no release of that name; the message names those that there are.
    """
    if lang not in LANGUAGES:
        raise ValueError(f"lang is {' or '.join(map(repr, LANGUAGES))}, not {lang!r}")
    before, after = named(old), named(new)
    return RuleChanges(before.name, after.name, *changes(before, after), lang=lang)
