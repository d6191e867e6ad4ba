"""The profiles of Factur-X and ZUGFeRD, MINIMUM to EXTENDED.

- `profile`: the profiles, and how their XML is attached to a PDF
- `business_terms`: which business terms a profile contains
- `rules`: which rules validate a profile
- `structure`: violations of a profile's XML schema
"""

from einvoice.facturx.rules import ProfileRules, rules_of
from einvoice.facturx.structure import schema_violations
from einvoice.rulebook.syntax_rules.rule import FACTURX

__all__ = ["FACTURX", "ProfileRules", "rules_of", "schema_violations"]
