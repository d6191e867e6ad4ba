"""Data of the charts, the heatmap and the filters of a result set."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from einvoice.bulk.labels import VERDICT_LABELS, whole
from einvoice.bulk.record import VERDICTS
from einvoice.notebook.filters import SEVERITIES
from einvoice.notebook.index import KINDS, Group, Index
from einvoice.notebook.labels import LABELS
from einvoice.notebook.selection import Selection
from einvoice.quotation import quote
from einvoice.render.text import LABELS as RESULT_LABELS
from einvoice.result import Language

_MAX_BARS: Final = 8
_MAX_CODES: Final = 30
_MAX_GROUPS: Final = 24
_MAX_LABEL: Final = 40
_MAX_CHOICES: Final = 300
_MAX_TITLE: Final = 70


def bars(index: Index, selection: Selection, lang: Language) -> list[dict[str, Any]]:
    """Return a bar chart per kind that has several groups: those with the most invalid files, or the latest months.

    A chart has the files that match all filters but that of its kind. Each bar has `name`, `label`, `full` (the whole
    name), `description`, `count`, and the lengths of its parts `invalid`, `unreadable` and `valid` in percent of the
    longest bar.
    """
    return [_chart(kind, index.groups(kind, selection.files(kind)), lang) for kind in index.kinds]


def _chart(kind: str, groups: list[Group], lang: Language) -> dict[str, Any]:
    labels = LABELS[lang]
    if kind == "month":
        shown = sorted(groups)[-_MAX_BARS:]
    else:
        shown = sorted(groups, key=lambda it: (-it.invalid - it.unreadable, -it.files, it.name))[:_MAX_BARS]
    longest, omitted = max((it.files for it in shown), default=0), len(groups) - len(shown)
    with_unreadable = any(it.unreadable for it in groups)
    return {
        "kind": kind,
        "title": labels[f"by_{kind}"],
        "unit": labels["invalid_unreadable_of_all" if with_unreadable else "invalid_of_all"],
        "bars": [_bar(it, kind, longest, with_unreadable=with_unreadable, lang=lang) for it in shown],
        "more": labels["more_groups"].format(count=whole(omitted, lang)) if omitted else "",
    }


def _bar(group: Group, kind: str, longest: int, *, with_unreadable: bool, lang: Language) -> dict[str, Any]:
    parts = {"invalid": group.invalid, "unreadable": group.unreadable}
    numbers = {name: whole(number, lang) for name, number in (parts | {"files": group.files}).items()}
    text = LABELS[lang]["invalid_unreadable_files" if group.unreadable else "invalid_files"]
    shown = (name for name in numbers if name != "unreadable" or with_unreadable)
    return {
        "name": group.name,
        "label": label(group.name, kind, lang),
        "full": full(group.name) or label(group.name, kind, lang),
        "description": text.format(**numbers),
        "count": " / ".join(numbers[name] for name in shown),
        **{name: round(100 * number / longest, 1) for name, number in parts.items()},
        "valid": round(100 * (group.files - group.invalid - group.unreadable) / longest, 1),
    }


def heatmap(
    index: Index, selection: Selection, kind: str, lang: Language, *, chosen: str | None = None
) -> dict[str, Any]:
    """Return the heatmap of codes by groups of a kind, of the files that match all filters but its own.

    `groups` has the name, label and whole name of the largest groups and of the chosen one. `rows` has, for each code,
    whether it makes a file `unreadable`, the number of `files` in which it was found and, for each group, the number
    (`cells`) and percentage (`shares`) of its files. `more` is a text about omitted groups and codes.
    """
    labels, groups = LABELS[lang], index.groups(kind, selection.files("code", "severity", kind))
    worst = sorted(groups, key=lambda it: (it.name != chosen, -it.invalid - it.unreadable, -it.files, it.name))
    columns = worst[:_MAX_GROUPS]
    columns.sort(key=lambda it: (0, it.name) if kind == "month" else (-it.invalid - it.unreadable, it.name))
    cells = index.cells(kind, [it.name for it in columns], selection.findings("code", kind)).tolist()
    severities = index.worst_severities()
    codes = [number for number, counts in enumerate(cells) if counts[-1]]
    codes.sort(key=lambda it: (it in index.unreadable_codes, severities[it], -cells[it][-1]))
    rows = codes[:_MAX_CODES]
    omitted = {"more_groups": len(groups) - len(columns), "more_rules": len(codes) - len(rows)}
    return {
        "groups": [
            [it.name, f"{label(it.name, kind, lang)} ({whole(it.files, lang)})", full(it.name)] for it in columns
        ],
        "rows": [
            {
                "code": index.codes[number],
                "severity": SEVERITIES[severities[number]],
                "unreadable": number in index.unreadable_codes,
                "title": index.entry(index.codes[number]).title(lang),
                "files": cells[number][-1],
                "cells": cells[number][:-1],
                "shares": [
                    round(100 * count / group.files) for count, group in zip(cells[number][:-1], columns, strict=True)
                ],
            }
            for number in rows
        ],
        "more": " ".join(labels[key].format(count=whole(count, lang)) for key, count in omitted.items() if count),
    }


def choices(
    index: Index, selection: Selection, filters: Mapping[str, Any], lang: Language
) -> dict[str, list[list[Any]]]:
    """Return the choices of each filter: value, label and number of files that match the other filters.

    A kind that has a single group has no choices.
    """
    by_verdict = index.files_by_verdict(selection.files("verdict"))
    by_severity = index.files_by_severity(selection.findings("severity"))
    by_code = index.files_by_code(selection.findings("code"))
    codes = {code: count for code, count in zip(index.codes, by_code, strict=True) if count}
    return {
        "verdict": [[name, VERDICT_LABELS[lang][name], by_verdict[number]] for number, name in enumerate(VERDICTS)],
        "severity": [[name, RESULT_LABELS[lang][name], by_severity[number]] for number, name in enumerate(SEVERITIES)],
        "code": _listed(
            codes, filters.get("code"), lambda it: quote(f"{it} {index.entry(it).title(lang)}", limit=_MAX_TITLE)
        ),
        **{kind: [] for kind in KINDS},
        **{kind: _groups(index, selection, kind, filters.get(kind), lang) for kind in index.kinds},
    }


def _groups(index: Index, selection: Selection, kind: str, chosen: str | None, lang: Language) -> list[list[Any]]:
    counts = {it.name: it.files for it in index.groups(kind, selection.files(kind))}
    listed = _listed(counts, chosen, lambda it: label(it, kind, lang))
    return sorted(listed) if kind == "month" else listed


def _listed(counts: dict[str, int], chosen: str | None, label_of: Callable[[str], str]) -> list[list[Any]]:
    """Return value, label and count of the most frequent values, and of the chosen one."""
    names = sorted(counts, key=lambda it: (-counts[it], it))[:_MAX_CHOICES]
    if chosen is not None and chosen not in names:
        names.append(chosen)
    return [[name, label_of(name), counts.get(name, 0)] for name in names]


def label(name: str, kind: str, lang: Language) -> str:
    """Return the label of a group; a long folder name is shortened to its end."""
    return quote(name, limit=_MAX_LABEL, keep_end=kind == "folder") or LABELS[lang][f"no_{kind}"]


def full(name: str) -> str:
    """Return a whole name with control characters escaped."""
    return quote(name, limit=len(name))
