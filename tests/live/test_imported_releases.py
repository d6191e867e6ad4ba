"""Official sheets imported as newer releases give the findings of our own rules of the release that they are.

The sheets are those of ``EINVOICE_TEST_SHEETS``, see `tests.live.fingerprints`. Each is older than the newest release
of einvoice and imported under another name, so that it is compared with the newest one: what the two have in common is
judged by our rules of the newest release, the rest by the sheet.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

import einvoice
from einvoice.errors import UnreadableDocument
from einvoice.reference.bundles.imports import import_sheets
from einvoice.resources import rules_folder
from einvoice.rulebook.fingerprints import fingerprints as known_fingerprints
from einvoice.schematron import load
from einvoice.schematron.errors import Stopped
from einvoice.schematron.fingerprints import fingerprints
from einvoice.schematron.tree import Document
from einvoice.syntax.detect import identify
from einvoice.syntax.xml import parse
from tests.cases import corpus
from tests.helpers.mutants import mutants
from tests.helpers.rule_sets import shipped_rule_sets

from .fingerprints import sheets

pytestmark = [pytest.mark.live, pytest.mark.skipif(sheets() is None, reason="EINVOICE_TEST_SHEETS names no folder")]

MUTANTS = 600
CASES = 3
"""One comparison case in this number is used."""
MAX_STOPPED = 0.2
IMPORTED = "1.99"
RELEASES = (("en16931", "1.3.13"), ("en16931", "1.3.15"), ("xrechnung", "2.4.0"))

Codes = Counter[tuple[str, str]]


def file(ruleset: str, release: str, syntax: str) -> Path:
    """Return the file of a sheet, and skip the test if there is none."""
    path = (sheets() or Path()) / ruleset / release / f"{syntax}.xslt"
    if not path.exists():
        pytest.skip(f"{path} does not exist")
    return path


def codes(document: bytes, release: str, ruleset: str) -> tuple[Codes, bool]:
    """Return the codes and severities in the layers of a rule set, and whether the document is valid there.

    The rule sets below are those of other releases: an imported one builds on the newest.
    """
    result = einvoice.validate(document, ruleset=release, plausibility=False)
    found = Counter((it.code, it.severity) for it in result.findings if it.layer.startswith(ruleset))
    return found, all(severity != "fatal" for _, severity in found)


def documents() -> Iterator[bytes]:
    """Yield fresh mutants, then the documents of the comparison cases."""
    yield from (it.data for it in mutants(MUTANTS, edits=3, start=90_000))
    yield from (document for _, document in corpus.cases(*corpus.UBL, *corpus.BESIDE, every=CASES))


@pytest.mark.parametrize(("ruleset", "release"), RELEASES)
def test_findings_are_those_of_our_rules_of_the_release(ruleset, release, tmp_path, monkeypatch):
    files = {syntax: file(ruleset, release, syntax) for syntax in ("UBL", "CII")}
    monkeypatch.setenv("EINVOICE_RULES_DIR", str(tmp_path))
    for syntax, path in files.items():
        (made,) = import_sheets(path, name=syntax.lower(), release=IMPORTED).configuration.releases
        assert made.parts[0].imported
        assert made.parts[0].unchanged
    stops = {syntax: _stops(path) for syntax, path in files.items()}
    (own,) = (it.name for it in einvoice.rule_sets() if (it.ruleset, it.version) == (ruleset, release))
    (imported,) = (it.name for it in einvoice.rule_sets() if (it.ruleset, it.version) == (ruleset, IMPORTED))
    counts: Counter[str] = Counter()
    for document in documents():
        try:
            syntax = identify(parse(document)).syntax
            expected, actual = (codes(document, name, ruleset) for name in (own, imported))
        except UnreadableDocument:
            continue
        if stops[syntax](document):  # the official sheet has no result either
            counts["stopped"] += 1
            assert expected[1] == actual[1]
            continue
        counts[syntax] += 1
        assert (set(expected[0]), expected[1]) == (set(actual[0]), actual[1]), document
    print(ruleset, release, dict(counts))
    assert min(counts["UBL"], counts["CII"]) >= MUTANTS / 5
    assert counts["stopped"] <= MAX_STOPPED * sum(counts.values())


def _stops(path: Path) -> Callable[[bytes], bool]:
    program = load.compile_file(path, None)

    def stops(document: bytes) -> bool:
        try:
            program.run(Document(parse(document).getroot()))
        except Stopped:
            return True
        return False

    return stops


def test_stored_fingerprints_are_those_of_the_sheets():
    compared = 0
    for name, ruleset in shipped_rule_sets().sets.items():
        for syntax in ruleset.syntaxes:
            known: Mapping[str, Mapping[str, str]] = known_fingerprints(ruleset, rules_folder() / name, syntax)
            for release, expected in known.items():
                path = (sheets() or Path()) / name / release / f"{syntax}.xslt"
                if path.exists():
                    compared += 1
                    assert fingerprints(load.read(path)) == expected, path
    assert compared
