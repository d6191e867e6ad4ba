"""Bar charts of a result set, drawn by matplotlib."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MAX_BARS: Final = 20
"""Maximum number of bars of a chart."""
MAX_NAME: Final = 40
"""Maximum length of the name of a bar."""
_RED, _AMBER, _BLUE, _GREEN, _GREY = "#b3261e", "#b26a00", "#1f5fa8", "#2e7d32", "#6b6b6b"
_COLORS: Final = {
    **{"invalid": _RED, "unreadable": _GREY, "valid": _GREEN},
    **{"fatal": _RED, "warning": _AMBER, "information": _BLUE},
}


class Chart(NamedTuple):
    """A bar chart.

    Attributes:
        names: names of the bars.
        parts: numbers of each part of the bars, by verdict or severity; parts that are empty everywhere are left out.
        labels: labels of the parts.
        name, counted: labels of the axes.
        upright: whether the bars are columns.
    """

    names: Sequence[str]
    parts: Mapping[str, Sequence[int]]
    labels: Mapping[str, str]
    name: str
    counted: str
    upright: bool = False

    def draw(self, axes: Axes | None) -> Axes:
        """Draw the bars into axes, or into those of a new figure.

        Raises:
            ImportError: matplotlib is not installed (extra "notebook").
        """
        drawn = axes or self._new_axes()
        places, before = range(len(self.names)), [0] * len(self.names)
        for part, numbers in self.parts.items():
            if not any(numbers):
                continue
            if self.upright:
                drawn.bar(places, numbers, bottom=before, color=_COLORS[part], label=self.labels[part])
            else:
                drawn.barh(places, numbers, left=before, color=_COLORS[part], label=self.labels[part])
            before = [one + other for one, other in zip(before, numbers, strict=True)]
        self._label(drawn)
        return drawn

    def _new_axes(self) -> Axes:
        try:
            from matplotlib import pyplot
        except ImportError as error:
            raise ImportError("figures need matplotlib: pip install 'einvoice-toolkit[notebook]'") from error
        bars = len(self.names)
        size = (max(6.4, 0.5 * bars), 4.8) if self.upright else (8, 1.2 + 0.3 * bars)
        return pyplot.subplots(figsize=size, layout="constrained")[1]

    def _label(self, axes: Axes) -> None:
        from matplotlib.ticker import MaxNLocator

        named, counted = (axes.xaxis, axes.yaxis) if self.upright else (axes.yaxis, axes.xaxis)
        turned: dict[str, Any] = {"rotation": 45, "ha": "right"} if self.upright else {}
        named.set_ticks(range(len(self.names)), self.names, parse_math=False, **turned)
        counted.set_major_locator(MaxNLocator(integer=True))
        named.set_label_text(self.name)
        counted.set_label_text(self.counted)
        if not self.upright:
            axes.invert_yaxis()
        if axes.containers:
            axes.legend()
