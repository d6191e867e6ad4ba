"""Logs, Prometheus metrics, and probes."""
