"""Releases of rule sets: by name, by date, and by the specification that a document declares.

The name of a specification, ``xrechnung-2.0.1``, selects its last release; the name of a release follows it,
``xrechnung-3.0.2-2.4.0``. ``en16931-1.3.12`` is EN 16931 alone. Each release of XRechnung includes the release of
EN 16931 that it was published with (``rules/*/ruleset.toml``).

The default is the current release: the newest one, or the one that an environment variable names. An announced release
is published, but not in force: it applies only if its name, or a date on which it is in force, is requested. Whether a
release is announced is stored with it and does not depend on the clock.
"""

from __future__ import annotations

import datetime
import functools
import os
from collections.abc import Mapping
from typing import Final, NamedTuple

from einvoice.resources import rules_folder
from einvoice.rulebook.files.versions import RuleSet, Version, read_ruleset

CORE: Final = "en16931"
NATIONAL: Final = "xrechnung"
PINNED: Final = "EINVOICE_RULESET"
"""Environment variable for the current release."""


class Release(NamedTuple):
    """A release of a rule set, and the release of EN 16931 that it includes.

    Attributes:
        ruleset: "xrechnung"; "en16931" for EN 16931 alone.
        name: such as "xrechnung-2.0.1".
        version: of the rules, "1.5.0"; the only version of the EN 16931 rules.
        specification: the version that the rules validate, "2.0.1"; "" for EN 16931.
        core: the included release of EN 16931, "1.3.3".
        date: of publication, ISO 8601; "" if unknown.
        valid_from: the day from which it applies, ISO 8601.
        announced: whether it is not in force yet.
    """

    ruleset: str
    name: str
    version: str
    specification: str
    core: str
    date: str
    valid_from: str
    announced: bool

    @property
    def versions(self) -> tuple[tuple[str, str], ...]:
        """The release of each rule set, for ``RuleBook.program``; empty if all are the newest.

        EN 16931 alone includes the newest release of XRechnung, for documents that declare it.
        """
        chosen = ((CORE, self.core), (NATIONAL, self.version if self.ruleset == NATIONAL else newest().version))
        return chosen if any(releases(name)[-1].version != version for name, version in chosen) else ()

    @property
    def family(self) -> str:
        """Family of specifications to which the release applies, such as ``xrechnung-2.0``."""
        return f"{self.ruleset}-{self.specification.rpartition('.')[0]}".rstrip("-")


@functools.cache
def releases(ruleset: str = NATIONAL) -> tuple[Release, ...]:
    """Return all releases of a rule set, oldest first and announced ones last."""
    known = _ruleset(ruleset)
    last = {it.specification: it.name for it in sorted(known.versions, key=lambda it: not it.announced)}
    return tuple(_release(known, version, last[version.specification] == version.name) for version in known.versions)


@functools.cache
def newest(ruleset: str = NATIONAL) -> Release:
    """Return the newest release of a rule set that is in force."""
    return [release for release in releases(ruleset) if not release.announced][-1]


def current() -> Release:
    """Return the default release: the one that the environment names, or else the newest.

    Raises:
        ValueError: the environment names an unknown release.
    """
    return _pinned(os.environ.get(PINNED, "")) or newest()


def national(release: Release) -> Release:
    """Return the release of XRechnung for ``release``: ``release`` itself, or the current one for EN 16931 alone."""
    if release.ruleset == NATIONAL:
        return release
    default = current()
    return default if default.ruleset == NATIONAL else newest()


def names() -> tuple[str, ...]:
    """Return the names of the releases, without those that a later release of the same specification replaced."""
    national = (release.name for release in releases() if release.name.count("-") == 1)
    return (*national, *(release.name for release in releases(CORE)))


def named(name: str) -> Release:
    """Return the release with that name; raise ``ValueError`` listing the known names for an unknown one."""
    for release in rule_sets():
        if name in (release.name, f"{release.ruleset}-{release.specification}-{release.version}"):
            return release
    raise ValueError(f"unknown rule set {name!r}; use one of {', '.join(map(repr, names()))}")


def pinned() -> Release | None:
    """Return the release that the environment names, if any; raise ``ValueError`` if it is unknown."""
    return _pinned(os.environ.get(PINNED, ""))


@functools.cache
def _pinned(name: str) -> Release | None:
    try:
        return named(name) if name else None
    except ValueError as error:
        raise ValueError(f"{PINNED}: {error}") from None


def as_of(day: datetime.date, ruleset: str = NATIONAL) -> Release:
    """Return the release in force on a day.

    A release that replaces another of the same specification is in force from its publication on.

    Raises:
        ValueError: a day before the first release.
        TypeError: not a date.
    """
    if not isinstance(day, datetime.date):
        raise TypeError(f"argument 'as_of' must be a datetime.date, not {type(day).__name__}")
    known = releases(ruleset)
    in_force = [release for release in known if release.valid_from and release.valid_from <= day.isoformat()]
    if not in_force:
        raise ValueError(f"argument 'as_of' must be a day from {known[0].valid_from} on, not {day.isoformat()}")
    return in_force[-1]


def declared(family: str) -> Release | None:
    """Return the last release for a family of specifications, such as ``xrechnung-2.0``; None if there is none.

    An announced release is returned only if the family has no other.
    """
    of_family = [release for release in releases() if release.family == family]
    in_force = [release for release in of_family if not release.announced]
    return next(reversed(in_force or of_family), None)


def between(old: Release, new: Release) -> tuple[Release, ...]:
    """Return the releases of the rule set after ``old``, up to and including ``new``."""
    known = releases(new.ruleset)
    return known[known.index(old) + 1 : known.index(new) + 1]


def rule_sets() -> tuple[Release, ...]:
    """Return all releases: those of XRechnung, then those of EN 16931 alone."""
    return (*releases(NATIONAL), *releases(CORE))


@functools.cache
def _ruleset(name: str) -> RuleSet:
    return read_ruleset(rules_folder() / name)


def title(ruleset: str) -> Mapping[str, str]:
    """Return the title of a rule set, by language."""
    return _ruleset(ruleset).title


def _release(ruleset: RuleSet, version: Version, is_last: bool) -> Release:
    parts = [ruleset.name, version.specification, "" if is_last and version.specification else version.name]
    return Release(
        ruleset.name,
        "-".join(filter(None, parts)),
        version.name,
        version.specification,
        version.en16931 or version.name,
        version.date,
        version.valid_from or version.date,
        version.announced,
    )
