"""Rule changes between two releases: text, HTML and pandas."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, Final

from einvoice.localization import Language, Messages
from einvoice.presentation import to_frame, to_html, to_text
from einvoice.render.html import page
from einvoice.render.tables import require_pandas
from einvoice.result.rule_changes import KINDS, RuleChanges
from einvoice.rulebook.rule import SEVERITIES

if TYPE_CHECKING:
    import pandas as pd

_LABELS: Final = Messages("einvoice.render", "rule_changes")
_COLUMNS: Final = ("change", "code", "severity", "layer", "section", "title")


@to_frame.register(RuleChanges)
def _frame(changes: RuleChanges, lang: Language) -> pd.DataFrame:
    require_pandas()
    import pandas as pd

    rows = [
        (kind, entry.code, entry.severity, entry.layer, entry.section, entry.title(lang))
        for kind in KINDS
        for entry in changes.entries(kind)
    ]
    dtypes: dict[str, Any] = {
        "change": pd.CategoricalDtype(list(KINDS)),
        "severity": pd.CategoricalDtype(list(reversed(SEVERITIES)), ordered=True),
        **dict.fromkeys(("layer", "section"), "category"),
        **dict.fromkeys(("code", "title"), "str"),
    }
    return pd.DataFrame(rows, columns=list(_COLUMNS)).astype(dtypes)


@to_text.register(RuleChanges)
def _text(changes: RuleChanges, lang: Language) -> str:
    parts = []
    for kind in KINDS:
        lines = [f"  {entry.code}  {entry.title(lang)}\n" for entry in changes.entries(kind)]
        parts.append(f"{_LABELS[lang][kind]}: {len(lines)}\n{''.join(lines)}")
    return "\n".join(parts)


@to_html.register(RuleChanges)
def _html(changes: RuleChanges, lang: Language) -> str:
    heading = f"<p><strong>{escape(changes.old)} → {escape(changes.new)}</strong></p>"
    return page(lang, heading, *(_list(changes, kind, lang) for kind in KINDS))


def _list(changes: RuleChanges, kind: str, lang: Language) -> str:
    rows = "".join(
        f'<tr><td class="mark {entry.severity}">{escape(entry.code)}</td><td>{escape(entry.title(lang))}</td></tr>'
        for entry in changes.entries(kind)
    )
    summary = f"{_LABELS[lang][kind]}: {len(getattr(changes, kind))}"
    return f"<details><summary>{escape(summary)}</summary><table><tbody>{rows}</tbody></table></details>"
