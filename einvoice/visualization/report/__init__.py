"""The validation report as a PDF page."""
