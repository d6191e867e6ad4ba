"""What an invoice and its errors mean for the recipient under the VAT law of a country: information, not advice."""

from einvoice.assessment.api import assess
from einvoice.assessment.assessment import AssessedError, Assessment
from einvoice.assessment.law import Classification, Law, law, laws

__all__ = ["AssessedError", "Assessment", "Classification", "Law", "assess", "law", "laws"]
