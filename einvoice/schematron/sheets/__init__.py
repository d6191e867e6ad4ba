"""Reads sheets: ISO Schematron, and Schematron compiled to XSLT 2 (by the skeleton or by SchXslt)."""
