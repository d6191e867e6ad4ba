"""By which release and which layers of rules a document is judged."""

from __future__ import annotations

import datetime
import functools
import hashlib
from dataclasses import replace

from einvoice.result import Layer, Mode, Status
from einvoice.rulebook import releases
from einvoice.rulebook.program import engine
from einvoice.rulebook.releases import Release
from einvoice.rulebook.syntax_rules.table import rule_table
from einvoice.syntax.detect import Identity, specifications


def by_now(identity: Identity, current: Release) -> Identity:
    """The identity as it is seen from the current release: what has taken the place of its specification by then."""
    specification, family = identity.specification, releases.national(current).family
    newer = specifications().get(specification.superseded_by)
    if newer is None or "cius" not in identity.layers or newer.family == family:
        return identity
    outdated = _number(identity.family) < _number(family)
    successor = newer.name.replace(newer.family, family) if outdated else ""
    return replace(identity, specification=replace(specification, superseded_by=successor))


def in_force(identity: Identity, mode: Mode, day: datetime.date | None, current: Release) -> Release:
    """The release of a day, or in compatibility mode that of the declared specification, or else the current one."""
    if day:
        return releases.as_of(day, releases.NATIONAL if "cius" in identity.layers else releases.CORE)
    if mode == "compatibility" and identity.family != releases.national(current).family:
        return releases.declared(identity.family) or current
    return current


def chosen(identity: Identity, release: Release, forced: bool) -> tuple[str, ...]:
    """The layers of rules to judge by; with `forced` those of the release whatever the document declares."""
    specification = identity.specification
    if forced and release.family != specification.family:
        specification = specifications()[release.family]
    return tuple(layer for layer in specification.layers if layer != "schema")


def status(identity: Identity, mode: Mode, current: Release) -> Status:
    """How the declared specification stands to the current one; some older ones are not there to be judged by.

    One that is later than the current one is unknown to it.
    """
    if identity.kind == "unknown" or ("cius" in identity.layers and _is_later(identity.family, current)):
        return "unknown"
    if identity.specification.current:
        return "current"
    there = "cius" not in identity.layers or releases.declared(identity.family)
    return "outdated" if there or mode == "current" else "unknown"


def _is_later(family: str, current: Release) -> bool:
    return _number(family) > _number(releases.national(current).family)


def _number(family: str) -> tuple[int, ...]:
    """What families of specifications are ordered by.

    >>> _number("xrechnung-2.3")
    (2, 3)
    """
    return tuple(map(int, family.rpartition("-")[2].split(".")))


@functools.cache
def rows(syntax: str, layer: str, sha256: str, versions: tuple[tuple[str, str], ...]) -> tuple[int, str]:
    """How many rules about elements a layer has, and the digest of its rule data with theirs."""
    there = [rule for rule in rule_table(syntax, releases=dict(versions)).rules if rule.layer == layer]
    told = [(rule.code, rule.context, rule.kind, rule.path, rule.argument, rule.severity) for rule in there]
    return len(there), hashlib.sha256(f"{sha256} {told}".encode()).hexdigest() if there else sha256


@functools.cache
def program(
    syntax: str, layers: tuple[str, ...], versions: tuple[tuple[str, str], ...]
) -> tuple[engine.Program | None, tuple[str, ...]]:
    """The rules of those layers that there are, and the names of those that there are not."""
    book = engine.rulebook()
    try:
        return book.program(syntax, layers, dict(versions)), ()
    except LookupError:
        there = tuple(layer for layer in layers if len(layers) > 1 and program(syntax, (layer,), versions)[0])
    found = book.program(syntax, there, dict(versions)) if there else None
    return found, tuple(layer for layer in layers if layer not in there)


@functools.cache
def national(release: Release) -> Layer:
    """A release of XRechnung as a layer, whether it has judged or not."""
    title = releases.title(release.ruleset)
    return Layer("cius", title, release.version, release.specification, release.date)
