"""Reads hybrid PDFs: attachments, metadata, resources."""
