"""Writes hybrid PDFs: attaches the XML, writes XMP metadata, checks for PDF/A-3."""
