"""Data of the causes of many files, as the widget of a result set displays them."""

from __future__ import annotations

from typing import Any, Final

from einvoice.bulk.common_causes import COLUMNS, TEXTS, TOP, CommonCauses, cells, lines
from einvoice.bulk.labels import whole
from einvoice.notebook.index import Index
from einvoice.notebook.labels import LABELS
from einvoice.notebook.selection import Selection
from einvoice.quotation import quote
from einvoice.result import Language

_MAX_TEXT: Final = 300


def causes_table(index: Index, selection: Selection, chosen: str | None, lang: Language) -> dict[str, Any]:
    """Return the causes of most files that match the filters of other kinds, and the chosen one.

    `about` are sentences about all causes; each row has `name`, `text`, `codes`, `cells` (files that match, findings,
    files that are valid with the change), and `share`: its files in percent of those of the most frequent cause.
    """
    causes = index.causes
    if causes is None:
        return {"about": [], "columns": [], "rows": [], "more": ""}
    words = TEXTS[lang]
    matching = selection.files("cause")
    counts = {it.name: int((index.with_cause(it.name) & matching).sum()) for it in causes}
    found = sorted((it for it in causes if counts[it.name] or it.name == chosen), key=lambda it: -counts[it.name])
    shown = [it for number, it in enumerate(found) if number < TOP or it.name == chosen]
    longest = max(counts.values(), default=0) or 1
    omitted = len(found) - len(shown)
    return {
        "about": lines(causes, lang),
        "columns": [words[key] for key in COLUMNS],
        "rows": [_row(causes, it.name, counts[it.name], longest, lang) for it in shown],
        "more": words["more"].format(count=whole(omitted, lang)) if omitted > 0 else "",
    }


def _row(causes: CommonCauses, name: str, count: int, longest: int, lang: Language) -> dict[str, Any]:
    cause = causes[name]
    _, *figures, text = cells(cause, lang)
    return {
        "name": name,
        "text": quote(text, limit=_MAX_TEXT),
        "codes": ", ".join(cause.codes),
        "cells": [whole(count, lang), *figures],
        "share": round(100 * count / longest, 1),
    }


def searched(done: int, count: int, lang: Language) -> str:
    """Return how many files have been examined so far."""
    return LABELS[lang]["causes_progress"].format(done=whole(done, lang), all=whole(count, lang))
