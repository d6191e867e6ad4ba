"""Renders results as HTML, text, JSON and tables."""
