"""Which rules to judge by: rule sets by name, by date, and by the specification that a document declares.

A name is that of the specification, ``xrechnung-2.0.1``, and means the last release of the rules for it; a single
release is named after it, ``xrechnung-3.0.2-2.4.0``. ``en16931-1.3.12`` is EN 16931 alone. Each release of XRechnung
brings the release of EN 16931 that it was published with (``rules/*/ruleset.toml``).

What documents are judged by unasked is the current release: the newest one, or the one that an environment variable
names. A release that is published, and not in force yet, is announced: it can be asked for by its name, or by a day on
which it will be in force; nothing is judged by it unasked. Which ones are is written down with them, and no matter of
the clock: what is current changes with the version of einvoice and the environment alone.
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
"""The environment variable that names what to judge by in place of the newest releases."""


class Release(NamedTuple):
    """One release of a rule set, with what it brings along.

    Attributes:
        ruleset: "xrechnung", or "en16931" where that is alone.
        name: what it is asked for by: "xrechnung-2.0.1".
        version: of the rules, "1.5.0"; those of EN 16931 have no other.
        specification: the version that the rules judge, "2.0.1"; "" for EN 16931.
        core: the release of EN 16931 that goes with it, "1.3.3".
        date: of its publication, ISO 8601; "" where that is not known.
        valid_from: the day from which invoices are judged by it, ISO 8601.
        announced: whether nothing is judged by it unasked yet.
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
        """The release of each rule set, as ``RuleBook.program`` takes them; none where all are the last ones there.

        With EN 16931 alone goes the newest of XRechnung, for documents that declare it all the same.
        """
        chosen = ((CORE, self.core), (NATIONAL, self.version if self.ruleset == NATIONAL else newest().version))
        return chosen if any(releases(name)[-1].version != version for name, version in chosen) else ()

    @property
    def family(self) -> str:
        """The family of specifications whose documents are judged by it, such as ``xrechnung-2.0``."""
        return f"{self.ruleset}-{self.specification.rpartition('.')[0]}".rstrip("-")


@functools.cache
def releases(ruleset: str = NATIONAL) -> tuple[Release, ...]:
    """All releases of a rule set, the oldest first, those that are announced last."""
    known = _ruleset(ruleset)
    last = {it.specification: it.name for it in sorted(known.versions, key=lambda it: not it.announced)}
    return tuple(_release(known, version, last[version.specification] == version.name) for version in known.versions)


@functools.cache
def newest(ruleset: str = NATIONAL) -> Release:
    """The newest release of a rule set that is in force."""
    return [release for release in releases(ruleset) if not release.announced][-1]


def current() -> Release:
    """The release that documents are judged by unasked: the one that the environment names, or else the newest.

    Raises:
        ValueError: the environment names one that is not there.
    """
    return _pinned(os.environ.get(PINNED, "")) or newest()


def national(release: Release) -> Release:
    """The release of XRechnung that counts beside ``release``: itself, or for EN 16931 alone the current one."""
    return next(one for one in (release, current(), newest()) if one.ruleset == NATIONAL)


def names() -> tuple[str, ...]:
    """What a rule set can be asked for by; releases that a later one replaced can be too, but are not listed."""
    national = (release.name for release in releases() if release.name.count("-") == 1)
    return (*national, *(release.name for release in releases(CORE)))


def named(name: str) -> Release:
    """The release of that name; ``ValueError`` with the names that there are for an unknown one."""
    for release in rule_sets():
        if name in (release.name, f"{release.ruleset}-{release.specification}-{release.version}"):
            return release
    raise ValueError(f"ruleset is one of {', '.join(map(repr, names()))}, not {name!r}")


def pinned() -> Release | None:
    """The release that the environment asks for, if it does; ``ValueError`` if there is none of that name."""
    return _pinned(os.environ.get(PINNED, ""))


@functools.cache
def _pinned(name: str) -> Release | None:
    try:
        return named(name) if name else None
    except ValueError as error:
        raise ValueError(f"{PINNED}: {error}") from None


def as_of(day: datetime.date, ruleset: str = NATIONAL) -> Release:
    """The release in force on a day; ``ValueError`` for days before the first one, ``TypeError`` for what is no day.

    A release that replaces another of the same specification is in force from its publication on.
    """
    if not isinstance(day, datetime.date):
        raise TypeError(f"as_of is a datetime.date, not {type(day).__name__}")
    known = releases(ruleset)
    in_force = [release for release in known if release.valid_from and release.valid_from <= day.isoformat()]
    if not in_force:
        raise ValueError(f"as_of is a day from {known[0].valid_from} on, not {day.isoformat()}")
    return in_force[-1]


def declared(family: str) -> Release | None:
    """The last release for a family of specifications, such as ``xrechnung-2.0``; None where there is none.

    It is an announced one only where the family has no other.
    """
    of_family = [release for release in releases() if release.family == family]
    in_force = [release for release in of_family if not release.announced]
    return next(reversed(in_force or of_family), None)


def between(old: Release, new: Release) -> tuple[Release, ...]:
    """The releases after ``old``, up to and including ``new``, both of the same rule set."""
    known = releases(new.ruleset)
    return known[known.index(old) + 1 : known.index(new) + 1]


def rule_sets() -> tuple[Release, ...]:
    """All releases that there are to judge by: those of XRechnung, then those of EN 16931 alone."""
    return (*releases(NATIONAL), *releases(CORE))


@functools.cache
def _ruleset(name: str) -> RuleSet:
    return read_ruleset(rules_folder() / name)


def title(ruleset: str) -> Mapping[str, str]:
    """What a rule set is called, by language."""
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
