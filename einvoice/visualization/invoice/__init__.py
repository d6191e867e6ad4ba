"""The readable invoice as a PDF page."""
