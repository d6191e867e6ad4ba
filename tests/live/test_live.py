"""Mutated invoices: the codes that we find are those of the official EN 16931 stylesheet for UBL.

``tests/run`` judges the same 2,000 mutants each time, and 500 more of the comparison cases where they are there.
``pytest -m live`` draws new ones, makes the first on which the two differ as small as it can, and keeps it in
``found/``, where it is a case from then on.
"""

from __future__ import annotations

import functools
import hashlib
import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import Phase, given, seed, settings

import einvoice

from .artefact import artefact, version
from .mutations import Mutant, mutants
from .targets import SYNTAX, definitions, ruleset

pytest.importorskip("saxonche")

CASES = Path(__file__).parents[2].parent / "shared" / "cases"
FOUND = Path(__file__).parent / "found"
SAMPLES = tuple(path.read_bytes() for path in sorted(Path(__file__).parents[1].glob("samples/ubl-*.xml")))
SEEDS = range(4)
MUTANTS = 500
MOST_STOPS = 0.15


def ours(document: bytes) -> frozenset[str]:
    """The codes that we find in the layer that the stylesheet judges."""
    found = einvoice.validate(document, profile="xrechnung").findings
    assert not any(it.code == "LAYER-FAILED" for it in found)
    return frozenset(it.code for it in found if it.layer == ruleset().layer)


@functools.cache
def allowed() -> frozenset[str]:
    """The codes of rules that say why they judge otherwise (``[[deviation]]``)."""
    return frozenset(definition.code for definition in definitions() if "deviation" in definition.data)


def difference(document: bytes) -> dict[str, str] | None:
    """Who alone found which codes, nobody for none; None where the stylesheet stops (we never do)."""
    found, official = ours(document), artefact().codes(document)
    if official is None:
        return None
    return {
        code: "found by us alone" if code in found else "not found by us"
        for code in sorted((found ^ official) - allowed())
    }


class Tally:
    """How the mutants of one run were judged."""

    def __init__(self) -> None:
        self.judged: Counter[str] = Counter()
        self.differing: list[tuple[dict[str, str], Mutant]] = []

    def judge(self, mutant: Mutant) -> dict[str, str]:
        """The difference, if the stylesheet has an answer."""
        differs = difference(mutant.document)
        self.judged["stops" if differs is None else "differs" if differs else "same"] += 1
        if differs:
            self.differing.append((differs, mutant))
        return differs or {}

    def __str__(self) -> str:
        told = [f"{differs} after {'; '.join(mutant.edits)}" for differs, mutant in self.differing[:20]]
        return "\n".join([f"{self.judged.total()} mutants: {dict(self.judged)}", *told])


def fixed(number: int, documents: tuple[bytes, ...]) -> Tally:
    """Judge the mutants of one seed."""
    tally = Tally()

    @seed(number)
    @settings(max_examples=MUTANTS, database=None, phases=[Phase.generate])
    @given(mutants(documents))
    def judge(mutant: Mutant) -> None:
        tally.judge(mutant)

    run: Callable[[], Any] = judge
    run()
    print(tally)
    return tally


def assert_agreed(tally: Tally) -> None:
    assert tally.judged.total() >= MUTANTS
    assert not tally.differing, str(tally)
    assert tally.judged["stops"] <= MOST_STOPS * tally.judged.total(), str(tally)


def test_the_stylesheet_is_the_release_that_we_judge_by() -> None:
    assert version() == ruleset().newest


def test_the_stylesheet_answers() -> None:
    invoice = SAMPLES[-1]
    assert artefact().codes(invoice) == frozenset()
    assert artefact().codes(invoice.replace(b"<cbc:ID>LG-2026-0417</cbc:ID>", b"")) == {"BR-02"}
    assert artefact().codes(invoice.replace(b"</cbc:PayableAmount>", b"?</cbc:PayableAmount>")) is None


@pytest.mark.parametrize("number", SEEDS)
def test_mutants(number: int) -> None:
    assert_agreed(fixed(number, SAMPLES))


@pytest.mark.cases
def test_mutants_of_cases() -> None:
    documents = cases()
    if not documents:
        pytest.skip("the comparison cases are not there")
    assert_agreed(fixed(len(SEEDS), documents))


@pytest.mark.parametrize("path", sorted(FOUND.glob("*.xml")), ids=lambda path: path.stem)
def test_found(path: Path) -> None:
    assert difference(path.read_bytes()) == {}


@pytest.mark.live
def test_fresh_mutants() -> None:
    tally = Tally()

    @settings(max_examples=len(SEEDS) * MUTANTS, database=None, phases=[Phase.generate, Phase.shrink])
    @given(mutants(SAMPLES + cases()))
    def judge(mutant: Mutant) -> None:
        assert not tally.judge(mutant), str(mutant.edits)

    run: Callable[[], Any] = judge
    try:
        run()
    finally:
        print(tally)
        if tally.differing:
            keep(*tally.differing[-1])  # the last one is the smallest


def keep(differs: dict[str, str], mutant: Mutant) -> None:
    """Make a mutant a case."""
    name = f"{'-'.join(differs)[:60]}-{hashlib.sha256(mutant.document).hexdigest()[:8]}.xml"
    (FOUND / name).write_bytes(mutant.document)


def cases() -> tuple[bytes, ...]:
    """The schema-valid UBL invoices beside the checkout, none if they are not there."""
    expected = CASES / "expected.jsonl"
    if not expected.exists():
        return ()
    folders = ("cen-files", "xrechnung-testsuite", "kosit-rules")
    rows = map(json.loads, expected.read_text("utf-8").splitlines())
    chosen = (it["case"] for it in rows if it["xsd"] and it["syntax"] == SYNTAX and it["case"].startswith(folders))
    return tuple((CASES / case).read_bytes() for case in chosen)
