"""HTML of the causes of many files for notebooks, without scripts."""

from __future__ import annotations

from html import escape

from einvoice.bulk.common_causes import COLUMNS, TEXTS, TOP, CommonCauses, cells, lines
from einvoice.bulk.labels import whole
from einvoice.localization import Language
from einvoice.quotation import quote
from einvoice.render.html import page

_MAX_TEXT = 300


def common_causes_html(causes: CommonCauses, lang: Language) -> str:
    """Return the first causes as a table; all content is escaped."""
    words = TEXTS[lang]
    about = "".join(f"<p>{escape(line)}</p>" for line in lines(causes, lang))
    if not causes:
        return page(lang, about)
    *numbers, change = COLUMNS
    head = f'<th scope="col">{escape(words[change])}</th>'
    head += "".join(f'<th scope="col" class="number">{escape(words[key])}</th>' for key in numbers)
    rows = "".join(_row(cells(it, lang), it.codes) for it in causes[:TOP])
    omitted = len(causes) - TOP
    more = f"<p>{escape(words['more'].format(count=whole(omitted, lang)))}</p>" if omitted > 0 else ""
    return page(lang, about, f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>", more)


def _row(cells: list[str], codes: tuple[str, ...]) -> str:
    *numbers, text = cells
    counts = "".join(f'<td class="number">{escape(it)}</td>' for it in numbers)
    small = escape(", ".join(codes))
    return f"<tr><td>{escape(quote(text, limit=_MAX_TEXT))}<br><small>{small}</small></td>{counts}</tr>"
