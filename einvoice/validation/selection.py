"""Options of a validation, and the selection of rules for a document.

The selection depends only on the declaration of the document and the options, so it is cached.
"""

from __future__ import annotations

import datetime
import functools
import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from einvoice.facturx import ProfileRules, rules_of
from einvoice.result import LANGUAGES, Engine, Language, Layer, Mode, Status
from einvoice.rulebook import releases
from einvoice.rulebook.program import engine
from einvoice.rulebook.program.program import Layer as RuleLayer
from einvoice.rulebook.program.program import Program
from einvoice.rulebook.releases import Release
from einvoice.rulebook.syntax_rules.table import rule_table
from einvoice.syntax import severity_overrides
from einvoice.syntax.detect import Identity, Specification, as_facturx, specifications
from einvoice.syntax.severity_overrides import Override

MODES: Final[tuple[Mode, ...]] = ("current", "compatibility")
ENGINES: Final[tuple[Engine, ...]] = ("native", "reference", "both")
PROFILES: Final = (None, "xrechnung", "facturx")


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """How documents are validated; `einvoice.validate` describes each option.

    Raises:
        ValueError: an option has an unknown value; the message lists the valid ones.
        TypeError: `as_of` is not a date.
    """

    lang: Language = "de"
    mode: Mode = "current"
    profile: str | None = None
    ruleset: str | None = None
    as_of: datetime.date | None = None
    engine: Engine = "native"

    def __post_init__(self) -> None:
        for name, valid in (("lang", LANGUAGES), ("mode", MODES), ("profile", PROFILES), ("engine", ENGINES)):
            if getattr(self, name) not in valid:
                raise ValueError(
                    f"argument {name!r} must be {' or '.join(map(repr, valid))}, not {getattr(self, name)!r}"
                )
        if self.ruleset:
            releases.named(self.ruleset)
        if self.as_of is not None and not isinstance(self.as_of, datetime.date):
            raise TypeError(f"argument 'as_of' must be a datetime.date, not {type(self.as_of).__name__}")


@dataclass(frozen=True, eq=False)
class RuleSelection:
    """The rules that validate a document.

    Attributes:
        identity: identity of the document relative to the current release, without the texts of BT-23 and BT-24.
        release: the release of the rule sets.
        layers: the rule layers, in order, without the XML schema.
        profile: the Factur-X profile; None for other documents.
        status: relation of the declared specification to the current one.
        national: the national rule set of the release, applied or not.
        forced: whether the options override the declaration of the document.
    """

    identity: Identity
    release: Release
    layers: tuple[str, ...]
    profile: ProfileRules | None
    status: Status
    national: Layer
    forced: bool

    @property
    def specification(self) -> Specification:
        """The declared specification, relative to the current release."""
        return self.identity.specification

    @functools.cached_property
    def versions(self) -> tuple[tuple[str, str], ...]:
        """The release of each rule set; empty for the newest ones."""
        return self.release.versions

    @functools.cached_property
    def schema(self) -> str:
        """The XML schema: that of the root element, or of the Factur-X profile."""
        return self.profile.name if self.profile and self.profile.is_schema else self.identity.root

    @functools.cached_property
    def overrides(self) -> Mapping[str, Override]:
        """The published severity overrides, by rule code."""
        return severity_overrides.overrides(self.identity, dict(self.versions).get(releases.NATIONAL))

    @functools.cached_property
    def program(self) -> Program | None:
        """The compiled rules; None if no layer has rules."""
        if self.profile:
            return self.profile.program(self.versions)
        return _program(self.identity.syntax, self.layers, self.versions)[0]

    @functools.cached_property
    def missing(self) -> tuple[str, ...]:
        """The layers without rules in this installation."""
        return () if self.profile else _program(self.identity.syntax, self.layers, self.versions)[1]

    @functools.cached_property
    def rule_layers(self) -> tuple[Layer, ...]:
        """The layers of `program` for the validation stack."""
        if self.profile:
            return self.profile.layers(self.versions)
        return tuple(self._layer(layer) for layer in self.program.layers) if self.program else ()

    def _layer(self, layer: RuleLayer) -> Layer:
        count, digest = _syntax_rules(self.identity.syntax, layer.name, layer.sha256, self.versions)
        return Layer(
            layer.name, layer.title, layer.version, layer.specification, layer.date, digest, True, layer.rules + count
        )

    def with_release(self, release: Release) -> RuleSelection:
        """Return the selection for another release."""
        return replace(
            self,
            release=release,
            layers=_layers(self.specification, release, self.forced),
            national=_national(releases.national(release)),
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
    declared = replace(identity, customization_id=None, process=None)  # document texts are no part of the cache key
    facturx = hybrid or options.profile == "facturx"
    pinned = os.environ.get(releases.PINNED, "")  # part of the cache key: may change at run time
    return _select(as_facturx(declared) if facturx else declared, options, pinned)


@functools.lru_cache(maxsize=256)
def _select(declared: Identity, options: Options, pinned: str) -> RuleSelection:
    current = releases.current()
    identity = _as_of_release(declared, current)
    forced = options.profile == "xrechnung" or options.ruleset is not None
    release = (
        releases.named(options.ruleset)
        if options.ruleset
        else _release(identity.specification, options.mode, options.as_of, current)
    )
    return RuleSelection(
        identity=identity,
        release=release,
        layers=_layers(identity.specification, release, forced),
        profile=None if forced else rules_of(identity),
        status=_status(identity.specification, options.mode, current),
        national=_national(releases.national(release)),
        forced=forced,
    )


def _as_of_release(identity: Identity, current: Release) -> Identity:
    """Return the identity with the successor of its specification in the current release."""
    specification, family = identity.specification, releases.national(current).family
    successor = specifications().get(specification.superseded_by)
    if successor is None or "cius" not in specification.layers or successor.family == family:
        return identity
    outdated = _version(specification.family) < _version(family)
    name = successor.name.replace(successor.family, family) if outdated else ""
    return replace(identity, specification=replace(specification, superseded_by=name))


def _release(specification: Specification, mode: Mode, day: datetime.date | None, current: Release) -> Release:
    """Return the release in force on a day; in compatibility mode that of the declared specification."""
    if day:
        return releases.as_of(day, releases.NATIONAL if "cius" in specification.layers else releases.CORE)
    if mode == "compatibility" and specification.family != releases.national(current).family:
        return releases.declared(specification.family) or current
    return current


def _layers(specification: Specification, release: Release, forced: bool) -> tuple[str, ...]:
    if forced and release.family != specification.family:
        specification = specifications()[release.family]
    return tuple(layer for layer in specification.layers if layer != "schema")


def _status(specification: Specification, mode: Mode, current: Release) -> Status:
    """Return how a specification relates to the current one; a later one is "unknown"."""
    is_national = "cius" in specification.layers
    current_family = releases.national(current).family
    if specification.kind == "unknown" or (is_national and _version(specification.family) > _version(current_family)):
        return "unknown"
    if specification.current:
        return "current"
    available = not is_national or releases.declared(specification.family)
    return "outdated" if available or mode == "current" else "unknown"


def _version(family: str) -> tuple[int, ...]:
    """Return the version of a specification family, for comparison.

    >>> _version("xrechnung-2.3")
    (2, 3)
    """
    return tuple(map(int, family.rpartition("-")[2].split(".")))


@functools.cache
def _syntax_rules(syntax: str, layer: str, sha256: str, versions: tuple[tuple[str, str], ...]) -> tuple[int, str]:
    """Return the number of syntax rules of a layer, and the digest of all its rule data."""
    rules = [rule for rule in rule_table(syntax, releases=dict(versions)).rules if rule.layer == layer]
    rows = [(rule.code, rule.context, rule.check, rule.path, rule.argument, rule.severity) for rule in rules]
    return len(rules), hashlib.sha256(f"{sha256} {rows}".encode()).hexdigest() if rules else sha256


@functools.cache
def _program(
    syntax: str, layers: tuple[str, ...], versions: tuple[tuple[str, str], ...]
) -> tuple[Program | None, tuple[str, ...]]:
    """Return the compiled rules of the available layers, and the names of the others."""
    book = engine.rulebook()
    try:
        return book.program(syntax, layers, dict(versions)), ()
    except LookupError:
        available = tuple(layer for layer in layers if len(layers) > 1 and _program(syntax, (layer,), versions)[0])
    program = book.program(syntax, available, dict(versions)) if available else None
    return program, tuple(layer for layer in layers if layer not in available)


@functools.cache
def _national(release: Release) -> Layer:
    title = releases.title(release.ruleset)
    return Layer("cius", title, release.version, release.specification, release.date)
