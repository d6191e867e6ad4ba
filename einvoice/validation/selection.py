"""Selection of the rules for a document.

The selection depends only on the declaration of the document and the options, so it is cached.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeAlias

from einvoice.localization import Messages
from einvoice.resources import RuleData, shipped
from einvoice.result import Layer, Mode, Options, Status
from einvoice.rulebook.imported_releases import Part
from einvoice.rulebook.program import engine
from einvoice.rulebook.program.program import Layer as RuleLayer
from einvoice.rulebook.program.program import Program
from einvoice.rulebook.releases import PINNED, Release, Releases, releases
from einvoice.rulebook.syntax_rules.stops import CHECKS as STOPS
from einvoice.rulebook.syntax_rules.table import rule_table
from einvoice.syntax import schema, severity_overrides
from einvoice.syntax.detect import Identity, embedded
from einvoice.syntax.severity_overrides import Override
from einvoice.syntax.specifications import Specification, Syntax, specifications

if TYPE_CHECKING:
    from einvoice.facturx.rules import ProfileRules

_SCHEMA_VERSIONS: Final = {"UBL": "2.1", "CII": "D16B", "extended": "1.09.2"}
_SCHEMA_TITLES: Final = Messages("einvoice.validation", "schemas")

Stack: TypeAlias = tuple[tuple[str, str], ...]
"""Rule sets, each with its release."""


@dataclass(frozen=True, eq=False)
class RuleSelection:
    """The rules that validate a document.

    Attributes:
        identity: identity of the document relative to the current release, without the texts of BT-23 and BT-24.
        release: the release that was selected; the stack contains it and the rule sets that go with it.
        rulesets: the rule sets of the specification, in order.
        profile: the Factur-X profile; None for other documents.
        status: relation of the declared specification to the current one.
        national: the default CIUS in the release that goes with the selected one, applied or not.
        forced: whether the options override the declaration of the document.
        plausibility: whether the rule sets apply that only inform.
    """

    identity: Identity
    release: Release
    rulesets: tuple[str, ...]
    profile: ProfileRules | None
    status: Status
    national: Layer
    forced: bool
    plausibility: bool = True

    def identity_of(self, document: Identity) -> Identity:
        """Return the identity of the document relative to the current release."""
        specification = self.identity.specification
        return document if document.specification is specification else replace(document, specification=specification)

    @property
    def specification(self) -> Specification:
        """The declared specification, relative to the current release."""
        return self.identity.specification

    @functools.cached_property
    def is_judged(self) -> bool:
        """Whether the rules are those of the edition of EN 16931 that the document declares."""
        return self.specification.kind != "edition"

    @functools.cached_property
    def data(self) -> RuleData:
        """The rule data."""
        return self.identity.data or shipped()

    @functools.cached_property
    def stack(self) -> Stack:
        """The rule sets of the document, each with its release."""
        known = releases(self.data)
        names = self.rulesets
        if self.profile:
            names = tuple(dict.fromkeys(it for name in self.rulesets for it in known.chain(name)))
        added = _added(self.data, self.rulesets, self.identity.syntax)
        return known.stack((*(name for name in names if name not in self.missing), *added), self.release)

    @functools.cached_property
    def imported(self) -> Mapping[str, Part]:
        """What imported releases change for the document, by rule set; those that share its releases are included."""
        known, syntax = releases(self.data), self.identity.syntax
        if self.profile:  # the rules of a Factur-X profile have releases of their own
            return {}
        parts = {it.ruleset: part for it in self.release.imported if (part := it.part(syntax))}
        return {name: parts[known.owner(name)] for name, _ in self.stack if known.owner(name) in parts}

    @functools.cached_property
    def missing(self) -> tuple[str, ...]:
        """The rule sets that are not defined for the syntax of the document."""
        sets = releases(self.data).sets
        return tuple(name for name in self.rulesets if self.identity.syntax not in sets[name].syntaxes)

    @functools.cached_property
    def schema(self) -> str:
        """The XML schema: that of the root element, or of the Factur-X profile."""
        return self.profile.name if self.profile and self.profile.is_schema else self.identity.root

    @functools.cached_property
    def overrides(self) -> Mapping[str, Override]:
        """The published severity overrides, by rule code."""
        return severity_overrides.overrides(self.identity, self.stack, self.data)

    @functools.cached_property
    def program(self) -> Program:
        """The compiled rules, including rules that do not apply to the Factur-X profile, and those that only inform."""
        copied_by = self.profile.ruleset if self.profile else ""
        informative = _informative(self.data, self.identity.syntax, self.stack) if self.plausibility else ()
        return engine.rulebook(self.data).program(self.identity.syntax, (*self.stack, *informative), copied_by)

    @functools.cached_property
    def layers(self) -> tuple[Layer, ...]:
        """The rule layers for the validation stack, in order."""
        if self.profile:
            return self.profile.layers(self.program, self.stack, self.data)
        return tuple(self._layer(layer) for layer in self.program.layers)

    @functools.cached_property
    def schema_layer(self) -> Layer:
        """The XML schema for the validation stack."""
        known = self.schema if self.schema in _SCHEMA_VERSIONS else self.identity.syntax
        return Layer(
            "schema", _SCHEMA_TITLES.translations(known), _SCHEMA_VERSIONS[known], sha256=schema.sha256(self.schema)
        )

    @functools.cached_property
    def kinds(self) -> Mapping[str, str]:
        """The kind of each rule set, such as "cius"."""
        return {name: ruleset.kind for name, ruleset in releases(self.data).sets.items()}

    def _layer(self, layer: RuleLayer) -> Layer:
        rules = rule_table(self.identity.syntax, self.stack, "", self.data).rules
        codes = {rule.code for rule in self.program.rules if rule.layer == layer.name}
        codes.update(rule.code for rule in rules if rule.ruleset == layer.name and rule.check not in STOPS)
        known = Layer(
            layer.name,
            releases(self.data).sets[layer.name].title,
            layer.version,
            layer.specification,
            layer.date,
            layer.sha256,
            True,
            len(codes),
            layer.kind,
            layer.label,
        )
        return self._of_import(known, codes) if layer.name in self.imported else known

    def _of_import(self, layer: Layer, codes: set[str]) -> Layer:
        """Return a layer in an imported release; its digest is that of both its rules and the imported sheet."""
        import hashlib  # imported on use: few have imported releases

        part, owner = self.imported[layer.name], releases(self.data).owner(layer.name)
        release = next(it for it in self.release.imported if it.ruleset == owner)
        own = part.imported if layer.name == owner else frozenset[str]()
        digest = hashlib.sha256(f"{layer.sha256} {part.sha256}".encode()).hexdigest()
        rules = len(codes - part.replaced) + len(own)
        return replace(layer, version=release.version, date=release.day, sha256=digest, rules=rules)

    def with_release(self, release: Release) -> RuleSelection:
        """Return the selection for another release; rule sets that only inform, which have no release, stay."""
        known = releases(self.data)
        return replace(
            self,
            release=release,
            rulesets=_rulesets(self.specification, release, self.forced, known),
            national=_national(known, release),
        )


def select(identity: Identity, options: Options, *, hybrid: bool = False) -> RuleSelection:
    """Return the rules for a document.

    Args:
        identity: identity of the document.
        options: options of the validation.
        hybrid: whether the document is embedded in a PDF, and is therefore a Factur-X document.

    Raises:
        ValueError: no release is in force on the date given in the options, or EINVOICE_RULESET names an unknown one.
    """
    pinned = os.environ.get(PINNED, "")  # part of the cache key: may change at run time
    return _select(identity.syntax, identity.root, identity.specification, identity.data, options, hybrid, pinned)


@functools.lru_cache(maxsize=256)
def _select(
    syntax: Syntax,
    root: str,
    specification: Specification,
    data: RuleData | None,
    options: Options,
    hybrid: bool,
    pinned: str,
) -> RuleSelection:
    known = releases(data)
    declared = Identity(syntax, root, None, None, specification, data)  # its texts are no part of the cache key
    is_facturx = _is_of_profiles(options.profile, known)
    profile = None if is_facturx else options.profile
    if hybrid or is_facturx:
        declared = embedded(declared)
    target = known.owner(profile or _ruleset(declared.specification, known))
    current = known.current(target)
    identity = _as_of_release(declared, current, known)
    release = _release(identity.specification, options, target, known)
    forced = profile is not None or options.ruleset is not None
    return RuleSelection(
        identity=identity,
        release=release,
        rulesets=_rulesets(identity.specification, release, forced, known, profile),
        profile=None if forced else _profile_rules(identity.specification),
        status=_status(identity.specification, options.mode, known),
        national=_national(known, release),
        forced=forced,
        plausibility=options.plausibility and options.engine != "reference",
    )


def _is_of_profiles(ruleset: str | None, known: Releases) -> bool:
    """Return whether a rule set has the rules of Factur-X profiles; the document then declares one of them."""
    return ruleset is not None and known.sets[ruleset].kind == "profile"


def _ruleset(specification: Specification, known: Releases) -> str:
    """Return the rule set whose release a specification selects: the last one that is not a Factur-X profile."""
    name = specification.rulesets[-1]
    return known.sets[name].base if known.sets[name].kind == "profile" else name


def _profile_rules(specification: Specification) -> ProfileRules | None:
    """Return the rules of a Factur-X profile; None for other specifications."""
    if not specification.facturx_profile:
        return None
    from einvoice.facturx.rules import profile_rules

    return profile_rules()[specification.facturx_profile]


def _as_of_release(identity: Identity, current: Release, known: Releases) -> Identity:
    """Return the identity with the successor of its specification in the current release."""
    specification = identity.specification
    successor = specifications(identity.data).get(specification.superseded_by)
    if successor is None or not _is_of(specification, current) or successor.family == current.family:
        return identity
    outdated = _version(specification.family) < _version(current.family)
    name = successor.name.replace(successor.family, current.family) if outdated else ""
    return replace(identity, specification=replace(specification, superseded_by=name))


def _is_of(specification: Specification, release: Release) -> bool:
    """Return whether a release belongs to the rule set that a specification and its successors have in common."""
    return bool(release.specification) and specification.family.startswith(f"{release.ruleset}-")


def _release(specification: Specification, options: Options, ruleset: str, known: Releases) -> Release:
    """Return the named release, the one in force on a day, or, in compatibility mode, that of the specification."""
    if options.ruleset:
        return known.named(options.ruleset)
    if options.as_of:
        return known.as_of(options.as_of, ruleset)
    current = known.current(ruleset)
    if options.mode == "compatibility" and specification.family != current.family:
        return known.declared(specification.family) or current
    return current


def _rulesets(
    specification: Specification, release: Release, forced: bool, known: Releases, profile: str | None = None
) -> tuple[str, ...]:
    """Return the rule sets to apply: those of the specification, or of a release or profile that overrides it."""
    if not forced or (release.family == specification.family and profile in (None, *specification.rulesets)):
        return specification.rulesets
    return known.chain(profile or release.ruleset)


@functools.cache
def _added(data: RuleData, rulesets: tuple[str, ...], syntax: str) -> tuple[str, ...]:
    """Return the added rule sets that no specification names: they apply wherever their base does."""
    known = releases(data)
    named = {name for specification in specifications(data).values() for name in specification.rulesets}
    result: list[str] = []
    for name, ruleset in known.sets.items():
        is_own = name in data.added and name not in (*named, *rulesets) and not ruleset.is_informative
        if is_own and syntax in ruleset.syntaxes and ruleset.base in (*rulesets, *result):
            result.append(name)
    return tuple(result)


@functools.cache
def _informative(data: RuleData, syntax: str, stack: Stack) -> Stack:
    """Return the rule sets that only inform and whose base applies, each with its newest release."""
    bases = {name for name, _ in stack}
    sets = [it for it in releases(data).sets.values() if it.is_informative and it.base in bases]
    return tuple((it.name, it.newest) for it in sets if syntax in it.syntaxes)


def _status(specification: Specification, mode: Mode, known: Releases) -> Status:
    """Return how a specification relates to the current one; a later one, or one without rules here, is "unknown"."""
    current = known.current(known.owner(_ruleset(specification, known)))
    is_versioned = _is_of(specification, current)
    if specification.kind in ("unknown", "edition") or not specification.has_rules:
        return "unknown"
    if is_versioned and _version(specification.family) > _version(current.family):
        return "unknown"
    if specification.current:
        return "current"
    available = not is_versioned or known.declared(specification.family)
    return "outdated" if available or mode == "current" else "unknown"


def _version(family: str) -> tuple[int, ...]:
    """Return the version of a specification family, for comparison.

    >>> _version("xrechnung-2.3")
    (2, 3)
    """
    return tuple(map(int, family.rpartition("-")[2].split(".")))


def _national(known: Releases, release: Release) -> Layer:
    national = known.national(release)
    ruleset = known.sets[national.ruleset]
    return Layer(
        ruleset.name,
        ruleset.title,
        national.version,
        national.specification,
        national.date,
        kind=ruleset.kind,
        label=ruleset.label,
    )
