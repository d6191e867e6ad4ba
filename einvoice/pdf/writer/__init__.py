"""Writes hybrid PDFs: attaches the XML, updates the XMP metadata, checks for PDF/A-3."""
