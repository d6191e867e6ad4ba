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
    """Return the first causes, and the chosen one, each with the files that match the filters of other kinds.

    `about` are sentences about all causes; each row has `name`, `text`, `codes`, `cells` (files that match, findings,
    files that are valid with the change), and `share`: its files in percent of those of the most frequent cause.
    """
    causes = index.causes
    if causes is None:
        return {"about": [], "columns": [], "rows": [], "more": ""}
    words = TEXTS[lang]
    shown = [it for number, it in enumerate(causes) if number < TOP or it.name == chosen]
    matching = selection.files("cause")
    counts = [int((index.with_cause(it.name) & matching).sum()) for it in shown]
    longest = max(counts, default=0) or 1
    omitted = len(causes) - len(shown)
    return {
        "about": lines(causes, lang),
        "columns": [words[key] for key in COLUMNS],
        "rows": [_row(causes, it.name, count, longest, lang) for it, count in zip(shown, counts, strict=True)],
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
