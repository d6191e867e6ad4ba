"""Imported once by the fork server, before it forks worker processes: they then have all modules and rules.

Each would otherwise take a quarter of a second of processor time to load them, in every run. The fork server has one
thread and reads nothing but the documents below, so that workers inherit no locks and nothing of the user's files.
"""

from __future__ import annotations

import gc
from contextlib import suppress
from typing import Final

import einvoice.bulk.execution.worker  # noqa: F401  # the modules that workers need
from einvoice.result.options import Options
from einvoice.syntax import schema
from einvoice.validation.pipeline import Document
from einvoice.validation.selection import select

_XRECHNUNG: Final = "urn:cen.eu:en16931:2017#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0"
_DOCUMENTS: Final = (
    '<Invoice xmlns="urn:oasis:names:specification:ubl:schema:xsd:Invoice-2"><c:CustomizationID xmlns:c='
    f'"urn:oasis:names:specification:ubl:schema:xsd:CommonBasicComponents-2">{_XRECHNUNG}</c:CustomizationID></Invoice>',
    '<i:CrossIndustryInvoice xmlns:i="urn:un:unece:uncefact:data:standard:CrossIndustryInvoice:100" '
    'xmlns="urn:un:unece:uncefact:data:standard:ReusableAggregateBusinessInformationEntity:100">'
    "<i:ExchangedDocumentContext><GuidelineSpecifiedDocumentContextParameter>"
    f"<ID>{_XRECHNUNG}</ID></GuidelineSpecifiedDocumentContextParameter></i:ExchangedDocumentContext>"
    "</i:CrossIndustryInvoice>",
)


def load() -> None:
    """Load what validating an XRechnung takes, and leave it out of garbage collection, which would copy its memory."""
    for document in _DOCUMENTS:
        identity = Document.open(document.encode()).identity
        select(identity, Options()).program  # noqa: B018  # loaded on first use
        schema.sha256(identity.root)
    gc.collect()
    gc.freeze()


with suppress(Exception):  # workers then load it themselves
    load()
