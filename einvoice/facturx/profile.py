"""The profiles of Factur-X and ZUGFeRD: their identifiers, names, and attachment properties.

Sources: Factur-X 1.0.07 / ZUGFeRD 2.3, specification chapters 6.2 (embedding) and 6.3 (XMP); XRechnung 3.0, chapter on
BT-24.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

#: Values of AFRelationship (ISO 19005-3, annex E).
DATA: Final = "Data"
ALTERNATIVE: Final = "Alternative"
SOURCE: Final = "Source"


@dataclass(frozen=True, slots=True)
class Profile:
    """A profile of Factur-X.

    Attributes:
        name: name in this program, such as "BASIC_WL".
        conformance_level: name in the XMP metadata (ConformanceLevel), such as "BASIC WL".
        specification: identifier in BT-24.
        filename: name of the XML attachment.
        relationship: AFRelationship of the attachment.
    """

    name: str
    conformance_level: str
    specification: str
    filename: str = "factur-x.xml"
    relationship: str = ALTERNATIVE

    def relationships(self, country: str = "") -> tuple[str, ...]:
        """Return the allowed values of AFRelationship, the usual one first.

        Profiles without invoice lines require "Data". For the other profiles Germany requires "Alternative"; France
        also allows "Source" and "Data".

        Args:
            country: country code of the seller (ISO 3166-1); "" if unknown.
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
#: From the smallest to the largest; XRECHNUNG, with the business terms of EN 16931, is last.
PROFILES: Final = (MINIMUM, BASIC_WL, BASIC, EN16931, EXTENDED, XRECHNUNG)
#: The profiles with fewer business terms than EN 16931.
SMALLER: Final = (MINIMUM, BASIC_WL, BASIC)

# Identifiers in use have ':' for '#', 'zugferd.de:2p0' for 'factur-x.eu:1p0', and suffixes.
_BY_IDENTIFIER: Final = (
    (re.compile(r"xrechnung", re.I), XRECHNUNG),
    (re.compile(r"[:#]extended\b", re.I), EXTENDED),
    (re.compile(r"[:#]minimum\b", re.I), MINIMUM),
    (re.compile(r"[:#]basic[ _]?wl\b", re.I), BASIC_WL),
    (re.compile(r"[:#]basic\b", re.I), BASIC),
    (re.compile(r"^urn:cen\.eu:en16931:2017\Z|[:#](?:en16931|comfort)\Z", re.I), EN16931),
)


def profile_named(name: str) -> Profile:
    """Return the profile with this name or conformance level, such as "BASIC_WL" or "EN 16931".

    Raises:
        LookupError: there is no such profile.

    >>> profile_named("basic wl").filename, profile_named("EN16931").conformance_level
    ('factur-x.xml', 'EN 16931')
    """
    normalized = re.sub("[^A-Z0-9]", "", name.upper())
    for profile in PROFILES:
        if normalized == profile.name.replace("_", ""):
            return profile
    raise LookupError(f"unknown Factur-X profile {name!r}; use one of {', '.join(it.name for it in PROFILES)}")


def declared_profile(identifier: str) -> Profile | None:
    """Return the profile that an identifier in BT-24 declares; None if it declares no profile.

    >>> declared_profile("urn:cen.eu:en16931:2017:compliant:factur-x.eu:1p0:basic").name
    'BASIC'
    """
    return next((profile for pattern, profile in _BY_IDENTIFIER if pattern.search(identifier.strip())), None)
