"""What breaks the XML schema of a level of Factur-X.

The schemas of the levels are cut from that of CII: what it allows beyond the level is told as unknown to the level,
with the level that knows it first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Final

from lxml import etree

from einvoice.facturx.profile import Level, levels
from einvoice.syntax import schema
from einvoice.syntax.schema import SchemaViolation

_CODES: Final = {
    "SCHEMA-UNKNOWN-ELEMENT": "PROFILE-UNKNOWN-ELEMENT",
    "SCHEMA-MISSING-ELEMENT": "PROFILE-MISSING-ELEMENT",
    "SCHEMA-REPEATED-ELEMENT": "PROFILE-REPEATED-ELEMENT",
    "SCHEMA-ATTRIBUTE-UNKNOWN": "PROFILE-UNKNOWN-ATTRIBUTE",
    "SCHEMA-MORE": "PROFILE-MORE",
}
_OTHER: Final = "PROFILE-SCHEMA"


def breaches(document: etree._ElementTree, level: Level, told: Iterable[Any]) -> Iterator[SchemaViolation]:
    """Yield what breaks the XML schema of the level, with codes and values of the catalog, `PROFILE-…`.

    Args:
        document: as `einvoice.syntax.xml` parses it.
        level: whose schema judges.
        told: the elements of which the schema of the document has told already; they are passed over.

    Raises:
        SchemaFilesError: the installed schemas are incomplete or damaged.
    """
    known = set(told)
    for violation in schema.violations(document, level.name):
        if violation.element not in known:
            yield _told(violation, level)


def _told(violation: SchemaViolation, level: Level) -> SchemaViolation:
    code = _CODES.get(violation.code, _OTHER)
    values = {**violation.values, "profile": level.title, "message": violation.message}
    if code == "PROFILE-UNKNOWN-ELEMENT" and violation.element is not None:
        first = schema.first_profile(violation.element)
        if first:
            code, values["first"] = "PROFILE-HIGHER-ELEMENT", levels()[first].title
    return replace(violation, code=code, values=values)
