"""The business terms of each Factur-X profile, and invoices restricted to them.

Source: Factur-X 1.0.07 / ZUGFeRD 2.3, technical appendix.
"""

from __future__ import annotations

import copy
import csv
import functools
import pkgutil
from collections.abc import Mapping
from typing import Any

from einvoice.facturx.profile import BASIC, EN16931, EXTENDED, PROFILES, Profile, profile_named
from einvoice.model.group import Group
from einvoice.model.invoice import Invoice
from einvoice.model.iteration import filled
from einvoice.model.terms import Term, term, terms
from einvoice.model.values import Identifier, Value, absent


def supports(profile: Profile, number: str) -> bool:
    """Whether a profile contains a business term such as `BT-31`."""
    if number.startswith(("BT-DEX", "BG-DEX")):
        return False  # terms of the XRechnung extension
    smallest = _smallest_profiles().get(number, EN16931)
    return PROFILES.index(smallest) <= PROFILES.index(profile)


def unsupported_terms(invoice: Invoice, profile: Profile) -> tuple[str, ...]:
    """Return the business terms of the invoice that the profile does not contain, in the order of EN 16931."""
    present = {it.number for it in filled(invoice)}
    return tuple(number for number in terms() if number in present and not supports(profile, number))


def missing_terms(invoice: Invoice, profile: Profile) -> tuple[str, ...]:
    """Return the mandatory business terms of the profile that the invoice lacks."""
    present = {it.number for it in filled(invoice)}
    return tuple(
        number
        for number, known in terms().items()
        if _is_mandatory(known) and supports(profile, number) and number not in present
    )


def smallest_profile(invoice: Invoice) -> Profile:
    """Return the smallest of BASIC, EN16931 and EXTENDED that contains all business terms of the invoice.

    If none contains all of them, return EXTENDED.
    """
    return next((it for it in (BASIC, EN16931) if not unsupported_terms(invoice, it)), EXTENDED)


def restrict(invoice: Invoice, profile: Profile) -> Invoice:
    """Return a copy that declares the profile and contains only its business terms."""
    kept = {id(it.value) for it in filled(invoice) if it.number and supports(profile, it.number)}
    kept |= {id(it.value) for it in filled(invoice) if not it.number}  # fields of a syntax follow their group
    numbered = {id(it.value) for it in filled(invoice) if it.number}
    copied: Invoice = _restrict(invoice, kept, numbered) or Invoice()
    copied.specification = Identifier(profile.specification)
    if copied.syntax == "CII":  # its groups no longer match the elements of the source document
        copied.__dict__["syntax"] = ""
    return copied


def _restrict(group: Any, kept: set[int], numbered: set[int]) -> Any:
    """Return a copy of the group with only the kept values; None if no business term is left."""
    copied = copy.copy(group)
    has_terms = False
    for name in group.fields:
        content = getattr(group, name)
        members = content if isinstance(content, list | tuple) else [content]
        remaining = []
        for it in members:
            inner = _restrict(it, kept, numbered) if isinstance(it, Group) else it
            if inner is not None and (not isinstance(it, Value) or id(it) in kept):
                remaining.append(inner)
                has_terms |= isinstance(it, Group) or id(it) in numbered
        setattr(copied, name, remaining if isinstance(content, list | tuple) else (remaining or [absent])[0])
    return copied if has_terms else None


def _is_mandatory(known: Term) -> bool:
    """Whether EN 16931 requires the term in every invoice, and also each group that contains it."""
    if known.datatype == "Group" or "-" in known.number[3:] or known.path.endswith(".unit"):
        return False  # a term in an attribute belongs to its element
    while known.cardinality.startswith("1"):
        if not known.parent:
            return True
        known = term(known.parent)
    return False


@functools.cache
def _smallest_profiles() -> Mapping[str, Profile]:
    """Return, for each term in a profile below EN 16931, the smallest profile that contains it."""
    data = pkgutil.get_data("einvoice.facturx", "business_terms.csv")
    if data is None:
        raise FileNotFoundError("business_terms.csv is missing from the package einvoice.facturx; reinstall einvoice.")
    return {row["number"]: profile_named(row["profile"]) for row in csv.DictReader(data.decode().splitlines())}
