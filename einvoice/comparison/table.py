"""Comparisons as tables: pandas and HTML."""

from __future__ import annotations

import html as markup
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from einvoice.comparison.compared import STATUSES, ComparedTerm
from einvoice.comparison.content import Entry
from einvoice.comparison.text import LABELS, heading, label, same, shown
from einvoice.localization import Language
from einvoice.render.tables import require_pandas

if TYPE_CHECKING:
    import pandas as pd

_TEXTS: Final = ("term", "name", "group", "invoice_line", "scheme_a", "scheme_b", "xpath_a", "xpath_b")
_LONGEST: Final = 200


def frame(terms: Iterable[ComparedTerm], lang: Language) -> pd.DataFrame:
    """Return terms as a pandas table; see `InvoiceDiff.to_frame`."""
    require_pandas()
    import pandas as pd

    columns = ("status", "term", "name", "group", "invoice_line", "a", "b", "scheme_a", "scheme_b", "line_a", "line_b",
               "xpath_a", "xpath_b")  # fmt: skip
    table = pd.DataFrame([_row(it, lang) for it in terms], columns=list(columns))
    kinds: dict[str, Any] = dict.fromkeys(_TEXTS, "str") | dict.fromkeys(("line_a", "line_b"), "Int64")
    return table.astype(kinds | {"status": pd.CategoricalDtype(list(STATUSES)), "a": "object", "b": "object"})


def _row(term: ComparedTerm, lang: Language) -> dict[str, Any]:
    row = {"status": term.status, "term": term.term, "name": label(term, lang), "group": term.group}
    row["invoice_line"] = term.invoice_line
    return row | _side(term.entry_a, "a") | _side(term.entry_b, "b")


def _side(entry: Entry | None, side: str) -> dict[str, Any]:
    if entry is None:
        return {side: None, f"scheme_{side}": "", f"line_{side}": None, f"xpath_{side}": ""}
    values = {side: entry.content, f"scheme_{side}": entry.scheme}
    return values | {f"line_{side}": entry.line, f"xpath_{side}": entry.xpath}


def html(terms: Sequence[ComparedTerm], lang: Language) -> str:
    """Return the differences as an HTML table for a notebook, the first ones of many."""
    differences = [it for it in terms if it.status != "equal"]
    if not differences:
        return f"<p>{markup.escape(same(terms, lang))}</p>"
    rows = [
        _cells((heading(it, lang), *(shown(side, lang) if side else "–" for side in (it.entry_a, it.entry_b))))
        for it in differences[:_LONGEST]
    ]
    if len(differences) > _LONGEST:
        rows.append(_cells(("…", "…", "…")))
    head = _cells((LABELS[lang]["term"], "A", "B"), "th")
    return f"<table><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>"


def _cells(texts: Iterable[str], tag: str = "td") -> str:
    return f"<tr>{''.join(f'<{tag}>{markup.escape(text)}</{tag}>' for text in texts)}</tr>"
