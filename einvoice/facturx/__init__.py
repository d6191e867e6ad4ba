"""The profiles of Factur-X and ZUGFeRD, MINIMUM to EXTENDED.

- `profile`: the profiles, and how their XML is attached to a PDF
- `business_terms`: which business terms a profile contains
- `rules`: which rules validate a profile
- `structure`: violations of a profile's XML schema
"""
