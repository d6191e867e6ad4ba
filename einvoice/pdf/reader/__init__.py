"""Reads hybrid PDFs: attachments, XMP metadata, resources."""
