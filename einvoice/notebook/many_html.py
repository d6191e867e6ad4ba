"""Plain HTML of the charts and the heatmap, for pages without widgets; no scripts."""

from __future__ import annotations

from html import escape
from typing import Any

from einvoice.notebook.labels import LABELS
from einvoice.render.html import page
from einvoice.result import Language

_BAR = "display:inline-block;height:.8em;background:"
_WRONG, _RIGHT = "#d1383d", "#8a8f98"


def html(charts: list[dict[str, Any]], heat_map: dict[str, Any], lang: Language) -> str:
    """Return the charts and the heatmap of `einvoice.notebook.charts` as HTML; all content is escaped.

    Lengths and colours are inline styles: untrusted notebooks drop style sheets.
    """
    return page(lang, *(_chart(it) for it in charts), _map(heat_map, lang))


def _chart(chart: dict[str, Any]) -> str:
    rows = "".join(
        f'<tr><th scope="row">{escape(it["label"])}</th><td style="width:16em;white-space:nowrap">'
        f'<span style="{_BAR}{_WRONG};width:{it["wrong"]}%"></span>'
        f'<span style="{_BAR}{_RIGHT};width:{it["right"]}%"></span></td><td>{escape(it["said"])}</td></tr>'
        for it in chart["bars"]
    )
    rest = f"<p>{escape(chart['rest'])}</p>" if chart["rest"] else ""
    return f'<table style="width:auto"><caption>{escape(chart["title"])}</caption><tbody>{rows}</tbody></table>{rest}'


def _map(heat_map: dict[str, Any], lang: Language) -> str:
    if not heat_map["rows"]:
        return ""
    labels = LABELS[lang]
    heads = [labels["code"], labels["files"], *(label for _, label in heat_map["groups"])]
    head = "".join(f'<th scope="col">{escape(it)}</th>' for it in heads)
    rows = "".join(
        f'<tr><th scope="row">{escape(it["code"])}</th><td class="number">{it["files"]}</td>'
        + "".join(_cell(count, share) for count, share in zip(it["cells"], it["shares"], strict=True))
        + "</tr>"
        for it in heat_map["rows"]
    )
    rest = f"<p>{escape(heat_map['rest'])}</p>" if heat_map["rest"] else ""
    caption = f"<caption>{escape(labels['map'])}</caption>"
    return f'<table style="width:auto">{caption}<thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>{rest}'


def _cell(count: int, share: int) -> str:
    strength = f' style="background:rgba(209,56,61,{0.15 + share * 0.0055:.2f})"' if count else ""
    return f'<td class="number"{strength}>{count or "·"}</td>'
