"""Plain HTML of the charts and the heatmap, for pages without widgets; no scripts."""

from __future__ import annotations

from html import escape
from typing import Any

from einvoice.notebook.labels import LABELS
from einvoice.render.html import page
from einvoice.result import Language

_BAR = "display:inline-block;height:.8em;background:"
_INVALID_COLOR, _VALID_COLOR = "#d1383d", "#8a8f98"


def html(charts: list[dict[str, Any]], heatmap: dict[str, Any], lang: Language) -> str:
    """Return the charts and the heatmap of `einvoice.notebook.charts` as HTML; all content is escaped.

    Lengths and colours are inline styles: untrusted notebooks drop style sheets.
    """
    return page(lang, *(_chart(it) for it in charts), _heatmap(heatmap, lang))


def _chart(chart: dict[str, Any]) -> str:
    rows = "".join(
        f'<tr><th scope="row">{escape(it["label"])}</th><td style="width:16em;white-space:nowrap">'
        f'<span style="{_BAR}{_INVALID_COLOR};width:{it["invalid"]}%"></span>'
        f'<span style="{_BAR}{_VALID_COLOR};width:{it["valid"]}%"></span></td><td>{escape(it["description"])}</td></tr>'
        for it in chart["bars"]
    )
    more = f"<p>{escape(chart['more'])}</p>" if chart["more"] else ""
    return f'<table style="width:auto"><caption>{escape(chart["title"])}</caption><tbody>{rows}</tbody></table>{more}'


def _heatmap(heatmap: dict[str, Any], lang: Language) -> str:
    if not heatmap["rows"]:
        return ""
    labels = LABELS[lang]
    headers = [labels["code"], labels["files"], *(label for _, label in heatmap["groups"])]
    header_row = "".join(f'<th scope="col">{escape(it)}</th>' for it in headers)
    rows = "".join(
        f'<tr><th scope="row">{escape(it["code"])}</th><td class="number">{it["files"]}</td>'
        + "".join(_cell(count, share) for count, share in zip(it["cells"], it["shares"], strict=True))
        + "</tr>"
        for it in heatmap["rows"]
    )
    more = f"<p>{escape(heatmap['more'])}</p>" if heatmap["more"] else ""
    caption = f"<caption>{escape(labels['heatmap'])}</caption>"
    return f'<table style="width:auto">{caption}<thead><tr>{header_row}</tr></thead><tbody>{rows}</tbody></table>{more}'


def _cell(count: int, share: int) -> str:
    strength = f' style="background:rgba(209,56,61,{0.15 + share * 0.0055:.2f})"' if count else ""
    return f'<td class="number"{strength}>{count or "·"}</td>'
