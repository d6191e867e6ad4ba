"""Reads rule files: conditions, contexts, notes, examples, releases."""
