"""Releases of rule sets: by name, by date, and by the specification that a document declares.

The name of a specification, `xrechnung-2.0.1`, selects its last release; the name of a release follows it,
`xrechnung-3.0.2-2.4.0`. `en16931-1.3.12` is EN 16931 alone. Each release includes the release of the rule set that
it builds on (`base` in `rules/*/ruleset.toml`).

The default is the current release: the newest one, or the one that an environment variable names. An announced release
is published, but not in force: it applies only if its name, or a date on which it is in force, is requested. Whether a
release is announced is stored with it and does not depend on the clock.
"""

from __future__ import annotations

import datetime
import functools
import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from einvoice.errors import RuleError
from einvoice.localization import Language
from einvoice.resources import RuleData, shipped
from einvoice.rulebook.files.versions import RuleSet, Version, read_rulesets
from einvoice.rulebook.imported_releases import ImportedRelease, imported_releases

PINNED: Final = "EINVOICE_RULESET"
"""Environment variable for the current release."""


class Release(NamedTuple):
    """A release of a rule set, and the releases of those that it builds on.

    Attributes:
        ruleset: name of the rule set, such as "xrechnung"; "en16931" for EN 16931 alone.
        name: such as "xrechnung-2.0.1".
        version: of the rules, "1.5.0".
        specification: the version that the rules validate, "2.0.1"; "" if it has no number of its own.
        label: name of the rule set for texts, "XRechnung".
        date: of publication, ISO 8601; "" if unknown.
        valid_from: the day from which it applies, ISO 8601.
        announced: whether it is not in force yet.
        base: the rule sets that it builds on, each with its release, the lowest first.
        imported: those of the releases that were imported, by rule set.
    """

    ruleset: str
    name: str
    version: str
    specification: str
    label: str
    date: str
    valid_from: str
    announced: bool
    base: tuple[tuple[str, str], ...]
    imported: tuple[ImportedRelease, ...] = ()

    @property
    def native(self) -> tuple[tuple[str, str], ...]:
        """The rule sets, each with the release of einvoice whose rules judge: of an imported one, its native one."""
        of_import = {(it.ruleset, it.version): it.native for it in self.imported}
        return tuple((name, of_import.get((name, version), version)) for name, version in self.versions)

    @property
    def versions(self) -> tuple[tuple[str, str], ...]:
        """The rule sets, each with its release: those that it builds on, then its own."""
        return (*self.base, (self.ruleset, self.version))

    @property
    def core(self) -> str:
        """The included release of EN 16931, "1.3.3"."""
        return self.versions[0][1]

    @property
    def family(self) -> str:
        """Family of specifications to which the release applies, such as `xrechnung-2.0`."""
        return f"{self.ruleset}-{self.specification.rpartition('.')[0]}".rstrip("-")

    @property
    def is_last(self) -> bool:
        """Whether it is the last release for its version of the specification."""
        return self.name != f"{self.ruleset}-{self.specification}-{self.version}"


class Releases:
    """The releases of all rule sets.

    Attributes:
        sets: the rule sets by name, each after its base.
        default: name of the rule set that is the default CIUS.

    Args:
        sets: the rule sets by name, each after its base.
        imported: imported releases of them, the oldest first.

    Raises:
        RuleError: no rule set is the default, or several are.
    """

    def __init__(self, sets: Mapping[str, RuleSet], imported: Iterable[ImportedRelease] = ()) -> None:
        self.sets = sets
        self.default = _default(sets)
        self._of: dict[str, tuple[Release, ...]] = {}
        of_import = _merged(imported, sets)
        for name, ruleset in sets.items():
            versions = _with_imported(ruleset, [it for it in of_import if it.ruleset == name])
            last = {it.specification: it.name for it in sorted(versions, key=lambda it: not it.announced)}
            self._of[name] = tuple(
                self._release(ruleset, version, last[version.specification] == version.name, of_import)
                for version in versions
            )

    def of(self, ruleset: str) -> tuple[Release, ...]:
        """Return all releases of a rule set, oldest first and announced ones last."""
        return self._of[ruleset]

    def newest(self, ruleset: str) -> Release:
        """Return the newest release of a rule set that is in force."""
        return [release for release in self.of(ruleset) if not release.announced][-1]

    def chain(self, ruleset: str) -> tuple[str, ...]:
        """Return a rule set and those that it builds on, the lowest first."""
        base = self.sets[ruleset].base
        return (*(self.chain(base) if base else ()), ruleset)

    def owner(self, ruleset: str) -> str:
        """Return the rule set whose releases a rule set shares: itself, if it has its own."""
        known = self.sets[ruleset]
        return self.owner(known.base) if known.shares_releases else ruleset

    def current(self, ruleset: str | None = None) -> Release:
        """Return the release of a rule set to use today: the newest, or that of the release in the environment.

        Without `ruleset`, return the release in the environment, or the newest one of the default CIUS.

        Raises:
            ValueError: the environment names an unknown release.
        """
        pinned = self.pinned()
        if ruleset is None:
            return pinned or self.newest(self.default)
        if pinned is None:
            return self.newest(ruleset)
        included = dict(pinned.versions)
        if ruleset in included:
            return next(release for release in self.of(ruleset) if release.version == included[ruleset])
        newest = self.newest(ruleset)
        return newest._replace(base=tuple((name, included.get(name, version)) for name, version in newest.base))

    def national(self, release: Release) -> Release:
        """Return the release of the default CIUS for `release`: that of the stack, or else the current one."""
        return release if release.ruleset == self.default else self.current(self.default)

    def pinned(self) -> Release | None:
        """Return the release that the environment names, if any; raise `ValueError` if it is unknown."""
        name = os.environ.get(PINNED, "")
        try:
            return self.named(name) if name else None
        except ValueError as error:
            raise ValueError(f"{PINNED}: {error}") from None

    def all(self) -> tuple[Release, ...]:
        """Return all releases that can be selected, by rule set: those of the default CIUS first."""
        selectable = [
            name
            for name, it in self.sets.items()
            if it.kind != "profile" and not it.is_informative and self.owner(name) == name
        ]
        selectable.sort(key=lambda name: name != self.default)
        return tuple(release for name in selectable for release in self.of(name))

    def names(self) -> tuple[str, ...]:
        """Return the names of the releases, without those that a later one of the same specification replaced."""
        return tuple(release.name for release in self.all() if release.is_last)

    def named(self, name: str) -> Release:
        """Return the release with that name; raise `ValueError` listing the known names for an unknown one."""
        for release in self.all():
            if name in (release.name, f"{release.ruleset}-{release.specification}-{release.version}"):
                return release
        raise ValueError(f"unknown rule set {name!r}; use one of {', '.join(map(repr, self.names()))}")

    def as_of(self, day: datetime.date, ruleset: str | None = None) -> Release:
        """Return the release of a rule set, by default of the default CIUS, that is in force on a day.

        A release that replaces another of the same specification is in force from its publication on.

        Raises:
            ValueError: a day before the first release.
            TypeError: not a date.
        """
        if not isinstance(day, datetime.date):
            raise TypeError(f"argument 'as_of' must be a datetime.date, not {type(day).__name__}")
        known = [release for release in self.of(ruleset or self.default) if release.valid_from]
        in_force = [release for release in known if release.valid_from <= day.isoformat()]
        if not in_force:
            first = known[0].valid_from if known else "?"
            raise ValueError(f"argument 'as_of' must be a day from {first} on, not {day.isoformat()}")
        return in_force[-1]

    def declared(self, family: str) -> Release | None:
        """Return the last release for a family of specifications, such as `xrechnung-2.0`; None if there is none.

        An announced release is returned only if the family has no other.
        """
        of_family = [release for name in self.sets for release in self.of(name) if release.family == family]
        in_force = [release for release in of_family if not release.announced]
        return next(reversed(in_force or of_family), None)

    def between(self, old: Release, new: Release) -> tuple[Release, ...]:
        """Return the releases of the rule set after `old`, up to and including `new`."""
        versions = [release.version for release in self.of(new.ruleset)]
        inside = slice(versions.index(old.version) + 1, versions.index(new.version))
        return (*self.of(new.ruleset)[inside], new) if inside.start <= inside.stop else ()

    def stack(self, rulesets: Iterable[str], release: Release) -> tuple[tuple[str, str], ...]:
        """Return rule sets, each with its release: the one that `release` includes or that goes with it."""
        chosen = dict(release.native)
        for name in rulesets:
            if name not in chosen:
                chosen[name] = self._beside(name, chosen)
        return tuple((name, chosen[name]) for name in rulesets)

    def _beside(self, ruleset: str, chosen: Mapping[str, str]) -> str:
        """Return the last release in force that was published with the chosen release of the base, or the newest."""
        base = chosen.get(self.sets[ruleset].base)
        fitting = [it for it in self.sets[ruleset].versions if it.base in ("", base) and not it.announced]
        exact = [it for it in self.sets[ruleset].versions if base and it.base == base]  # announced with its base
        return (exact or fitting or [self.sets[ruleset].version(dict(self.newest(ruleset).native)[ruleset])])[-1].name

    def _release(
        self, ruleset: RuleSet, version: Version, is_last: bool, of_import: Iterable[ImportedRelease]
    ) -> Release:
        parts = [ruleset.name, version.specification, "" if is_last and version.specification else version.name]
        own = tuple(it for it in of_import if (it.ruleset, it.version) == (ruleset.name, version.name))
        below: Release | None = None
        if ruleset.base:
            included = (it for it in self.of(ruleset.base) if it.version == version.base)
            below = next(included, None) or self.newest(ruleset.base)
        return Release(
            ruleset.name,
            "-".join(filter(None, parts)),
            version.name,
            version.specification,
            ruleset.label,
            version.date,
            version.valid_from or version.date,
            version.announced,
            below.versions if below else (),
            (*(below.imported if below else ()), *own),
        )


def _merged(imported: Iterable[ImportedRelease], sets: Mapping[str, RuleSet]) -> list[ImportedRelease]:
    """Return the imported releases without those that einvoice has by now.

    UBL and CII of a release may be imported apart; of two imports in one syntax, the later one counts.
    """
    found: dict[tuple[str, str], ImportedRelease] = {}
    for it in imported:
        versions = [version.name for version in sets[it.ruleset].versions] if it.ruleset in sets else []
        if it.native not in versions or it.version in versions:
            continue
        before = found.get((it.ruleset, it.version))
        if before is not None and before.native == it.native:
            kept = [part for part in before.parts if it.part(part.syntax) is None]
            it = replace(it, parts=(*kept, *it.parts))
        found[it.ruleset, it.version] = it
    return list(found.values())


def _with_imported(ruleset: RuleSet, imported: Iterable[ImportedRelease]) -> list[Version]:
    """Return the releases of a rule set with the imported ones after those in force; announced ones are last."""
    versions = list(ruleset.versions)
    for it in imported:
        like = ruleset.version(it.native)
        versions.append(
            like._replace(name=it.version, date=it.day, valid_from="", base=it.base, announced=it.announced)
        )
    return sorted(versions, key=lambda it: it.announced)


def _default(sets: Mapping[str, RuleSet]) -> str:
    names = [name for name, ruleset in sets.items() if ruleset.default]
    if len(names) != 1:
        problem = f"is true in {' and '.join(names)}" if names else "is true in no rule set"
        raise RuleError(problem, file="ruleset.toml", key="default", hint="write default = true in one of them")
    return names[0]


def releases(data: RuleData | None = None) -> Releases:
    """Return the releases of the rule data, by default of the shipped one."""
    return _releases(data or shipped())


@functools.cache
def _releases(data: RuleData) -> Releases:
    return Releases(read_rulesets(data.sets), imported_releases(data))


def ruleset_label(layer: str, data: RuleData | None = None, lang: Language | None = None) -> str:
    """Return the short name of a rule set, such as "XRechnung"; any other layer is returned unchanged.

    The name of a specification is the same in all languages. That of a rule set that only informs is the beginning of
    its title, up to the colon.

    Args:
        layer: name of the rule set.
        data: the rule data, by default the shipped one.
        lang: language of the name of a rule set that only informs.
    """
    ruleset = releases(data).sets.get(layer)
    if ruleset is None:
        return layer
    title = ruleset.title.get(lang, "") if lang and ruleset.is_informative else ""
    return title.partition(":")[0].strip() or ruleset.label
