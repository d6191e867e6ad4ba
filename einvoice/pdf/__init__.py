"""Hybrid PDFs as containers: what is attached, what the metadata says, and how an invoice gets in."""
