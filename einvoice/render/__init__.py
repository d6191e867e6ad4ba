"""Presentation of results, findings, invoices and the catalog: HTML, text, JSON and tables."""
