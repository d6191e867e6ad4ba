"""Hybrid PDFs (ZUGFeRD, Factur-X): read, checked and written.

Untrusted PDFs are parsed in a subprocess (`sandbox`), which returns plain data (`hybrid`). pikepdf is imported only
where a PDF is opened.
"""
