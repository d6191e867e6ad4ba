"""Selects the binding table of a document."""

from __future__ import annotations

import functools
from typing import Final

from einvoice.model.location import NAMESPACES
from einvoice.syntax.mapping.binding import Table

_SYNTAX: Final = {
    f"{{{NAMESPACES['ubl']}}}Invoice": "UBL",
    f"{{{NAMESPACES['cn']}}}CreditNote": "UBL",
    f"{{{NAMESPACES['rsm']}}}CrossIndustryInvoice": "CII",
}


def table_of(tag: str) -> Table:
    """Return the binding table of a root element, named as lxml does; raise `LookupError` for any other root."""
    return table(_SYNTAX[tag])


@functools.cache
def table(syntax: str) -> Table:
    """Return the binding table of `UBL` or `CII`, built on first use."""
    if syntax == "UBL":
        from einvoice.syntax.mapping.ubl import TABLE
    else:
        from einvoice.syntax.mapping.cii import TABLE
    return TABLE
