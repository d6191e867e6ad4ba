"""The profiles of Factur-X and ZUGFeRD: what an invoice of each is called, where it lies in a PDF, what it can say.

Sources: Factur-X 1.0.07 / ZUGFeRD 2.3, specification chapters 6.2 (embedding) and 6.3 (XMP), technical appendix
(which business terms each profile has); XRechnung 3.0, chapter on BT-24.
"""

from __future__ import annotations

import copy
import csv
import functools
import pkgutil
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from einvoice.model.group import Group
from einvoice.model.invoice import Invoice
from einvoice.model.iteration import filled
from einvoice.model.terms import Term, term, terms
from einvoice.model.values import Identifier, Value, absent

#: What the file is to the page, as PDF/A-3 (ISO 19005-3, annex E) names it.
DATA: Final = "Data"
ALTERNATIVE: Final = "Alternative"
SOURCE: Final = "Source"


@dataclass(frozen=True, slots=True)
class Profile:
    """One profile.

    ``name`` is how callers ask for it (``BASIC_WL``), ``level`` how the XMP metadata calls it (``BASIC WL``),
    ``specification`` what BT-24 says, ``filename`` how the XML is attached, ``relationship`` its AFRelationship.
    """

    name: str
    level: str
    specification: str
    filename: str = "factur-x.xml"
    relationship: str = ALTERNATIVE

    def relationships(self, country: str = "") -> tuple[str, ...]:
        """What AFRelationship may be for a seller in ``country`` (ISO 3166, '' where unknown); the first is usual.

        The profiles without lines are data beside the page, never the invoice. Where the XML is the invoice, Germany
        wants it to be the alternative to the page; France also takes it for the page's source or its data.
        """
        if self.relationship == DATA:
            return (DATA,)
        return (ALTERNATIVE,) if country == "DE" else (ALTERNATIVE, SOURCE, DATA)


MINIMUM: Final = Profile("MINIMUM", "MINIMUM", "urn:factur-x.eu:1p0:minimum", relationship=DATA)
BASIC_WL: Final = Profile("BASIC_WL", "BASIC WL", "urn:factur-x.eu:1p0:basicwl", relationship=DATA)
BASIC: Final = Profile("BASIC", "BASIC", "urn:cen.eu:en16931:2017#compliant#urn:factur-x.eu:1p0:basic")
EN16931: Final = Profile("EN16931", "EN 16931", "urn:cen.eu:en16931:2017")
EXTENDED: Final = Profile("EXTENDED", "EXTENDED", "urn:cen.eu:en16931:2017#conformant#urn:factur-x.eu:1p0:extended")
XRECHNUNG: Final = Profile(
    "XRECHNUNG",
    "XRECHNUNG",
    "urn:cen.eu:en16931:2017#compliant#urn:xeinkauf.de:kosit:xrechnung_3.0",
    filename="xrechnung.xml",
)
#: From the smallest to the largest; XRECHNUNG, which has the terms of EN 16931, last.
PROFILES: Final = (MINIMUM, BASIC_WL, BASIC, EN16931, EXTENDED, XRECHNUNG)
#: Those that have fewer terms than EN 16931.
SMALLER: Final = (MINIMUM, BASIC_WL, BASIC)

# Identifiers in the wild have ':' for '#', 'zugferd.de:2p0' for 'factur-x.eu:1p0', and more behind them.
_BY_IDENTIFIER: Final = (
    (re.compile(r"xrechnung", re.I), XRECHNUNG),
    (re.compile(r"[:#]extended\b", re.I), EXTENDED),
    (re.compile(r"[:#]minimum\b", re.I), MINIMUM),
    (re.compile(r"[:#]basic[ _]?wl\b", re.I), BASIC_WL),
    (re.compile(r"[:#]basic\b", re.I), BASIC),
    (re.compile(r"^urn:cen\.eu:en16931:2017\Z|[:#](?:en16931|comfort)\Z", re.I), EN16931),
)


def named(name: str) -> Profile:
    """The profile with this name or level, such as ``BASIC_WL`` or ``EN 16931``. Raises ``LookupError`` for another.

    >>> named("basic wl").filename, named("EN16931").level
    ('factur-x.xml', 'EN 16931')
    """
    wanted = re.sub("[^A-Z0-9]", "", name.upper())
    for profile in PROFILES:
        if wanted == profile.name.replace("_", ""):
            return profile
    raise LookupError(f"{name!r} is no profile of Factur-X; there are {', '.join(it.name for it in PROFILES)}")


def of_specification(identifier: str) -> Profile | None:
    """The profile that BT-24 declares; None where it is none of them.

    >>> of_specification("urn:cen.eu:en16931:2017:compliant:factur-x.eu:1p0:basic").name
    'BASIC'
    """
    return next((profile for pattern, profile in _BY_IDENTIFIER if pattern.search(identifier.strip())), None)


def beyond(invoice: Invoice, profile: Profile) -> tuple[str, ...]:
    """The business terms that the invoice fills and the profile has no place for, in the order of the norm."""
    carried = {it.number for it in filled(invoice)}
    return tuple(number for number in terms() if number in carried and not holds(profile, number))


def narrowed(invoice: Invoice, profile: Profile) -> Invoice:
    """The invoice as the profile can say it: a copy that declares it, without the terms it has no place for."""
    kept = {id(it.value) for it in filled(invoice) if it.number and holds(profile, it.number)}
    kept |= {id(it.value) for it in filled(invoice) if not it.number}  # what serves a syntax goes with its group
    numbered = {id(it.value) for it in filled(invoice) if it.number}
    copied: Invoice = _narrowed(invoice, kept, numbered) or Invoice()
    copied.specification = Identifier(profile.specification)
    if copied.syntax == "CII":  # its groups no longer are the elements of the document they came from
        copied.__dict__["syntax"] = ""
    return copied


def _narrowed(group: Any, kept: set[int], numbered: set[int]) -> Any:
    """A copy of the group with what is kept; None where no business term is left."""
    copied = copy.copy(group)
    says = False
    for name in group.fields:
        content = getattr(group, name)
        several = content if isinstance(content, list | tuple) else [content]
        left = []
        for it in several:
            inner = _narrowed(it, kept, numbered) if isinstance(it, Group) else it
            if inner is not None and (not isinstance(it, Value) or id(it) in kept):
                left.append(inner)
                says |= isinstance(it, Group) or id(it) in numbered
        setattr(copied, name, left if isinstance(content, list | tuple) else (left or [absent])[0])
    return copied if says else None


def missing(invoice: Invoice, profile: Profile) -> tuple[str, ...]:
    """The business terms without which it is no invoice of the profile and that this one does not fill."""
    carried = {it.number for it in filled(invoice)}
    return tuple(
        number
        for number, known in terms().items()
        if _is_always_there(known) and holds(profile, number) and number not in carried
    )


def sufficient(invoice: Invoice) -> Profile:
    """The smallest profile that EN 16931 takes for an invoice and that has a place for every term this one fills.

    It is EXTENDED where not even that has.
    """
    return next((it for it in (BASIC, EN16931) if not beyond(invoice, it)), EXTENDED)


def holds(profile: Profile, number: str) -> bool:
    """Whether the profile has a place for a business term such as ``BT-31``."""
    if number.startswith(("BT-DEX", "BG-DEX")):
        return False  # of the XRechnung extension, which is none of these
    smallest = _smallest().get(number, EN16931)
    return PROFILES.index(smallest) <= PROFILES.index(profile)


def _is_always_there(known: Term) -> bool:
    """Whether the norm wants the term in every invoice: it, and each group around it."""
    if known.datatype == "Group" or "-" in known.number[3:] or known.path.endswith(".unit"):
        return False  # what stands in an attribute comes with its term
    while known.cardinality.startswith("1"):
        if not known.parent:
            return True
        known = term(known.parent)
    return False


@functools.cache
def _smallest() -> Mapping[str, Profile]:
    """The smallest profile with a place for a term, where that is smaller than EN 16931."""
    data = pkgutil.get_data("einvoice.facturx", "business_terms.csv")
    if data is None:
        raise FileNotFoundError("profiles.csv is missing from the package einvoice.pdf. Install einvoice again.")
    return {row["number"]: named(row["profile"]) for row in csv.DictReader(data.decode().splitlines())}
