"""Which table reads which document."""

from __future__ import annotations

import functools

from einvoice.model.location import NAMESPACES
from einvoice.syntax.mapping.binding import Table

_SYNTAX = {
    f"{{{NAMESPACES['ubl']}}}Invoice": "UBL",
    f"{{{NAMESPACES['cn']}}}CreditNote": "UBL",
    f"{{{NAMESPACES['rsm']}}}CrossIndustryInvoice": "CII",
}


def table_of(tag: str) -> Table:
    """The binding table for a root element, named as lxml does; ``LookupError`` for any other root."""
    return table(_SYNTAX[tag])


@functools.cache
def table(syntax: str) -> Table:
    """The binding table of ``UBL`` or ``CII``, built when first asked for."""
    if syntax == "UBL":
        from einvoice.syntax.mapping.ubl import TABLE
    else:
        from einvoice.syntax.mapping.cii import TABLE
    return TABLE
