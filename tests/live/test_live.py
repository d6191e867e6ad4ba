"""Mutated invoices: findings equal those of the official EN 16931 stylesheet for UBL.

``tests/run`` validates 400 fixed mutants, and 100 more of the comparison cases. ``pytest -m live`` draws
2,000 new ones, shrinks the first with different findings, and stores it in ``found/`` as a regression test.
"""

from __future__ import annotations

import functools
import hashlib
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, seed, settings

import einvoice
from tests.cases import corpus
from tests.helpers.paths import SAMPLES

from .mutations import Mutant, mutants
from .official_schematron import official_schematron, version
from .targets import SYNTAX, definitions, ruleset

pytest.importorskip("saxonche")

FOUND = Path(__file__).parent / "found"
DOCUMENTS = tuple(path.read_bytes() for path in sorted(SAMPLES.glob("ubl-*.xml")))
SEEDS = range(4)
MUTANTS = 100
NEW_MUTANTS = 2000
MAX_ABORTED = 0.25


def native_codes(document: bytes) -> frozenset[str]:
    """Return the codes found in the layer that the stylesheet covers."""
    found = einvoice.validate(document, profile="xrechnung").findings
    assert not any(it.code == "LAYER-FAILED" for it in found)
    return frozenset(it.code for it in found if it.layer == ruleset().name)


@functools.cache
def allowed() -> frozenset[str]:
    """Return the codes of rules with a documented deviation (``[[deviation]]``)."""
    return frozenset(definition.code for definition in definitions() if any(definition.entries("deviation")))


def difference(document: bytes) -> dict[str, str] | None:
    """Return the codes found by one side only; None if the stylesheet aborts."""
    native, official = native_codes(document), official_schematron().codes(document)
    if official is None:
        return None
    return {
        code: "found natively only" if code in native else "found by the stylesheet only"
        for code in sorted((native ^ official) - allowed())
    }


class Tally:
    """Results of one run."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        self.differing: list[tuple[dict[str, str], Mutant]] = []

    def compare(self, mutant: Mutant) -> dict[str, str]:
        """Compare both results; return the difference."""
        differing = difference(mutant.document)
        self.counts["aborted" if differing is None else "different" if differing else "same"] += 1
        if differing:
            self.differing.append((differing, mutant))
        return differing or {}

    def __str__(self) -> str:
        details = [f"{differing} after {'; '.join(mutant.edits)}" for differing, mutant in self.differing[:20]]
        return "\n".join([f"{self.counts.total()} mutants: {dict(self.counts)}", *details])


def compare_mutants(number: int, documents: tuple[bytes, ...]) -> Tally:
    """Compare the mutants of one seed."""
    tally = Tally()

    @seed(number)
    @settings(max_examples=MUTANTS, database=None, phases=[Phase.generate])
    @given(mutants(documents))
    def compare(mutant: Mutant) -> None:
        tally.compare(mutant)

    run: Callable[[], Any] = compare
    run()
    print(tally)
    return tally


def assert_agreed(tally: Tally) -> None:
    assert tally.counts.total() >= MUTANTS
    assert not tally.differing, str(tally)
    assert tally.counts["aborted"] <= MAX_ABORTED * tally.counts.total(), str(tally)


def test_stylesheet_is_the_newest_release() -> None:
    assert version() == ruleset().newest


def test_stylesheet_returns_codes_or_aborts() -> None:
    invoice = DOCUMENTS[-1]
    assert official_schematron().codes(invoice) == frozenset()
    assert official_schematron().codes(invoice.replace(b"<cbc:ID>LG-2026-0417</cbc:ID>", b"")) == {"BR-02"}
    assert official_schematron().codes(invoice.replace(b"</cbc:PayableAmount>", b"?</cbc:PayableAmount>")) is None


@pytest.mark.slow
@pytest.mark.parametrize("number", SEEDS)
def test_mutants_have_equal_findings(number: int) -> None:
    assert_agreed(compare_mutants(number, DOCUMENTS))


@pytest.mark.cases
def test_mutants_of_comparison_cases_have_equal_findings() -> None:
    assert_agreed(compare_mutants(len(SEEDS), cases()))


@pytest.mark.parametrize("path", sorted(FOUND.glob("*.xml")), ids=lambda path: path.stem)
def test_stored_mutants_have_equal_findings(path: Path) -> None:
    assert difference(path.read_bytes()) == {}


@pytest.mark.live
def test_new_mutants_have_equal_findings() -> None:
    tally = Tally()

    @settings(max_examples=NEW_MUTANTS, database=None, phases=[Phase.generate, Phase.shrink])
    @given(mutants(DOCUMENTS + cases()))
    def compare(mutant: Mutant) -> None:
        assert not tally.compare(mutant), str(mutant.edits)

    run: Callable[[], Any] = compare
    try:
        run()
    finally:
        print(tally)
        if tally.differing:
            store(*tally.differing[-1])  # Hypothesis reports the smallest one last


def store(differing: dict[str, str], mutant: Mutant) -> None:
    """Store a mutant as a regression test."""
    name = f"{'-'.join(differing)[:60]}-{hashlib.sha256(mutant.document).hexdigest()[:8]}.xml"
    (FOUND / name).write_bytes(mutant.document)


def cases() -> tuple[bytes, ...]:
    """Return the schema-valid UBL invoices of the comparison cases."""
    found = corpus.cases("cen-files", "xrechnung-testsuite", "kosit-rules", *corpus.UBL)
    return tuple(data for case, data in found if case["xsd"] and case["syntax"] == SYNTAX)
