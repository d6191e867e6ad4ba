"""Rule changes between two releases: text, HTML and pandas."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, Final

from einvoice.code_catalog import CatalogEntry
from einvoice.localization import Language, Messages
from einvoice.localization.formatting import with_colon
from einvoice.render.html import page
from einvoice.render.tables import require_pandas
from einvoice.result.rule_changes import KINDS, RuleChanges
from einvoice.rulebook.releases import releases
from einvoice.rulebook.rule import SEVERITIES

if TYPE_CHECKING:
    import pandas as pd

_LABELS: Final = Messages("einvoice.render", "rule_changes")
_COLUMNS: Final = ("change", "code", "severity", "layer", "section", "title")


def changes_frame(changes: RuleChanges, lang: Language) -> pd.DataFrame:
    """Return the changes as a pandas table; see `RuleChanges.to_frame`."""
    require_pandas()
    import pandas as pd

    rows = [
        (kind, entry.code, entry.severity, changes.layer(entry), entry.section, entry.title(lang))
        for kind in KINDS
        for entry in changes.entries(kind)
    ]
    dtypes: dict[str, Any] = {
        "change": pd.CategoricalDtype(list(KINDS)),
        "severity": pd.CategoricalDtype(list(reversed(SEVERITIES)), ordered=True),
        **dict.fromkeys(("layer", "section"), "category"),
        **dict.fromkeys(("code", "title"), "string"),
    }
    return pd.DataFrame(rows, columns=list(_COLUMNS)).astype(dtypes)


def changes_text(changes: RuleChanges, lang: Language) -> str:
    """Return the changes by rule set and kind, one rule a line."""
    parts = []
    for heading, kinds in _by_layer(changes).items():
        parts.append(f"{heading}\n")
        for kind, entries in kinds.items():
            lines = [f"  {entry.code}  {entry.title(lang)}\n" for entry in entries]
            parts.append(f"{with_colon(_LABELS[lang][kind], lang, len(lines))}\n{''.join(lines)}")
    return "\n".join(parts)


def _by_layer(changes: RuleChanges) -> dict[str, dict[str, list[CatalogEntry]]]:
    """Return the entries by name of the rule set and kind of change; rule sets without changes only if there are none.

    The compared rule set comes first. What it builds on comes last, since it concerns other documents, too.
    """
    sets = releases().sets
    entries = {kind: list(changes.entries(kind)) for kind in KINDS}
    changed = {changes.layer(entry) for members in entries.values() for entry in members} or set(changes.layers[:1])
    rank = {name: place or -1 for place, name in enumerate(changes.layers)}
    return {
        sets[layer].label: {
            kind: [entry for entry in members if changes.layer(entry) == layer] for kind, members in entries.items()
        }
        for layer in sorted(changed, key=lambda layer: (rank.get(layer, 0), layer))
    }


def changes_html(changes: RuleChanges, lang: Language) -> str:
    """Return the changes by rule set and kind, each a list that opens without scripts; all content is escaped."""
    heading = f"<p><strong>{escape(changes.old)} → {escape(changes.new)}</strong></p>"
    parts = []
    for layer, kinds in _by_layer(changes).items():
        parts += [f"<p>{escape(layer)}</p>", *(_list(entries, kind, lang) for kind, entries in kinds.items())]
    return page(lang, heading, *parts)


def _list(entries: list[CatalogEntry], kind: str, lang: Language) -> str:
    rows = "".join(
        f'<tr><td class="mark {entry.severity}">{escape(entry.code)}</td><td>{escape(entry.title(lang))}</td></tr>'
        for entry in entries
    )
    summary = with_colon(_LABELS[lang][kind], lang, len(entries))
    return f"<details><summary>{escape(summary)}</summary><table><tbody>{rows}</tbody></table></details>"
