"""PDFs as containers of invoices (ZUGFeRD, Factur-X): read from strangers, checked, written.

A PDF from outside is opened in a process of its own (`guard`); what comes back is plain data (`hybrid`). pikepdf is
imported where a PDF is opened, and nowhere else.
"""
