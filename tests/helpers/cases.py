"""The document whose findings are explained, as the search for causes reads it."""

import einvoice
from einvoice.repair.api import Diagnosis
from einvoice.repair.case import Case


def case_of(data: bytes) -> Case:
    """Return the case of a document."""
    return Diagnosis(einvoice.validate(data)).case
