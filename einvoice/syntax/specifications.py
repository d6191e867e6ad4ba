"""The known specifications, which documents declare in BT-24.

They are data: `specifications.toml` in `rules` and in each rule set.
"""

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Literal, TypeAlias

from einvoice import cache, errors
from einvoice.resources import RuleData, shipped

Syntax: TypeAlias = Literal["UBL", "CII"]
SpecificationKind: TypeAlias = Literal["core", "cius", "extension", "profile", "other", "edition", "unknown"]

_PLACE: Final = r"BT-[0-9]+|(\w+:\w+/)*(\w+:\w+(/@\w+)?)"


@dataclass(frozen=True, slots=True)
class Specification:
    """A specification that documents declare in BT-24: a table of a file `specifications.toml`.

    Attributes:
        name: name of the table, such as "xrechnung-3.0-extension".
        identifiers: values of BT-24; the first one is written.
        profile, version: display name, such as "XRechnung Extension" and "3.0".
        kind: relation to EN 16931: the standard itself, a restriction (CIUS), an extension, a Factur-X profile, a
            standard of its own ("other"), another edition.
        family: specifications that share rules; the last release of a family validates all of them.
        rulesets: rule sets to apply after the XML schema, in order.
        syntaxes: syntaxes in which the identifiers are defined.
        facturx_profile: name of the Factur-X profile, such as "basicwl", or "".
        superseded_by: name of the specification that replaces it, "" while it is current.
        remarks: codes of the remarks for each document that declares it.
        in_pdf: name of the specification with the same identifier that it replaces for documents embedded in a PDF.
        draft_profile: name in the field "profile" of drafts, such as "XRECHNUNG"; "" if drafts cannot declare it.
        business_process: BT-23 of invoices for which no other process is agreed, or "".
        tax_number_scheme: tax scheme of a tax number (BT-32) in UBL; "" if any other than VAT will do.
        suggested_by_process, suggested_by_buyer_reference: patterns of the whole BT-23 and BT-10 of invoices that
            probably follow it, or "".
        pattern: of further values of BT-24 that declare it, whole; its group `version` is the version. Or "".
        refines: name of the specification with the same identifiers that it replaces for documents that meet all of
            its `conditions`; "" for a specification that BT-24 declares alone.
        conditions: business terms or paths of the document, each with the pattern of its whole text.
        misspellings: values of BT-24 that mean it, but are not its identifiers.
        misspelt: pattern of such values, for those that resemble no identifier, or "".
        scenarios: root elements for which KoSIT's configuration has a scenario with these identifiers.
        own_rules: number of its rules, if they are not here and it is known; else 0.
        about_de, about_en, about_fr: what it is, in a few words, for a specification without rules here.
    """

    name: str
    identifiers: tuple[str, ...]
    profile: str
    version: str
    kind: SpecificationKind
    family: str
    rulesets: tuple[str, ...]
    syntaxes: tuple[Syntax, ...] = ("UBL", "CII")
    facturx_profile: str = ""
    superseded_by: str = ""
    remarks: tuple[str, ...] = ()
    in_pdf: str = ""
    draft_profile: str = ""
    business_process: str = ""
    tax_number_scheme: str = ""
    suggested_by_process: str = ""
    suggested_by_buyer_reference: str = ""
    pattern: str = ""
    refines: str = ""
    conditions: Mapping[str, str] = field(default_factory=dict, hash=False)
    misspellings: tuple[str, ...] = ()
    misspelt: str = ""
    scenarios: tuple[str, ...] = ()
    own_rules: int = 0
    about_de: str = ""
    about_en: str = ""
    about_fr: str = ""

    @property
    def current(self) -> bool:
        """Whether no newer version replaces it."""
        return not self.superseded_by

    @property
    def has_rules(self) -> bool:
        """Whether its own rules are here; if they are not, `about_de` and `about_en` say what it is."""
        return not self.about_de


@functools.cache
def specifications(data: RuleData | None = None) -> Mapping[str, Specification]:
    """Return the known specifications by name; "unknown" represents all others.

    Args:
        data: rule data; None is the shipped one. Added rule sets may redefine specifications.

    Raises:
        errors.RuleError: a file `specifications.toml` is invalid.
    """
    known: dict[str, Specification] = {}
    for file in (data or shipped()).files("specifications.toml"):
        known |= _read(file, data or shipped())
    return known


def _read(file: Path, data: RuleData) -> dict[str, Specification]:
    name = "/".join(file.parts[-1 if file.parent == data.root else -2 :])
    try:
        tables = cache.toml(file)
    except ValueError as error:
        raise errors.RuleError(str(error), file=name) from None
    specifications = {}
    for key, table in tables.items():
        if not isinstance(table, dict):
            raise errors.RuleError("must be a table", file=name, key=key)
        lists = {key: tuple(value) for key, value in table.items() if isinstance(value, list)}
        try:
            specifications[key] = Specification(**{**table, **lists, "name": key})
        except TypeError as error:
            raise errors.RuleError(str(error), file=name, key=key) from None
        unknown = set(specifications[key].rulesets) - set(data.sets)
        if unknown:
            raise errors.RuleError(f"unknown rule set '{min(unknown)}'", file=name, key=f"{key}.rulesets")
        _check_conditions(specifications[key], name)
    return specifications


def _check_conditions(specification: Specification, file: str) -> None:
    """Raise `RuleError` for a condition whose term, path or pattern is invalid, or that nothing uses."""
    if bool(specification.conditions) != bool(specification.refines):
        key = f"{specification.name}.{'refines' if specification.conditions else 'conditions'}"
        raise errors.RuleError("is missing", file=file, key=key, hint="give both, or neither")
    for place, pattern in specification.conditions.items():
        key = f"{specification.name}.conditions.{place}"
        try:
            re.compile(pattern)
        except (TypeError, re.error) as error:
            raise errors.RuleError(f"is not a pattern: {error}", file=file, key=key) from None
        if not re.fullmatch(_PLACE, place):
            hint = "write the number of a term, as BT-40, or a path below the root, as cac:Delivery/cbc:ID"
            raise errors.RuleError("is neither a business term nor a path", file=file, key=key, hint=hint)


def identifier_of(specification: Specification, data: RuleData | None = None) -> str:
    """Return the value of BT-24 that declares a specification: its first identifier, or that of the one it refines."""
    declared = specifications(data)[specification.refines] if specification.refines else specification
    return declared.identifiers[0]


def values_of(specification: Specification) -> tuple[str, ...]:
    """Return what documents of a specification have, for display: values of BT-24, with further conditions.

    >>> values_of(specifications()["france-ctc"])
    ('urn:cen.eu:en16931:2017, BT-23 [BSM][1-9], BT-40 FR, BT-55 FR',)
    """
    if specification.refines:
        conditions = (f"{place} {pattern}" for place, pattern in specification.conditions.items())
        return (", ".join((identifier_of(specification), *conditions)),)
    return specification.identifiers or tuple(filter(None, (specification.pattern,)))


@functools.cache
def _listed(data: RuleData | None) -> Mapping[tuple[str, str], Specification]:
    """Return the known specifications by syntax and identifier."""
    return {
        (syntax, identifier): specification
        for specification in specifications(data).values()
        for syntax in specification.syntaxes
        for identifier in specification.identifiers
    }


def declared_specification(syntax: Syntax, identifier: str | None, data: RuleData | None = None) -> Specification:
    """Return the specification that a value of BT-24 declares in a syntax; the one named "unknown" if there is none.

    Args:
        syntax: "UBL" or "CII".
        identifier: the value without white space around it; None if there is none.
        data: rule data with the known specifications; None is the shipped one.
    """
    known = specifications(data)
    listed = _listed(data).get((syntax, identifier or ""))
    if identifier is None or (listed and not listed.pattern):
        return listed or known["unknown"]
    for it in (listed,) if listed else known.values():
        is_usable = syntax in it.syntaxes or not it.has_rules  # one without rules is named in any syntax
        if it.pattern and is_usable and (match := re.fullmatch(it.pattern, identifier, re.DOTALL)):
            return replace(it, version=match.groupdict().get("version") or it.version)
    return listed or known["unknown"]
