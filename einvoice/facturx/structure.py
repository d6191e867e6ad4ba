"""Violations of the XML schema of a Factur-X profile.

The schemas of the profiles are subsets of that of CII. An element that the profile does not contain is reported with
the smallest profile that contains it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from lxml import etree

from einvoice.facturx.rules import ProfileRules, profile_rules
from einvoice.syntax import schema
from einvoice.syntax.schema.messages import SchemaViolation

_CODES: Final = {
    "SCHEMA-UNKNOWN-ELEMENT": "PROFILE-UNKNOWN-ELEMENT",
    "SCHEMA-MISSING-ELEMENT": "PROFILE-MISSING-ELEMENT",
    "SCHEMA-REPEATED-ELEMENT": "PROFILE-REPEATED-ELEMENT",
    "SCHEMA-ATTRIBUTE-UNKNOWN": "PROFILE-UNKNOWN-ATTRIBUTE",
    "SCHEMA-MORE": "PROFILE-MORE",
    "SCHEMA-UNSEEN": "SCHEMA-UNSEEN",
}
_OTHER: Final = "PROFILE-SCHEMA"


def schema_violations(
    document: etree._ElementTree, profile: ProfileRules, reported: Iterable[Any]
) -> Iterator[SchemaViolation]:
    """Yield the violations of the profile's XML schema, with `PROFILE-…` codes and the values for their catalog texts.

    Args:
        document: parsed by `einvoice.syntax.xml`.
        profile: the profile of the document.
        reported: elements that already violate the schema of CII; they are skipped.

    Raises:
        SchemaFilesError: the installed schemas are incomplete or damaged.
    """
    skipped = set(reported)
    for violation in schema.violations(document, profile.name):
        if violation.element not in skipped:
            yield _profile_violation(violation, profile)


def is_allowed(violation: SchemaViolation, profile: ProfileRules) -> bool:
    """Return whether a violation of the schema of CII is only that an element occurs more often than there.

    D16B allows one preceding invoice (BG-3); the schemas of BASIC WL, BASIC and EN 16931, like the standard, allow
    several. The profile's schema validates the document as well, so nothing else is overlooked.

    Raises:
        SchemaFilesError: the installed schemas are incomplete or damaged.
    """
    element = violation.element
    parent = None if element is None else element.getparent()
    if violation.code != "SCHEMA-REPEATED-ELEMENT" or element is None or parent is None:
        return False
    limits = (it.max_occurs for it in schema.content_models(profile.name).sequence_of(parent) if it.tag == element.tag)
    return any(limit is None or len(parent.findall(element.tag)) <= limit for limit in limits)


def _profile_violation(violation: SchemaViolation, profile: ProfileRules) -> SchemaViolation:
    code = _CODES.get(violation.code, _OTHER)
    values = {**violation.values, "profile": profile.title, "message": violation.message}
    if code == "PROFILE-UNKNOWN-ELEMENT" and violation.element is not None:
        smallest = schema.first_profile(violation.element)
        if smallest:
            code, values["first"] = "PROFILE-HIGHER-ELEMENT", profile_rules()[smallest].title
    return violation._replace(code=code, values=values)
