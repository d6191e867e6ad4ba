"""Makes releases of shipped rule sets of imported sheets: which sheet is one, of which rule set, and its version."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from einvoice.reference.bundles.errors import BundleRejected
from einvoice.reference.bundles.metadata import FileMetadata
from einvoice.resources import shipped
from einvoice.rulebook.files.versions import RuleSet, read_rulesets
from einvoice.rulebook.fingerprints import FOLDER
from einvoice.rulebook.imported_releases import ImportedRelease, Part
from einvoice.rulebook.recognition import Recognized, recognize
from einvoice.schematron.fingerprints import fingerprints
from einvoice.schematron.sheets.sheet import Sheet

_MIN_UNCHANGED: Final = 0.5
"""Share of its assertions that a release has in common with one of einvoice."""
_VERSION: Final = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+_-]{0,39}")
_NUMBERS: Final = re.compile(r"\d+")


class Known(NamedTuple):
    """A sheet with many assertions of a shipped rule set.

    Attributes:
        found: the rule set, and how the sheet differs from its most similar release.
        stated: the version that the sheet states; "" for none.
        sha256: of the sheet.
    """

    found: Recognized
    stated: str
    sha256: str

    @property
    def part(self) -> Part:
        """The differences, with the digest of the sheet."""
        it = self.found.part
        return Part(it.syntax, it.unchanged, it.changed, it.added, it.removed, self.sha256)


def known_sheet(sheet: Sheet, metadata: FileMetadata) -> Known | None:
    """Return what is known of a sheet, given the metadata of its file; None if it is of no shipped rule set."""
    codes = {it.code for it in sheet.assertions}
    found = recognize(fingerprints(sheet), codes, shipped())
    if found is None or found.part.unchanged < _MIN_UNCHANGED * len(codes):
        return None
    return Known(found, metadata.stated, metadata.sha256)


def releases_of(
    known: Sequence[Known], name: str, version: str | None, day: str
) -> tuple[tuple[ImportedRelease, ...], frozenset[str]]:
    """Return the releases that the sheets of an import make, and the rule sets of sheets that those of einvoice equal.

    A sheet makes a release if the user states its version, or if it states itself one that einvoice does not have. The
    sheets of rule sets that a release builds on belong to it.

    Args:
        known: the known sheets of the import.
        name: of the import.
        version: the version that the user states; None for none.
        day: of the import, ISO 8601.

    Raises:
        BundleRejected: the version is invalid or that of a release of einvoice, or no sheet is known.
    """
    sets, by_set = read_rulesets(shipped().sets), _by_set(known)
    if version is not None and not _VERSION.fullmatch(version):
        raise BundleRejected("release_name", version=version[:60])
    if version is not None and not by_set:
        raise BundleRejected("no_release", names=", ".join(_with_fingerprints()))
    below = {base for it in by_set for base in _bases(it, sets)}
    stated = {it: _version(sets[it], of_set, version if it not in below else None) for it, of_set in by_set.items()}
    of_release = {base for it in by_set if stated[it] for base in _bases(it, sets)}
    made: dict[str, ImportedRelease] = {}
    equal: dict[str, str] = {}
    for ruleset in (it for it in sets if it in by_set):
        first, *_ = by_set[ruleset]
        if ruleset in of_release and first.found.identical:
            equal[ruleset] = first.found.identical
        elif chosen := stated[ruleset] or (f"{first.found.native}+{name}" if ruleset in of_release else ""):
            base = sets[ruleset].base
            version_of_base = made[base].version if base in made else equal.get(base, "")
            is_older = version is None and _numbers(chosen) < _numbers(sets[ruleset].newest)
            parts = tuple(it.part for it in by_set[ruleset])
            made[ruleset] = ImportedRelease(ruleset, chosen, first.found.native, day, version_of_base, is_older, parts)
    return tuple(made.values()), frozenset(equal)


def _by_set(known: Sequence[Known]) -> dict[str, list[Known]]:
    """Return the sheets by rule set, but for sets with several in a syntax, as for invoices and for credit notes.

    All sheets of a release are compared with the same one of einvoice.
    """
    found: dict[str, list[Known]] = {}
    for it in known:
        found.setdefault(it.found.ruleset, []).append(it)
    return {
        name: of_set
        for name, of_set in found.items()
        if len({it.part.syntax for it in of_set}) == len(of_set) and len({it.found.native for it in of_set}) == 1
    }


def _with_fingerprints() -> list[str]:
    return [name for name, folder in shipped().sets.items() if (folder / FOLDER).is_dir()]


def _bases(ruleset: str, sets: Mapping[str, RuleSet]) -> Iterator[str]:
    """Yield the rule sets that a rule set builds on."""
    while ruleset := sets[ruleset].base:
        yield ruleset


def _version(ruleset: RuleSet, sheets: Sequence[Known], version: str | None) -> str:
    """Return the version of a release, as the user or a sheet states it; "" if it is none, or one of einvoice."""
    known = [it.name for it in ruleset.versions]
    if version in known:
        raise BundleRejected("release_shipped", ruleset=ruleset.name, version=str(version))
    stated = version or next((it.stated for it in sheets if it.stated), "")
    return "" if stated in known else stated


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(map(int, _NUMBERS.findall(version)))
