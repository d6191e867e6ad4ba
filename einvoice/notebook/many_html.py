"""Plain HTML of the charts and the heatmap, for pages without widgets; no scripts."""

from __future__ import annotations

from html import escape
from typing import Any

from einvoice.notebook.labels import LABELS
from einvoice.render.html import page
from einvoice.result import Language

_BAR = "display:inline-block;height:.8em;background:"
_COLORS = {"invalid": "#d1383d", "unreadable": "#8a8f98", "valid": "#2f9e5b"}


def html(charts: list[dict[str, Any]], heatmap: dict[str, Any], lang: Language) -> str:
    """Return the charts and the heatmap of `einvoice.notebook.charts` as HTML; all content is escaped.

    Lengths and colours are inline styles: untrusted notebooks drop style sheets.
    """
    return page(lang, *(_chart(it) for it in charts), _heatmap(heatmap, lang))


def _chart(chart: dict[str, Any]) -> str:
    rows = "".join(
        f'<tr><th scope="row">{escape(it["label"])}</th><td style="width:16em;white-space:nowrap">'
        + "".join(f'<span style="{_BAR}{color};width:{it[part]}%"></span>' for part, color in _COLORS.items())
        + f"</td><td>{escape(it['description'])}</td></tr>"
        for it in chart["bars"]
    )
    more = f"<p>{escape(chart['more'])}</p>" if chart["more"] else ""
    return f'<table style="width:auto"><caption>{escape(chart["title"])}</caption><tbody>{rows}</tbody></table>{more}'


def _heatmap(heatmap: dict[str, Any], lang: Language) -> str:
    if not heatmap["rows"]:
        return ""
    labels = LABELS[lang]
    headers = [labels["code"], labels["files"], *(label for _, label, _ in heatmap["groups"])]
    header_row = "".join(f'<th scope="col">{escape(it)}</th>' for it in headers)
    rows = "".join(_row(it) for it in heatmap["rows"] if not it["unreadable"])
    if unreadable := "".join(_row(it) for it in heatmap["rows"] if it["unreadable"]):
        heading = escape(labels["unreadable_files"])
        rows += f'<tr><th scope="rowgroup" colspan="{len(headers)}">{heading}</th></tr>{unreadable}'
    more = f"<p>{escape(heatmap['more'])}</p>" if heatmap["more"] else ""
    caption = f"<caption>{escape(labels['heatmap'])}</caption>"
    return f'<table style="width:auto">{caption}<thead><tr>{header_row}</tr></thead><tbody>{rows}</tbody></table>{more}'


def _row(row: dict[str, Any]) -> str:
    cells = "".join(_cell(count, share) for count, share in zip(row["cells"], row["shares"], strict=True))
    return f'<tr><th scope="row">{escape(row["code"])}</th><td class="number">{row["files"]}</td>{cells}</tr>'


def _cell(count: int, share: int) -> str:
    strength = f' style="background:rgba(209,56,61,{0.15 + share * 0.0055:.2f})"' if count else ""
    return f'<td class="number"{strength}>{count or "·"}</td>'
