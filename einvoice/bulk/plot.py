"""Figures of a result set, drawn by matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from einvoice.bulk.groups import Groups
from einvoice.bulk.labels import GROUP_LABELS, LABELS, VERDICT_LABELS
from einvoice.bulk.overview import Overview
from einvoice.localization import Language
from einvoice.quotation import quote
from einvoice.render.text import LABELS as RESULT_LABELS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_COLORS: Final = {"invalid": "#b3261e", "unreadable": "#6b6b6b", "valid": "#2e7d32"}
_SEVERITY_COLORS: Final = {"fatal": "#b3261e", "warning": "#b26a00", "information": "#1f5fa8"}
_MAX_BARS: Final = 20
_MAX_NAME: Final = 40


def groups(given: Groups, axes: Axes | None) -> Axes:
    """Draw a bar per group: its invalid, unreadable and valid files. Months are columns, other facts rows.

    At most 20 groups are drawn: those with the most invalid files, or the latest months.
    """
    labels, lang = GROUP_LABELS[given.lang], given.lang
    shown = given.groups[-_MAX_BARS:] if given.by == "month" else given.groups[:_MAX_BARS]
    parts = {
        "invalid": [it.invalid for it in shown],
        "unreadable": [it.unreadable for it in shown],
        "valid": [it.files - it.invalid - it.unreadable for it in shown],
    }
    if not any(parts["unreadable"]):
        del parts["unreadable"]
    names = [quote(it.name, limit=_MAX_NAME) or labels["missing"] for it in shown]
    drawn = _bars(names, parts, VERDICT_LABELS[lang], _COLORS, axes, upright=given.by == "month")
    return _titled(drawn, labels.get(given.by, given.by), labels["files"], upright=given.by == "month")


def codes(overview: Overview, lang: Language, axes: Axes | None) -> Axes:
    """Draw a bar per code: the number of files with it, in the colour of its severity; at most 20."""
    shown = overview.codes[:_MAX_BARS]
    parts = {
        severity: [it.files if it.severity == severity else 0 for it in shown]
        for severity in _SEVERITY_COLORS
        if any(it.severity == severity for it in shown)
    }
    drawn = _bars([it.code for it in shown], parts, RESULT_LABELS[lang], _SEVERITY_COLORS, axes, upright=False)
    return _titled(drawn, LABELS[lang]["code"], GROUP_LABELS[lang]["files"], upright=False)


def _bars(
    names: Sequence[str],
    parts: Mapping[str, Sequence[int]],
    labels: Mapping[str, str],
    colors: Mapping[str, str],
    axes: Axes | None,
    *,
    upright: bool,
) -> Axes:
    drawn = axes or _new_axes(len(names), upright=upright)
    places, before = range(len(names)), [0] * len(names)
    for part, numbers in parts.items():
        shared: dict[str, Any] = {"color": colors[part], "label": labels[part]}
        if upright:
            drawn.bar(places, numbers, bottom=before, **shared)
        else:
            drawn.barh(places, numbers, left=before, **shared)
        before = [one + other for one, other in zip(before, numbers, strict=True)]
    if upright:
        drawn.set_xticks(places, names, rotation=45, ha="right", parse_math=False)
    else:
        drawn.set_yticks(places, names, parse_math=False)
        drawn.invert_yaxis()
    drawn.legend()
    return drawn


def _new_axes(bars: int, *, upright: bool) -> Axes:
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("figures need matplotlib: pip install 'einvoice-toolkit[notebook]'") from error
    size = (max(6.4, 0.5 * bars), 4.8) if upright else (8, 1.2 + 0.3 * bars)
    return pyplot.subplots(figsize=size, layout="constrained")[1]


def _titled(axes: Axes, names: str, counts: str, *, upright: bool) -> Axes:
    from matplotlib.ticker import MaxNLocator

    counted = axes.yaxis if upright else axes.xaxis
    counted.set_major_locator(MaxNLocator(integer=True))
    axes.set_xlabel(names if upright else counts)
    axes.set_ylabel(counts if upright else names)
    return axes
