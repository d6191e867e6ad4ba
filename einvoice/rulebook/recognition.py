"""Recognizes a sheet as a release of a shipped rule set, and compares it with the known releases by fingerprints."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final, NamedTuple

from einvoice.resources import RuleData
from einvoice.rulebook.files.load import natural
from einvoice.rulebook.files.versions import read_rulesets
from einvoice.rulebook.fingerprints import fingerprints
from einvoice.rulebook.imported_releases import Part
from einvoice.rulebook.rule import SYNTAXES

_MIN_SHARE: Final = 0.5
"""Share of the codes of a shipped rule set that a sheet must have to be a release of it."""
_MAX_FOREIGN: Final = 0.02
"""Share of codes of another kind that it may have: national sheets contain the assertions of EN 16931, too."""


class Recognized(NamedTuple):
    """A shipped rule set of which a sheet is a release.

    Attributes:
        ruleset: its name.
        native: its newest release whose assertions are known.
        identical: the newest release with the same assertions; "" for none.
        part: how the sheet differs from `native`.
    """

    ruleset: str
    native: str
    identical: str
    part: Part


def recognize(found: Mapping[str, str], codes: Collection[str], data: RuleData) -> Recognized | None:
    """Return the shipped rule set of which a sheet is a release; None if it is of none.

    Args:
        found: the fingerprints of its assertions by code.
        codes: its codes, with those that have no fingerprint.
        data: the rule data.
    """
    present = frozenset(codes)
    best: tuple[float, Recognized] | None = None
    for name, ruleset in read_rulesets(data.sets).items():
        for syntax in SYNTAXES:
            known = fingerprints(ruleset, data.sets[name], syntax)
            if known and (share := _share(present, known)) > (best[0] if best else 0):
                native = list(known)[-1]
                identical = [
                    version for version, codes in known.items() if codes == found and len(present) == len(found)
                ]
                part = _compared(found, present, syntax, known[native])
                best = share, Recognized(name, native, next(reversed(identical), ""), part)
    return best[1] if best else None


def _share(codes: frozenset[str], known: Mapping[str, Mapping[str, str]]) -> float:
    """Return the share of codes that a sheet and any known release have in common; 0 if it is no release of them."""
    of_set = frozenset(code for release in known.values() for code in release)
    kinds = {_kind(code) for code in of_set}
    foreign = sum(_kind(code) not in kinds for code in codes)
    newest = frozenset(known[list(known)[-1]])
    if len(codes & newest) < _MIN_SHARE * len(newest) or foreign > _MAX_FOREIGN * len(codes):
        return 0
    return len(codes & of_set) / len(codes | newest)


def _kind(code: str) -> str:
    """Return a code without its number.

    >>> _kind("BR-CO-10")
    'BR-CO'
    """
    return code.rpartition("-")[0].rstrip("0123456789")


def _compared(found: Mapping[str, str], codes: frozenset[str], syntax: str, known: Mapping[str, str]) -> Part:
    """Return how the assertions of a sheet differ from the known ones."""
    same, before = {code for code, digest in known.items() if found.get(code) == digest}, frozenset(known)
    groups = (codes & before) - same, codes - before, before - codes
    changed, added, removed = (tuple(sorted(it, key=natural)) for it in groups)
    return Part(syntax, len(same), changed, added, removed)
