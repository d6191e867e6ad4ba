"""Prometheus metrics."""

import os
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path

import prometheus_client
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, Info
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.registry import Collector

NAMESPACE = "einvoice"
CONTENT_TYPE = CONTENT_TYPE_PLAIN_0_0_4
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
"""Upper bounds of the buckets for request durations, in seconds."""


class Metrics:
    """The metrics of a server process, in a separate registry.

    Label values come from a small fixed set or are names of key holders, never from a document.
    """

    def __init__(self) -> None:
        prometheus_client.disable_created_metrics()  # type: ignore[no-untyped-call]
        self._registry = CollectorRegistry()
        requests = Counter(
            "requests",
            "Requests by route, method and status.",
            ("route", "method", "status"),
            namespace=NAMESPACE,
            registry=self._registry,
        )
        documents = Counter(
            "documents",
            "Documents validated, by syntax and verdict.",
            ("syntax", "valid"),
            namespace=NAMESPACE,
            registry=self._registry,
        )
        seconds = Histogram(
            "request_seconds",
            "Request duration in seconds, by route.",
            ("route",),
            namespace=NAMESPACE,
            registry=self._registry,
            buckets=BUCKETS,
        )
        client_requests = Counter(
            "client_requests",
            "Requests with a key, by its name.",
            ("client",),
            namespace=NAMESPACE,
            registry=self._registry,
        )
        client_documents = Counter(
            "client_documents",
            "Documents validated, by name of the key.",
            ("client",),
            namespace=NAMESPACE,
            registry=self._registry,
        )
        # Looking up the child of a metric takes longer than changing it.
        self._requests = cache(requests.labels)
        self._documents = cache(documents.labels)
        self._seconds = cache(seconds.labels)
        self._client_requests = cache(client_requests.labels)
        self._client_documents = cache(client_documents.labels)

    def record_request(self, route: str, method: str, status: int, seconds: float, client: str | None) -> None:
        """Count a request and observe its duration; `client` is the name of its key."""
        self._requests(route, method, str(status)).inc()
        self._seconds(route).observe(seconds)
        if client is not None:
            self._client_requests(client).inc()

    def record_document(self, syntax: str | None, valid: bool, client: str) -> None:
        """Count a validated document; `client` is the name of the key."""
        self._documents(syntax or "none", str(valid).lower()).inc()
        self._client_documents(client).inc()

    def add_gauge(self, name: str, documentation: str, read: Callable[[], float]) -> None:
        """Export a gauge whose value `read` returns at each scrape."""
        Gauge(name, documentation, namespace=NAMESPACE, registry=self._registry).set_function(read)

    def add_counter(self, name: str, documentation: str, read: Callable[[], float]) -> None:
        """Export a counter whose value `read` returns at each scrape; "_total" is appended to its name."""
        self._registry.register(_CallbackCounter(f"{NAMESPACE}_{name}", documentation, read))

    def add_counters(self, name: str, documentation: str, label: str, read: Callable[[], Mapping[str, float]]) -> None:
        """Export a counter for each value of a label, as `read` returns them at each scrape."""
        family = partial(CounterMetricFamily, f"{NAMESPACE}_{name}", documentation, labels=[label])
        self._registry.register(_CallbackFamily(family, read))

    def add_gauges(self, name: str, documentation: str, label: str, read: Callable[[], Mapping[str, float]]) -> None:
        """Export a gauge for each value of a label, as `read` returns them at each scrape."""
        family = partial(GaugeMetricFamily, f"{NAMESPACE}_{name}", documentation, labels=[label])
        self._registry.register(_CallbackFamily(family, read))

    def add_info(self, name: str, documentation: str, values: Mapping[str, str]) -> None:
        """Export constant facts as labels of a metric; "_info" is appended to its name."""
        Info(name, documentation, namespace=NAMESPACE, registry=self._registry).info(dict(values))

    def exposition(self) -> bytes:
        """Return all metrics in the text exposition format (`CONTENT_TYPE`)."""
        return generate_latest(self._registry)


class _CallbackCounter(Collector):
    def __init__(self, name: str, documentation: str, read: Callable[[], float]) -> None:
        self._name = name
        self._documentation = documentation
        self._read = read

    def collect(self) -> Iterator[CounterMetricFamily]:
        yield CounterMetricFamily(self._name, self._documentation, value=self._read())


class _CallbackFamily(Collector):
    def __init__(
        self,
        family: Callable[[], CounterMetricFamily | GaugeMetricFamily],
        read: Callable[[], Mapping[str, float]],
    ) -> None:
        self._family = family
        self._read = read

    def collect(self) -> Iterator[CounterMetricFamily | GaugeMetricFamily]:
        family = self._family()
        for value, number in self._read().items():
            family.add_metric([value], number)
        yield family


def resident_bytes(pid: int | str) -> float:
    """Return the resident memory of a process in bytes; 0 if it has ended."""
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1])
    except (OSError, ValueError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
