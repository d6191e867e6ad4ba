"""Remarks on the declared specification, and the known specification that an unknown identifier resembles."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Final, NamedTuple

from einvoice.quotation import quote, visible
from einvoice.resources import RuleData
from einvoice.syntax.detect import Identity
from einvoice.syntax.specifications import Specification, Syntax, declared_specification, specifications

_MAX_LENGTH: Final = 200
"""Maximum number of characters of a quoted identifier, and of one that is compared with the known ones."""
_MIN_SIMILARITY: Final = 0.8
_EDITION: Final = re.compile(r"(?i)en\s?16931(?:-1)?\s?:\s?(\d[\d\s]*\d)")
"""The edition in an identifier."""
_OWN_EDITION: Final = "2017"
_NO_SCENARIO: Final = "DECL-NO-SCENARIO"


class Remark(NamedTuple):
    """A remark on the declared specification: the code of a catalog entry, and the values of its texts."""

    code: str
    values: Mapping[str, str]


def remarks(identity: Identity) -> tuple[Remark, ...]:
    """Return the remarks on the specification that a document declares.

    It is missing, unknown, outdated, validated in part, or no scenario matches it. Usually there are none.
    """
    specification, declared = identity.specification, identity.customization_id
    codes = specification.remarks if declared is not None else ("DECL-MISSING",)
    if not specification.current:
        codes = ("DECL-OUTDATED", *codes)
    is_plain = not (identity.padded or identity.parts)
    if not codes and is_plain and identity.root in (specification.scenarios or (identity.root,)):
        return ()
    values = {"profile": specification.profile, "version": specification.version}
    if not specification.has_rules:
        values |= {"about_de": specification.about_de, "about_en": specification.about_en}
        values["about_fr"] = specification.about_fr or specification.about_en
        values |= {"own_rules": str(specification.own_rules)} if specification.own_rules else {}
    if not specification.current:
        values |= _successor(specifications(identity.data)[specification.superseded_by])
    meant = specification
    if declared is not None:
        values["declared"] = quote(declared, limit=_MAX_LENGTH)
        if specification.kind == "unknown" and (other := _of_other_syntax(identity)):
            values |= {"other_syntax": other.syntaxes[0], "other_profile": other.profile}
        elif specification.kind == "unknown" and (similar := nearest(declared, identity.syntax, identity.data)):
            meant = similar
            values |= {"similar": similar.identifiers[0], "similar_profile": similar.profile}
    found = [Remark(code, values) for code in codes]
    if reason := _why_no_scenario(identity, meant):
        found.append(Remark(_NO_SCENARIO, {**values, **reason}))
    return tuple(found)


def _of_other_syntax(identity: Identity) -> Specification | None:
    """Return the specification that BT-24 declares in the other syntax; None if there is none."""
    other: Syntax = "CII" if identity.syntax == "UBL" else "UBL"
    found = declared_specification(other, identity.customization_id, identity.data)
    return None if found.kind == "unknown" else found


def _successor(newer: Specification) -> Mapping[str, str]:
    return {"successor": f"{newer.profile} {newer.version}", "identifier": newer.identifiers[0]}


def _why_no_scenario(identity: Identity, meant: Specification) -> Mapping[str, str]:
    """Return values that state why KoSIT's configuration has no scenario for a document; empty if it has one.

    It selects a scenario by root element and BT-24, of which it compares each text node (`text() = '…'`), character
    by character, with the white space around it. Nothing is stated about a specification if neither it nor its
    successor has one: it is not meant for it.
    """
    newer = specifications(identity.data).get(meant.superseded_by)
    if not (meant.scenarios or (newer and newer.scenarios)):
        return {}
    if meant is not identity.specification:
        return {"misspelt": quote(identity.customization_id or "", limit=_MAX_LENGTH)}
    if identity.root not in meant.scenarios:
        return {"root": identity.root}
    if identity.parts:  # one of the text nodes must be the identifier
        is_whole = identity.customization_id in identity.parts
        return {} if is_whole else {"divided": " | ".join(visible(it) for it in identity.parts)[:_MAX_LENGTH]}
    return {"padded": visible(identity.padded)[:_MAX_LENGTH]} if identity.padded else {}


def nearest(declared: str, syntax: Syntax, data: RuleData | None = None) -> Specification | None:
    """Return the specification that an identifier resembles, the current one of several versions; None for none.

    Args:
        declared: the identifier.
        syntax: syntax of the document; specifications of the other one are left out.
        data: rule data with the known specifications; None is the shipped one.
    """
    return _nearest(declared[:_MAX_LENGTH], syntax, data)


@functools.lru_cache(maxsize=256)
def _nearest(text: str, syntax: Syntax, data: RuleData | None) -> Specification | None:
    from difflib import get_close_matches  # on use: most documents need none

    if (named := _EDITION.search(text)) and re.sub(r"\s", "", named[1]) != _OWN_EDITION:
        return None  # another edition is not a misspelling
    known = specifications(data)
    usable = [it for it in known.values() if syntax in it.syntaxes and it.identifiers]
    by_identifier = {identifier.lower(): it for it in usable for identifier in (*it.identifiers, *it.misspellings)}
    similar = [by_identifier[it] for it in get_close_matches(text.lower(), by_identifier, 1, _MIN_SIMILARITY)]
    similar += [it for it in usable if it.misspelt and re.search(it.misspelt, text)]
    return known.get(similar[0].superseded_by, similar[0]) if similar else None
