"""What is drawn of many results, as text and numbers: bars for folders, sellers and months, and a map of the codes."""

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

_MOST_BARS: Final = 8
_MOST_CODES: Final = 30
_MOST_GROUPS: Final = 24
_NAME: Final = 40


def bars(index: Index, lang: Language) -> list[dict[str, Any]]:
    """A chart for each kind of groups that tells files apart: the worst groups, of months the latest.

    Each bar has its `name`, a `label`, what is `said` of it, the same as a `count`, and `wrong` and `right`: the
    lengths of its parts in percent of the longest.
    """
    return [_chart(kind, found, lang) for kind in KINDS if len(found := index.groups(kind)) > 1]


def _chart(kind: str, groups: list[Group], lang: Language) -> dict[str, Any]:
    labels = LABELS[lang]
    if kind == "month":
        shown = sorted(groups)[-_MOST_BARS:]
    else:
        shown = sorted(groups, key=lambda it: (-it.wrong, -it.files, it.name))[:_MOST_BARS]
    longest, left = max(it.files for it in shown), len(groups) - len(shown)
    return {
        "kind": kind,
        "title": labels[f"by_{kind}"],
        "bars": [
            {
                "name": it.name,
                "label": label(it.name, kind, lang),
                "said": labels["wrong"].format(wrong=whole(it.wrong, lang), files=whole(it.files, lang)),
                "count": f"{whole(it.wrong, lang)} / {whole(it.files, lang)}",
                "wrong": round(100 * it.wrong / longest, 1),
                "right": round(100 * (it.files - it.wrong) / longest, 1),
            }
            for it in shown
        ],
        "rest": labels["rest_groups"].format(count=whole(left, lang)) if left else "",
    }


def heat_map(index: Index, overview: Overview, kind: str, lang: Language) -> dict[str, Any]:
    """The codes by the groups of a kind.

    `groups`: name and label of the largest; `rows`: for each code in how many `files` it was found, and for each group
    in how many (`cells`) and in which percentage of its files (`shares`); `rest`: what is left out, in labels.
    """
    labels, cells, groups = LABELS[lang], index.cells(kind), index.groups(kind)
    columns = sorted(sorted(groups, key=lambda it: (-it.files, it.name))[:_MOST_GROUPS])
    known = {it.code: it for it in overview.codes}  # a code may come with two severities; one row is enough
    rows = sorted(known.values(), key=lambda it: (SEVERITIES.index(it.severity), -it.files))[:_MOST_CODES]
    left = {"rest_groups": len(groups) - len(columns), "rest_codes": len(known) - len(rows)}
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
        "rest": " ".join(labels[key].format(count=whole(count, lang)) for key, count in left.items() if count),
    }


def label(name: str, kind: str, lang: Language) -> str:
    """The name of a group as it is shown; of a folder the end tells most."""
    return quote(name, limit=_NAME, keep_end=kind == "folder") or LABELS[lang][f"no_{kind}"]
