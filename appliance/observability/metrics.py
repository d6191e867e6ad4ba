"""Figures for Prometheus, in its text format (version 0.0.4)."""

from collections import defaultdict
from collections.abc import Callable

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Upper bounds of the classes that durations are counted in, in seconds."""

_HELP = {
    "requests_total": ("counter", "Requests answered, by route, method and status."),
    "request_seconds": ("histogram", "How long requests took, by route."),
    "documents_total": ("counter", "Documents judged, by syntax and verdict."),
}


class Metrics:
    """What has been counted since the start; `watch` adds what is read when it is asked for."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str], float] = defaultdict(float)
        self._classes: dict[str, list[int]] = {}
        self._seconds: dict[str, float] = defaultdict(float)
        self._watched: list[tuple[str, str, str, Callable[[], float]]] = []

    def count(self, name: str, **labels: str | int) -> None:
        """Count one more; the labels must take few values only, none from a document."""
        self._counts[name, _labels(labels)] += 1

    def observe(self, route: str, seconds: float) -> None:
        """Note how long a request took."""
        classes = self._classes.setdefault(route, [0] * (len(BUCKETS) + 1))
        classes[next((number for number, bound in enumerate(BUCKETS) if seconds <= bound), len(BUCKETS))] += 1
        self._seconds[route] += seconds

    def watch(self, name: str, kind: str, about: str, read: Callable[[], float]) -> None:
        """Tell the value that `read` has whenever figures are asked for; `kind` is "gauge" or "counter"."""
        self._watched.append((name, kind, about, read))

    def text(self) -> str:
        """Return the figures."""
        lines: list[str] = []
        for name in ("requests_total", "documents_total"):
            _head(lines, name, *_HELP[name])
            lines += (f"einvoice_{counted}{labels} {value:g}" for (counted, labels), value in self._of(name))
        _head(lines, "request_seconds", *_HELP["request_seconds"])
        for route in sorted(self._classes):
            lines += self._histogram(route)
        for name, kind, about, read in self._watched:
            _head(lines, name, kind, about)
            lines.append(f"einvoice_{name} {read():g}")
        return "\n".join((*lines, ""))

    def _of(self, name: str) -> list[tuple[tuple[str, str], float]]:
        return sorted((key, value) for key, value in self._counts.items() if key[0] == name)

    def _histogram(self, route: str) -> list[str]:
        lines, total = [], 0
        for bound, count in zip((*BUCKETS, "+Inf"), self._classes[route], strict=True):
            total += count
            lines.append(f"einvoice_request_seconds_bucket{_labels({'route': route, 'le': str(bound)})} {total}")
        of_route = _labels({"route": route})
        lines.append(f"einvoice_request_seconds_sum{of_route} {self._seconds[route]:.6f}")
        lines.append(f"einvoice_request_seconds_count{of_route} {total}")
        return lines


def _head(lines: list[str], name: str, kind: str, about: str) -> None:
    lines += (f"# HELP einvoice_{name} {about}", f"# TYPE einvoice_{name} {kind}")


def _labels(labels: dict[str, str | int]) -> str:
    told = ",".join(f'{name}="{_escaped(str(value))}"' for name, value in labels.items())
    return f"{{{told}}}" if told else ""


def _escaped(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
