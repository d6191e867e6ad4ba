"""Repairs of a document: byte-precise edits of its XML."""
