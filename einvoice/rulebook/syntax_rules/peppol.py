"""Conditions of the Peppol rule sets: the business process that a UBL document states (BT-23)."""

from __future__ import annotations

import re
from typing import Any, Final

from einvoice.model.values import normalize_space
from einvoice.rulebook.syntax_rules.rule import condition
from einvoice.rulebook.syntax_rules.xpath import texts

#: Business processes of Peppol, and the process numbers that earlier releases read from the identifier.
_FRENCH: Final = frozenset(("urn:peppol:france:billing:non-regulated", "urn:peppol:france:billing:regulated"))
_BILLING: Final = _FRENCH | {"urn:fdc:peppol.eu:2017:poacc:billing:01:1.0", "urn:peppol:bis:billing_with_response"}
_SELFBILLING: Final = _FRENCH | {"urn:fdc:peppol.eu:2017:poacc:selfbilling:01:1.0"}
_NUMBERED_BILLING: Final = "urn:fdc:peppol.eu:2017:poacc:billing:[0-9]{2}:1.0"
_NUMBERED_SELFBILLING: Final = "urn:fdc:peppol.eu:2017:poacc:selfbilling:[0-9]{2}:1.0"


@condition("UBL")
def billing_process(element: Any) -> bool:
    """Part of a document of a business process of Peppol BIS Billing."""
    return not _BILLING.isdisjoint(_processes(element))


@condition("UBL")
def first_billing_process(element: Any) -> bool:
    """Part of a document of the process 01, as Peppol's releases before 2026.5 read it from the identifier."""
    return _is_numbered_01(element, _NUMBERED_BILLING)


@condition("UBL")
def selfbilling_process(element: Any) -> bool:
    """Part of a document of a business process of Peppol BIS Self-Billing, other than billing with a response."""
    return not _SELFBILLING.isdisjoint(_processes(element))


@condition("UBL")
def first_selfbilling_process(element: Any) -> bool:
    """Part of a document of the process 01, as releases of Self-Billing before 2026.5 read it from the identifier."""
    return _is_numbered_01(element, _NUMBERED_SELFBILLING)


def _is_numbered_01(element: Any, pattern: str) -> bool:
    processes = (process for process in _processes(element) if re.search(pattern, process))
    return any(process.split(":")[6] == "01" for process in processes)


def _processes(element: Any) -> list[str]:
    return [normalize_space(process) for process in texts(element.getroottree().getroot(), "cbc:ProfileID")]
