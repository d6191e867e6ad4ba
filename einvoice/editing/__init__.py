"""Edits of XML that leave all other bytes as they are, and the difference between two documents."""
