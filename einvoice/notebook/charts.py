"""Data of the charts and the heatmap of a result set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from einvoice.bulk.labels import whole
from einvoice.errors import quote
from einvoice.notebook.filters import SEVERITIES
from einvoice.notebook.index import KINDS, Group, Index
from einvoice.notebook.labels import LABELS
from einvoice.result import Language
from einvoice.rulebook.catalog import entry

if TYPE_CHECKING:
    from einvoice.bulk import Overview

_MAX_BARS: Final = 8
_MAX_CODES: Final = 30
_MAX_GROUPS: Final = 24
_MAX_LABEL: Final = 40


def bars(index: Index, lang: Language) -> list[dict[str, Any]]:
    """Return a bar chart per kind that has several groups: those with the most invalid files, or the latest months.

    Each bar has `name`, `label`, `description`, `count`, and the lengths of its parts `invalid` and `valid` in percent
    of the longest bar.
    """
    return [_chart(kind, groups, lang) for kind in KINDS if len(groups := index.groups(kind)) > 1]


def _chart(kind: str, groups: list[Group], lang: Language) -> dict[str, Any]:
    labels = LABELS[lang]
    if kind == "month":
        shown = sorted(groups)[-_MAX_BARS:]
    else:
        shown = sorted(groups, key=lambda it: (-it.invalid, -it.files, it.name))[:_MAX_BARS]
    longest, omitted = max(it.files for it in shown), len(groups) - len(shown)
    return {
        "kind": kind,
        "title": labels[f"by_{kind}"],
        "bars": [
            {
                "name": it.name,
                "label": label(it.name, kind, lang),
                "description": labels["invalid_files"].format(
                    invalid=whole(it.invalid, lang), files=whole(it.files, lang)
                ),
                "count": f"{whole(it.invalid, lang)} / {whole(it.files, lang)}",
                "invalid": round(100 * it.invalid / longest, 1),
                "valid": round(100 * (it.files - it.invalid) / longest, 1),
            }
            for it in shown
        ],
        "more": labels["more_groups"].format(count=whole(omitted, lang)) if omitted else "",
    }


def heatmap(index: Index, overview: Overview, kind: str, lang: Language) -> dict[str, Any]:
    """Return the heatmap of codes by groups of a kind.

    `groups` has the name and label of the largest groups. `rows` has, for each code, the number of `files` in which it
    was found and, for each group, the number (`cells`) and percentage (`shares`) of its files. `more` is a text about
    omitted groups and codes.
    """
    labels, cells, groups = LABELS[lang], index.cells(kind), index.groups(kind)
    columns = sorted(sorted(groups, key=lambda it: (-it.files, it.name))[:_MAX_GROUPS])
    codes = {it.code: it for it in overview.codes}  # one row per code, even with two severities
    rows = sorted(codes.values(), key=lambda it: (SEVERITIES.index(it.severity), -it.files))[:_MAX_CODES]
    omitted = {"more_groups": len(groups) - len(columns), "more_rules": len(codes) - len(rows)}
    return {
        "groups": [[it.name, f"{label(it.name, kind, lang)} ({whole(it.files, lang)})"] for it in columns],
        "rows": [
            {
                "code": it.code,
                "severity": it.severity,
                "title": entry(it.code).title(lang),
                "files": sum(cells.get((it.code, group.name), 0) for group in groups),
                "cells": [cells.get((it.code, group.name), 0) for group in columns],
                "shares": [round(100 * cells.get((it.code, group.name), 0) / group.files) for group in columns],
            }
            for it in rows
        ],
        "more": " ".join(labels[key].format(count=whole(count, lang)) for key, count in omitted.items() if count),
    }


def label(name: str, kind: str, lang: Language) -> str:
    """Return the label of a group; a long folder name is shortened to its end."""
    return quote(name, limit=_MAX_LABEL, keep_end=kind == "folder") or LABELS[lang][f"no_{kind}"]
